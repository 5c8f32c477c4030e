"""Elementary functions, correctly rounded in every direction (IEEE 754-2019, 9.2): exp2, log2, sin, cos, tanh, rSqrt.

A result is rounded from an interval that holds the exact value: if both ends round to the same bits, so does whatever
lies between (Ziv 1991). There are three ways to it:

- A format of at most 16 bits has a table of its results, built at first use, one for each direction and `ftz`.
- binary32 takes its intervals from the native functions of float64, whose errors are far below half a unit of
  binary32, so that all but some lanes in a million are decided at once. How much the native functions are trusted is
  said at `MARGIN`.
- The remaining lanes, and all lanes of binary64 and of formats like it, are evaluated one distinct operand at a time
  with Python's integers, in fixed point of rising precision. That needs nothing of the processor or its libraries; it
  takes some microseconds per operand.

Arguments are an array or scalar of bit patterns, the format, the rounding direction and `ftz`, as in operations.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isqrt
from typing import Final, NamedTuple

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
from .rounding import narrow, widen


def exp2(x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """2 to the power x: 1 of zeros, +0 of -infinity."""
    return _apply("exp2", x, f, mode, ftz)


def log2(x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """The logarithm to base 2: -infinity of zeros, +0 of 1, NaN of negative numbers."""
    return _apply("log2", x, f, mode, ftz)


def sin(x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """The sine of an angle in radians: zeros stay, infinities give NaN."""
    return _apply("sin", x, f, mode, ftz)


def cos(x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """The cosine of an angle in radians: 1 of zeros, NaN of infinities."""
    return _apply("cos", x, f, mode, ftz)


def tanh(x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """The hyperbolic tangent: zeros stay, infinities give 1 with their sign."""
    return _apply("tanh", x, f, mode, ftz)


def rSqrt(x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """One over the square root: infinities of zeros with their sign, NaN of negative numbers, +0 of +infinity."""
    return _apply("rSqrt", x, f, mode, ftz)


def _apply(name: str, x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    if f.width <= 16:
        # Any index of the unsigned type is in range; "wrap" spares the check.
        return _table(name, f, mode, ftz).take(x, mode="wrap")
    x = np.asarray(x)
    operands = x if x.shape else x.reshape(1)
    result = _every(name, operands, f, mode, ftz)
    return result if x.shape else result[0]


@cache
def _table(name: str, f: Format, mode: Direction, ftz: bool) -> Array:
    """The results of every pattern of a format, in the order of the patterns."""
    results = _every(name, np.arange(1 << f.width, dtype=np.uint32).astype(f.unsigned), f, mode, ftz)
    results.flags.writeable = False
    return results


def _every(name: str, x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """Results of an array of one dimension or more."""
    if f.carrier is None or f.precision > 24:
        return _one_by_one(name, x, f, mode, ftz)
    low, high = _NATIVE[name](widen(x, f, np.dtype(np.float64)))
    bits = narrow(low, f, mode, ftz)
    undecided = bits != narrow(high, f, mode, ftz)
    magnitude = x & f.magnitude_mask
    for pattern, signed in ((f.unsigned.type(0), _SPECIAL[name][:2]), (f.infinity, _SPECIAL[name][2:])):
        lanes = magnitude == pattern
        if lanes.any():
            plus, minus = (f.unsigned.type(_encode(value, f)) for value in signed)
            undecided &= ~lanes
            np.copyto(bits, np.where(x == pattern, plus, minus), where=lanes)
    if undecided.any():
        bits[undecided] = _one_by_one(name, x[undecided], f, mode, ftz)
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


# Intervals from the native functions, for formats of at most 24 bits of precision and 8 of exponent. The ends come in
# either order; those of zeros and infinities do not count.

# How far a native function may be off, relative to its result: 32 units in the last place of float64, or more. The vector
# loops that NumPy may use promise 4 units, and the common C libraries keep within 3 (Gladman, Innocente, Mather and
# Zimmermann, Accuracy of Mathematical Functions). Of sine and cosine less is asked, as some have kept that only where
# nothing cancels: from 1 on the margin is absolute, and large angles are reduced here.
MARGIN: Final = 2.0**-47
BELOW_ONE: Final = 1 - 2.0**-53
ABOVE_ONE: Final = 1 + 2.0**-52
# Below it a function differs from the first term of its series by less than a quarter of a unit of any format here, and
# above it by more than the margin.
SMALL: Final = 2.0**-20


def _native_exp2(a: Array) -> tuple[Array, Array]:
    # Clipped, so that what over- or underflows is rounded like any other number of its size.
    value = np.exp2(np.clip(a, -256.0, 256.0))
    low, high = value * (1 - MARGIN), value * (1 + MARGIN)
    near = np.abs(a) < 2.0**-30
    if near.any():
        # Which side of 1 is all that matters.
        side = np.where(a < 0, BELOW_ONE, ABOVE_ONE)
        np.copyto(low, side, where=near)
        np.copyto(high, side, where=near)
    return low, high


def _native_log2(a: Array) -> tuple[Array, Array]:
    value = np.log2(a)
    return value * (1 - MARGIN), value * (1 + MARGIN)


def _native_sin(a: Array) -> tuple[Array, Array]:
    value = np.sin(_reduced(a))
    margin = np.clip(a, -1.0, 1.0)
    margin *= MARGIN
    outer = value + margin
    value -= margin
    _stay_inside(outer, a)
    return value, outer


def _native_cos(a: Array) -> tuple[Array, Array]:
    value = np.cos(_reduced(a))
    low, high = value - MARGIN, value + MARGIN
    near = np.abs(a) < SMALL
    if near.any():
        np.copyto(low, BELOW_ONE, where=near)
        np.copyto(high, BELOW_ONE, where=near)
    return low, high


def _native_tanh(a: Array) -> tuple[Array, Array]:
    value = np.tanh(a)
    outer = value * (1 + MARGIN)
    value *= 1 - MARGIN
    _stay_inside(outer, a)
    # From here on, 1 is nearer than the margin, and no number or tie is between.
    far = np.abs(a) > 16
    if far.any():
        np.copyto(outer, np.copysign(BELOW_ONE, a), where=far)
    return value, outer


def _native_rsqrt(a: Array) -> tuple[Array, Array]:
    value = 1 / np.sqrt(a)
    return value * (1 - MARGIN), value * (1 + MARGIN)


def _stay_inside(outer: Array, a: Array) -> None:
    """The sine and the hyperbolic tangent of a number are nearer to zero than it, which is itself a result."""
    near = np.abs(a) < SMALL
    if near.any():
        np.copyto(outer, a * BELOW_ONE, where=near)


_NATIVE: Final[dict[str, Callable[[Array], tuple[Array, Array]]]] = {
    "exp2": _native_exp2,
    "log2": _native_log2,
    "sin": _native_sin,
    "cos": _native_cos,
    "tanh": _native_tanh,
    "rSqrt": _native_rsqrt,
}

# From here on angles are reduced. A processor's own instructions, which a library may use, have 66 bits of pi.
HUGE: Final = 2.0**16
LEAST_UNIT: Final = -8


@cache
def _quarter_turns() -> tuple[Array, Array, Array]:
    """2**LEAST_UNIT and its doubles, past 2**104, in quarter turns less whole turns: the sum of three float64 arrays.

    The first two have 29 bits, so that their products with 24 bits are exact.
    """
    scale, highest = 110, 128
    # 2 / pi with as many bits as the highest power shifts out, and some.
    per_radian = (1 << (2 * (scale + highest))) // _half_pi(scale + highest)
    turns = [(per_radian << i >> (highest - LEAST_UNIT)) & ((4 << scale) - 1) for i in range(highest)]
    pieces = ((83, 29), (54, 29), (0, 54))
    first, second, third = (
        np.array([float((t >> place & ((1 << bits) - 1)) << place) * 2.0**-scale for t in turns])
        for place, bits in pieces
    )
    return first, second, third


def _reduced(a: Array) -> Array:
    """Angles that differ from `a` by whole turns, within 2**-50; those below HUGE as they are."""
    huge = np.abs(a) >= HUGE
    if not huge.any():
        return a
    significand, exponent = np.frexp(a[huge])
    significand *= 2.0**24
    first, second, third = (part.take(exponent - 24 - LEAST_UNIT, mode="clip") for part in _quarter_turns())
    first *= significand
    second *= significand
    third *= significand
    first -= 4 * np.rint(first * 0.25)
    second += third
    first += second
    first *= np.pi / 2
    result = a.copy()
    result[huge] = first
    return result


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
    """A result strictly between (-1)**negative * low * 2**exponent and the same with high; where they are equal, that."""

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
