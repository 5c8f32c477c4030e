"""A number of any kind as one of any other, rounded once (IEEE 754-2019, 5.4.1, 5.4.2, 5.8)."""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

import numpy as np

from . import arithmetic, wide
from .binary import BINARY64, Array, Direction, Format, roundTiesToEven
from .declared import Declared, encode, flushed, integral, values
from .integers import FixedPoint, Magnitude, read, shifted, u64, write


def as_double(x: Array, f: Format | Declared, daz: bool) -> Array:
    """The values of floats, which float64 has all."""
    if isinstance(f, Declared):
        return values(flushed(x, f) if daz else x, f)
    return arithmetic.convert(x, f, BINARY64, roundTiesToEven, False, daz).view(np.float64)


@arithmetic.elementwise(1)
def convert(
    x: Array,
    source: Format | Declared | FixedPoint,
    f: Format | Declared | FixedPoint,
    mode: Direction,
    ftz: bool,
    daz: bool = False,
) -> Array:
    """A number of any kind as one of any other, rounded once. Integers out of range are the end of it; NaN is 0."""
    if isinstance(source, FixedPoint):
        if isinstance(f, FixedPoint):
            return shifted(read(x, source), f.point - source.point, f, mode)
        return _as_float(read(x, source), source.point, f, mode, ftz)
    value = as_double(x, source, daz)
    if isinstance(f, FixedPoint):
        return _as_integer(value, f, mode)
    if isinstance(f, Declared):
        return encode(value, f, mode, ftz)
    return arithmetic.convert(value.view(np.uint64), BINARY64, f, mode, ftz)


@arithmetic.elementwise(2)
def convertStochastic(x: Array, random: Array, source: Format | Declared, f: Format | Declared, width: int) -> Array:
    """A float as one of another format: away from zero where what is cut off of its last place, and so many random bits
    behind a binary point, make one or more."""
    value = as_double(x, source, False)
    finite = np.isfinite(value)
    size = np.abs(np.where(finite, value, 0))
    # The last place, the one of subnormal numbers at least.
    place = np.maximum(np.frexp(size)[1] - 1, f.emin) - f.fraction_bits
    steps = np.floor(np.ldexp(size, width - place)).astype(np.int64) + random.astype(np.int64)
    kept = np.copysign(np.ldexp((steps >> width).astype(np.float64), place), value)
    exact = np.where(finite, kept, value)
    if isinstance(f, Declared):
        return encode(exact, f, roundTiesToEven, False)
    return arithmetic.convert(exact.view(np.uint64), BINARY64, f, roundTiesToEven, False)


def _as_integer(value: Array, f: FixedPoint, mode: Direction) -> Array:
    negative = np.signbit(value)
    size = integral(np.ldexp(np.abs(value), f.point), negative, mode)
    np.copyto(size, 0, where=np.isnan(value))
    # The largest uint64 is no float64; the power of two behind it is.
    beyond = size >= 2.0**64
    whole = np.where(beyond, 0, size).astype(u64)
    return write(Magnitude(negative, np.where(beyond, ~u64(0), whole)), f)


def _as_float(x: Magnitude, point: int, f: Format | Declared, mode: Direction, ftz: bool) -> Array:
    shift = 64 - wide.bit_length(x.size)
    exponent = np.where(x.size == 0, wide.ZERO_EXPONENT, -point - shift)
    exact = wide.Finite(x.negative, exponent, x.size << (shift.astype(u64) & u64(63)))
    if isinstance(f, Format):
        return wide.pack(exact, False, f, mode, ftz)
    # Cut off to float64's precision, with a last bit for what is lost.
    kept = (x.size >> u64(11)) | ((x.size & u64((1 << 11) - 1)) != 0)
    whole = np.where(x.size >> u64(53) != 0, np.ldexp(kept.astype(np.float64), 11), x.size.astype(np.float64))
    return encode(np.ldexp(np.where(x.negative, -whole, whole), -point), f, mode, ftz)
