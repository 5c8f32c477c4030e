"""Few elements of narrow formats: their results are looked up, since each operation on arrays has its price.

Values of a native type are rounded to a narrow format by a search among the ends of its results. The patterns of the
native type, as integers, ascend with the magnitude, first of positive numbers and then of negative ones; so do those of
the format. Minimum and maximum compare places in the order of the format's numbers, which are read in a table."""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .binary import (
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

if TYPE_CHECKING:
    from .declared import Declared

# Above this many elements, operations on arrays are faster.
FEW: Final = 64
# The type of an index: NumPy takes it faster than a class that names it.
PLACE: Final = np.dtype(np.intp)


def are_few(x: Array, f: Format | Declared) -> bool:
    return x.size <= FEW and f.width <= 16


def narrowed(value: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """Round values to a narrow format, as `narrow` of narrowing.py does."""
    ends, results = _ends(f, value.dtype, mode, ftz)
    return results[ends.searchsorted(value.getfield(ends.dtype))]


@cache
def _ends(f: Format, dtype: np.dtype[Any], mode: Direction, ftz: bool) -> tuple[Array, Array]:
    """Return the last pattern of each result, ascending, and the results, of which there is one more."""
    carrier = native_format(dtype)
    nearest = mode in (roundTiesToEven, roundTiesToAway)
    upward, downward = (mode if nearest else roundTowardPositive), (mode if nearest else roundTowardZero)
    halves = (roundTowardPositive, 0, 0), (roundTowardNegative, int(carrier.sign_mask), int(f.sign_mask))
    ends, results = [], []
    for outward, sign, f_sign in halves:
        of_magnitudes, magnitudes = _ends_of_magnitudes(f, dtype, upward if mode == outward else downward, ftz)
        ends += [of_magnitudes | np.uint64(sign), np.array([int(carrier.magnitude_mask) | sign], np.uint64)]
        results += [magnitudes | f_sign, np.array([f.nan])]
    return np.concatenate(ends)[:-1].astype(carrier.unsigned), np.concatenate(results).astype(f.unsigned)


def _ends_of_magnitudes(f: Format, dtype: np.dtype[Any], mode: Direction, ftz: bool) -> tuple[Array, Array]:
    """Return the ends of positive results, as `_ends` does; roundTowardPositive is away from zero."""
    carrier, infinity, least = native_format(dtype), int(f.infinity), int(f.smallest_normal)
    magnitudes = np.arange(infinity + 1)
    exponents = np.maximum(magnitudes >> f.fraction_bits, 1)
    fractions = magnitudes - ((exponents - 1) << f.fraction_bits)
    # Where infinity stands, the next power of two: what is beyond half of the way rounds there.
    values = np.ldexp(fractions.astype(np.float64), exponents - f.bias - f.fraction_bits)
    middles = _patterns((values[1:] + values[:-1]) / 2, dtype)
    if mode == roundTowardZero:
        ends = _patterns(values[1:], dtype) - np.uint64(1)
        ends[-1] = int(carrier.infinity) - 1
    elif mode == roundTowardPositive:
        ends = _patterns(values[:-1], dtype)
    else:
        # A tie goes to the even one, or away from zero.
        ends = middles - (np.uint64(1) if mode == roundTiesToAway else (magnitudes[:-1] & 1).astype(np.uint64))
    if ftz:
        # Tiny is judged after rounding with an unbounded exponent, in steps half as wide as those of subnormal numbers.
        step = values[least] - values[least - 1]
        edge = values[least] - {roundTowardZero: 0, roundTowardPositive: step / 2}.get(mode, step / 4)
        ends[least - 1] = _patterns(np.array([edge]), dtype)[0] - np.uint64(mode != roundTowardPositive)
        ends, magnitudes = ends[least - 1 :], magnitudes[least - 1 :].copy()
        magnitudes[0] = 0
    return np.append(ends, np.uint64(carrier.infinity)), magnitudes


def _patterns(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return the encodings of positive numbers."""
    return values.astype(dtype).view(native_format(dtype).unsigned).astype(np.uint64)


def extreme(x: Array, y: Array, f: Format, choose: np.ufunc, marker: int, daz: bool) -> Array:
    """Return the minimum or maximum: the number at the place that `choose` takes of two; `marker` is the place of
    NaNs."""
    places, numbers = _order(f, marker, daz)
    # Operations are faster on an array of one number than on that number.
    return numbers[choose(places[x.astype(PLACE)], places[np.array(y, PLACE, ndmin=x.ndim)])]


@cache
def _order(f: Format, marker: int, daz: bool) -> tuple[Array, Array]:
    """Return the place of each pattern, -0 below +0, and the patterns by these places: from place 0 on, then from the
    least place on."""
    patterns = np.arange(1 << f.width)
    magnitudes, negative = patterns & int(f.magnitude_mask), patterns >> (f.width - 1)
    if daz:
        magnitudes[magnitudes < int(f.smallest_normal)] = 0
    places = np.where(negative, ~magnitudes, magnitudes)
    places[magnitudes > int(f.infinity)] = marker
    numbers = np.where(negative, patterns ^ int(f.magnitude_mask), patterns)
    numbers[marker] = int(f.nan)
    return places.astype(np.intp), numbers.astype(f.unsigned)


@cache
def every_flushed(f: Format) -> Array:
    """Return all patterns, with zeros of their sign for subnormal numbers."""
    patterns = np.arange(1 << f.width)
    subnormal = patterns & int(f.magnitude_mask) < int(f.smallest_normal)
    return np.where(subnormal, patterns & int(f.sign_mask), patterns).astype(f.unsigned)
