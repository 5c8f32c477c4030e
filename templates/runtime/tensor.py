"""mma on matrices: as the tensor core of a target adds, in every bit as far as that is known."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from . import formats
from .arithmetic import addition
from .binary import Array, Format, roundTiesToEven
from .index import CATALOG
from .lookup import target_named
from .operands import OperandError
from .sums import Numbers, Row, Sum, chained, numbers, summed
from .tensor_cores import ROWS

_FORM = re.compile(
    r"(?:mma\.sync\.aligned\.)?m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)(?:\.row\.col)?(?P<satfinite>\.satfinite)?"
    r"(?P<types>(?:\.(?:[a-z]+\d\w*))+?)(?P<bits>\.(?:xor|and)\.popc)?"
)
_NATIVE = {
    "f16": "float16", "f32": "float32", "f64": "float64", "tf32": "float32", "bf16": "bfloat16", "s32": "int32",
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e3m2": "float6_e3m2fn",
    "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn",
}  # fmt: skip
# The types of elements as bits, or as integers; of those in a byte that has more bits, what there is.
_BITS = {
    "f16": "uint16", "bf16": "uint16", "f32": "uint32", "tf32": "uint32", "f64": "uint64", "s32": "uint32",
    "e4m3": "uint8", "e5m2": "uint8", "e3m2": "uint8", "e2m3": "uint8", "e2m1": "uint8",
    "s8": "int8", "u8": "uint8", "s4": "int8", "u4": "uint8", "b1": "uint8",
}  # fmt: skip
_RANGES = {"s4": (-8, 7), "u4": (0, 15), "b1": (0, 1), "e2m1": (0, 15), "e3m2": (0, 63), "e2m3": (0, 63)}


class Form(NamedTuple):
    """A form of mma: the shape of the matrices, and the types of the elements of D and C, of A and of B."""

    m: int
    n: int
    k: int
    result: str
    a: str
    b: str
    satfinite: bool = False
    bits: str = ""

    @property
    def shape(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


class NoRuleError(LookupError):
    """The error where it is not known what a target's tensor core does with a form."""


def mma(form: str, a: Any, b: Any, c: Any, *, target: str) -> Any:
    """Return D = A B + C as the tensor core of a target computes it.

        >>> a, b = np.ones((16, 16), np.float16), np.ones((16, 8), np.float16)
        >>> ptxemu.mma("m16n8k16.f32.f16", a, b, np.float32(1), target="H100")[0, 0]
        np.float32(17.0)

    `form` has the shape and the types of D and of A, and that of B where it is another: "m16n8k32.f32.e4m3.e5m2"; or it
    is the whole spelling, as in "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32". A has M rows of K elements, B K
    rows of N, C and D M rows of N; what stands before the last two axes broadcasts. Elements are of NumPy's type or
    one of ml_dtypes, or bits: uint32 of f32 and tf32, uint8 of FP8, FP6 and FP4. C is of the type of D.

    Raises OperandError (a TypeError) for matrices of another shape or type, ValueError for what is no form, NoRuleError
    (a LookupError) where nobody has told what the target computes, UnknownTargetError."""
    f, t = form_named(form), target_named(target)
    arrays = [_bits(x, name, of) for x, name, of in ((a, "A", f.a), (b, "B", f.b), (c, "C", f.result))]
    for x, name, rows, columns in zip(arrays[:2], "AB", (f.m, f.k), (f.k, f.n), strict=True):
        if x.shape[-2:] != (rows, columns):
            raise OperandError(f"{name} of {f.shape} has {rows} rows of {columns}, and this has the shape {x.shape}")
    if arrays[2].ndim and arrays[2].shape[-2:] != (f.m, f.n):
        raise OperandError(f"C of {f.shape} has {f.m} rows of {f.n}, and this has the shape {arrays[2].shape}")
    with np.errstate(all="ignore"):
        found = _computed(f, t, *arrays)
    native = _native(f.result)
    is_native = isinstance(c, int | float) or c.dtype == native
    return found.view(native) if native is not None and is_native else found


def form_named(text: str) -> Form:
    """Return the form of a spelling, in full or in short. Raises ValueError."""
    m = _FORM.fullmatch(text.strip())
    types = m["types"].split(".")[1:] if m else []
    if m is None or not 2 <= len(types) <= 4:
        raise ValueError(f"{text!r} is no form of mma; write its shape and types, as in m16n8k16.f32.f16")
    result, of_a = types[:2]
    of_b = types[2] if len(types) > 2 else of_a
    return Form(
        int(m["m"]), int(m["n"]), int(m["k"]), result, of_a, of_b, m["satfinite"] is not None, (m["bits"] or "")[1:4]
    )


def row_of(f: Form, target: str) -> Row:
    """Return what a target does with a form. Raises NoRuleError."""
    plain = CATALOG.plain(target)
    for r in ROWS:
        fits = (not r.targets or plain in r.targets) and (not r.shapes or f.shape in r.shapes)
        if fits and {f.a, f.b} <= {*r.inputs}:
            return r
    raise NoRuleError(f"nobody has told what {target} computes of {f.shape} with {f.a} and {f.b}")


def _computed(f: Form, target: str, a: Array, b: Array, c: Array) -> Array:
    """Return the bits of D."""
    row = row_of(f, target)
    columns = np.swapaxes(b, -1, -2)[..., None, :, :]
    rows = a[..., :, None, :]
    if row.exact:
        return _integers(f, rows, columns, c)
    result = getattr(formats, f.result)
    if row.chain:
        return chained(rows, columns, c, result)
    x, y = (numbers(z, getattr(formats, t)) for z, t in ((rows, f.a), (columns, f.b)))
    c = np.broadcast_to(c, np.broadcast_shapes(c.shape, (*np.broadcast_shapes(rows.shape, columns.shape)[:-1],)))
    if row.halves:
        return _in_halves(f, target, row.halves, x, y, c, result)
    return summed(x, y, c, result, _sum(row, f.a))


def _sum(row: Row, of: str) -> Sum:
    width = getattr(formats, of).width
    size = 4 if width > 16 else 2 if width > 8 else 1
    return Sum(row.bytes // size, row.bits, row.zero, row.kept)


def _in_halves(f: Form, target: str, through: str, x: Numbers, y: Numbers, c: Array, result: Format) -> Array:
    """Return what becomes of two sums, of the places k with k % 4 < 2 and of the others, and of C added last."""
    s = _sum(row_of(f._replace(a=through, b=through, k=f.k // 2), target), through)
    lower = np.arange(f.k) % 4 < 2
    total = np.zeros_like(c)
    for half in (lower, ~lower):
        total = summed(x.chosen(half), y.chosen(half), total, result, s)
    return addition(total, c, result, roundTiesToEven, False)


def _integers(f: Form, rows: Array, columns: Array, c: Array) -> Array:
    """Return exact sums of 32 bits, which wrap around or are clamped."""
    if f.a == "b1":
        both = rows & columns if f.bits == "and" else rows ^ columns
        total = both.astype(np.int64).sum(-1)
    else:
        total = (rows.astype(np.int64) * columns.astype(np.int64)).sum(-1)
    total = total + c.view(np.int32).astype(np.int64)
    if f.satfinite:
        total = np.clip(total, -(2**31), 2**31 - 1)
    wrapped: Array = total.astype(np.uint64).astype(np.uint32)
    return wrapped


# Elements


def _native(of: str) -> np.dtype[Any] | None:
    """Return the type of NumPy or ml_dtypes that has the elements, if it is installed."""
    name = _NATIVE.get(of, "")
    if hasattr(np, name):
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else None


def _bits(x: Any, name: str, of: str) -> Array:
    """Return elements as bits, or as integers. Raises OperandError."""
    native, bits = _native(of), np.dtype(_BITS[of])
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
    if of == "tf32":
        found = found >> np.uint32(13)
    return found


def _expected(of: str) -> str:
    return f"{_NATIVE[of]} or {_BITS[of]} (bits)" if _NATIVE.get(of, _BITS[of]) != _BITS[of] else _BITS[of]
