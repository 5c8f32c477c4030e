"""Operations on encodings alone: sign, quiet NaNs and classes (IEEE 754-2019, 5.5.1, 6.2.1, 5.7.2).

Operands are NumPy arrays or scalars of the unsigned integer type of their format; results are new arrays.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

import numpy as np

from .binary import Array, Format


def magnitude(x: Array, f: Format) -> Array:
    """Return |x|: the sign bit cleared, of NaNs too (abs, 5.5.1)."""
    return x & f.magnitude_mask


def negate(x: Array, f: Format) -> Array:
    """Return -x: the sign bit flipped, of NaNs too (5.5.1)."""
    return x ^ f.sign_mask


def copySign(x: Array, y: Array, f: Format) -> Array:
    """Return x with the sign bit of y, NaNs included (5.5.1)."""
    return (x & f.magnitude_mask) | (y & f.sign_mask)


def quieten(x: Array, f: Format) -> Array:
    """Return x with the quiet bit set (6.2.1); for NaNs only."""
    return x | f.quiet_mask


def convertNaN(x: Array, source: Format, f: Format) -> Array:
    """Return a NaN in another format: its sign, and the leading bits of its fraction (6.2.3)."""
    fraction, shift = x & source.fraction_mask, f.fraction_bits - source.fraction_bits
    if shift < 0:
        fraction = fraction >> source.unsigned.type(-shift)
    fraction = fraction.astype(f.unsigned)
    if shift > 0:
        fraction <<= f.unsigned.type(shift)
    signs = (x >> source.unsigned.type(source.width - 1)).astype(f.unsigned) << f.unsigned.type(f.width - 1)
    return fraction | signs | f.infinity


def mask(condition: Array, f: Format) -> Array:
    """Return all bits of the unsigned type of `f` set where the condition is true, and zero elsewhere."""
    signed = np.negative(condition.view(np.int8)).astype(f.signed)
    return signed.view(f.unsigned)


def flushed(x: Array, f: Format) -> Array:
    """Return x, and a zero of its sign where x is subnormal."""
    # Zero wraps around to the largest integer.
    subnormal = (x & f.magnitude_mask) - f.unsigned.type(1) < f.fraction_mask
    count = np.count_nonzero(subnormal)
    if not count:
        return x
    if np.ndim(x) and 50 * count < np.size(x):
        lanes, found = subnormal.nonzero(), x.copy()
        found[lanes] &= f.sign_mask
        return found
    kept = mask(subnormal, f)
    kept &= f.magnitude_mask
    return x & ~kept


def isNaN(x: Array, f: Format) -> Array:
    """Return whether x is a NaN (5.7.2)."""
    if f.native is not None:
        return np.isnan(x.view(f.native))
    return (x & f.magnitude_mask) > f.infinity


def isSignaling(x: Array, f: Format) -> Array:
    """Return whether x is a signaling NaN (5.7.2, 6.2.1)."""
    return isNaN(x, f) & ((x & f.quiet_mask) == 0)


def isInfinite(x: Array, f: Format) -> Array:
    """Return whether x is an infinity (5.7.2)."""
    return (x & f.magnitude_mask) == f.infinity


def isFinite(x: Array, f: Format) -> Array:
    """Return whether x is zero, subnormal or normal (5.7.2)."""
    return (x & f.magnitude_mask) < f.infinity


def isZero(x: Array, f: Format) -> Array:
    """Return whether x is a zero of either sign (5.7.2)."""
    return (x & f.magnitude_mask) == 0


def isSubnormal(x: Array, f: Format) -> Array:
    """Return whether x is nonzero and smaller in magnitude than 2**emin (5.7.2)."""
    # Zero wraps around to the largest integer.
    return (x & f.magnitude_mask) - f.unsigned.type(1) < f.fraction_mask


def isNormal(x: Array, f: Format) -> Array:
    """Return whether x is neither zero, subnormal, infinite nor NaN (5.7.2)."""
    return (x & f.magnitude_mask) - f.smallest_normal < f.infinity - f.smallest_normal


def isSignMinus(x: Array, f: Format) -> Array:
    """Return whether the sign bit is set, of a zero or NaN too (5.7.2)."""
    return x > f.magnitude_mask
