"""Elementary functions, correctly rounded in every direction (IEEE 754-2019, 9.2): exp2, log2, sin, cos, tanh, rSqrt.

A result is rounded from an interval that contains the exact value: if both ends round to the same bits, so does every
number between them (Ziv 1991). There are four ways to compute it:

- A format of at most 16 bits has a table of its results, built at first use, one for each direction and flushing.
- binary32 takes its intervals from approximations in float64, whose errors are far below half a unit of binary32: all
  but some lanes in a million are decided at once (intervals.py).
- rSqrt of binary64 takes them from a pair of float64, a value and its error.
- The remaining lanes, and all lanes of binary64's other functions and of formats like it, are evaluated one distinct
  operand at a time with Python's integers (multiprecision.py).

Arguments are an array or scalar of bit patterns, the format, the rounding direction, `ftz` and `daz`, as in
arithmetic.py.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from .binary import Array, Direction, Format, roundTiesToEven
from .encoding import flushed
from .intervals import FLOAT, PAIR, PAIR_MARGIN
from .multiprecision import OF_POSITIVE, one_by_one
from .narrowing import narrow, widen
from .selection import replace


def exp2(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return 2 to the power x: 1 for zeros, +0 for -infinity."""
    return _apply("exp2", x, f, mode, ftz, daz)


def log2(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return the logarithm to base 2: -infinity for zeros, +0 for 1, NaN for negative numbers."""
    return _apply("log2", x, f, mode, ftz, daz)


def sin(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return the sine of an angle in radians: zeros unchanged, NaN for infinities."""
    return _apply("sin", x, f, mode, ftz, daz)


def cos(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return the cosine of an angle in radians: 1 for zeros, NaN for infinities."""
    return _apply("cos", x, f, mode, ftz, daz)


def tanh(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return the hyperbolic tangent: zeros unchanged, 1 with their sign for infinities."""
    return _apply("tanh", x, f, mode, ftz, daz)


def rSqrt(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return one over the square root: infinities of the same sign for zeros, NaN for negative numbers, +0 for
    +infinity."""
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
    """Return the results for every pattern of a format, in the order of the patterns."""
    results = _every(name, np.arange(1 << f.width, dtype=np.uint32).astype(f.unsigned), f, mode, ftz, daz)
    results.flags.writeable = False
    return results


def _every(name: str, x: Array, f: Format, mode: Direction, ftz: bool, daz: bool) -> Array:
    """Return the results for an array of at least one dimension."""
    if f.carrier is None or f.precision > 24:
        x = flushed(x, f) if daz else x
        if name in PAIR and f.native == np.float64 and mode == roundTiesToEven:
            return _by_pairs(name, x, f, ftz)
        return one_by_one(name, x, f, mode, ftz)
    if daz and mode != roundTiesToEven:
        x, daz = flushed(x, f), False
    ends = FLOAT[name](widen(x, f, np.dtype(np.float64), daz))
    bits = narrow(ends[0], f, mode, ftz)
    undecided = bits != narrow(ends[1], f, mode, ftz)
    if name in OF_POSITIVE:
        replace(bits, x > (f.sign_mask | f.fraction_mask if daz else f.sign_mask), f.nan, f)
    if mode != roundTiesToEven:
        # To nearest, the intervals give the right results for zeros and infinities.
        magnitude = x & f.magnitude_mask
        undecided |= (magnitude == 0) | (magnitude == f.infinity)
    if undecided.any():
        lanes = undecided.nonzero()
        bits[lanes] = one_by_one(name, flushed(x[lanes], f) if daz else x[lanes], f, mode, ftz)
    return bits


def _by_pairs(name: str, x: Array, f: Format, ftz: bool) -> Array:
    value, rest, exponent = PAIR[name](x, f)
    margin = value * PAIR_MARGIN
    low, high = value + (rest - margin), value + (rest + margin)
    bits: Array = low.view(f.unsigned)
    magnitude = x & f.magnitude_mask
    undecided = bits != high.view(f.unsigned)
    undecided |= (magnitude == 0) | (magnitude == f.infinity)
    bits += (exponent << f.fraction_bits).view(f.unsigned)
    replace(bits, (magnitude > f.infinity) | (x > f.sign_mask), f.nan, f)
    if undecided.any():
        lanes = undecided.nonzero()
        bits[lanes] = one_by_one(name, x[lanes], f, roundTiesToEven, ftz)
    return bits
