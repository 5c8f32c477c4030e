"""mma on matrices, with the additions of a target's tensor core, in every bit as far as that is known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from . import formats
from .arithmetic import addition
from .binary import Array, Format, roundTiesToEven
from .conversion import convert
from .index import CATALOG
from .layouts import Element
from .matrices.forms import Form, form_named
from .matrices.rows import Row, row_of
from .operands import OperandError
from .plain import check_processor
from .rows import UnknownVariantError, target_named
from .sparse import Stored
from .sums import Numbers, Sum, chained, numbers, summed
from .tensor_cores import ELEMENTS, FORMS, GROUPS, PACKED, ROWS, UNSIGNED

_NATIVE = {
    "f16": "float16", "f32": "float32", "f64": "float64", "tf32": "float32", "bf16": "bfloat16", "s32": "int32",
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e3m2": "float6_e3m2fn",
    "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn", "ue8m0": "float8_e8m0fnu", "ue4m3": "float8_e4m3fn",
}  # fmt: skip
# The dtypes of elements as bits, or as integers; an element of fewer than 8 bits is in a byte, and _RANGES limits it.
_BITS = {
    "f16": "uint16", "bf16": "uint16", "f32": "uint32", "tf32": "uint32", "f64": "uint64", "s32": "uint32",
    "e4m3": "uint8", "e5m2": "uint8", "e3m2": "uint8", "e2m3": "uint8", "e2m1": "uint8",
    "ue8m0": "uint8", "ue4m3": "uint8",
    "s8": "int8", "u8": "uint8", "s4": "int8", "u4": "uint8", "b1": "uint8",
}  # fmt: skip
_RANGES = {"s4": (-8, 7), "u4": (0, 15), "b1": (0, 1), "e2m1": (0, 15), "e3m2": (0, 63), "e2m3": (0, 63)}


class NoRuleError(LookupError):
    """An error for a form whose computation on a target is unknown."""


def mma(
    form: str, a: Any, b: Any, c: Any, *, target: str, metadata: Any = None, scale_a: Any = None, scale_b: Any = None
) -> Any:
    """Return D = A B + C as the tensor core of a target computes it.

        >>> a, b = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16)
        >>> ptxemu.mma("m16n8k16.f32.f16", a, b, np.float32(1), target="H100")[0, 0]
        np.float32(17.0)

    `form` is the shape and the types of D and A, and those of B and C where they differ from A's and D's, as in
    "m16n8k32.f32.e4m3.e5m2"; or it is the whole spelling: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32". A has M
    rows of K elements, B K rows of N, C and D M rows of N; axes before the last two broadcast. Elements are of a type
    of NumPy or ml_dtypes, or bits: uint32 for f32 and tf32, uint8 for FP8, FP6 and FP4. With scales of blocks,
    `scale_a` has M rows of 1, 2 or 4, and `scale_b` as many rows of N.

    In a sparse form, such as "m16n8k64.sp.s32.s8", A has M rows of the K / 2 elements that are stored. `metadata` are
    integers in its shape: the place of each element in its group, from 0 on. Groups are 2 elements of tf32, 8 of 4
    bits, where neighbours are stored together, and 4 of the others. A row of zeros but for elements 1, 2, 4 and 7 has
    the metadata [1, 2, 0, 3].

    Raises OperandError (a TypeError) for matrices of another shape or type, ValueError for an invalid form,
    UnknownVariantError where the target does not support it, NoRuleError (a LookupError) where no source says what the
    target computes, and UnknownTargetError."""
    f, t = _form(form), target_named(target)
    if not CATALOG.takes(f.requires, t):
        raise UnknownVariantError(f"{f} is not available on {t}; it requires {CATALOG.text(f.requires)}")
    row = row_for(f, t)
    arrays = [
        _shaped(bits_of(x, name, of), name, f, size)
        for x, name, of, size in zip((a, b, c), "ABC", f.types[1:], f.sizes[1:], strict=True)
    ]
    if f.is_sparse or metadata is not None:
        arrays[0] = _dense(f, arrays[0], metadata)
    scales = _scales(f, scale_a, scale_b) if f.is_scaled or scale_a is not None or scale_b is not None else None
    with np.errstate(all="ignore"):
        found = _computed(f, t, row, arrays, scales)
    native = native_of(f.types[0])
    is_native = isinstance(c, int | float) or c.dtype == native_of(f.types[3])
    return found.view(native) if native is not None and is_native else found


@cache
def _form(text: str) -> Form:
    return form_named(text, FORMS, ELEMENTS)


def row_for(f: Form, target: str) -> Row:
    """Return how a target computes a form. Raises NoRuleError."""
    if (found := row_of(f, CATALOG.targets[target].base or target, ROWS)) is None:
        known = "; of sparse forms those of integers are known" if f.is_sparse else ""
        raise NoRuleError(f"no source says how {target} computes {f}{known}")
    return found


def _shaped(x: Array, name: str, f: Form, size: tuple[int, int]) -> Array:
    """Return a matrix of a form, after checking its shape; C may be one number for all elements. Raises
    OperandError."""
    if name == "C" and not x.ndim:
        return np.broadcast_to(x, size)
    if x.shape[-2:] != size:
        raise OperandError(
            f"{name} of {f.shape} has {size[0]} rows of {size[1]}, but the array has the shape {x.shape}"
        )
    return x


def stored(f: Form) -> Stored:
    """Return how A of a sparse form is stored."""
    return Stored(f, GROUPS[element_of(f, f.types[1]).bits])


def _dense(f: Form, a: Array, metadata: Any) -> Array:
    """Return a sparse A as a dense one. Raises OperandError."""
    if not f.is_sparse:
        raise OperandError(f"{f} takes no metadata; only sparse forms do")
    how = stored(f)
    try:
        return how.dense(a, how.places(metadata))
    except ValueError:
        raise OperandError(f"A has the shape {a.shape}, and metadata {metadata.shape}: they do not broadcast") from None


def _scales(f: Form, scale_a: Any, scale_b: Any) -> tuple[Numbers, Numbers]:
    """Return the scale of each element of A and of B. Raises OperandError."""
    if not f.is_scaled:
        raise OperandError(f"{f} takes no scales; only forms with .block_scale do")
    m, n, k = f.size
    blocks = np.arange(k) // (k // f.scales)
    found = []
    for x, name, size in ((scale_a, "scale_a", (m, f.scales)), (scale_b, "scale_b", (f.scales, n))):
        if x is None or np.shape(x)[-2:] != size:
            shape = "nothing" if x is None else np.shape(x)
            raise OperandError(f"{name} of {f} has the shape {size}, but the array has {shape}")
        found.append(scales_of(bits_of(x, name, f.scale_type), f.scale_type))
    return found[0].along_rows(blocks), found[1].along_columns(blocks)


def scales_of(bits: Array, of: str) -> Numbers:
    """Return the values of scales. Of an unsigned type with the patterns of a signed one, the sign bit is ignored."""
    f = getattr(formats, UNSIGNED.get(of, of))
    return numbers(bits & f.magnitude if of in UNSIGNED else bits, f)


def _computed(
    f: Form, target: str, row: Row, matrices: Sequence[Array], scales: tuple[Numbers, Numbers] | None
) -> Array:
    """Return the bits of D."""
    a, b, c = matrices
    if row.exact:
        return _integers(f, a, b, c)
    result = getattr(formats, f.types[0])
    if row.chain:
        return chained(a, b, c, result)
    if row.halves:
        return _in_halves(f, target, row.halves, a, b, c, result)
    x, y = (numbers_of(z, t) for z, t in zip((a, b), f.types[1:3], strict=True))
    if row.group > 1:
        x, y = x.grouped(), y.grouped()
    if scales:
        x, y = x.times(scales[0]), y.times(scales[1])
    return summed(x, y, c, getattr(formats, f.types[3]), result, sum_of(row, element_of(f, f.types[1]).bits))


def numbers_of(bits: Array, of: str) -> Numbers:
    """Return the values of elements."""
    # The low 13 bits of a register with tf32 are ignored.
    return numbers(bits >> np.uint32(13) if of == "tf32" else bits, getattr(formats, of))


def element_of(f: Form, of: str) -> Element:
    """Return the position of an element of a type in a register of a form."""
    return PACKED.get(f.kind, {}).get(of) or ELEMENTS[of]


def sum_of(row: Row, bits: int) -> Sum:
    """Return the parameters of a sum from a row, for elements of so many bits."""
    return Sum(row.bytes * 8 // bits, row.bits, row.zero, row.kept, row.group)


def _in_halves(f: Form, target: str, through: str, a: Array, b: Array, c: Array, result: Format) -> Array:
    """Return the result of two sums, over the places k with k % 4 < 2 and over the others, with C added last."""
    s, halves = halved(f, target, through)
    x, y = (converted(z, of, through) for z, of in ((a, f.types[1]), (b, f.types[2])))
    total = np.zeros_like(c)
    for places in halves:
        total = summed(x.along_rows(places), y.along_columns(places), total, result, result, s)
    check_processor()
    return addition(total, c, result, roundTiesToEven, False)


def converted(bits: Array, of: str, to: str) -> Numbers:
    """Return elements of a type as numbers of another type, which has all of them."""
    f = getattr(formats, to)
    return numbers(convert(bits, getattr(formats, of), f, roundTiesToEven, False), f)


def halved(f: Form, target: str, through: str) -> tuple[Sum, tuple[Array, Array]]:
    """Return the parameters of the two half sums, and the places of each."""
    m, n, k = f.size
    half = f._replace(shape=f"m{m}n{n}k{k // 2}", types=(f.types[0], through, through, f.types[3]))
    lower = np.arange(k) % 4 < 2
    return sum_of(row_for(half, target), ELEMENTS[through].bits), (np.flatnonzero(lower), np.flatnonzero(~lower))


def _integers(f: Form, a: Array, b: Array, c: Array) -> Array:
    """Return exact sums of 32 bits that wrap around or are clamped."""
    if f.types[1] == "b1":
        # In the spelling, the operation on bits is before the one on its results.
        both = getattr(np, f"bitwise_{f.names[-2]}")
        counted = [(x, y) for x in (0, 1) for y in (0, 1) if both(x, y)]
        total = sum(_products(a == x, b == y) for x, y in counted)
    else:
        total = _products(a, b)
    total = total + c.view(np.int32).astype(np.int64)
    if "satfinite" in f.names:
        total = np.clip(total, -(2**31), 2**31 - 1)
    wrapped: Array = total.astype(np.uint64).astype(np.uint32)
    return wrapped


def _products(a: Array, b: Array) -> Array:
    """Return the product of matrices of integers. float64 has all sums exactly, and NumPy is quickest with it."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


# Elements


def native_of(of: str) -> np.dtype[Any] | None:
    """Return the dtype of NumPy or ml_dtypes that has the elements, if it is installed."""
    name = _NATIVE.get(of, "")
    if hasattr(np, name):
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else None


def bits_of(x: Any, name: str, of: str) -> Array:
    """Return elements as bits, or as integers. Raises OperandError."""
    native, bits = native_of(of), np.dtype(_BITS[of])
    if name == "C" and isinstance(x, int | float) and native is not None:
        x = native.type(x)
    if not isinstance(x, np.ndarray | np.generic):
        raise OperandError(f"{name} is a {type(x).__name__}; write an array of {_expected(of)}")
    if x.dtype == np.bool_ and of == "b1":
        return np.asarray(x, np.uint8)
    if x.dtype not in (native, bits):
        raise OperandError(f"{name} is {x.dtype}; {of} is {_expected(of)}")
    found = np.asarray(x).view(bits)
    least, most = _RANGES.get(of, (None, None))
    if least is not None and found.size and not (least <= found.min() and found.max() <= most):
        raise OperandError(f"{name} has elements from {found.min()} to {found.max()}; {of} has {least} to {most}")
    return found


def elements_of(bits: Array, of: str) -> Array:
    """Return bits as elements: of a dtype of NumPy or ml_dtypes where there is one, else as integers or bits."""
    integers, native = np.dtype(_BITS[of]), native_of(of)
    if integers.kind == "i":
        unused = 8 - ELEMENTS[of].bits
        signed: Array = (bits.astype(np.uint8) << np.uint8(unused)).view(np.int8) >> np.int8(unused)
        return signed
    found = bits.astype(integers)
    return found.view(native) if native is not None else found


def _expected(of: str) -> str:
    return f"{_NATIVE[of]} or {_BITS[of]} (bits)" if _NATIVE.get(of, _BITS[of]) != _BITS[of] else _BITS[of]
