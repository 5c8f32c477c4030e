"""The differences between two results: their kind and their size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import Format, Kind

Array = NDArray[Any]

# The kinds of differences, the most serious first. Two NaNs with different bits are equal for most purposes.
NAN, INFINITE, VALUE, FLUSHED, SIGN, OTHER, NAN_BITS, MAY = range(8)
WORDS = (
    "one is a NaN", "one is infinite", "different numbers", "one is 0, the other subnormal", "the sign of zero",
    "different values", "only the bits of NaNs", "may differ",
)  # fmt: skip
NAMES = ("nan", "infinity", "number", "flushed", "zero-sign", "value", "nan-bits", "may-differ")
# The kinds of differences that have a meaningful distance.
MEASURED = (VALUE, OTHER)


def differences(kind: Kind, a: Array, b: Array) -> Array:
    """Return the kind of difference of each pair of unequal encodings."""
    f = kind.format
    if f is None:
        return np.full(a.shape, OTHER, np.uint8)
    (x_nan, x_infinite, x_zero, x_small), (y_nan, y_infinite, y_zero, y_small) = (_facts(f, v) for v in (a, b))
    found = np.full(a.shape, VALUE, np.uint8)
    found[(x_zero & y_small) | (x_small & y_zero)] = FLUSHED
    found[x_zero & y_zero] = SIGN
    found[x_infinite | y_infinite] = INFINITE
    found[x_nan | y_nan] = NAN
    found[x_nan & y_nan] = NAN_BITS
    return found


def _facts(f: Format, x: Array) -> tuple[Array, ...]:
    magnitude = x & x.dtype.type(f.magnitudes - 1)
    infinite = magnitude == f.infinity if f.has_infinity else np.zeros(x.shape, np.bool_)
    # In a format without subnormal numbers, everything below the normal numbers is zero.
    smallest = 1 if f.has_subnormals else f.least_normal
    zero = (magnitude < smallest) & f.has_zero
    small = (magnitude >= smallest) & (magnitude < f.least_normal)
    return magnitude >= f.first_nan, infinite, zero, small


def distances(kind: Kind, a: Array, b: Array) -> Array:
    """Return the number of steps between adjacent numbers from `a` to `b`; +0 and -0 are one number. It is 0 for
    anything but floats and integers."""
    f, fixed = kind.format, kind.fixed
    if f is not None:
        x, y = (_wide(v) & np.uint64(f.magnitudes - 1) for v in (a, b))
        alike = (_wide(a) ^ _wide(b)) & np.uint64(f.sign_bit) == 0
        return np.where(alike, np.maximum(x, y) - np.minimum(x, y), x + y)
    if fixed is not None:
        top = np.uint64(1 << (fixed.width - 1)) if fixed.signed else np.uint64(0)
        x, y = _wide(a) ^ top, _wide(b) ^ top
        return np.asarray(np.maximum(x, y) - np.minimum(x, y))
    return np.zeros(a.shape, np.uint64)


def _wide(x: Array) -> Array:
    return x.astype(np.uint64)


def complexity(columns: Sequence[Array]) -> Array:
    """Return how hard each row of operands is to read: more with each bit that is set, less with each trailing zero."""
    found = np.zeros(columns[0].shape, np.int64)
    for x in columns:
        lowest = x & (~x + x.dtype.type(1))
        found += 2 * np.bitwise_count(x).astype(np.int64) - np.bitwise_count(lowest - x.dtype.type(1))
    return found
