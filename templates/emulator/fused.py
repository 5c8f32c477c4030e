"""fusedMultiplyAdd of binary64 in binary64 (Boldo and Melquiond 2008), where exponents leave room."""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from typing import Any

import numpy as np

from .binary import (
    Array,
    Direction,
    Format,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
    roundTowardZero,
)
from .rounding import round_to_odd, step, two_sum

# Twice the precision and a little: beyond it one summand only tells on which side of the other the sum lies.
FAR = 110


def _scaled(x: Array, f: Format, exponent: Array | int) -> Array:
    """The sign and fraction of `x` with another exponent: float64."""
    bits = x & (f.sign_mask | f.fraction_mask)
    bits |= np.asarray((exponent + f.bias) << f.fraction_bits).astype(np.uint64)
    return bits.view(np.float64)


def _halves(value: Array) -> tuple[Array, Array]:
    """The value as a sum of two of 26 bits, so that products of halves are exact."""
    bits = value.view(np.uint64) + np.uint64(1 << 26)
    bits &= np.uint64(0xFFFFFFFFF8000000)
    high = bits.view(np.float64)
    return high, value - high


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """x * y to nearest and what that lacks (Dekker)."""
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


def fused_binary64(x: Array, y: Array, z: Array, f: Format, mode: Direction) -> tuple[Array, Array]:
    """x * y + z in any direction but roundTiesToAway, and where that does not hold: bits and bool.

    It does not hold for operands but normal ones, nor for results that are zero, subnormal or next to it. The factors
    are scaled to [1, 2) and z with them; the exponent goes back in at the end.
    """
    mask = np.uint64((1 << f.exponent_bits) - 1)
    places = np.uint64(f.fraction_bits)
    x_field, y_field, z_field = (((bits >> places) & mask).view(np.int64) for bits in (x, y, z))
    doubtful = np.minimum(np.minimum(x_field, y_field), z_field) < 1
    doubtful |= np.maximum(np.maximum(x_field, y_field), z_field) == int(mask)

    scale = x_field
    scale += y_field
    scale -= 2 * f.bias
    apart = z_field
    apart -= scale
    apart -= f.bias
    # A product far below z counts as if it were FAR below, so that scale must make good the rest.
    scale += np.maximum(apart - FAR, 0)
    np.clip(apart, -FAR, FAR, out=apart)

    product, product_rest = _two_product(_scaled(x, f, 0), _scaled(y, f, 0))
    upper, upper_rest = two_sum(_scaled(z, f, apart), product_rest)
    total, total_rest = two_sum(product, upper)
    rest = round_to_odd(*two_sum(upper_rest, total_rest))
    if mode == roundTiesToEven:
        result = total + rest
        bits = result.view(np.uint64)
        field = ((bits >> places) & mask).view(np.int64) + scale
    else:
        result, error = two_sum(total, rest)
        bits = result.view(np.uint64)
        field = ((bits >> places) & mask).view(np.int64) + scale
        step(bits, error < 0, error > 0, f, mode)
    doubtful |= field < 2
    doubtful |= total == 0
    overflow = field >= int(mask)
    overflow &= ~doubtful
    lanes = np.nonzero(overflow) if overflow.any() else None
    if lanes is not None:
        signs = bits[lanes] & f.sign_mask  # before an exponent too large runs into them
        to_largest: Any = mode == roundTowardZero
        if mode in (roundTowardNegative, roundTowardPositive):
            to_largest = (signs != 0) == (mode == roundTowardPositive)
        signs |= np.where(to_largest, f.largest, f.infinity)
    bits += scale.view(np.uint64) << places
    if lanes is not None:
        bits[lanes] = signs
    return bits, doubtful
