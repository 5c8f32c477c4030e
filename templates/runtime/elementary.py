"""Elementary functions, correctly rounded in every direction (IEEE 754-2019, 9.2): exp2, log2, sin, cos, tanh, rSqrt.

A result is rounded from an interval that holds the exact value: if both ends round to the same bits, so does whatever
lies between (Ziv 1991). There are four ways to it:

- A format of at most 16 bits has a table of its results, built at first use, one for each direction and flushing.
- binary32 takes its intervals from approximations in float64, whose errors are far below half a unit of binary32, so
  that all but some lanes in a million are decided at once. How much is asked of them is said at `MARGIN`.
- rSqrt of binary64 takes them from a pair of float64, a value and what it lacks.
- The remaining lanes, and all lanes of binary64's other functions and of formats like it, are evaluated one distinct
  operand at a time with Python's integers, in fixed point of rising precision. That needs nothing of the processor or
  its libraries; it takes some microseconds per operand.

Arguments are an array or scalar of bit patterns, the format, the rounding direction, `ftz` and `daz`, as in
operations.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import factorial, isqrt, ldexp
from typing import Final, NamedTuple

import numpy as np

from . import environment
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
from .rounding import canonicalise, flushed, narrow, replace, two_product, widen


def exp2(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """2 to the power x: 1 of zeros, +0 of -infinity."""
    return _apply("exp2", x, f, mode, ftz, daz)


def log2(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """The logarithm to base 2: -infinity of zeros, +0 of 1, NaN of negative numbers."""
    return _apply("log2", x, f, mode, ftz, daz)


def sin(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """The sine of an angle in radians: zeros stay, infinities give NaN."""
    return _apply("sin", x, f, mode, ftz, daz)


def cos(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """The cosine of an angle in radians: 1 of zeros, NaN of infinities."""
    return _apply("cos", x, f, mode, ftz, daz)


def tanh(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """The hyperbolic tangent: zeros stay, infinities give 1 with their sign."""
    return _apply("tanh", x, f, mode, ftz, daz)


def rSqrt(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """One over the square root: infinities of zeros with their sign, NaN of negative numbers, +0 of +infinity."""
    return _apply("rSqrt", x, f, mode, ftz, daz)


def _apply(name: str, x: Array, f: Format, mode: Direction, ftz: bool, daz: bool) -> Array:
    if f.width <= 16:
        # Any index of the unsigned type is in range; "wrap" spares the check.
        return _table(name, f, mode, ftz, daz).take(x, mode="wrap")
    x = np.asarray(x)
    operands = x if x.shape else x.reshape(1)
    result = _every(name, operands, f, mode, ftz, daz)
    return result if x.shape else result[0]


@cache
def _table(name: str, f: Format, mode: Direction, ftz: bool, daz: bool) -> Array:
    """The results of every pattern of a format, in the order of the patterns."""
    results = _every(name, np.arange(1 << f.width, dtype=np.uint32).astype(f.unsigned), f, mode, ftz, daz)
    results.flags.writeable = False
    return results


def _every(name: str, x: Array, f: Format, mode: Direction, ftz: bool, daz: bool) -> Array:
    """Results of an array of one dimension or more."""
    if f.carrier is None or f.precision > 24:
        x = flushed(x, f) if daz else x
        if name in _PAIR and f.native == np.float64 and environment.can(mode):
            return _by_pairs(name, x, f, mode, ftz)
        return _one_by_one(name, x, f, mode, ftz)
    if daz and mode != roundTiesToEven:
        x, daz = flushed(x, f), False
    ends = _FLOAT[name](widen(x, f, np.dtype(np.float64), daz))
    if f.native is not None and environment.can(mode, ftz):
        with environment.environment(mode, ftz):
            low, high = (end.astype(f.native) for end in ends)
        undecided = low.view(f.unsigned) != high.view(f.unsigned)
        bits = canonicalise(low, f)
    else:
        bits = narrow(ends[0], f, mode, ftz)
        undecided = bits != narrow(ends[1], f, mode, ftz)
    if name in _OF_POSITIVE:
        replace(bits, x > (f.sign_mask | f.fraction_mask if daz else f.sign_mask), f.nan, f)
    if mode != roundTiesToEven:
        # To nearest the intervals give the right results of zeros and infinities.
        magnitude = x & f.magnitude_mask
        undecided |= (magnitude == 0) | (magnitude == f.infinity)
    if undecided.any():
        lanes = undecided.nonzero()
        bits[lanes] = _one_by_one(name, flushed(x[lanes], f) if daz else x[lanes], f, mode, ftz)
    return bits


def _by_pairs(name: str, x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    value, rest, exponent = _PAIR[name](x, f)
    margin = value * PAIR_MARGIN
    with environment.environment(mode):
        low, high = value + (rest - margin), value + (rest + margin)
    bits: Array = low.view(f.unsigned)
    magnitude = x & f.magnitude_mask
    undecided = bits != high.view(f.unsigned)
    undecided |= (magnitude == 0) | (magnitude == f.infinity)
    bits += (exponent << f.fraction_bits).view(f.unsigned)
    replace(bits, (magnitude > f.infinity) | (x > f.sign_mask), f.nan, f)
    if undecided.any():
        lanes = undecided.nonzero()
        bits[lanes] = _one_by_one(name, x[lanes], f, mode, ftz)
    return bits


# Results of +0, -0, +infinity and -infinity (9.2.1). A NaN, and a negative number where there is no result, give a NaN.

_SPECIAL: Final[dict[str, tuple[float, float, float, float]]] = {
    "exp2": (1.0, 1.0, np.inf, 0.0),
    "log2": (-np.inf, -np.inf, np.inf, np.nan),
    "sin": (0.0, -0.0, np.nan, np.nan),
    "cos": (1.0, 1.0, np.nan, np.nan),
    "tanh": (0.0, -0.0, 1.0, -1.0),
    "rSqrt": (np.inf, -np.inf, 0.0, np.nan),
}
_OF_POSITIVE: Final = ("log2", "rSqrt")


def _encode(value: float, f: Format) -> int:
    """The pattern of a zero, a one, an infinity or a NaN."""
    if np.isnan(value):
        return f.canonical_nan
    pattern = {0.0: 0, 1.0: f.bias << f.fraction_bits}.get(abs(value), int(f.infinity))
    return pattern | int(f.sign_mask) if np.signbit(value) else pattern


# Intervals from float64, for formats of at most 24 bits of precision and 8 of exponent. The ends come in either order.
# Those of zeros, infinities and NaNs are right to nearest; those of negative numbers do not count where there is no
# result. Nothing here selects lane by lane, nor compares with a single number: in NumPy either costs several times an
# arithmetic operation.

# How far an approximation may be off, relative to its result: 32 units in the last place of float64, or more. Of the
# native functions only exp2, log2 and tanh are used. The vector loops that NumPy may use for them promise 4 units, and
# the common C libraries keep within 3 (Gladman, Innocente, Mather and Zimmermann, Accuracy of Mathematical Functions).
# Sine and cosine are not: libraries differ much for large angles and near the zeros. They are computed with additions
# and multiplications, and are off by less than 2**-50, from 1 on absolutely.
MARGIN: Final = 2.0**-47
# The largest of float64 below 1. What a function approaches but never reaches bounds its interval, so that the many
# operands for which it is nearer than the margin are decided too: no number or tie of a format here is in between.
BELOW_ONE: Final = 1 - 2.0**-53


def _at_most(x: Array, limit: float) -> Array:
    """The smaller of x, which is reused, and a limit; NaN stays."""
    return np.minimum(x, np.full_like(x, limit), out=x)


def _with_sign(x: Array, signs: Array) -> Array:
    """Positive numbers, which are reused, with the signs of others."""
    bits = x.view(np.uint64)
    bits |= signs.view(np.uint64) & np.uint64(1 << 63)
    return x


def _float_exp2(a: Array) -> tuple[Array, Array]:
    # What over- or underflows does so near 2**+-256 too, and next to 1 it is the side that matters, which the margin
    # does not hide from 2**-30 on.
    size = np.clip(np.abs(a), 2.0**-30, 256.0)
    value = np.exp2(_with_sign(size, a))
    return value * (1 - MARGIN), value * (1 + MARGIN)


def _float_log2(a: Array) -> tuple[Array, Array]:
    size = np.abs(a)
    # NumPy takes its time for zeros and infinities; what they lose here takes the result out of range again.
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
    # Infinities have no sine.
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
    # Infinities have no cosine.
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


_FLOAT: Final[dict[str, Callable[[Array], tuple[Array, Array]]]] = {
    "exp2": _float_exp2,
    "log2": _float_log2,
    "sin": _float_sin,
    "cos": _float_cos,
    "tanh": _float_tanh,
    "rSqrt": _float_rsqrt,
}


@cache
def _units_in_half_turns() -> tuple[Array, Array, Array]:
    """The last place of a number of 24 bits in half turns, less whole turns, by the number's exponent field in float64.

    It is the sum of three float64 [2048], of which the first two have 29 bits, so that their products with 24 bits are
    exact. It is 0 for exponents that no format here has.
    """
    highest, scale = 128, 300
    per_radian = (1 << (2 * (scale + highest) - 1)) // _half_pi(scale + highest)
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
    """Positive angles in half turns, less whole turns: at most 1 + 2**-4 in size, and within 2**-52 of that or of 1."""
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


# How far what a pair of float64 and an exponent stand for may be off, relative to the result: 2**9 times the most seen.
PAIR_MARGIN: Final = 2.0**-94


def _pair_rsqrt(x: Array, f: Format) -> tuple[Array, Array, Array]:
    """Value and rest, of which the sum times 2**exponent is the result; of positive finite operands, none tiny."""
    magnitude = x & f.magnitude_mask
    subnormal = magnitude < f.smallest_normal
    raised = np.count_nonzero(subnormal)
    if raised:
        # Even, so that the result's exponent is whole.
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
    # One step of Newton's iteration, whose correction is as long as the value: 1 - a * value**2 in all its bits.
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


RAISED: Final = 64
_PAIR: Final[dict[str, Callable[[Array, Format], tuple[Array, Array, Array]]]] = {"rSqrt": _pair_rsqrt}

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


# Intervals from integers


class _Number(NamedTuple):
    """(-1)**negative * significand * 2**exponent, with an odd significand."""

    negative: bool
    significand: int
    exponent: int

    @property
    def top(self) -> int:
        """The magnitude is below 2**top, and at least half of it."""
        return self.exponent + self.significand.bit_length()

    def fixed(self, scale: int) -> int:
        """The magnitude in units of 2**-scale, cut off."""
        shift = self.exponent + scale
        return self.significand << shift if shift >= 0 else self.significand >> -shift


class _Bounds(NamedTuple):
    """A result strictly between (-1)**negative * low * 2**exponent and the same with high; exact where both are one."""

    negative: bool
    low: int
    high: int
    exponent: int


def _one_by_one(name: str, x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    distinct, places = np.unique(x, return_inverse=True)
    results = np.array([_one(name, bits, f, mode, ftz) for bits in distinct.tolist()], f.unsigned)
    return results[places].reshape(x.shape)


def _one(name: str, bits: int, f: Format, mode: Direction, ftz: bool) -> int:
    negative, magnitude = bits > int(f.magnitude_mask), bits & int(f.magnitude_mask)
    infinity = int(f.infinity)
    if magnitude > infinity:
        return f.canonical_nan
    if magnitude in (0, infinity):
        return _encode(_SPECIAL[name][(2 if magnitude else 0) + negative], f)
    if negative and name in _OF_POSITIVE:
        return f.canonical_nan
    biased, significand = magnitude >> f.fraction_bits, magnitude & int(f.fraction_mask)
    if biased:
        significand |= 1 << f.fraction_bits
    zeros = (significand & -significand).bit_length() - 1
    number = _Number(negative, significand >> zeros, max(biased, 1) - f.bias - f.fraction_bits + zeros)
    # Enough that only one operand in 2**28 needs more.
    scale = f.precision + 48
    while True:
        found = _BOUNDS[name](number, scale)
        if found.low == found.high:
            return _round(found.negative, found.low, found.exponent, f, mode, ftz) if found.low else 0
        if found.low >= 0:
            # Halves, to look just inside the ends.
            low = _round(found.negative, 2 * found.low + 1, found.exponent - 1, f, mode, ftz)
            high = _round(found.negative, 2 * found.high - 1, found.exponent - 1, f, mode, ftz)
            if low == high:
                return low
        scale *= 2


# Evaluations in fixed point are good to 2**SLACK units: each step is off by less than two units, there are fewer than
# 2**9 of them at any scale that occurs, and the doublings of `_exp` multiply that by less than 2**8.
SLACK: Final = 18


def _around(value: int, scale: int) -> _Bounds:
    size = abs(value)
    return _Bounds(value < 0, size - (1 << SLACK), size + (1 << SLACK), -scale)


def _bounds_exp2(x: _Number, scale: int) -> _Bounds:
    if x.exponent >= 0:
        return _Bounds(False, 1, 1, -(x.significand << x.exponent) if x.negative else x.significand << x.exponent)
    if x.top < -scale:
        low = (1 << scale) - x.negative
        return _Bounds(False, low, low + 1, -scale)
    value = x.fixed(scale)
    whole, part = divmod(-value if x.negative else value, 1 << scale)
    return _around(_exp(part * _ln2(scale) >> scale, scale), scale)._replace(exponent=whole - scale)


def _bounds_log2(x: _Number, scale: int) -> _Bounds:
    if x.significand == 1:
        return _Bounds(x.exponent < 0, abs(x.exponent), abs(x.exponent), 0)
    # x is 2**whole times m / one, which is within a factor of the root of 2 of 1.
    m, whole = x.significand, x.top
    one = 1 << m.bit_length()
    if 2 * m * m < one * one:
        one >>= 1
        whole -= 1
    if whole == 0:
        # What cancels in m - one is made up for.
        scale += one.bit_length() - abs(m - one).bit_length()
    t = ((m - one) << scale) // (m + one)
    total, power, square, n = 0, t, t * t >> scale, 1
    while power not in (0, -1):
        total += power // n
        power = power * square >> scale
        n += 2
    return _around((whole << scale) + (2 * total << scale) // _ln2(scale), scale)


def _bounds_near_zero(x: _Number, scale: int) -> _Bounds | None:
    """Of a function that is x - c * x**3 + ... with c below 1, where that is just below x."""
    if 2 * x.top + x.significand.bit_length() + scale >= 0:
        return None
    high = x.significand << scale
    return _Bounds(x.negative, high - 1, high, x.exponent - scale)


def _bounds_sin(x: _Number, scale: int) -> _Bounds:
    near = _bounds_near_zero(x, scale)
    if near is not None:
        return near
    scale -= min(x.top, 0)
    quarter, rest = _turned(x, scale)
    value = _cos_series(rest, scale) if quarter & 1 else _sin_series(rest, scale)
    return _around(-value if x.negative != (quarter & 2 != 0) else value, scale)


def _bounds_cos(x: _Number, scale: int) -> _Bounds:
    if 2 * x.top <= -scale:
        return _Bounds(False, (1 << scale) - 1, 1 << scale, -scale)
    quarter, rest = _turned(x, scale)
    value = _sin_series(rest, scale) if quarter & 1 else _cos_series(rest, scale)
    return _around(-value if (quarter + 1) & 2 else value, scale)


def _bounds_tanh(x: _Number, scale: int) -> _Bounds:
    near = _bounds_near_zero(x, scale)
    if near is not None:
        return near
    if x.top > scale.bit_length() + 1:
        return _Bounds(x.negative, (1 << scale) - 1, 1 << scale, -scale)
    scale -= min(x.top, 0)
    one = 1 << scale
    whole, rest = divmod(x.fixed(scale + 1), _ln2(scale))
    power = (one << scale) // _exp(rest, scale) >> whole
    value = ((one - power) << scale) // (one + power)
    return _around(-value if x.negative else value, scale)


def _bounds_rsqrt(x: _Number, scale: int) -> _Bounds:
    m, exponent = x.significand, x.exponent
    if exponent & 1:
        m, exponent = 2 * m, exponent - 1
    if m == 1:
        return _Bounds(False, 1, 1, -exponent // 2)
    scale += m.bit_length()
    root = isqrt((1 << 2 * scale) // m)
    return _Bounds(False, root, root + 1, -scale - exponent // 2)


_BOUNDS: Final[dict[str, Callable[[_Number, int], _Bounds]]] = {
    "exp2": _bounds_exp2,
    "log2": _bounds_log2,
    "sin": _bounds_sin,
    "cos": _bounds_cos,
    "tanh": _bounds_tanh,
    "rSqrt": _bounds_rsqrt,
}


def _turned(x: _Number, scale: int) -> tuple[int, int]:
    """|x| as quarter turns and the rest, which is at most an eighth of a turn, in units of 2**-scale."""
    extra = max(x.top, 0) + 8
    angle = x.fixed(scale + extra)
    right = _half_pi(scale + extra)
    quarters = (2 * angle + right) // (2 * right)
    return quarters, (angle - quarters * right) >> extra


def _exp(x: int, scale: int) -> int:
    """The exponential of 0 <= x < 1, in units of 2**-scale."""
    doublings = 6
    x >>= doublings
    total = term = 1 << scale
    n = 1
    while term:
        term = (term * x >> scale) // n
        total += term
        n += 1
    for _ in range(doublings):
        total = total * total >> scale
    return total


def _sin_series(x: int, scale: int) -> int:
    return _alternating(x, x, 2, scale)


def _cos_series(x: int, scale: int) -> int:
    return _alternating(1 << scale, x, 1, scale)


def _alternating(first: int, x: int, n: int, scale: int) -> int:
    """first * (1 - x**2 / (n (n + 1)) + x**4 / (n (n + 1) (n + 2) (n + 3)) - ...) for |x| < 1."""
    square = x * x >> scale
    total, term = first, first
    while term not in (0, -1):
        term = -(term * square >> scale) // (n * (n + 1))
        total += term
        n += 2
    return total


def _in_steps(constant: Callable[[int], int]) -> Callable[[int], int]:
    """A constant in units of 2**-scale, cut off from one of a few longer ones, which are computed once."""
    longer = cache(constant)

    def at(scale: int) -> int:
        bits = -(-scale // 256) * 256
        return longer(bits) >> (bits - scale)

    return at


def _inverse_series(n: int, scale: int, sign: int) -> int:
    """The inverse tangent (sign -1) or inverse hyperbolic tangent (sign 1) of 1/n, within a unit for each bit."""
    total, power, k, turn = 0, (1 << scale) // n, 1, 1
    while power:
        total += turn * (power // k)
        power //= n * n
        k += 2
        turn *= sign
    return total


@_in_steps
def _half_pi(scale: int) -> int:
    # Machin 1706; guard bits for what the series cut off.
    guarded = scale + 32
    return (8 * _inverse_series(5, guarded, -1) - 2 * _inverse_series(239, guarded, -1)) >> 32


@_in_steps
def _ln2(scale: int) -> int:
    guarded = scale + 32
    series = zip((18, -2, 8), (26, 4801, 8749), strict=True)
    return sum(factor * _inverse_series(n, guarded, 1) for factor, n in series) >> 32


def _round(negative: bool, integer: int, exponent: int, f: Format, mode: Direction, ftz: bool) -> int:
    """The exact value (-1)**negative * integer * 2**exponent, not zero, as bits."""
    sign = int(f.sign_mask) if negative else 0
    outward = mode == (roundTowardNegative if negative else roundTowardPositive)
    top = exponent + integer.bit_length() - 1
    if ftz and top < f.emin:
        # Only from just below can rounding, unbounded, reach the smallest normal number.
        unbounded = _kept(integer, top - f.fraction_bits - exponent, mode, outward)
        if top < f.emin - 1 or unbounded < 1 << f.precision:
            return sign
    if top <= f.emax:
        start = max(top, f.emin)
        bits = _kept(integer, start - f.fraction_bits - exponent, mode, outward) + ((start - f.emin) << f.fraction_bits)
        if bits < int(f.infinity):
            return sign | bits
    to_infinity = outward or mode in (roundTiesToEven, roundTiesToAway)
    return sign | int(f.infinity if to_infinity else f.largest)


def _kept(integer: int, count: int, mode: Direction, outward: bool) -> int:
    """integer / 2**count, rounded."""
    if count <= 0:
        return integer << -count
    # Past all bits and one more, nothing depends on how far.
    count = min(count, integer.bit_length() + 2)
    kept, rest = integer >> count, integer & ((1 << count) - 1)
    if mode == roundTowardZero or not rest:
        return kept
    if mode == roundTiesToEven:
        half = 1 << (count - 1)
        return kept + (rest > half or (rest == half and kept & 1))
    if mode == roundTiesToAway:
        return kept + (rest >> (count - 1))
    return kept + outward
