"""Conversion of a number of any kind to any other, rounded once (IEEE 754-2019, 5.4.1, 5.4.2, 5.8).

Numbers pass through float32 or float64, whichever has all of the source's; integers of 64 bits are converted directly.
Some formats have so few bits that the upper half of a float32, with its last bit set for bits that were cut off,
decides how a number is rounded to them. Their results are looked up in a table.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np

from . import arithmetic, wide
from .binary import (
    BINARY32,
    Array,
    Direction,
    Format,
    native_format,
    roundTiesToAway,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
    roundTowardZero,
)
from .declared import Declared, as_single, encode, flushed, integral, values
from .integers import FixedPoint, Magnitude, read, shifted, u64
from .narrowing import single_to_odd, widen
from .selection import replace
from .tables import ENOUGH, every_pattern, half

Number: TypeAlias = "Format | Declared | FixedPoint"
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
u32 = np.uint32

# Masks of integers of 64 bits: the bits below the 53 of float64, the last kept bit, and all kept bits; and the number
# from which integers are longer. As arrays, for faster operations.
_PARTS = {
    t.kind: (*(np.array(x, np.int64).view(t) for x in ((1 << 11) - 1, 1 << 11, -1 << 11)), np.array(2.0**53))
    for t in (np.dtype(np.int64), np.dtype(np.uint64))
}


@arithmetic.elementwise(1)
def convert(x: Array, source: Number, f: Number, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return a number of any kind as one of any other, rounded once. For integers, a number out of range becomes the
    nearest end of it, and NaN 0."""
    if source.width <= 8:
        # Any index of the unsigned type is in range; "wrap" spares the check.
        return _every_result(source, f, mode, ftz, daz).take(x, mode="wrap")
    return _convert(x, source, f, mode, ftz, daz)


@cache
def _every_result(source: Number, f: Number, mode: Direction, ftz: bool, daz: bool) -> Array:
    found = _convert(every_pattern(source.width), source, f, mode, ftz, daz)
    found.flags.writeable = False
    return found


def _convert(x: Array, source: Number, f: Number, mode: Direction, ftz: bool, daz: bool) -> Array:
    if isinstance(source, FixedPoint):
        if isinstance(f, FixedPoint):
            return _between(x, source, f, mode)
        if source.width == 64:
            return _from_long(x, source, f, mode, ftz)
        return to_float(_float_of_integer(x, source), f, mode, ftz)
    if isinstance(f, FixedPoint):
        return _to_integer(_float_for_integer(x, source, f, mode, daz), f, mode)
    return to_float(_float_of(x, source, daz), f, mode, ftz)


# From floats


def as_double(x: Array, f: Format | Declared, daz: bool) -> Array:
    """Return the values of floats in float64, which has all of them."""
    if isinstance(f, Format):
        return widen(x, f, _DOUBLE, daz)
    return _float_of(x, f, daz).astype(_DOUBLE, copy=False)


def _float_of(x: Array, f: Format | Declared, daz: bool) -> Array:
    if isinstance(f, Declared):
        x = flushed(x, f) if daz else x
        return as_single(x, f) if f.is_upper_part else values(x, f)
    return widen(x, f, _SINGLE if f.precision <= 24 and f.exponent_bits <= 8 else _DOUBLE, daz)


def _float_for_integer(x: Array, source: Format | Declared, f: FixedPoint, mode: Direction, daz: bool) -> Array:
    # In these directions all numbers below one half become zero, subnormal numbers too.
    vanish = not f.point and source.emin < 0 and mode not in (roundTowardNegative, roundTowardPositive)
    return _float_of(x, source, daz and not vanish)


def to_float(value: Array, f: Format | Declared, mode: Direction, ftz: bool) -> Array:
    """Return float32 or float64, exact or rounded to odd, rounded to a format."""
    if (f.width <= 8 if isinstance(f, Format) else _is_short(f)) and value.size >= ENOUGH:
        return _every_short(f, mode, ftz).take(half(_as_single(value)), mode="wrap")
    if isinstance(f, Format):
        carrier = native_format(value.dtype)
        return arithmetic.convert(value.view(carrier.unsigned), carrier, f, mode, ftz)
    if f.is_upper_part:
        return _upper_part(_as_single(value), f, mode, ftz)
    return encode(value.astype(_DOUBLE, copy=False), f, mode, ftz)


def _as_single(value: Array) -> Array:
    """Return the bits of a float32, or of a float64 rounded to odd to float32."""
    return (value if value.dtype == _SINGLE else single_to_odd(value)).view(u32)


def _is_short(f: Declared) -> bool:
    """Return whether the upper 16 bits of float32, the last one set for bits that were cut off, have two bits more than
    the format."""
    return f.fraction_bits <= 5 and f.emin - f.has_zero * f.fraction_bits >= -127 and f.largest_exponent <= 127


@cache
def _every_short(f: Format | Declared, mode: Direction, ftz: bool) -> Array:
    upper = every_pattern(16).astype(u32) << u32(16)
    if isinstance(f, Format):
        found = arithmetic.convert(upper, BINARY32, f, mode, ftz)
    else:
        found = encode(upper.view(_SINGLE).astype(_DOUBLE), f, mode, ftz)
    found.flags.writeable = False
    return found


def _upper_part(bits: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    cut = BINARY32.fraction_bits - f.fraction_bits
    magnitude = bits & u32(BINARY32.magnitude_mask)
    nan = magnitude > BINARY32.infinity
    places, half = u32((1 << cut) - 1), u32(1 << (cut - 1))
    # Below 2**emin the spacing is as above it; an unbounded exponent would halve it.
    reach: Any = half // u32(2) if mode in (roundTiesToEven, roundTiesToAway) else u32(0)
    if mode == roundTiesToEven:
        rounded = bits >> u32(cut)
        rounded &= u32(1)
        rounded += half - u32(1)
        rounded += magnitude
    elif mode == roundTiesToAway:
        rounded = magnitude + half
    elif mode == roundTowardZero:
        rounded = magnitude.copy()
    else:
        outward = bits >> u32(31)
        outward ^= u32(mode == roundTowardPositive)
        reach = outward * (places >> u32(1))
        rounded = outward * places
        rounded += magnitude
    rounded >>= u32(cut)
    if ftz:
        rounded[magnitude < u32(BINARY32.smallest_normal) - reach] = 0
    bits = bits >> u32(31)
    bits <<= u32(f.width - 1)
    rounded |= bits
    return replace(rounded, nan, u32(f.canonical_nan), BINARY32).astype(f.unsigned, copy=False)


def _to_integer(value: Array, f: FixedPoint, mode: Direction) -> Array:
    if f.point:
        value = value * value.dtype.type(1 << f.point)
    least, largest = f.range
    if value.dtype == _SINGLE and f.width == 32:
        # Only float64 has all integers of 32 bits.
        value = value.astype(_DOUBLE)
    # Casts truncate.
    whole = value if mode == roundTowardZero else _whole(value, mode)
    above = None
    most = float(largest)
    if f.width == 64:
        above = whole >= value.dtype.type(2.0 ** (64 - f.signed))
        most = float(np.nextafter(value.dtype.type(2.0 ** (64 - f.signed)), value.dtype.type(0)))
    whole = np.clip(whole, value.dtype.type(least), value.dtype.type(most))
    nan = np.isnan(whole)
    if nan.any():
        whole[nan.nonzero()] = 0
    if f.width < 64:
        integers = whole.astype(np.int32 if f.width < 32 or f.signed else np.int64)
        return integers.view(f.unsigned) if f.width == 32 and f.signed else integers.astype(f.unsigned)
    result = whole.astype(np.int64 if f.signed else np.uint64).view(u64)
    if above is not None and above.any():
        # NumPy's masked copies take ten times as long.
        rest = above.astype(u64)
        rest *= u64(largest - int(most))
        result |= rest
    return result


def _whole(value: Array, mode: Direction) -> Array:
    if mode == roundTiesToEven:
        return np.rint(value)
    if mode == roundTiesToAway:
        return np.copysign(integral(np.abs(value), np.signbit(value), mode), value)
    return np.floor(value) if mode == roundTowardNegative else np.ceil(value)


# From integers


def _native(x: Array, f: FixedPoint) -> Array:
    return x.view(f"i{x.itemsize}") if f.signed else x


def _float_of_integer(x: Array, f: FixedPoint) -> Array:
    """Return integers of at most 32 bits as floats, exactly."""
    value: Array = _native(x, f).astype(_SINGLE if f.width <= 16 else _DOUBLE)
    return value * value.dtype.type(2.0**-f.point) if f.point else value


def _between(x: Array, source: FixedPoint, f: FixedPoint, mode: Direction) -> Array:
    if source.point != f.point:
        if 64 in (source.width, f.width):
            return shifted(read(x, source), f.point - source.point, f, mode)
        return _to_integer(_float_of_integer(x, source).astype(_DOUBLE), f, mode)
    (least, largest), (low, high) = source.range, f.range
    number = _native(x, source)
    if least < low or largest > high:
        number = np.clip(number, max(least, low), min(largest, high))
    return number.astype(f"{'i' if f.signed else 'u'}{f.unsigned.itemsize}").view(f.unsigned)


@arithmetic.elementwise(2)
def convertStochastic(x: Array, random: Array, source: Format | Declared, f: Format | Declared, width: int) -> Array:
    """Return a float in another format, rounded by random bits: away from zero where the cut-off part, as a fraction of
    the last place, and `width` random bits behind a binary point add up to at least one."""
    value = as_double(x, source, False)
    finite = np.isfinite(value)
    size = np.abs(np.where(finite, value, 0))
    # The last place of a number, or that of subnormal numbers where it is larger.
    place = np.maximum(np.frexp(size)[1] - 1, f.emin) - f.fraction_bits
    steps = np.floor(np.ldexp(size, width - place)).astype(np.int64) + random.astype(np.int64)
    kept = np.copysign(np.ldexp((steps >> width).astype(np.float64), place), value)
    return to_float(np.where(finite, kept, value), f, roundTiesToEven, False)


@arithmetic.elementwise(2)
def convertBounded(x: Array, random: Array, most: Array, f: Format | Declared, width: int) -> Array:
    """Return `convertStochastic` of binary32, at most `most`, which is an infinity or the bound of x. The format has
    subnormal numbers, and the place of the last random bit is one of binary32's."""
    cut = BINARY32.fraction_bits - f.fraction_bits
    size = x & BINARY32.magnitude_mask
    low = None
    if f.emin > BINARY32.emin:
        # Below 2**emin the spacing is as above it. Added to that power, a number has this spacing, and the exponent
        # just below its own.
        least = u32((f.emin + BINARY32.bias) << BINARY32.fraction_bits)
        low = size < least
        power = low.astype(u32)
        power *= least
        size = _sum_toward_zero(size.view(_SINGLE), power.view(_SINGLE)).view(u32)
    added = random.astype(u32)
    if width < cut:
        added <<= u32(cut - width)
    added += size
    added >>= u32(cut)
    rebias = (f.emin - BINARY32.emin) << f.fraction_bits
    # NumPy is several times slower with a scalar operand than with an array.
    np.minimum(added, np.full_like(added, int(most) + rebias), out=added)
    # The remaining steps work on smaller elements.
    result = added.astype(f.unsigned)
    if rebias:
        result -= f.unsigned.type(rebias & ((1 << 8 * f.unsigned.itemsize) - 1))
    if low is not None:
        result -= _where(low, 1 << f.fraction_bits, f)
    result |= _where(np.signbit(x.view(_SINGLE)), 1 << (f.width - 1), f)
    return replace(result, np.isnan(x.view(_SINGLE)), f.unsigned.type(f.canonical_nan), BINARY32)


def _where(condition: Array, pattern: int, f: Format | Declared) -> Array:
    """Return the pattern where the condition is true, else 0. NumPy takes ten times as long to shift bytes."""
    found = np.negative(condition.view(np.int8)).astype(f"i{f.unsigned.itemsize}", copy=False).view(f.unsigned)
    found &= f.unsigned.type(pattern)
    return found


def _sum_toward_zero(x: Array, y: Array) -> Array:
    """Return the sum of magnitudes in binary32, rounded toward zero; the second is the larger, or zero."""
    total = x + y
    above = x - (total - y) < 0
    total.view(u32)[...] -= above
    return total


def _from_long(x: Array, source: FixedPoint, f: Format | Declared, mode: Direction, ftz: bool) -> Array:
    number = _native(x, source)
    native = f.native if isinstance(f, Format) else None
    if native is not None and mode == roundTiesToEven:
        return _scaled(number.astype(native), source).view(native_format(native).unsigned)
    # None compares equal to float64, NumPy's default type.
    if (native is None or native != _DOUBLE) and not source.point:
        return to_float(_cut(number), f, mode, ftz)
    exact = read(x, source)
    if isinstance(f, Format):
        return _packed(exact, source.point, f, mode, ftz)
    # Truncated to float64's precision, with the last bit set for what is lost.
    kept = (exact.size >> u64(11)) | ((exact.size & u64((1 << 11) - 1)) != 0)
    long = exact.size >> u64(53) != 0
    whole = np.where(long, np.ldexp(kept.astype(np.float64), 11), exact.size.astype(np.float64))
    return to_float(np.ldexp(np.where(exact.negative, -whole, whole), -source.point), f, mode, ftz)


def _cut(number: Array) -> Array:
    """Return integers of 64 bits in float64, rounded to odd where they are too long."""
    rest, last, others, long = _PARTS[number.dtype.kind]
    value: Array = number.astype(_DOUBLE)
    odd = (((number & rest) + rest) & last) | (number & others)
    return np.where(np.abs(value) < long, value, odd.astype(_DOUBLE))


def _scaled(value: Array, source: FixedPoint) -> Array:
    return value * value.dtype.type(2.0**-source.point) if source.point else value


def _packed(x: Magnitude, point: int, f: Format, mode: Direction, ftz: bool) -> Array:
    shift = 64 - wide.bit_length(x.size)
    exponent = np.where(x.size == 0, wide.ZERO_EXPONENT, -point - shift)
    exact = wide.Finite(x.negative, exponent, x.size << (shift.astype(u64) & u64(63)))
    return wide.pack(exact, False, f, mode, ftz)
