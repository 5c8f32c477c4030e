"""Arithmetic in any format with integers of 64 bits.

Every operation computes its exact result, or enough of it, and rounds that once. It serves formats without a carrier,
and lanes (subnormal, overflowing, cancelling) that faster code leaves aside. Operands are arrays of one dimension or
more, of one shape. Counts of bits and exponents are int64, significands uint64.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .binary import (
    Array,
    Direction,
    Format,
    roundTiesToAway,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
    roundTowardZero,
)

u64 = np.uint64
ONE = u64(1)
ZERO_EXPONENT = -(1 << 20)  # of a zero, below the exponent of any sum or product


class Finite(NamedTuple):
    """(-1)**negative * significand * 2**exponent; bit 63 of the significand is set unless it is zero."""

    negative: Array
    exponent: Array
    significand: Array


class Double(NamedTuple):
    """(-1)**negative * (high * 2**64 + low) * 2**exponent; bit 62 of high is set unless both are zero."""

    negative: Array
    exponent: Array
    high: Array
    low: Array


def bit_length(x: Array) -> Array:
    """Return the number of bits that each uint64 needs, as int64."""
    # With the second bit cleared, the conversion cannot round up to the next power of two.
    leading = (x & ~(x >> ONE)).astype(np.float64).view(np.int64)
    return np.maximum((leading >> 52) - 1022, 0)


def unpack(x: Array, f: Format) -> Finite:
    """Return finite numbers taken apart and normalised; the result for infinities and NaNs is unspecified."""
    bits = x.astype(u64)
    fraction = bits & u64(f.fraction_mask)
    exponent = ((bits & u64(f.magnitude_mask)) >> u64(f.fraction_bits)).astype(np.int64)
    significand = fraction | ((exponent > 0).astype(u64) << u64(f.fraction_bits))
    shift = 64 - bit_length(significand)
    exponent = np.maximum(exponent, 1) - f.bias - f.fraction_bits - shift
    exponent = np.where(significand == 0, ZERO_EXPONENT, exponent)
    return Finite(x > f.magnitude_mask, exponent, significand << shift.astype(u64))


def drop(x: Array, count: Array, negative: Array, mode: Direction) -> Array:
    """Return uint64 significands without their last `count` (1 to 63) bits, rounded."""
    kept = x >> count
    rest = x & ((ONE << count) - ONE)
    half = ONE << (count - ONE)
    if mode == roundTiesToEven:
        return kept + ((rest > half) | ((rest == half) & ((kept & ONE) == ONE)))
    if mode == roundTiesToAway:
        return kept + (rest >= half)
    if mode == roundTowardZero:
        return kept
    outward = negative if mode == roundTowardNegative else ~negative
    return kept + ((rest != 0) & outward)


def pack(x: Finite, sticky: Array | bool, f: Format, mode: Direction, ftz: bool) -> Array:
    """Return a number rounded to the format: bits. `sticky`: the exact value is above the significand by less than its
    last place."""
    # The last two bits and the sticky bit become one, which leaves room for counts down to the last place and its half.
    high = (x.significand >> u64(2)) | ((x.significand & u64(3)) != 0) | sticky
    top = x.exponent + 63
    usual = 62 - f.precision
    below = np.clip(f.emin - top, 0, f.precision + 1)
    kept = drop(high, (usual + below).astype(u64), x.negative, mode)
    biased = np.clip(top - f.emin, 0, 1 << f.exponent_bits).astype(u64)
    bits = (biased << u64(f.fraction_bits)) + kept
    to_infinity: Array | bool = mode in (roundTiesToEven, roundTiesToAway)
    if mode in (roundTowardNegative, roundTowardPositive):
        to_infinity = x.negative if mode == roundTowardNegative else ~x.negative
    bits = np.where(bits < u64(f.infinity), bits, np.where(to_infinity, u64(f.infinity), u64(f.largest)))
    if ftz:
        unbounded = drop(high, np.full_like(high, usual), x.negative, mode)
        reaches = (top == f.emin - 1) & (unbounded == u64(1 << f.precision))
        bits = np.where((top < f.emin) & ~reaches, u64(0), bits)
    return (bits | (x.negative.astype(u64) << u64(f.width - 1))).astype(f.unsigned)


def _is_nan(x: Array, f: Format) -> Array:
    return (x & f.magnitude_mask) > f.infinity


def _is_infinite(x: Array, f: Format) -> Array:
    return (x & f.magnitude_mask) == f.infinity


def _is_zero(x: Array, f: Format) -> Array:
    return (x & f.magnitude_mask) == 0


def _multiply(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the product of uint64s as its upper and lower 64 bits."""
    low_mask, word = u64(0xFFFFFFFF), u64(32)
    x_high, x_low, y_high, y_low = x >> word, x & low_mask, y >> word, y & low_mask
    low = x_low * y_low
    middle = x_high * y_low + (low >> word)
    other = x_low * y_high + (middle & low_mask)
    return x_high * y_high + (middle >> word) + (other >> word), x * y


def _shift_right(high: Array, low: Array, count: Array) -> tuple[Array, Array, Array]:
    """Return 128 bits shifted right by 0 to 128 places, and whether a set bit was shifted out.

    The cases of 0, 64 and 128 places rely on NumPy, which shifts by 64 and more to zero.
    """
    places = count.astype(u64)
    far = places >= u64(64)
    near_rest, far_rest = u64(64) - places, u64(128) - places
    fallen = np.where(far, (high << far_rest) | low, low << near_rest) != 0
    new_low = np.where(far, high >> (places - u64(64)), (low >> places) | (high << near_rest))
    return np.where(far, u64(0), high >> places), new_low, fallen


def _sum(x: Double, y: Double, f: Format, mode: Direction, ftz: bool) -> Array:
    """Return x + y, rounded. Both significands end in twenty zeros or more."""
    swap = (x.exponent < y.exponent) | (
        (x.exponent == y.exponent) & ((x.high < y.high) | ((x.high == y.high) & (x.low < y.low)))
    )
    large = Double(*(np.where(swap, b, a) for a, b in zip(x, y, strict=True)))
    small = Double(*(np.where(swap, a, b) for a, b in zip(x, y, strict=True)))
    high, low, fallen = _shift_right(small.high, small.low, np.clip(large.exponent - small.exponent, 0, 128))
    opposite = large.negative != small.negative

    sum_low = large.low + low
    sum_high = large.high + high + (sum_low < low)
    # Bits shifted out of the subtrahend borrow a whole unit. They are less than that, so a sticky rest remains above.
    borrowed = large.low - low
    difference_low = borrowed - fallen
    difference_high = large.high - high - (large.low < low) - (borrowed < fallen)
    high = np.where(opposite, difference_high, sum_high)
    low = np.where(opposite, difference_low, sum_low)

    # Bits are shifted out only of a far smaller summand; then at most one leading bit cancels.
    vanished = high == 0
    shift = np.where(vanished, 128 - bit_length(low), 64 - bit_length(high))
    near = (shift & 63).astype(u64)
    normal_high = np.where(vanished, low << near, (high << near) | (low >> (u64(64) - near)))
    rest = np.where(vanished, u64(0), low << near)
    zero = (high | low) == 0
    exponent = np.where(zero, ZERO_EXPONENT, large.exponent + 64 - shift)
    # An exact zero sum of opposite signs is +0, or -0 under roundTowardNegative (6.3).
    negative = np.where(zero & opposite, mode == roundTowardNegative, large.negative)
    return pack(Finite(negative, exponent, normal_high), (rest != 0) | fallen, f, mode, ftz)


def _as_double(x: Finite) -> Double:
    """Return a finite number as a Double, exactly: the significand of any format ends in zeros."""
    return Double(x.negative, x.exponent - 63, x.significand >> ONE, np.zeros_like(x.significand))


def _product(x: Finite, y: Finite) -> Double:
    high, low = _multiply(x.significand, y.significand >> ONE)
    short = ((high >> u64(62)) == 0).astype(u64)
    exponent = x.exponent + y.exponent + 1 - short.astype(np.int64)
    high = (high << short) | (low >> (u64(64) - short))
    zero = high == 0
    return Double(x.negative ^ y.negative, np.where(zero, ZERO_EXPONENT, exponent), high, low << short)


def addition(x: Array, y: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    result = _sum(_as_double(unpack(x, f)), _as_double(unpack(y, f)), f, mode, ftz)
    x_infinite, y_infinite = _is_infinite(x, f), _is_infinite(y, f)
    result = np.where(y_infinite, y, result)
    result = np.where(x_infinite, x, result)
    nan = _is_nan(x, f) | _is_nan(y, f) | (x_infinite & y_infinite & (x != y))
    return np.where(nan, f.nan, result)


def _product_specials(x: Array, y: Array, f: Format) -> tuple[Array, Array]:
    """Return where x * y is infinite, and where it is NaN."""
    infinite = _is_infinite(x, f) | _is_infinite(y, f)
    nan = _is_nan(x, f) | _is_nan(y, f) | (infinite & (_is_zero(x, f) | _is_zero(y, f)))
    return infinite, nan


def multiplication(x: Array, y: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    product = _product(unpack(x, f), unpack(y, f))
    significand = (product.high << ONE) | (product.low >> u64(63))
    exact = Finite(product.negative, product.exponent + 63, significand)
    result = pack(exact, (product.low << ONE) != 0, f, mode, ftz)
    infinite, nan = _product_specials(x, y, f)
    result = np.where(infinite, f.infinity | ((x ^ y) & f.sign_mask), result)
    return np.where(nan, f.nan, result)


def fusedMultiplyAdd(x: Array, y: Array, z: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    result = _sum(_product(unpack(x, f), unpack(y, f)), _as_double(unpack(z, f)), f, mode, ftz)
    infinite, nan = _product_specials(x, y, f)
    product = f.infinity | ((x ^ y) & f.sign_mask)
    z_infinite = _is_infinite(z, f)
    result = np.where(z_infinite, z, result)
    result = np.where(infinite, product, result)
    nan |= _is_nan(z, f) | (infinite & z_infinite & (product != z))
    return np.where(nan, f.nan, result)


def _quarters(root: Array, remainder: Array) -> Array:
    """Return a root or quotient of 53 bits to nearest and the sign of its error as a significand with a bit set between
    two neighbours."""
    return (((root << u64(2)) + (remainder > 0)) - (remainder < 0)) << u64(9)


def division(x: Array, y: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    a, b = unpack(x, f), unpack(y, f)
    dividend, divisor = a.significand >> u64(11), b.significand >> u64(11)
    divisor = np.where(divisor == 0, ONE, divisor)
    quotient = dividend.astype(np.float64) / divisor.astype(np.float64)
    places = np.where(dividend < divisor, 53, 52)
    root = np.ldexp(quotient, places).astype(u64)
    # The remainder is smaller than the divisor: it is right though its two terms may wrap around.
    remainder = ((dividend << places.astype(u64)) - root * divisor).view(np.int64)
    significand = _quarters(root, remainder)
    short = (significand >> u64(63)) == 0
    significand <<= short.astype(u64)
    exponent = np.where(a.significand == 0, ZERO_EXPONENT, a.exponent - b.exponent - places - 11 - short)
    result = pack(Finite(a.negative ^ b.negative, exponent, significand), False, f, mode, ftz)
    sign = (x ^ y) & f.sign_mask
    x_infinite, y_infinite = _is_infinite(x, f), _is_infinite(y, f)
    x_zero, y_zero = _is_zero(x, f), _is_zero(y, f)
    result = np.where(x_infinite | y_zero, f.infinity | sign, result)
    result = np.where(y_infinite, sign, result)
    nan = _is_nan(x, f) | _is_nan(y, f) | (x_infinite & y_infinite) | (x_zero & y_zero)
    return np.where(nan, f.nan, result)


def squareRoot(x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    a = unpack(x, f)
    # An integer of 105 or 106 bits times an even power of two, so that the root has 53 bits.
    odd = (a.exponent + 11) & 1
    places = 52 + odd
    radicand = a.significand >> u64(11)
    root = np.sqrt(np.ldexp(radicand.astype(np.float64), places)).astype(u64)
    remainder = ((radicand << places.astype(u64)) - root * root).view(np.int64)
    significand = _quarters(root, remainder)
    short = (significand >> u64(63)) == 0
    significand <<= short.astype(u64)
    exponent = np.where(a.significand == 0, ZERO_EXPONENT, (a.exponent + 11 - places) // 2 - 11 - short)
    result = pack(Finite(a.negative, exponent, significand), False, f, mode, ftz)
    result = np.where(_is_infinite(x, f), f.infinity, result)
    nan = _is_nan(x, f) | (a.negative & ~_is_zero(x, f))
    return np.where(nan, f.nan, result)


def convert(x: Array, source: Format, f: Format, mode: Direction, ftz: bool) -> Array:
    result = pack(unpack(x, source), False, f, mode, ftz)
    sign: Any = (x > source.magnitude_mask).astype(f.unsigned) << f.unsigned.type(f.width - 1)
    result = np.where(_is_infinite(x, source), f.infinity | sign, result)
    return np.where(_is_nan(x, source), f.nan, result)
