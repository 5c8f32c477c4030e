"""Packages that do some of PTX's operations too: what each can do, and how it is asked.

A peer is a function from a variant to how it computes it, or to None where it cannot. Operands and results are bit
patterns; turning them into the peer's own numbers and back is not timed.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import numpy as np
from families import DIRECTED, approximates, names, operation, rounding, type_of
from kernels import FIELDS, Bits, own_operation
from oracles.judge import MODES
from oracles.mpfr import context, decode, encode, unsigned_type
from ptxemu import Variant


@dataclass(frozen=True)
class Way:
    """A peer's way to compute a variant: `inside` is its setting of the rounding, entered around `run`."""

    encode: Callable[[Bits], Any]
    run: Callable[..., Any]
    decode: Callable[[Any], Bits]
    inside: Callable[[], AbstractContextManager[Any]] = nullcontext


def by_element(f: Callable[..., Any]) -> Callable[..., list[Any]]:
    return lambda *columns: list(map(f, *columns))


def gmpy2_way(v: Variant) -> Way | None:
    functions: dict[str, Callable[..., Any]] = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "fma": gmpy2.fma,
        "sqrt": gmpy2.sqrt, "min": gmpy2.minnum, "max": gmpy2.maxnum, "abs": operator.abs, "neg": operator.neg,
        "copysign": lambda a, b: gmpy2.copy_sign(b, a), "testp.finite": gmpy2.is_finite,
        "testp.infinite": gmpy2.is_infinite, "testp.notanumber": gmpy2.is_nan,
    }  # fmt: skip
    name, fields = operation(v), FIELDS[type_of(v)]
    if name not in (*functions, "rcp"):
        return None
    wide = gmpy2.context(precision=53, emax=1 << 20, emin=-(1 << 20))
    one = gmpy2.mpfr(1)

    def to_mpfr(bits: Bits) -> list[Any]:
        with gmpy2.context(wide):
            return list(map(gmpy2.mpfr, decode(bits, *fields).tolist()))

    def to_bits(found: list[Any]) -> Bits:
        if name.startswith("testp"):
            return np.array(found)
        return encode(np.array(list(map(float, found))), *fields)

    run = by_element(functions[name]) if name != "rcp" else by_element(lambda x: one / x)
    return Way(to_mpfr, run, to_bits, lambda: gmpy2.context(context(*fields, MODES[rounding(v)])))


def apytypes_way(v: Variant) -> Way | None:
    import apytypes  # type: ignore[import-not-found]

    functions: dict[str, Callable[..., Any]] = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "abs": operator.abs,
        "neg": operator.neg, "rcp": lambda x: 1 / x,
    }  # fmt: skip
    name, (e, f) = operation(v), FIELDS[type_of(v)]
    if name not in functions:
        return None
    modes = {"rn": "TIES_EVEN", "rz": "TO_ZERO", "rm": "TO_NEG", "rp": "TO_POS"}
    mode = getattr(apytypes.QuantizationMode, modes[rounding(v)])
    return Way(
        lambda bits: apytypes.APyFloatArray.from_bits(bits, e, f),
        functions[name],
        lambda found: found.to_bits(numpy=True).astype(unsigned_type(e, f)),
        lambda: apytypes.APyFloatQuantizationContext(quantization=mode),
    )


def softfloatpy_way(v: Variant) -> Way | None:
    import softfloatpy  # type: ignore[import-not-found]

    functions = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "sqrt": "sqrt", "fma": "mul_add", "neg": "neg"}
    name, type_ = operation(v), type_of(v)
    number = {"f16": softfloatpy.Float16, "f32": softfloatpy.Float32, "f64": softfloatpy.Float64}.get(type_)
    if number is None or name not in (*functions, "rcp"):
        return None
    bits_type = unsigned_type(*FIELDS[type_])
    modes = {"rn": "NEAR_EVEN", "rz": "MIN_MAG", "rm": "MIN", "rp": "MAX"}
    divide, one = getattr(softfloatpy, f"{type_}_div"), number.from_float(1.0)
    run = getattr(softfloatpy, f"{type_}_{functions[name]}") if name != "rcp" else lambda x: divide(one, x)

    class Rounding(AbstractContextManager[None]):
        def __enter__(self) -> None:
            softfloatpy.set_rounding_mode(getattr(softfloatpy.RoundingMode, modes[rounding(v)]))

        def __exit__(self, *raised: object) -> None:
            softfloatpy.set_rounding_mode(softfloatpy.RoundingMode.NEAR_EVEN)

    return Way(
        lambda bits: [number.from_bytes(x.to_bytes(bits_type.itemsize, "big")) for x in bits.tolist()],
        by_element(run),
        lambda found: np.frombuffer(b"".join(x.to_bytes() for x in found), bits_type.newbyteorder(">")).astype(
            bits_type
        ),
        Rounding,
    )


def ufunc_way(v: Variant, dtype: Any) -> Way | None:
    """NumPy's operations on a type that it has, or that a package gives it."""
    own = own_operation(v)
    if own is None or names(v) & DIRECTED:
        return None
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    return Way(lambda x: x.view(dtype), own, lambda found: found if found.dtype == bool else found.view(bits))


def ml_dtypes_way(v: Variant) -> Way | None:
    import ml_dtypes

    return ufunc_way(v, ml_dtypes.bfloat16) if type_of(v) == "bf16" else None


def float16_way(v: Variant) -> Way | None:
    return ufunc_way(v, np.float16) if type_of(v) == "f16" else None


# By what the table calls them, which is a package's name and perhaps a type of its.
PEERS: dict[str, Callable[[Variant], Way | None]] = {
    "gmpy2": gmpy2_way,
    "apytypes": apytypes_way,
    "ml_dtypes bfloat16": ml_dtypes_way,
    "softfloatpy": softfloatpy_way,
    "numpy float16": float16_way,
}


@cache
def installed() -> dict[str, str]:
    """The version of each peer's package, by the peer's name; none of one that is not there."""
    found = {}
    for peer in PEERS:
        package = peer.split()[0]
        try:
            importlib.import_module(package)
            found[peer] = version(package)
        except (ImportError, PackageNotFoundError):
            continue
    return found


def ways(peer: str, variants: Sequence[Variant]) -> list[tuple[Variant, Way]]:
    """Return the variants that a peer can compute, and how, each computation once: add.f32 is add.rn.f32."""
    found: dict[tuple[str, str, str], tuple[Variant, Way]] = {}
    for v in variants:
        # Of three operands peers have a product and a sum only.
        possible = type_of(v) in FIELDS and not approximates(v) and (v.operands < 3 or operation(v) == "fma")
        if possible and (way := PEERS[peer](v)):
            found.setdefault((operation(v), rounding(v), type_of(v)), (v, way))
    return list(found.values())
