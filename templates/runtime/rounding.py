"""From a narrow format to a native floating-point type and back.

A narrow format computes in its carrier (`Format.carrier`). Whatever is inexact there is rounded to odd: truncated,
with the last bit set to say that something was cut off. `narrow` then rounds once more, in any direction, and gives
what one rounding of the exact value gives.
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

import sys
from functools import cache
from typing import Any, Protocol

import numpy as np

from . import environment
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

HIGH_WORD = 1 if sys.byteorder == "little" else 0


class EdgeTest(Protocol):
    """Of the lanes at these indices, whose results are +-2**emin: which were below it when rounded unboundedly?"""

    def __call__(self, lanes: tuple[Array, ...], /) -> Array: ...


@cache
def _values(f: Format, dtype: np.dtype[Any], daz: bool) -> Array:
    """Every value of a format of at most 16 bits in the order of its patterns: `dtype` [2**width]."""
    bits = np.arange(1 << f.width, dtype=np.int64)
    fraction = bits & int(f.fraction_mask)
    exponent = (bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1)
    below = 0 if daz else fraction
    significand = np.where(exponent == 0, below, fraction + (1 << f.fraction_bits)).astype(np.float64)
    value = np.ldexp(significand, np.maximum(exponent, 1) - f.bias - f.fraction_bits)
    value = np.where(exponent == (1 << f.exponent_bits) - 1, np.where(fraction == 0, np.inf, np.nan), value)
    value = np.copysign(value, np.where(bits >> (f.width - 1), -1.0, 1.0)).astype(dtype)
    value.flags.writeable = False
    return value


def flushed(x: Array, f: Format) -> Array:
    """x, and a zero of its sign where x is subnormal."""
    # Zero wraps around to the largest integer.
    subnormal = (x & f.magnitude_mask) - f.unsigned.type(1) < f.fraction_mask
    if not subnormal.any():
        return x
    kept = mask(subnormal, f)
    kept &= f.magnitude_mask
    return x & ~kept


def widen(x: Array, f: Format, dtype: np.dtype[Any], daz: bool = False) -> Array:
    """The values of `x`, bits of the narrow or native format `f`, in the native type `dtype`, which holds them all.

    With `daz`, subnormal numbers count as zeros of their sign."""
    if daz and f.native is not None and f.native != dtype and environment.can(roundTiesToEven, False, True):
        with environment.environment(roundTiesToEven, False, True):
            return x.view(f.native).astype(dtype)
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
    """Is a pattern the upper half of a binary32?"""
    return f.width == 16 and f.exponent_bits == BINARY32.exponent_bits


def mask(condition: Array, f: Format) -> Array:
    """All bits of the unsigned type of `f` set where the condition holds, none elsewhere."""
    signed = np.negative(condition.view(np.int8)).astype(f.signed)
    return signed.view(f.unsigned)


def replace(bits: Array, condition: Array, pattern: Any, f: Format) -> Array:
    """`bits`, reused, with a pattern where the condition holds, which may be reused too.

    NumPy's masked copies cost ten times an arithmetic operation where no processor can foresee the mask; where many
    lanes are concerned, arithmetic does it.
    """
    bits = np.asarray(bits)  # what is made of constants is a scalar
    count = np.count_nonzero(condition)
    # By what either takes for patterns of 2, 4 and 8 bytes
    few = bits.size * bits.itemsize // 200
    if count <= few or count == bits.size:
        if count:
            np.copyto(bits, pattern, where=condition)
        return bits
    if bits.itemsize == 8:
        # Processors make NaNs of their own, which may be the canonical ones already.
        condition &= bits != pattern
        if np.count_nonzero(condition) <= few:
            np.copyto(bits, pattern, where=condition)
            return bits
    chosen = mask(condition, f)
    bits |= chosen
    chosen &= ~pattern
    bits ^= chosen
    return bits


def canonicalise(value: Array, f: Format) -> Array:
    """The bits of a fresh native value, every NaN the canonical one."""
    return replace(value.view(f.unsigned), np.isnan(value), f.nan, f)


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """x + y to nearest, and what that lacks (Knuth), which is NaN where the sum is not finite."""
    total = x + y
    y_part = total - x
    x_part = total - y_part
    np.subtract(x, x_part, out=x_part)
    np.subtract(y, y_part, out=y_part)
    x_part += y_part
    return total, x_part


def _halves(value: Array) -> tuple[Array, Array]:
    """The value as a sum of two of 26 bits, so that products of halves are exact."""
    bits = value.view(np.uint64) + np.uint64(1 << 26)
    bits &= np.uint64(0xFFFFFFFFF8000000)
    high = bits.view(np.float64)
    return high, value - high


def two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """x * y to nearest and what that lacks (Dekker): float64, far from over- and underflow."""
    product = x * y
    (x_high, x_low), (y_high, y_low) = _halves(x), _halves(y)
    error = x_high * y_high
    error -= product
    x_high *= y_low
    error += x_high
    y_high *= x_low
    error += y_high
    x_low *= y_low
    error += x_low
    return product, error


def round_to_odd(value: Array, error: Array) -> Array:
    """The exact value + error, rounded to odd.

    `value` is the exact value to nearest, `error` has the sign of what it lacks (NaN: leave it). `value` is reused.
    """
    bits: Array = value.view(np.uint32 if value.dtype == np.float32 else np.uint64)
    away = (error < 0) == (value > 0)
    inexact = np.abs(error) > 0
    away &= inexact
    bits -= away
    bits |= inexact
    return value


def sum_to_odd(x: Array, y: Array) -> Array:
    """x + y, rounded to odd; an exact zero sum of opposite signs is +0."""
    if not environment.STEERS:
        return round_to_odd(*two_sum(x, y))
    with environment.environment(roundTowardNegative):
        low = x + y
    with environment.environment(roundTowardPositive):
        high = x + y
    return _odd_of(low, high)


def _odd_of(low: Array, high: Array) -> Array:
    """Of a value rounded down and up, the odd one; `low` is reused."""
    # Neighbours, of which the one nearer to zero has the smaller pattern and either is odd; or the same; or -0 and +0.
    nearer, other = (bits.view(native_format(bits.dtype).unsigned) for bits in (low, high))
    inexact = nearer ^ other
    inexact &= inexact.dtype.type(1)
    np.minimum(nearer, other, out=nearer)
    nearer |= inexact
    return low


def step(bits: Array, below: Array | None, above: Array | None, f: Format, mode: Direction) -> Array:
    """Move faithfully rounded results to the neighbour that a directed rounding asks for.

    `below` and `above` are bool arrays: the exact value is smaller or larger than the result. Each may be None where
    the direction does not look at it: above for roundTowardNegative, below for roundTowardPositive. `bits` is reused.
    Infinity steps to the largest finite number and the smallest subnormal to zero, as neighbouring patterns do.
    """
    signed = bits.view(f.signed)
    if mode == roundTowardZero:
        assert below is not None and above is not None
        bits -= np.where(signed < 0, above, below)
        return bits
    outward = signed >> f.signed.type(f.width - 1)
    outward |= f.signed.type(1)
    if mode == roundTowardNegative:
        assert below is not None
        outward *= below
        signed -= outward
    else:
        assert mode == roundTowardPositive and above is not None
        outward *= above
        signed += outward
    return bits


def flush(bits: Array, f: Format, edge_is_tiny: EdgeTest) -> Array:
    """Replace tiny results by a zero of their sign; `bits` is reused.

    Tiny is judged after rounding with an unbounded exponent (7.5 a). The ordinary result already tells, except where
    it is +-2**emin: only there an exact value just below may have been rounded up by the subnormals' coarser steps.
    """
    magnitude = bits & f.magnitude_mask
    tiny = magnitude < f.smallest_normal
    if tiny.any():
        magnitude &= mask(tiny, f)
        bits ^= magnitude
        magnitude = bits & f.magnitude_mask
    edge = magnitude == f.smallest_normal
    if edge.any():
        lanes = edge.nonzero()
        bits[lanes] &= np.where(edge_is_tiny(lanes), f.sign_mask, ~f.unsigned.type(0))
    return bits


def is_tiny(value: Array, f: Format, mode: Direction) -> Array:
    """Is the value (exact or rounded to odd), rounded to the precision of `f` alone, below 2**emin? Zero is."""
    least = value.dtype.type(2.0**f.emin)
    below = value.dtype.type(2.0**f.emin - 2.0 ** (f.emin - f.precision))
    middle = value.dtype.type(2.0**f.emin - 2.0 ** (f.emin - f.precision - 1))
    size = np.abs(value)
    if mode in (roundTiesToEven, roundTiesToAway):
        return size < middle  # 2**emin is even: a tie goes up either way
    if mode == roundTowardZero:
        return size < least
    outward = np.signbit(value) if mode == roundTowardNegative else ~np.signbit(value)
    return np.where(outward, size <= below, size < least)


def narrow(value: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """Round native values, exact or rounded to odd, to a narrow format.

    `value`: float32 or float64 with at least two bits more than `f` and an exponent range no smaller. Returns bits of
    `f`, every NaN the canonical one; with `ftz`, tiny results are zeros.
    """
    if f.native is not None and environment.can(mode, ftz):
        with environment.environment(mode, ftz):
            result = value.astype(f.native)
        return canonicalise(result, f)
    if f.native is None and value.dtype == np.float64 and f.exponent_bits <= 8 and f.precision <= 22:
        value = _single_to_odd(value) if environment.STEERS else value
    if f.native is not None:
        bits = _narrow_by_cast(value, f, mode)
    elif value.dtype == np.float32 and f.exponent_bits < 8 and mode == roundTiesToEven:
        bits = _narrow_by_addition(value, f)
    else:
        bits = _narrow_by_integers(value, f, mode)
    if ftz:
        flush(bits, f, lambda lanes: is_tiny(value[lanes], f, mode))
    return bits


def _single_to_odd(value: Array) -> Array:
    """float64 as float32, rounded to odd."""
    with environment.environment(roundTowardNegative):
        low = value.astype(np.float32)
    with environment.environment(roundTowardPositive):
        high = value.astype(np.float32)
    return _odd_of(low, high)


def _sticky_tie(value: Array) -> Array:
    """Set the last bit of finite values, so that ties round away and nothing else changes."""
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
    """float32 to nearest even in a format of fewer exponent bits.

    Added to a power of two whose last place is the format's at the value, subnormal or not, a value is rounded there by
    the addition itself; what the sum's pattern has beyond the power's is the significand. The exponent is added to it.
    """
    u32 = np.uint32
    bits = value.view(u32)
    cut = BINARY32.fraction_bits - f.fraction_bits
    least = (f.emin + BINARY32.bias) << BINARY32.fraction_bits
    magnitude = bits & BINARY32.magnitude_mask
    # From 2**(emax + 1) on everything rounds to infinity. NumPy takes several times as long for one number as for an
    # array of it.
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
    # The rest of the arithmetic is on fewer bytes.
    result = magnitude.astype(f.unsigned)
    signs = np.signbit(value).astype(f.unsigned)
    signs <<= f.unsigned.type(f.width - 1)
    signs -= f.unsigned.type((least >> cut) & ((1 << f.width) - 1))
    result += signs
    return replace(result, np.isnan(value), f.nan, f)


def _narrow_by_integers(value: Array, f: Format, mode: Direction) -> Array:
    carrier = native_format(value.dtype)
    fraction_bits = carrier.fraction_bits
    if carrier.width == 64:
        # The upper word keeps 21 bits of the significand, enough for every format without a cast once the rest is
        # gathered in its last bit; half as wide is twice as fast.
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
    rounded = magnitude - rebias  # wraps below the normal range: mended at the end
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
    """|value|, below 2**emin, in units of the smallest subnormal of `f`: uint32.

    Added to a power of two whose last place is that unit, a value is rounded to nearest by the addition itself.
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
