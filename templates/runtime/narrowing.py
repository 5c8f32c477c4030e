"""Conversions from a narrow format to a native floating-point type and back, rounding once."""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

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
from .encoding import flushed
from .rounding import flush, is_tiny, step
from .selection import replace

HIGH_WORD = 1 if sys.byteorder == "little" else 0


@cache
def _values(f: Format, dtype: np.dtype[Any], daz: bool) -> Array:
    """Return every value of a format of at most 16 bits in the order of its patterns: `dtype` [2**width]."""
    value = (_of_short_exponents if f.exponent_bits <= 8 else _of_any)(f, daz).astype(dtype)
    value.flags.writeable = False
    return value


def _of_short_exponents(f: Format, daz: bool) -> Array:
    """Return the values in float32. It takes few steps and small arrays, because a first call waits for them."""
    u32, cut = np.uint32, BINARY32.fraction_bits - f.fraction_bits
    bits = np.arange(1 << f.width, dtype=u32)
    size = bits & u32(f.magnitude_mask)
    value = (size << u32(cut)).view(np.float32)
    # The fields are binary32's but for the bias, which a power of two corrects, for subnormal numbers too.
    if f.bias != BINARY32.bias:
        value *= np.float32(2.0 ** (BINARY32.bias - f.bias))
    found = value.view(u32)
    if daz:
        found[size < u32(f.smallest_normal)] = 0
    found[size == u32(f.infinity)] = BINARY32.infinity
    found[size > u32(f.infinity)] = BINARY32.nan
    found |= (bits >> u32(f.width - 1)) << u32(31)
    return value


def _of_any(f: Format, daz: bool) -> Array:
    bits = np.arange(1 << f.width, dtype=np.int64)
    fraction = bits & int(f.fraction_mask)
    exponent = (bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1)
    below = 0 if daz else fraction
    significand = np.where(exponent == 0, below, fraction + (1 << f.fraction_bits)).astype(np.float64)
    value = np.ldexp(significand, np.maximum(exponent, 1) - f.bias - f.fraction_bits)
    value = np.where(exponent == (1 << f.exponent_bits) - 1, np.where(fraction == 0, np.inf, np.nan), value)
    return np.copysign(value, np.where(bits >> (f.width - 1), -1.0, 1.0))


def widen(x: Array, f: Format, dtype: np.dtype[Any], daz: bool = False) -> Array:
    """Return the values of `x`, bits of the narrow or native format `f`, in the native type `dtype`, which has all of
    them.

    With `daz`, subnormal numbers count as zeros of their sign."""
    if f.native is None and not _is_upper_half(f):
        # Any index of the unsigned type is in range; "wrap" spares the check.
        return _values(f, dtype, daz).take(x, mode="wrap")
    if daz:
        x = flushed(x, f)
    if f.native is not None:
        return x.view(f.native).astype(dtype, copy=False)
    upper = x.astype(np.uint32)
    upper <<= np.uint32(16)
    return upper.view(np.float32).astype(dtype, copy=False)


def _is_upper_half(f: Format) -> bool:
    """Return whether a pattern is the upper half of a binary32."""
    return f.width == 16 and f.exponent_bits == BINARY32.exponent_bits


def narrow(value: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """Return native values, exact or rounded to odd, rounded to a narrow format.

    `value`: float32 or float64 with at least two bits more than `f` and an exponent range no smaller. Returns bits of
    `f` with NaNs canonical; with `ftz`, tiny results are zeros.
    """
    if f.native is not None:
        bits = _narrow_by_cast(value, f, mode)
    elif value.dtype == np.float32 and _is_upper_half(f):
        bits = _narrow_to_upper_half(value, f, mode)
    elif value.dtype == np.float32 and f.exponent_bits < 8 and mode == roundTiesToEven:
        bits = _narrow_by_addition(value, f)
    else:
        bits = _narrow_by_integers(value, f, mode)
    if ftz:
        flush(bits, f, lambda lanes: is_tiny(value[lanes], f, mode))
    return bits


def single_to_odd(value: Array) -> Array:
    """Return float64 as float32, rounded to odd."""
    result = value.astype(np.float32)
    back = result.astype(np.float64)
    bits = result.view(np.uint32)
    bits -= np.abs(back) > np.abs(value)
    bits |= back != value
    return result


def _sticky_tie(value: Array) -> Array:
    """Return finite values with the last bit set: ties then round away, and nothing else changes."""
    unsigned = np.dtype(f"u{value.dtype.itemsize}")
    return (value.view(unsigned) | np.isfinite(value)).view(value.dtype)


def _narrow_by_cast(value: Array, f: Format, mode: Direction) -> Array:
    if mode == roundTiesToAway:
        value = _sticky_tie(value)
    result = value.astype(np.float32)
    bits = result.view(np.uint32)
    if mode not in (roundTiesToEven, roundTiesToAway):
        back = result.astype(np.float64)
        below = None if mode == roundTowardPositive else value < back
        above = None if mode == roundTowardNegative else value > back
        step(bits, below, above, f, mode)
    return replace(bits, np.isnan(result), f.nan, f)


def _narrow_by_addition(value: Array, f: Format) -> Array:
    """Return float32 rounded to nearest in a format of fewer exponent bits.

    A value is added to a power of two whose last place is the format's at the value, subnormal or not: the addition
    itself rounds it there. The significand is the difference of the two patterns; the exponent is added to it.
    """
    u32 = np.uint32
    cut = BINARY32.fraction_bits - f.fraction_bits
    least = (f.emin + BINARY32.bias) << BINARY32.fraction_bits
    magnitude = value.view(u32) & BINARY32.magnitude_mask
    # From 2**(emax + 1) on everything rounds to infinity. NumPy is several times slower with a scalar operand than with
    # an array.
    bound = np.full_like(magnitude, (f.emax + 1 + BINARY32.bias) << BINARY32.fraction_bits)
    np.minimum(magnitude, bound, out=magnitude)
    anchor = magnitude & BINARY32.infinity
    bound.fill(least)
    np.maximum(anchor, bound, out=anchor)
    exponent = anchor >> u32(cut)
    anchor += u32(cut << BINARY32.fraction_bits)
    rounded = magnitude.view(np.float32)
    rounded += anchor.view(np.float32)
    magnitude -= anchor
    magnitude += exponent
    # The remaining steps work on smaller elements.
    result = magnitude.astype(f.unsigned)
    signs = np.signbit(value).astype(f.unsigned)
    signs <<= f.unsigned.type(f.width - 1)
    signs -= f.unsigned.type((least >> cut) & ((1 << f.width) - 1))
    result += signs
    return replace(result, np.isnan(value), f.nan, f)


def _narrow_to_upper_half(value: Array, f: Format, mode: Direction) -> Array:
    """Return float32 rounded to a format whose patterns are the upper halves. The number added to the lower half
    carries where a value is rounded away from zero, past the largest number to infinity."""
    u32 = np.uint32
    bits = value.view(u32)
    if mode == roundTowardZero:
        carrying = bits
    elif mode == roundTiesToAway:
        carrying = bits + u32(0x8000)
    else:
        if mode == roundTiesToEven:
            carrying = bits >> u32(16)
            carrying &= u32(1)
            carrying += u32(0x7FFF)
        else:
            carrying = bits >> u32(31)
            carrying ^= u32(mode == roundTowardPositive)
            carrying *= u32(0xFFFF)
        carrying += bits
    result = np.right_shift(carrying, u32(16), out=np.empty(value.shape, np.uint16), casting="unsafe")
    return replace(result, np.isnan(value), f.nan, f)


def _narrow_by_integers(value: Array, f: Format, mode: Direction) -> Array:
    carrier = native_format(value.dtype)
    fraction_bits = carrier.fraction_bits
    if carrier.width == 64:
        # The upper word keeps 21 bits of the significand, enough for every format without a cast once its last bit also
        # gathers the rest; half as wide is twice as fast.
        words = np.ascontiguousarray(value).view(np.uint32).reshape(*value.shape, 2)
        bits = words[..., HIGH_WORD] | (words[..., 1 - HIGH_WORD] != 0)
        fraction_bits -= 32
    else:
        bits = value.view(np.uint32)
    u32 = np.uint32
    infinity = u32(((1 << carrier.exponent_bits) - 1) << fraction_bits)
    cut = u32(fraction_bits - f.fraction_bits)
    half = u32(1 << (int(cut) - 1))
    rebias = u32((carrier.bias - f.bias) << fraction_bits)

    magnitude = bits & u32(0x7FFFFFFF)
    negative = bits >> u32(31)
    rounded = magnitude - rebias  # wraps below the normal range; corrected at the end
    limit: Any = u32(f.infinity)
    if mode == roundTiesToEven:
        odd = rounded >> cut
        odd &= u32(1)
        rounded += odd
        rounded += half - u32(1)
    elif mode == roundTiesToAway:
        rounded += half
    elif mode == roundTowardZero:
        limit = u32(f.largest)
    else:
        outward = negative if mode == roundTowardNegative else negative ^ u32(1)
        rounded += outward * u32((1 << int(cut)) - 1)
        limit = outward + u32(f.largest)
    rounded >>= cut
    np.minimum(rounded, limit, out=rounded)
    if mode not in (roundTiesToEven, roundTiesToAway):
        np.copyto(rounded, u32(f.infinity), where=magnitude == infinity)
    if rebias:
        low = magnitude < u32(int(rebias) + (1 << fraction_bits))
        if low.any():
            lanes = low.nonzero()
            rounded[lanes] = _count_subnormal(value[lanes], carrier, f, mode)
    rounded |= negative << u32(f.width - 1)
    result = rounded.astype(f.unsigned)
    return replace(result, magnitude > infinity, f.nan, f)


def _count_subnormal(value: Array, carrier: Format, f: Format, mode: Direction) -> Array:
    """Return |value|, below 2**emin, in units of the smallest subnormal of `f`: uint32.

    A value is added to a power of two whose last place is that unit: the addition itself rounds it to nearest.
    """
    if mode == roundTiesToAway:
        value = _sticky_tie(value)
    size = np.abs(value)
    anchor = value.dtype.type(2.0 ** (f.emin - f.fraction_bits + carrier.fraction_bits))
    total = size + anchor
    count = (total.view(carrier.unsigned) - anchor.view(carrier.unsigned)).astype(np.uint32)
    if mode in (roundTiesToEven, roundTiesToAway):
        return count
    total -= anchor
    if mode == roundTowardZero:
        return count - (total > size)
    outward = np.signbit(value) if mode == roundTowardNegative else ~np.signbit(value)
    return count + (outward & (total < size)) - (~outward & (total > size))
