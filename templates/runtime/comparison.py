"""Comparisons, minimum and maximum (IEEE 754-2019, 5.11, 9.6).

Operands are NumPy arrays or scalars of the unsigned integer type of their format and broadcast against each other;
results are new arrays, bool for comparisons.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .binary import Array, Format
from .encoding import flushed, isNaN
from .selection import canonicalise, replace

# Comparisons are quiet; a NaN is unordered with everything, itself too. With `daz`, subnormal operands are zeros.

LESS, EQUAL, GREATER, UNORDERED = 1, 2, 4, 8
ORDERED, ALL = LESS | EQUAL | GREATER, 15
# NumPy's ufuncs for relations.
_UFUNCS = {
    LESS: np.less, LESS | EQUAL: np.less_equal, EQUAL: np.equal, GREATER | EQUAL: np.greater_equal,
    GREATER: np.greater, ALL ^ EQUAL: np.not_equal,
}  # fmt: skip
_COMBINING = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)


def compare(x: Array, y: Array, relation: int, f: Format, daz: bool = False) -> Array:
    """Return whether x stands to y in a relation, the sum of some of LESS, EQUAL, GREATER and UNORDERED (5.11)."""
    if f.native is not None:
        if daz and relation not in (UNORDERED, ORDERED):
            x, y = flushed(x, f), flushed(y, f)
        return compared(x.view(f.native), y.view(f.native), relation)
    a, b, ordered = _value_orders(x, y, f, daz)
    if relation & UNORDERED:
        return ~(compared(a, b, relation ^ ALL) & ordered)
    return compared(a, b, relation) & ordered


def compared(a: Array, b: Array, relation: int) -> Array:
    """Return whether numbers of a native type, floats or integers, stand in a relation."""
    if relation in (0, ALL):
        return np.full(np.broadcast(a, b).shape, relation == ALL)
    if relation in _UFUNCS:
        return _UFUNCS[relation](a, b)
    if relation ^ ALL in _UFUNCS:
        return ~_UFUNCS[relation ^ ALL](a, b)
    if relation in (UNORDERED, ORDERED):
        unordered = np.isnan(a) | np.isnan(b) if a.dtype.kind == "f" else np.zeros(np.broadcast(a, b).shape, np.bool_)
        return unordered if relation == UNORDERED else ~unordered
    less_or_greater = (a < b) | (a > b)
    return less_or_greater if relation == LESS | GREATER else ~less_or_greater


def combine(p: Array, c: Array, operator: int) -> Array:
    """Return two predicates combined: by and (0), or (1), exclusive or (2)."""
    return _COMBINING[operator](p, c)


def _value_orders(x: Array, y: Array, f: Format, daz: bool) -> tuple[Array, Array, Array]:
    """Return signed integers in the order of the values, and whether neither is a NaN. Both zeros are alike, and with
    `daz` subnormal numbers are zeros too."""
    orders, sizes = [], []
    for operand in (x, y):
        size = operand & f.magnitude_mask
        sizes.append(size)
        if daz:
            # NumPy is several times slower with a scalar operand than with an array, except in clip.
            least = f.unsigned.type(int(f.smallest_normal) - 1)
            size = _clip(size, least, f.magnitude_mask) - least
        sign = operand.view(f.signed) >> f.signed.type(f.width - 1)
        order = size.view(f.signed) ^ sign
        order -= sign
        orders.append(order)
    return orders[0], orders[1], np.maximum(*sizes) <= f.infinity


# Minimum and maximum


def _order(x: Array, f: Format) -> Array:
    """Return signed integers, fresh, in the order of the values, -0 below +0; NaNs lie outside the infinities."""
    key = x.view(f.signed) >> f.signed.type(f.width - 1)
    key &= f.signed.type(f.magnitude_mask)
    key ^= x.view(f.signed)
    return key


def _from_order(key: Array, f: Format) -> Array:
    """Return the encodings of an order, the inverse of `_order`."""
    return _order(key.view(f.unsigned), f).view(f.unsigned)


def _by_order(x: Array, y: Array, f: Format, choose: np.ufunc, marker: int) -> Array:
    """Return the number that `choose` picks by order. `marker`, an order of no number, is the place of NaNs: the first
    chosen where a NaN wins, the last where it loses.

    Only NaNs are above infinity and below -infinity; they are adjacent where integers wrap around. Counted from the
    least number on, all NaNs are above the numbers; counted from the first order above infinity, all are below."""
    above = int(f.infinity) + 1
    numbers, every = 2 * above, 1 << f.width
    first = f.unsigned.type(above if marker < 0 else every - above)
    keys = []
    for operand in np.atleast_1d(x, y):
        key = _order(operand, f).view(f.unsigned)
        key -= first
        keys.append(key)
    a, b = keys
    if b.size == 1 < a.size:
        # NumPy is several times slower with a scalar operand than with an array.
        b = np.full_like(a, b)
    chosen = choose(a, b)
    nan = chosen < f.unsigned.type(every - numbers) if marker < 0 else chosen >= f.unsigned.type(numbers)
    chosen += first
    result = _from_order(chosen.view(f.signed), f)
    replace(result, nan, f.nan, f)
    return result.reshape(np.broadcast_shapes(np.shape(x), np.shape(y)))


def _extreme(x: Array, y: Array, f: Format, native: np.ufunc, choose: np.ufunc, marker: int, daz: bool) -> Array:
    if f.native is None or not np.ndim(x):
        return _by_order(flushed(x, f), flushed(y, f), f, choose, marker) if daz else _by_order(x, y, f, choose, marker)
    number = None if np.ndim(y) else y.view(f.native)
    if number is not None:
        # NumPy is several times slower with a scalar operand than with an array.
        y, one = np.empty_like(x), y
        y[...] = one
    x, y = np.broadcast_arrays(x, y) if x.shape != y.shape else (x, y)
    value = native(x.view(f.native), y.view(f.native))
    if choose is np.maximum and number is not None and number == 0 and not np.signbit(number):
        value += number
    elif number is None or number == 0:
        # NumPy may return either of two zeros. Other equal numbers have the same bits.
        both = np.bitwise_and if choose is np.maximum else np.bitwise_or
        equal = x.view(f.native) == y.view(f.native)
        if np.count_nonzero(equal):
            equal &= x != y
            lanes = equal.nonzero()
            value.view(f.unsigned)[lanes] = both(x[lanes], y[lanes])
    nan = np.isnan(value)
    bits = value.view(f.unsigned)
    if native in (np.fmax, np.fmin) and np.count_nonzero(nan):
        # For some lanes NumPy calls the C library, whose fmax and fmin return a NaN for a signaling one.
        lanes = np.nonzero(nan & (isNaN(x, f) != isNaN(y, f)))
        if lanes[0].size:
            of_one = _by_order(x[lanes], y[lanes], f, choose, marker)
            bits[lanes] = flushed(of_one, f) if daz else of_one
            nan[lanes] = False
    replace(bits, nan, f.nan, f)
    # Flushing keeps the order, so it may as well come last.
    return flushed(bits, f) if daz else bits


def maximum(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """Return the larger of x and y, +0 being larger than -0; NaN if either is NaN (9.6)."""
    return _extreme(x, y, f, np.maximum, np.maximum, (1 << (f.width - 1)) - 1, daz)


def minimum(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """Return the smaller of x and y, -0 being smaller than +0; NaN if either is NaN (9.6)."""
    return _extreme(x, y, f, np.minimum, np.minimum, -(1 << (f.width - 1)), daz)


def maximumNumber(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """Return the larger as `maximum` does; of a number and a NaN, quiet or signaling, the number (9.6)."""
    return _extreme(x, y, f, np.fmax, np.maximum, -(1 << (f.width - 1)), daz)


def minimumNumber(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """Return the smaller as `minimum` does; of a number and a NaN, quiet or signaling, the number (9.6)."""
    return _extreme(x, y, f, np.fmin, np.minimum, (1 << (f.width - 1)) - 1, daz)


def clamped(x: Array, most: Array, f: Format) -> Array:
    """Return x bounded by +0 and `most`, for a format whose canonical NaN has all bits but the sign set. A NaN must be
    the canonical one: it becomes +0, or stays where `most` is the NaN."""
    zero, high, one = _bounds(f, int(most))
    key: Array = (x if x.ndim else x.reshape(1)).view(f.signed)
    if one is not None:
        key = key + one
    key = _clip(key, zero, high)
    if one is not None:
        np.subtract(key, one, out=key)
    result = key.view(f.unsigned)
    return result if x.ndim else result[0]


@cache
def _bounds(f: Format, most: int) -> tuple[Array, Array, Array | None]:
    """Return the bounds of `clamped` as signed integers, and the number to add first to all of them. Encodings with a
    sign are negative. The NaN is the largest integer; adding one makes it the least."""
    around = int(most != f.canonical_nan)
    zero, high, one = (np.array(x, f.signed) for x in (around, most + around, 1))
    return zero, high, one if around else None


def _clip(x: Array, low: Array, high: Array) -> Array:
    """Return bounded numbers. np.clip has the largest overhead: for few elements two other functions are quicker."""
    return np.clip(x, low, high) if np.size(x) > 1 << 10 else np.minimum(np.maximum(x, low), high)


def withoutSign(x: Array, f: Any) -> Array:
    """Return x where its sign bit is clear, else zero; for any format with zeros of both signs."""
    kept = x >> x.dtype.type(f.width - 1)
    kept = kept - x.dtype.type(1)
    return kept & x


def within(x: Array, low: Array, high: Array, f: Format) -> Array:
    """Return x bounded by `low` and `high`, in a native format; a NaN becomes the canonical one."""
    native: Any = f.native
    return canonicalise(_clip(x.view(native), low.view(native), high.view(native)), f)
