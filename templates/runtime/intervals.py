"""Intervals of float64 that contain the exact value of an elementary function: most lanes are decided at once.

For formats of at most 24 bits of precision and 8 of exponent. The ends are in either order. The intervals of zeros,
infinities and NaNs give the right results to nearest; those of negative numbers are unspecified where the function has
no result. For binary64 there are pairs, a value and its error.

No function here selects lane by lane or compares with a scalar: in NumPy either costs several times an arithmetic
operation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import factorial, ldexp
from typing import Final

import numpy as np

from .binary import Array, Format
from .multiprecision import half_pi
from .rounding import two_product

# The margin of an approximation, relative to its result: 32 units in the last place of float64, or more. Of the native
# functions only exp2, log2 and tanh are used. The vector loops that NumPy may use for them promise 4 units, and the
# common C libraries keep within 3 (Gladman, Innocente, Mather and Zimmermann, Accuracy of Mathematical Functions).
# Native sine and cosine are not used: libraries differ much for large angles and near the zeros. They are computed with
# additions and multiplications, with an error below 2**-50, absolute from 1 on.
MARGIN: Final = 2.0**-47
# The largest float64 below 1. A limit that a function approaches but never reaches bounds its interval. This decides
# the many operands whose result is nearer to the limit than the margin: no number or tie of a format here is in
# between.
BELOW_ONE: Final = 1 - 2.0**-53


def _at_most(x: Array, limit: float) -> Array:
    """Return the smaller of x, whose memory is reused, and a limit; NaN is kept."""
    return np.minimum(x, np.full_like(x, limit), out=x)


def _with_sign(x: Array, signs: Array) -> Array:
    """Return positive numbers, whose memory is reused, with the signs of others."""
    bits = x.view(np.uint64)
    bits |= signs.view(np.uint64) & np.uint64(1 << 63)
    return x


def _float_exp2(a: Array) -> tuple[Array, Array]:
    # Results that over- or underflow do so at +-256 too. Next to 1 only the side of 1 matters, which the margin does
    # not hide from 2**-30 on.
    size = np.clip(np.abs(a), 2.0**-30, 256.0)
    value = np.exp2(_with_sign(size, a))
    return value * (1 - MARGIN), value * (1 + MARGIN)


def _float_log2(a: Array) -> tuple[Array, Array]:
    size = np.abs(a)
    # NumPy is slow with zeros and infinities. What clipping removes takes the result out of range again.
    inside = np.clip(size, 2.0**-200, 2.0**200)
    size -= inside
    size *= 2.0**900
    value = np.log2(inside)
    value += size
    return value * (1 - MARGIN), value * (1 + MARGIN)


def _float_sin(a: Array) -> tuple[Array, Array]:
    size = np.abs(a)
    turns = _half_turns(size)
    part = np.abs(turns)
    value = _sine_of_half_turns(np.minimum(part, 1 - part, out=part))
    margin = _at_most(size * MARGIN, MARGIN)
    # The sine of an infinity is NaN.
    margin += size - size
    high = value + margin
    value -= margin
    size *= BELOW_ONE
    np.minimum(high, size, out=high)
    sign = (turns.view(np.uint64) ^ a.view(np.uint64)) & np.uint64(1 << 63)
    for end in (value, high):
        end.view(np.uint64)[...] ^= sign
    return value, high


def _float_cos(a: Array) -> tuple[Array, Array]:
    size = np.abs(a)
    part = np.abs(_half_turns(size))
    value = _sine_of_half_turns(np.subtract(0.5, part, out=part))
    # The cosine of an infinity is NaN.
    size -= size
    value += size
    high = value + MARGIN
    value -= MARGIN
    return value, _at_most(high, BELOW_ONE)


def _float_tanh(a: Array) -> tuple[Array, Array]:
    size = np.abs(a)
    value = np.tanh(size)
    size *= BELOW_ONE
    high = _at_most(np.minimum(value * (1 + MARGIN), size, out=size), BELOW_ONE)
    value *= 1 - MARGIN
    return _with_sign(value, a), _with_sign(high, a)


def _float_rsqrt(a: Array) -> tuple[Array, Array]:
    value = 1 / np.sqrt(a)
    return value * (1 - MARGIN), value * (1 + MARGIN)


FLOAT: Final[dict[str, Callable[[Array], tuple[Array, Array]]]] = {
    "exp2": _float_exp2,
    "log2": _float_log2,
    "sin": _float_sin,
    "cos": _float_cos,
    "tanh": _float_tanh,
    "rSqrt": _float_rsqrt,
}


@cache
def _units_in_half_turns() -> tuple[Array, Array, Array]:
    """Return the last place of a number of 24 bits in half turns, modulo whole turns, by the number's exponent field in
    float64.

    It is the sum of three float64 [2048]. The first two have 29 bits: their products with 24 bits are exact. It is 0
    for exponents that no format here has.
    """
    highest, scale = 128, 300
    per_radian = (1 << (2 * (scale + highest) - 1)) // half_pi(scale + highest)
    pieces = np.zeros((3, 2048))
    for i in range(-150, highest):
        rest = (per_radian >> (highest + 23 - i)) & ((2 << scale) - 1)
        for piece, bits in zip(pieces, (29, 29, 53), strict=True):
            below = rest.bit_length() - bits
            piece[1023 + i] = ldexp(rest >> below, below - scale)
            rest &= (1 << below) - 1
    first, second, third = pieces
    return first, second, third


def _half_turns(size: Array) -> Array:
    """Return positive angles in half turns, modulo whole turns: at most 1 + 2**-4 in size, with an error of at most
    2**-52 relative to that or to 1."""
    bits = size.view(np.int64)
    first, second, third = (piece.take(bits >> 52, mode="clip") for piece in _units_in_half_turns())
    bits = bits & ((1 << 52) - 1)
    bits |= (1023 + 23) << 52
    significand = bits.view(np.float64)
    first *= significand
    second *= significand
    third *= significand
    whole = first * 0.5
    np.rint(whole, out=whole)
    whole *= 2
    first -= whole
    second += third
    first += second
    return first


# Up to 9/16 of a half turn the rest of the series is below 2**-55.
SINE: Final = tuple((-1) ** k / factorial(2 * k + 1) for k in range(11))


def _sine_of_half_turns(part: Array) -> Array:
    angle = part * np.pi
    square = angle * angle
    value: Array = square * SINE[-1]
    for coefficient in SINE[-2:0:-1]:
        value += coefficient
        value *= square
    value *= angle
    value += angle
    return value


# The error bound of a pair of float64 with an exponent, relative to the result: 2**9 times the largest error seen.
PAIR_MARGIN: Final = 2.0**-94
RAISED: Final = 64


def _pair_rsqrt(x: Array, f: Format) -> tuple[Array, Array, Array]:
    """Return a value and its error; their sum times 2**exponent is the result. For positive finite operands that are
    not tiny."""
    magnitude = x & f.magnitude_mask
    subnormal = magnitude < f.smallest_normal
    raised = np.count_nonzero(subnormal)
    if raised:
        # Even, for an integral exponent of the result.
        lanes = subnormal.nonzero()
        magnitude[lanes] = (magnitude[lanes].view(np.float64) * 2.0**RAISED).view(f.unsigned)
    exponent = (magnitude >> f.unsigned.type(f.fraction_bits)).view(np.int64)
    exponent -= f.bias
    if raised:
        exponent[lanes] -= RAISED
    odd = exponent & 1
    significand = magnitude & f.fraction_mask
    significand |= ((odd + f.bias) << f.fraction_bits).view(f.unsigned)
    a = significand.view(np.float64)
    # One step of Newton's iteration with a correction of full length: 1 - a * value**2 in all its bits.
    value = 1 / np.sqrt(a)
    square, square_rest = two_product(value, value)
    product, product_rest = two_product(a, square)
    lacking = 1 - product
    lacking -= product_rest
    lacking -= a * square_rest
    lacking *= value
    lacking *= 0.5
    exponent -= odd
    return value, lacking, -(exponent >> 1)


PAIR: Final[dict[str, Callable[[Array, Format], tuple[Array, Array, Array]]]] = {"rSqrt": _pair_rsqrt}
