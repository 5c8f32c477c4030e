"""The packages that are compared with PTX: what each says of itself, what it can do, and how it is asked.

Each is asked in the way that comes nearest to PTX: with its setting of the rounding, and with saturation where it has
a switch for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import peers
import ptxemu
from numpy.typing import NDArray
from ptxspec.model import Format
from scoreboard.operations import Operation
from scoreboard.values import is_nan

Bits = NDArray[Any]


@dataclass(frozen=True)
class Answer:
    """A peer's results; where it raised an error instead, `refused` is set and the bits mean nothing."""

    bits: Bits
    refused: NDArray[np.bool_]


Way = Callable[[Sequence[Bits]], Answer]


@dataclass(frozen=True)
class Peer:
    """A package. `says` is what its documentation says of what is compared; `way` returns how it computes an operation,
    or why it does not."""

    package: str
    install: str
    says: str
    way: Callable[[Operation], Way | str]

    @property
    def version(self) -> str | None:
        """The version that is installed; None where none is."""
        try:
            import_module(self.package)
            return version(self.package)
        except (ImportError, PackageNotFoundError):
            return None


def _plain(compute: Callable[..., Bits]) -> Way:
    """Return a way that has a result for all operands."""

    def run(operands: Sequence[Bits]) -> Answer:
        with np.errstate(all="ignore"):
            found = compute(*operands)
        return Answer(found, np.zeros(found.shape, np.bool_))

    return run


def _lacking(operation: Operation, formats: Sequence[str]) -> str:
    """Return which format a package lacks, or nothing."""
    used = dict.fromkeys(f.name for f in (*operation.sources, operation.to))
    return next((f"no {name}" for name in used if name not in formats), "")


def _unsigned(bits: Bits) -> Bits:
    return bits.view(f"u{bits.dtype.itemsize}")


NEAREST_ONLY = "nearest only"
NUMPY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt,
    "min": np.fmin, "max": np.fmax, "min.NaN": np.minimum, "max.NaN": np.maximum,
}  # fmt: skip


def _named(operation: Operation) -> str:
    return ".".join((operation.opcode, *sorted(operation.modifiers & {"NaN"})))


def _with_ufuncs(operation: Operation, dtypes: dict[str, Any]) -> Way | str:
    """Return how NumPy computes an operation on types that it has, or that a package adds to it."""
    if lacking := _lacking(operation, list(dtypes)):
        return lacking
    function = NUMPY.get(_named(operation))
    if function is None and operation.opcode != "cvt":
        return f"no {operation.opcode}"
    if operation.rounding not in ("", "rn"):
        return NEAREST_ONLY
    source, to = (np.dtype(dtypes[f.name]) for f in (operation.sources[0], operation.to))
    if function is None:
        return _plain(lambda x: _unsigned(x.view(source).astype(to)))
    return _plain(lambda *given: _unsigned(function(*(x.view(source) for x in given))))


NUMPY_TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def numpy_way(operation: Operation) -> Way | str:
    return _with_ufuncs(operation, NUMPY_TYPES)


def ml_dtypes_way(operation: Operation) -> Way | str:
    ml_dtypes = import_module("ml_dtypes")
    own = {
        "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
        "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn,
        "ue8m0": ml_dtypes.float8_e8m0fnu,
    }  # fmt: skip
    if all(f.name in NUMPY_TYPES for f in (*operation.sources, operation.to)):
        return "adds none of these types"
    return _with_ufuncs(operation, {**NUMPY_TYPES, **own})


def torch_way(operation: Operation) -> Way | str:
    torch = import_module("torch")
    types = {
        "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
        "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "ue8m0": torch.float8_e8m0fnu,
    }  # fmt: skip
    if lacking := _lacking(operation, list(types)):
        return lacking if operation.to.name != "e2m1" and operation.sources[0].name != "e2m1" else "no casts of e2m1"
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    source, to = types[operation.sources[0].name], types[operation.to.name]
    functions = {
        "cvt": lambda x: x.to(to), "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
        "sqrt": torch.sqrt, "min": torch.fmin, "max": torch.fmax, "min.NaN": torch.minimum, "max.NaN": torch.maximum,
    }  # fmt: skip
    function = functions.get(_named(operation))
    if function is None:
        return f"no {operation.opcode}"
    if operation.rounding not in ("", "rn"):
        return NEAREST_ONLY

    def tensor(x: Bits) -> Any:
        signed = np.ascontiguousarray(x) if x.itemsize == 1 else np.ascontiguousarray(x).view(f"i{x.itemsize}")
        return torch.from_numpy(signed.copy()).view(source)

    def compute(*given: Bits) -> Bits:
        found = function(*map(tensor, given))
        return _unsigned(found.view(integers[found.element_size()]).numpy())

    return _plain(compute)


def gfloat_way(operation: Operation) -> Way | str:
    gfloat, formats = import_module("gfloat"), import_module("gfloat.formats")
    if operation.opcode != "cvt":
        return "no arithmetic"

    def info(f: Format) -> Any:
        named = {
            "f64": formats.format_info_binary64, "f32": formats.format_info_binary32,
            "f16": formats.format_info_binary16, "bf16": formats.format_info_bfloat16,
            "e4m3": formats.format_info_ocp_e4m3,
            "e5m2": formats.format_info_ocp_e5m2, "e2m3": formats.format_info_ocp_e2m3,
            "e3m2": formats.format_info_ocp_e3m2, "e2m1": formats.format_info_ocp_e2m1,
            "ue8m0": formats.format_info_ocp_e8m0,
        }  # fmt: skip
        if f.name in named:
            return named[f.name]
        # It has no name for TF32, and describes any format by its parameters.
        return gfloat.FormatInfo(
            f.name, f.width, f.precision, bias=f.bias, is_signed=f.signed, domain=gfloat.Domain.Extended, has_nz=True,
            num_high_nans=f.nans, has_subnormals=True, is_twos_complement=False,
        )  # fmt: skip

    source, to = operation.sources[0], operation.to
    modes = {
        "": "TiesToEven", "rn": "TiesToEven", "rna": "TiesToAway", "rz": "TowardZero", "rm": "TowardNegative",
        "rp": "TowardPositive",
    }  # fmt: skip
    mode = gfloat.RoundMode[modes[operation.rounding]]
    encoding = np.dtype(f"u{max(1, 1 << max(0, (to.width - 1).bit_length() - 3))}")

    def run(operands: Sequence[Bits]) -> Answer:
        (x,) = operands
        # It has no encoding of a NaN where the format has none, and raises an error.
        refused = is_nan(x, source) & (not to.nans)
        with np.errstate(all="ignore"):
            values = gfloat.decode_ndarray(info(source), np.where(refused, x.dtype.type(0), x))
            values = np.asarray(values, np.float64)
            rounded = gfloat.round_ndarray(info(to), values, mode, sat=operation.saturates)
            return Answer(np.asarray(gfloat.encode_ndarray(info(to), rounded)).astype(encoding), refused)

    return run


IEEE_LIKE = ("f64", "f32", "f16", "bf16", "tf32", "e5m2")


def apytypes_way(operation: Operation) -> Way | str:
    apytypes = import_module("apytypes")
    if lacking := _lacking(operation, IEEE_LIKE):
        return lacking
    modes = {
        "": "TIES_EVEN", "rn": "TIES_EVEN", "rna": "TIES_AWAY", "rz": "TO_ZERO", "rm": "TO_NEG", "rp": "TO_POS",
    }  # fmt: skip
    if operation.opcode != "cvt":
        return _of_timed(peers.apytypes_way, operation)
    source, to = operation.sources[0], operation.to
    mode = getattr(apytypes.QuantizationMode, modes[operation.rounding])
    encoding = np.dtype(f"u{1 << ((to.width - 1).bit_length() - 3)}")

    def compute(x: Bits) -> Bits:
        numbers = apytypes.APyFloatArray.from_bits(x, source.exponent_bits, source.fraction_bits)
        found = numbers.cast(to.exponent_bits, to.fraction_bits, quantization=mode)
        return np.asarray(found.to_bits(numpy=True)).astype(encoding)

    return _plain(compute)


def softfloatpy_way(operation: Operation) -> Way | str:
    softfloatpy = import_module("softfloatpy")
    if lacking := _lacking(operation, ("f16", "bf16", "f32", "f64")):
        return lacking
    if operation.opcode != "cvt":
        if operation.to.name == "bf16":
            return "no arithmetic in bf16"
        return _of_timed(peers.softfloatpy_way, operation)
    source, to = operation.sources[0], operation.to
    function = getattr(softfloatpy, f"{source.name}_to_{to.name}", None)
    if function is None:
        return f"no {source.name} to {to.name}"
    modes = {"": "NEAR_EVEN", "rn": "NEAR_EVEN", "rz": "MIN_MAG", "rm": "MIN", "rp": "MAX"}
    mode = getattr(softfloatpy.RoundingMode, modes[operation.rounding])
    number = {"f16": "Float16", "bf16": "BFloat16", "f32": "Float32", "f64": "Float64"}[source.name]
    make, width = getattr(softfloatpy, number).from_bytes, source.width // 8
    encoding = np.dtype(f"u{to.width // 8}")

    def compute(x: Bits) -> Bits:
        softfloatpy.set_rounding_mode(mode)
        try:
            found = b"".join(function(make(n.to_bytes(width, "big"))).to_bytes() for n in x.tolist())
        finally:
            softfloatpy.set_rounding_mode(softfloatpy.RoundingMode.NEAR_EVEN)
        return np.frombuffer(found, encoding.newbyteorder(">")).astype(encoding)

    return _plain(compute)


def _of_timed(way: Callable[[ptxemu.Variant], peers.Way | None], operation: Operation) -> Way | str:
    """Return how a package computes an operation that is timed, too."""
    found = way(_emulated()[operation.spelling, operation.variant.operands])
    if found is None:
        return f"no {operation.opcode}"

    def compute(*operands: Bits) -> Bits:
        given = [found.encode(x) for x in operands]
        with (found.inside or nullcontext)():
            return found.decode(found.run(*given))

    return _plain(compute)


@cache
def _emulated() -> dict[tuple[str, int], ptxemu.Variant]:
    return {(v.spelling, v.operands): v for v in ptxemu.variants()}


EXTRA = "pip install -e '.[test,benchmark]'"
PEERS = (
    Peer(
        "numpy",
        EXTRA,
        "NumPy has float16, float32 and float64. Its documentation says that fmin and fmax ignore a NaN where they "
        "can, and that minimum and maximum return it. It says nothing about the sign of a zero.",
        numpy_way,
    ),
    Peer(
        "ml_dtypes",
        EXTRA,
        "ml_dtypes adds narrow formats to NumPy. Its README describes each format and leaves NaN undefined for "
        "those of 4 and 6 bits. It does not say how a conversion rounds, or what becomes of a number that is too "
        "large. Pull request 401 of its repository proposes to round once.",
        ml_dtypes_way,
    ),
    Peer(
        "torch",
        "pip install torch --index-url https://download.pytorch.org/whl/cpu",
        "The package torch is PyTorch. Its casts and arithmetic are compared on the CPU, with the CPU-only wheel of "
        "PyTorch's own index, which computes sqrt of f32 and f64 with Intel's MKL. Its documentation describes the "
        "formats. It does not say how casts and sqrt round, or what becomes of a number that is too large. It says "
        "that fmin and fmax ignore a NaN, and that minimum and maximum return it.",
        torch_way,
    ),
    Peer(
        "gfloat",
        EXTRA,
        "gfloat rounds numbers to formats that are described by parameters. Its documentation lists the rounding "
        "modes. It says that there is one NaN without a payload, that saturation can be chosen, and that a NaN "
        "raises an error where the format has none.",
        gfloat_way,
    ),
    Peer(
        "apytypes",
        EXTRA,
        "apytypes has formats of IEEE 754's kind with any number of bits. Its arrays are compared. Its "
        "documentation calls them a generalization of IEEE 754 with subnormal numbers, infinities and NaN, and "
        "lists the rounding modes.",
        apytypes_way,
    ),
    Peer(
        "softfloatpy",
        EXTRA,
        "softfloatpy is a binding of Berkeley SoftFloat 3e. Its documentation says that this conforms to IEEE 754.",
        softfloatpy_way,
    ),
)
