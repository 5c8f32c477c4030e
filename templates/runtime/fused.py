"""fusedMultiplyAdd of binary64 in binary64 (Boldo and Melquiond 2008), with exponents kept apart from significands."""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from typing import Any

import numpy as np

from . import wide
from .binary import (
    Array,
    Direction,
    Format,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
    roundTowardZero,
)
from .encoding import mask
from .rounding import step, sum_to_odd, two_product, two_sum
from .selection import replace

# Twice the precision and a little: beyond it, the smaller summand only decides on which side of the larger one the sum
# is.
FAR = 110
# Below this scale any result is far below the smallest subnormal number, and only its sign matters.
LEAST_SCALE = -1900
# Subnormal numbers are multiplied by this power of two: after that only zeros have so small an exponent field.
RAISED = 64
ZERO_FIELD = -RAISED


def fused_binary64(x: Array, y: Array, z: Array, f: Format, mode: Direction) -> Array:
    """Return x * y + z as fresh bits, in any direction but roundTiesToAway.

    The factors are scaled to [1, 2) and z with them; the exponent is restored at the end.
    """
    (a, a_field), (b, b_field), (c, c_field) = (_normal(operand, f) for operand in (x, y, z))
    extremes = np.minimum(a_field, b_field), np.maximum(a_field, b_field)
    special = np.minimum(extremes[0], c_field, out=extremes[0]) <= ZERO_FIELD
    special |= np.maximum(extremes[1], c_field, out=extremes[1]) == (1 << f.exponent_bits) - 1
    # The exponent of the product, and the difference between it and the exponent of z.
    scale = a_field
    scale += b_field
    apart = c_field
    apart -= scale
    apart += f.bias
    # A product far below z counts as if it were FAR below; scale must make up for the difference.
    scale += np.maximum(apart, np.full_like(apart, FAR))
    scale -= 2 * f.bias + FAR
    np.clip(apart, -FAR, FAR, out=apart)
    apart += f.bias
    apart <<= f.fraction_bits

    one = f.unsigned.type(f.bias << f.fraction_bits)
    product, product_rest = two_product(_with_field(a, one, f), _with_field(b, one, f))
    upper, upper_rest = two_sum(_with_field(c, apart.view(f.unsigned), f), product_rest)
    total, total_rest = two_sum(product, upper)
    rest = sum_to_odd(upper_rest, total_rest)
    result = _sum(total, rest, mode, f)
    bits = result.view(f.unsigned)
    zero = result == 0

    field = ((bits & f.infinity) >> f.unsigned.type(f.fraction_bits)).view(np.int64)
    field += scale
    low, high = np.nonzero(field < 1), np.nonzero(field >= (1 << f.exponent_bits) - 1)
    signs = bits[high] & f.sign_mask  # before an exponent too large overflows into them
    scale <<= f.fraction_bits
    bits += scale.view(f.unsigned)
    if high[0].size:
        bits[high] = signs | _overflowed(signs, f, mode)
    if low[0].size:
        bits[low] = _subnormal(total[low], rest[low], scale[low] >> f.fraction_bits, f, mode)
    if zero.any():
        np.copyto(bits, f.sign_mask if mode == roundTowardNegative else f.unsigned.type(0), where=zero)
    if special.any():
        lanes = np.nonzero(special)
        bits[lanes] = _of_specials(x[lanes], y[lanes], z[lanes], f, mode)
    return bits


def _normal(x: Array, f: Format) -> tuple[Array, Array]:
    """Return bits with the significand of `x`, and its biased exponent; subnormal numbers are normalised."""
    field = x & f.infinity
    field >>= f.unsigned.type(f.fraction_bits)
    signed = field.view(np.int64)
    lanes = np.nonzero(signed == 0)
    if lanes[0].size:
        x = x.copy()
        x[lanes] = (x[lanes].view(np.float64) * 2.0**RAISED).view(f.unsigned)
        signed[lanes] = ((x[lanes] & f.infinity) >> f.unsigned.type(f.fraction_bits)).view(np.int64) - RAISED
    return x, signed


def _with_field(x: Array, field: Any, f: Format) -> Array:
    """Return the sign and fraction of `x` with another exponent field, given in place: float64."""
    bits = x & (f.sign_mask | f.fraction_mask)
    bits |= field
    return bits.view(np.float64)


def _sum(x: Array, y: Array, mode: Direction, f: Format) -> Array:
    """Return x + y, finite and far from overflow, in a direction: float64. An exact zero may have either sign."""
    if mode == roundTiesToEven:
        return x + y
    total, error = two_sum(x, y)
    step(total.view(f.unsigned), error < 0, error > 0, f, mode)
    return total


def _overflowed(signs: Array, f: Format, mode: Direction) -> Array:
    to_largest: Any = np.full(signs.shape, mode == roundTowardZero)
    if mode in (roundTowardNegative, roundTowardPositive):
        to_largest = (signs != 0) == (mode == roundTowardPositive)
    return f.infinity - (mask(to_largest, f) & f.unsigned.type(1))


def _subnormal(total: Array, rest: Array, scale: Array, f: Format, mode: Direction) -> Array:
    """Return (total + rest) * 2**scale, below 2**emin, rounded to units of the smallest subnormal number: bits.

    A value is added to a power of two whose last place is that unit: the addition itself rounds it there, and the units
    are the difference of the patterns.
    """
    signs = (total + rest).view(f.unsigned) & f.sign_mask
    field = f.emin + f.bias - np.maximum(scale, LEAST_SCALE)
    anchor = signs | (field << f.fraction_bits).view(f.unsigned)
    high, low = two_sum(anchor.view(np.float64), total)
    rounded = _sum(high, sum_to_odd(low, rest), mode, f)
    return (rounded.view(f.unsigned) - anchor) | signs


def _of_specials(x: Array, y: Array, z: Array, f: Format, mode: Direction) -> Array:
    """Return the result where an operand is a zero, an infinity or a NaN: only a product with z = 0 is inexact."""
    a, b, c = (operand.view(np.float64) for operand in (x, y, z))
    of_numbers = np.isfinite(a) & np.isfinite(b)
    product = a * b
    total = product + c
    bits = total.view(f.unsigned)
    if mode == roundTowardNegative:
        np.copyto(bits, ((x ^ y) | z) & f.sign_mask, where=total == 0)
    # Here the rounded product may have overflowed or vanished, though the exact one did not.
    replace(bits, np.isnan(total), f.nan, f)
    np.copyto(bits, z, where=of_numbers & np.isinf(c))
    alone = of_numbers & (c == 0) & (a != 0) & (b != 0)
    if alone.any():
        lanes = np.nonzero(alone)
        bits[lanes] = wide.multiplication(x[lanes], y[lanes], f, mode, False)
    return bits
