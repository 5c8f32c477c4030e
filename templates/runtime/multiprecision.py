"""Elementary functions of one operand at a time, with Python's integers: fixed point of rising precision.

This depends on no processor or library, and takes some microseconds for an operand. An evaluation gives an interval
that contains the exact value: if both ends round to the same bits, so does every number between them (Ziv 1991).
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

# Results for +0, -0, +infinity and -infinity (9.2.1). A NaN, or a negative number where there is no result, gives NaN.
_SPECIAL: Final[dict[str, tuple[float, float, float, float]]] = {
    "exp2": (1.0, 1.0, np.inf, 0.0),
    "log2": (-np.inf, -np.inf, np.inf, np.nan),
    "sin": (0.0, -0.0, np.nan, np.nan),
    "cos": (1.0, 1.0, np.nan, np.nan),
    "tanh": (0.0, -0.0, 1.0, -1.0),
    "rSqrt": (np.inf, -np.inf, 0.0, np.nan),
}
OF_POSITIVE: Final = ("log2", "rSqrt")


class _Number(NamedTuple):
    """(-1)**negative * significand * 2**exponent, with an odd significand."""

    negative: bool
    significand: int
    exponent: int

    @property
    def top(self) -> int:
        """The exponent for which the magnitude is below 2**top and at least half of it."""
        return self.exponent + self.significand.bit_length()

    def fixed(self, scale: int) -> int:
        """Return the magnitude in units of 2**-scale, truncated."""
        shift = self.exponent + scale
        return self.significand << shift if shift >= 0 else self.significand >> -shift


class _Bounds(NamedTuple):
    """A result strictly between (-1)**negative * low * 2**exponent and the same with high; exact where low is high."""

    negative: bool
    low: int
    high: int
    exponent: int


def one_by_one(name: str, x: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """Return the results of a function; each distinct operand is evaluated once."""
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
    if negative and name in OF_POSITIVE:
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
            # Halves, to represent numbers just inside the ends.
            low = _round(found.negative, 2 * found.low + 1, found.exponent - 1, f, mode, ftz)
            high = _round(found.negative, 2 * found.high - 1, found.exponent - 1, f, mode, ftz)
            if low == high:
                return low
        scale *= 2


def _encode(value: float, f: Format) -> int:
    """Return the pattern of a zero, a one, an infinity or a NaN."""
    if np.isnan(value):
        return f.canonical_nan
    pattern = {0.0: 0, 1.0: f.bias << f.fraction_bits}.get(abs(value), int(f.infinity))
    return pattern | int(f.sign_mask) if np.signbit(value) else pattern


# Evaluations in fixed point have an error below 2**SLACK units: each step is off by less than two units, there are
# fewer than 2**9 steps at any scale that occurs, and the doublings of `_exp` multiply the error by less than 2**8.
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
    # x is 2**whole * m / one; m / one is within a factor of the root of 2 of 1.
    m, whole = x.significand, x.top
    one = 1 << m.bit_length()
    if 2 * m * m < one * one:
        one >>= 1
        whole -= 1
    if whole == 0:
        # More bits compensate for the cancellation in m - one.
        scale += one.bit_length() - abs(m - one).bit_length()
    t = ((m - one) << scale) // (m + one)
    total, power, square, n = 0, t, t * t >> scale, 1
    while power not in (0, -1):
        total += power // n
        power = power * square >> scale
        n += 2
    return _around((whole << scale) + (2 * total << scale) // _ln2(scale), scale)


def _bounds_near_zero(x: _Number, scale: int) -> _Bounds | None:
    """Return the bounds of a function x - c * x**3 + ... with c below 1, for x where it is just below x."""
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
    """Return |x| as a number of quarter turns and a remainder of at most an eighth of a turn, in units of 2**-scale."""
    extra = max(x.top, 0) + 8
    angle = x.fixed(scale + extra)
    right = half_pi(scale + extra)
    quarters = (2 * angle + right) // (2 * right)
    return quarters, (angle - quarters * right) >> extra


def _exp(x: int, scale: int) -> int:
    """Return the exponential of 0 <= x < 1, in units of 2**-scale."""
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
    """Return first * (1 - x**2 / (n (n + 1)) + x**4 / (n (n + 1) (n + 2) (n + 3)) - ...) for |x| < 1."""
    square = x * x >> scale
    total, term = first, first
    while term not in (0, -1):
        term = -(term * square >> scale) // (n * (n + 1))
        total += term
        n += 2
    return total


def _in_steps(constant: Callable[[int], int]) -> Callable[[int], int]:
    """Return a function for a constant in units of 2**-scale, truncated from one of a few longer values that are
    computed once."""
    longer = cache(constant)

    def at(scale: int) -> int:
        bits = -(-scale // 256) * 256
        return longer(bits) >> (bits - scale)

    return at


def _inverse_series(n: int, scale: int, sign: int) -> int:
    """Return the inverse tangent (sign -1) or inverse hyperbolic tangent (sign 1) of 1/n; the error is below a unit for
    each bit."""
    total, power, k, turn = 0, (1 << scale) // n, 1, 1
    while power:
        total += turn * (power // k)
        power //= n * n
        k += 2
        turn *= sign
    return total


@_in_steps
def half_pi(scale: int) -> int:
    # Machin 1706; guard bits for the truncations of the series.
    guarded = scale + 32
    return (8 * _inverse_series(5, guarded, -1) - 2 * _inverse_series(239, guarded, -1)) >> 32


@_in_steps
def _ln2(scale: int) -> int:
    guarded = scale + 32
    series = zip((18, -2, 8), (26, 4801, 8749), strict=True)
    return sum(factor * _inverse_series(n, guarded, 1) for factor, n in series) >> 32


def _round(negative: bool, integer: int, exponent: int, f: Format, mode: Direction, ftz: bool) -> int:
    """Return the exact nonzero value (-1)**negative * integer * 2**exponent, rounded, as bits."""
    sign = int(f.sign_mask) if negative else 0
    outward = mode == (roundTowardNegative if negative else roundTowardPositive)
    top = exponent + integer.bit_length() - 1
    if ftz and top < f.emin:
        # Only from just below can rounding with an unbounded exponent reach the smallest normal number.
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
    """Return integer / 2**count, rounded."""
    if count <= 0:
        return integer << -count
    # Beyond all bits and one more, the distance does not matter.
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
