"""The steps from an inexact value to a rounded result.

A narrow format computes in its carrier (`Format.carrier`). Whatever is inexact there is rounded to odd: truncated, with
the last bit set if anything was cut off. `narrow` of narrowing.py then rounds once more, in any direction, and gives
the result of a single rounding of the exact value.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

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
from .encoding import isZero, mask

Operation: TypeAlias = Callable[..., Array]


class EdgeTest(Protocol):
    """A test of lanes, given their indices, whose results are +-2**emin: whether each was below it when rounded with an
    unbounded exponent."""

    def __call__(self, lanes: tuple[Array, ...], /) -> Array: ...


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x + y to nearest, and its error (Knuth), which is NaN where the sum is not finite."""
    total = x + y
    y_part = total - x
    x_part = total - y_part
    np.subtract(x, x_part, out=x_part)
    np.subtract(y, y_part, out=y_part)
    x_part += y_part
    return total, x_part


def _halves(value: Array) -> tuple[Array, Array]:
    """Return the value as a sum of two numbers of 26 bits, so that products of halves are exact."""
    bits = value.view(np.uint64) + np.uint64(1 << 26)
    bits &= np.uint64(0xFFFFFFFFF8000000)
    high = bits.view(np.float64)
    return high, value - high


def two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x * y to nearest, and its error (Dekker): float64, far from over- and underflow."""
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
    """Return the exact value + error, rounded to odd.

    `value` is the exact value rounded to nearest, and `error` has the sign of the rest (NaN: leave the value
    unchanged). The memory of `value` is reused.
    """
    bits: Array = value.view(np.uint32 if value.dtype == np.float32 else np.uint64)
    away = (error < 0) == (value > 0)
    inexact = np.abs(error) > 0
    away &= inexact
    bits -= away
    bits |= inexact
    return value


def sum_to_odd(x: Array, y: Array) -> Array:
    """Return x + y, rounded to odd; an exact zero sum of opposite signs is +0."""
    return round_to_odd(*two_sum(x, y))


def _split(value: Array) -> tuple[Array, Array]:
    """Return the value as a sum of two numbers with half the bits each."""
    if value.dtype == np.float32:
        high = (value.view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)
    else:
        high = (value.view(np.uint64) & np.uint64(0xFFFFFFFFF8000000)).view(np.float64)
    return high, value - high


def quotient_to_odd(x: Array, y: Array) -> Array:
    """Return x / y, rounded to odd, for operands of at most half the bits of their type, far from over- and
    underflow."""
    quotient = x / y
    high, low = _split(quotient)
    return round_to_odd(quotient, ((x - high * y) - low * y) * np.copysign(y.dtype.type(1), y))


def root_to_odd(x: Array) -> Array:
    """Return the square root, rounded to odd, for operands as in `quotient_to_odd`."""
    root: Array = np.sqrt(x)
    high, low = _split(root)
    return round_to_odd(root, ((x - high * high) - 2 * high * low) - low * low)


def step(bits: Array, below: Array | None, above: Array | None, f: Format, mode: Direction) -> Array:
    """Move faithfully rounded results to the neighbour that a directed rounding requires.

    `below` and `above` are bool arrays: the exact value is smaller or larger than the result. Each may be None where
    the direction does not use it: above for roundTowardNegative, below for roundTowardPositive. The memory of `bits` is
    reused. Infinity moves to the largest finite number and the smallest subnormal to zero, as neighbouring patterns do.
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
    """Replace tiny results by a zero of their sign, in place.

    Tininess is detected after rounding with an unbounded exponent (7.5 a). The ordinary result already decides, except
    where it is +-2**emin: only there an exact value just below may have been rounded up by the subnormals' coarser
    steps.
    """
    magnitude = bits & f.magnitude_mask
    tiny = magnitude < f.smallest_normal
    if np.count_nonzero(tiny):
        magnitude &= mask(tiny, f)
        bits ^= magnitude
        magnitude = bits & f.magnitude_mask
    edge = magnitude == f.smallest_normal
    if np.count_nonzero(edge):
        lanes = edge.nonzero()
        bits[lanes] &= np.where(edge_is_tiny(lanes), f.sign_mask, ~f.unsigned.type(0))
    return bits


def never(lanes: tuple[Array, ...]) -> Array:
    """Return False for all lanes: an `EdgeTest` for results that are never tiny."""
    return np.zeros(lanes[0].shape, np.bool_)


def tested_by(operation: Operation, operands: tuple[Array, ...], f: Format, mode: Direction) -> Operation:
    """Return an `EdgeTest` that uses the integer form of the operation."""
    return lambda lanes: isZero(operation(*(operand[lanes] for operand in operands), f, mode, True), f)


def is_tiny(value: Array, f: Format, mode: Direction) -> Array:
    """Return whether the value (exact or rounded to odd), rounded to the precision of `f` alone, is below 2**emin, as
    zero is."""
    least = value.dtype.type(2.0**f.emin)
    below = value.dtype.type(2.0**f.emin - 2.0 ** (f.emin - f.precision))
    middle = value.dtype.type(2.0**f.emin - 2.0 ** (f.emin - f.precision - 1))
    size = np.abs(value)
    if mode in (roundTiesToEven, roundTiesToAway):
        return size < middle  # 2**emin is even, so a tie rounds up either way
    if mode == roundTowardZero:
        return size < least
    outward = np.signbit(value) if mode == roundTowardNegative else ~np.signbit(value)
    return np.where(outward, size <= below, size < least)
