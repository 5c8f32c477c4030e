"""Directed roundings of binary64 from native results to nearest. An integer gives the sign of their error."""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from typing import Any

import numpy as np

from .binary import Array, Direction, Format, roundTowardNegative, roundTowardZero
from .encoding import isFinite, isInfinite, isZero
from .rounding import Operation, flush, tested_by
from .selection import replace

# The remainders of binary64: the sign of |exact| - |result| for normal operands and results. Both terms exceed 64 bits,
# but their difference is less than 2**54, so that it survives when both wrap around.


def _fields(x: Array, f: Format) -> tuple[Array, Array]:
    """Return the biased exponents and significands of normal numbers."""
    exponent = x >> f.unsigned.type(f.fraction_bits)
    exponent &= f.unsigned.type((1 << f.exponent_bits) - 1)
    significand = x & f.fraction_mask
    significand |= f.smallest_normal
    return exponent, significand


def product_remainder(result: Array, f: Format, x: Array, y: Array) -> Array:
    (x_exponent, a), (y_exponent, b), (exponent, c) = _fields(x, f), _fields(y, f), _fields(result, f)
    a *= b
    exponent -= x_exponent
    exponent -= y_exponent
    exponent += f.unsigned.type(f.bias + f.fraction_bits)
    c <<= exponent
    a -= c
    return a.view(f.signed)


def quotient_remainder(result: Array, f: Format, x: Array, y: Array) -> Array:
    (x_exponent, a), (y_exponent, b), (exponent, c) = _fields(x, f), _fields(y, f), _fields(result, f)
    c *= b
    x_exponent -= y_exponent
    x_exponent -= exponent
    x_exponent += f.unsigned.type(f.bias + f.fraction_bits)
    a <<= x_exponent
    a -= c
    return a.view(f.signed)


def root_remainder(result: Array, f: Format, x: Array) -> Array:
    return quotient_remainder(result, f, x, result)


def directed(
    value: Array,
    operands: tuple[Array, ...],
    remainder: Operation,
    exactly: Operation,
    f: Format,
    mode: Direction,
    ftz: bool,
) -> Array:
    """Turn a fresh native result to nearest, `value`, into one of a directed rounding."""
    bits = value.view(f.unsigned)
    magnitude = bits & f.magnitude_mask
    nan = np.isnan(value)
    rest = remainder(bits, f, *operands)
    smaller, larger = rest < 0, rest > 0
    # The remainder decides where all are normal; 2**emin may have been rounded as a subnormal.
    plain = _between(magnitude, f.smallest_normal, f)
    for operand in operands:
        plain &= _between(operand & f.magnitude_mask, f.unsigned.type(int(f.smallest_normal) - 1), f)
    plain |= nan
    lanes = None
    if not plain.all():
        lanes = np.nonzero(~plain)
        part = [operand[lanes] for operand in operands]
        zero, infinite = isZero(bits[lanes], f), isInfinite(bits[lanes], f)
        finite = np.logical_and.reduce([isFinite(operand, f) for operand in part])
        nonzero = ~np.logical_or.reduce([isZero(operand, f) for operand in part])
        # Nonzero finite numbers never give an exact infinity or zero; results of other operands are exact.
        smaller[lanes] = infinite & finite & nonzero
        larger[lanes] = zero & finite & nonzero
        unknown = np.nonzero(finite & nonzero & ~zero & ~infinite)
        lanes = tuple(axis[unknown] for axis in lanes)
    if mode == roundTowardZero:
        bits -= smaller
    else:
        inward = np.signbit(value)
        if mode == roundTowardNegative:
            np.logical_not(inward, out=inward)
        smaller &= inward
        larger &= ~inward
        bits -= smaller
        bits += larger
    if lanes is not None and lanes[0].size:
        bits[lanes] = exactly(*(operand[lanes] for operand in operands), f, mode, False)
    replace(bits, nan, f.nan, f)
    return flush(bits, f, tested_by(exactly, operands, f, mode)) if ftz else bits


def _between(magnitude: Array, lower: Any, f: Format) -> Array:
    """Return whether lower < magnitude < infinity."""
    inside = magnitude > lower
    inside &= magnitude < f.infinity
    return inside
