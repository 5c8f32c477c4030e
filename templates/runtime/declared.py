"""Formats other than those of IEEE 754, as the specification declares them, and the function table for them.

A value of such a format is a float64. Sums, products and their remainders neither overflow nor underflow there, because
the format has at most 24 bits of precision and exponents within 300. An operation is exact in float64 or rounded to
odd, and `encode` rounds once more as the declaration specifies. Arguments are those of the functions for IEEE 754's
formats; an encoding is in the lowest bits of the smallest unsigned integer that can contain it.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from . import comparison
from .arithmetic import elementwise
from .binary import (
    BINARY32,
    Array,
    Direction,
    roundTiesToAway,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
    roundTowardZero,
)
from .rounding import quotient_to_odd, root_to_odd, sum_to_odd
from .selection import replace

DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True)
class Declared:
    """A format with a sign if `signed`, an exponent and a fraction.

    From the largest magnitude down its encodings are `nans` NaNs, an infinity if it has one, and numbers. Exponent
    field 0 encodes zero and the subnormal numbers. In a format without a zero it is an exponent like the others;
    without subnormal numbers all of it is zero. A number too large becomes `overflow` where it is not rounded toward
    zero: "infinity", "nan" or "largest". `canonical_nan` is the result of an invalid operation, a number in a format
    without NaNs. A format without a sign has magnitudes only: a number converted to it loses its sign."""

    name: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    nans: int
    canonical_nan: int
    overflow: str
    signed: bool
    has_zero: bool
    has_subnormals: bool
    has_infinity: bool

    @cached_property
    def width(self) -> int:
        return self.signed + self.exponent_bits + self.fraction_bits

    @cached_property
    def unsigned(self) -> np.dtype[Any]:
        return np.dtype(next(f"u{size}" for size in (1, 2, 4, 8) if 8 * size >= self.width))

    @cached_property
    def magnitudes(self) -> int:
        """The number of encodings of one sign."""
        return 1 << (self.exponent_bits + self.fraction_bits)

    @cached_property
    def sign(self) -> Any:
        return self.unsigned.type(self.magnitudes * self.signed)

    @cached_property
    def magnitude(self) -> Any:
        """The mask of all bits but the sign."""
        return self.unsigned.type(self.magnitudes - 1)

    @cached_property
    def first_nan(self) -> int:
        """The least magnitude that is a NaN; it may have one more bit than the format."""
        return self.magnitudes - self.nans

    @cached_property
    def largest(self) -> int:
        """The largest finite number; above it is infinity, if there is one."""
        return self.first_nan - 1 - self.has_infinity

    @cached_property
    def too_large(self) -> tuple[int, bool]:
        """The magnitude that a number too large becomes where it is not rounded toward zero, and whether it keeps its
        sign."""
        if self.overflow == "nan":
            return self.canonical_nan, False
        return self.largest + (self.overflow == "infinity"), True

    @cached_property
    def least_normal(self) -> int:
        return self.has_zero << self.fraction_bits

    @cached_property
    def emin(self) -> int:
        return self.has_zero - self.bias

    @cached_property
    def is_upper_part(self) -> bool:
        """Return whether a pattern is the upper part of a float32."""
        same = self.exponent_bits == 8 and self.bias == 127 and self.signed and self.fraction_bits <= 21
        usual = self.has_subnormals and self.has_infinity and self.overflow == "infinity"
        return same and usual and self.nans == (1 << self.fraction_bits) - 1

    @cached_property
    def largest_exponent(self) -> int:
        """The exponent of the largest finite number."""
        return (self.largest >> self.fraction_bits) - self.bias


def as_single(x: Array, f: Declared) -> Array:
    """Return the numbers of a format whose patterns are the upper parts of float32's."""
    return (x.astype(np.uint32) << np.uint32(23 - f.fraction_bits)).view(np.float32)


def values(x: Array, f: Declared) -> Array:
    """Return the numbers with these encodings: float64."""
    if f.width <= 16:
        # Any index of the unsigned type is in range; "wrap" spares the check.
        return _every_value(f).take(x, mode="wrap")
    return _values(x, f)


@cache
def _every_value(f: Declared) -> Array:
    found = _values(np.arange(1 << f.width, dtype=np.uint32).astype(f.unsigned), f)
    found.flags.writeable = False
    return found


def _values(x: Array, f: Declared) -> Array:
    if f.is_upper_part:
        return as_single(x, f).astype(DOUBLE)
    magnitude = (x & f.magnitude).astype(np.int64)
    exponent = magnitude >> f.fraction_bits
    significand = magnitude & ((1 << f.fraction_bits) - 1)
    normal = magnitude >= f.least_normal
    significand = np.where(normal, significand + (1 << f.fraction_bits), significand * f.has_subnormals)
    exponent = np.maximum(exponent, int(f.has_zero)) - f.bias - f.fraction_bits
    # NumPy returns a scalar, not an array, for a constant.
    value = np.asarray(np.ldexp(significand.astype(DOUBLE), exponent))
    if f.has_infinity:
        np.copyto(value, np.inf, where=magnitude == f.largest + 1)
    np.copyto(value, np.nan, where=magnitude >= f.first_nan)
    return np.where((x & f.sign) != 0, -value, value)


def integral(x: Array, negative: Array, mode: Direction) -> Array:
    """Return magnitudes rounded to integral values: float64."""
    if mode == roundTiesToEven:
        return np.rint(x)
    whole = np.floor(x)
    if mode == roundTowardZero:
        return whole
    if mode == roundTiesToAway:
        return whole + (x - whole >= 0.5)
    outward = negative if mode == roundTowardNegative else ~negative
    return whole + (outward & (x > whole))


def encode(value: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    """Return float64, exact or rounded to odd, rounded to a format."""
    size = np.abs(value)
    finite = np.isfinite(value)
    negative = np.signbit(value) & f.signed
    size = np.where(finite, size, 0)
    exponent = np.frexp(size)[1].astype(np.int64) - 1
    low = exponent < f.emin
    start = np.maximum(exponent, f.emin)
    places = np.full_like(start, f.fraction_bits)
    if not f.has_subnormals:
        places[low] = 0
    kept = integral(np.ldexp(size, places - start), negative, mode).astype(np.int64)
    bits = (kept << (f.fraction_bits - places)) + ((start - f.emin) << f.fraction_bits)
    if not f.has_zero:
        bits = np.where(low, 0, bits - (1 << f.fraction_bits))
    elif ftz:
        # Tininess is detected after rounding with an unbounded exponent.
        unbounded = integral(np.ldexp(size, f.fraction_bits - exponent), negative, mode)
        reaches = (exponent == f.emin - 1) & (unbounded == 2.0**f.fraction_bits * 2)
        bits = np.where(low & ~reaches, 0, bits)
    bits = np.where(size == 0, 0, bits)
    signs = np.where(negative, int(f.sign), 0)
    bits = np.where(bits > f.largest, _overflowed(negative, f, mode), bits | signs)
    exactly, has_sign = (f.largest + 1, True) if f.has_infinity else f.too_large
    bits = np.where(np.isinf(value), exactly | (signs if has_sign else 0), bits)
    return np.where(np.isnan(value), f.canonical_nan, bits).astype(f.unsigned)


def _overflowed(negative: Array, f: Declared, mode: Direction) -> Array:
    beyond, has_sign = f.too_large
    signs = np.where(negative, int(f.sign), 0)
    outward = np.full(negative.shape, mode in (roundTiesToEven, roundTiesToAway))
    if mode in (roundTowardNegative, roundTowardPositive):
        outward = negative == (mode == roundTowardNegative)
    return np.where(outward, beyond | (signs if has_sign else 0), f.largest | signs)


# Operations that round (5.4.1)


def _read(x: Array, f: Declared, daz: bool) -> Array:
    return values(flushed(x, f) if daz else x, f)


def _sum(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    total = sum_to_odd(x, y)
    if mode == roundTowardNegative:
        # A sum of zero is -0 unless both summands are +0.
        np.copyto(total, -0.0, where=(total == 0) & (np.signbit(x) | np.signbit(y)))
    return encode(total, f, mode, ftz)


@elementwise(2)
def addition(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x + y."""
    return _sum(_read(x, f, daz), _read(y, f, daz), f, mode, ftz)


@elementwise(2)
def subtraction(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x - y."""
    return _sum(_read(x, f, daz), -_read(y, f, daz), f, mode, ftz)


@elementwise(2)
def multiplication(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x * y."""
    return encode(_read(x, f, daz) * _read(y, f, daz), f, mode, ftz)


@elementwise(2)
def division(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x / y."""
    return encode(quotient_to_odd(_read(x, f, daz), _read(y, f, daz)), f, mode, ftz)


@elementwise(1)
def squareRoot(x: Array, f: Declared, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return the square root."""
    return encode(root_to_odd(_read(x, f, daz)), f, mode, ftz)


@elementwise(3)
def fusedMultiplyAdd(x: Array, y: Array, z: Array, f: Declared, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x * y + z, rounded once."""
    return _sum(_read(x, f, daz) * _read(y, f, daz), _read(z, f, daz), f, mode, ftz)


# Sign and classes (5.5.1, 5.7.2)


def magnitude(x: Array, f: Declared) -> Array:
    """Return |x|."""
    return x & f.magnitude


def negate(x: Array, f: Declared) -> Array:
    """Return -x."""
    return x ^ f.sign


def copySign(x: Array, y: Array, f: Declared) -> Array:
    """Return x with the sign of y."""
    return (x & f.magnitude) | (y & f.sign)


def flushed(x: Array, f: Declared) -> Array:
    """Return x, and a zero of its sign where x is subnormal."""
    return np.where(isSubnormal(x, f), x & f.sign, x)


def isNaN(x: Array, f: Declared) -> Array:
    """Return whether x is a NaN."""
    if not f.nans:
        return np.zeros(np.shape(x), np.bool_)
    return (x & f.magnitude) >= f.unsigned.type(f.first_nan)


def isInfinite(x: Array, f: Declared) -> Array:
    """Return whether x is an infinity."""
    return ~isNaN(x, f) & ~isFinite(x, f)


def isFinite(x: Array, f: Declared) -> Array:
    """Return whether x is a number."""
    return (x & f.magnitude) <= f.unsigned.type(f.largest)


def isZero(x: Array, f: Declared) -> Array:
    """Return whether x is a zero. Without subnormal numbers, every encoding with an exponent field of 0 is one."""
    below = 1 if f.has_subnormals else f.least_normal
    return (x & f.magnitude) < f.unsigned.type(below if f.has_zero else 0)


def isSubnormal(x: Array, f: Declared) -> Array:
    """Return whether x is a number smaller than the normal ones, but not zero."""
    return ((x & f.magnitude) < f.unsigned.type(f.least_normal)) & ~isZero(x, f)


def isNormal(x: Array, f: Declared) -> Array:
    """Return whether x is a number, not zero and not subnormal."""
    return ((x & f.magnitude) >= f.unsigned.type(f.least_normal)) & isFinite(x, f)


def isSignMinus(x: Array, f: Declared) -> Array:
    """Return whether the sign bit is set."""
    return (x & f.sign) != 0


# Comparisons (5.11), minimum and maximum (9.6)


def _comparable(x: Array, f: Declared) -> Array:
    return as_single(x, f) if f.is_upper_part else values(x, f)


def compare(x: Array, y: Array, relation: int, f: Declared) -> Array:
    """Return whether x and y are in a relation, as comparison.py defines them."""
    return comparison.compared(_comparable(x, f), _comparable(y, f), relation)


def _extreme(x: Array, y: Array, f: Declared, largest: bool, number: bool, daz: bool) -> Array:
    if daz:
        x, y = flushed(x, f), flushed(y, f)
    if f.is_upper_part:
        return _extreme_of_singles(x, y, f, largest, number)
    a, b = values(x, f), values(y, f)
    # The signs order two zeros.
    above = (a > b) | ((a == b) & ~np.signbit(a) & np.signbit(b))
    result = np.where(above == largest, x, y)
    x_nan, y_nan = np.isnan(a), np.isnan(b)
    nan = x_nan | y_nan
    if number:
        result = np.where(x_nan, y, np.where(y_nan, x, result))
        nan = x_nan & y_nan
    return np.where(nan, f.unsigned.type(f.canonical_nan), result)


def _extreme_of_singles(x: Array, y: Array, f: Declared, largest: bool, number: bool) -> Array:
    """Return the minimum or maximum as that of float32 numbers; the encodings are their upper parts."""
    choose = getattr(comparison, ("maximum" if largest else "minimum") + "Number" * number)
    found = choose(as_single(x, f).view(np.uint32), as_single(y, f).view(np.uint32), BINARY32)
    bits, nan = found >> np.uint32(23 - f.fraction_bits), np.isnan(found.view(np.float32))
    return replace(bits, nan, np.uint32(f.canonical_nan), BINARY32).astype(f.unsigned, copy=False)


def maximum(x: Array, y: Array, f: Declared, daz: bool = False) -> Array:
    """Return the larger; NaN if either is NaN."""
    return _extreme(x, y, f, True, False, daz)


def minimum(x: Array, y: Array, f: Declared, daz: bool = False) -> Array:
    """Return the smaller; NaN if either is NaN."""
    return _extreme(x, y, f, False, False, daz)


def maximumNumber(x: Array, y: Array, f: Declared, daz: bool = False) -> Array:
    """Return the larger; of a number and a NaN the number."""
    return _extreme(x, y, f, True, True, daz)


def minimumNumber(x: Array, y: Array, f: Declared, daz: bool = False) -> Array:
    """Return the smaller; of a number and a NaN the number."""
    return _extreme(x, y, f, False, True, daz)
