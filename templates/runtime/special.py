"""The functions of the language in formats that are not like IEEE 754's, and with integers.

Exact results come from wide.py; `pack` rounds them as a declaration says. Of formats of few bits, all results are
computed once and looked up. Operands broadcast against each other.
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeAlias

import numpy as np

from . import encoding, wide
from .arithmetic import elementwise
from .binary import (
    Array,
    Direction,
    Format,
    roundTiesToAway,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
)
from .declared import Declared, FixedPoint
from .wide import Finite, u64

Number: TypeAlias = Format | Declared | FixedPoint
# The bits of all operands together up to which results are looked up.
_TABLE_BITS = 16


def _operation(count: int) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Give a function whose first `count` arguments are arrays of one format, which comes next, the broadcasting of a
    ufunc, and a table where that is small."""

    def decorate(function: Callable[..., Array]) -> Callable[..., Array]:
        whole = elementwise(count)(function)

        @cache
        def table(f: Number, *settings: Any) -> Array:
            every = np.arange(1 << count * f.width, dtype=np.uint64)
            mask = u64((1 << f.width) - 1)
            columns = [(every >> u64(f.width * i) & mask).astype(f.unsigned) for i in reversed(range(count))]
            found = whole(*columns, f, *settings)
            found.flags.writeable = False
            return found

        @wraps(function)
        def call(*arguments: Any) -> Array:
            operands, f, settings = arguments[:count], arguments[count], arguments[count + 1 :]
            if count * f.width > _TABLE_BITS:
                return whole(*arguments)
            place = operands[0]
            for x in operands[1:]:
                place = place.astype(np.uint16) << np.uint16(f.width) | x
            return table(f, *settings).take(place)

        return call

    return decorate


# Numbers in and out


def unpack(x: Array, f: Number) -> Finite:
    """Finite numbers taken apart and normalised; infinities and NaNs give some number."""
    if isinstance(f, Format):
        return wide.unpack(x, f)
    bits = x.astype(u64)
    if isinstance(f, FixedPoint):
        negative = (bits & u64(f.most_negative)) != 0
        magnitude = np.where(negative, (~bits + u64(1)) & u64((1 << f.width) - 1), bits)
        return wide.normalised(negative, -f.point, magnitude)
    significand = bits & u64((1 << f.fraction_bits) - 1)
    exponent = (bits & u64(f.magnitudes - 1)) >> u64(f.fraction_bits)
    hidden = exponent >= u64(f.has_zero)
    if not f.has_subnormals:
        significand = np.where(hidden, significand, u64(0))
    significand |= hidden.astype(u64) << u64(f.fraction_bits)
    scale = np.maximum(exponent.astype(np.int64), int(f.has_zero)) - f.bias - f.fraction_bits
    return wide.normalised((bits & u64(f.sign_bit)) != 0, scale, significand)


def pack(x: Finite, sticky: Array | bool, f: Declared, mode: Direction, ftz: bool) -> Array:
    """Round to the format: bits. `sticky`: the exact value lies above the significand by less than its last place."""
    # Without a sign a number is its magnitude, and is rounded as a positive one is.
    negative = x.negative & f.signed
    high = (x.significand >> u64(2)) | ((x.significand & u64(3)) != 0) | sticky
    top = x.exponent + 63
    usual = 62 - f.precision
    if f.has_subnormals:
        below = np.clip(f.emin - top, 0, f.precision + 1)
    else:
        # A number below the smallest normal one becomes that or zero.
        below = np.where(top < f.emin, f.fraction_bits + np.clip(f.emin - top, 1, 2), 0)
    kept = wide.drop(high, (usual + below).astype(u64), negative, mode)
    if not f.has_subnormals:
        kept = np.where(top < f.emin, kept << u64(f.fraction_bits), kept)
    bits = (np.clip(top - f.emin, 0, 1 << f.exponent_bits).astype(u64) << u64(f.fraction_bits)) + kept
    if not f.has_zero:
        bits = np.where(top < f.emin, u64(0), bits - u64(1 << f.fraction_bits))
    overflows: Array | bool = mode in (roundTiesToEven, roundTiesToAway)
    if mode in (roundTowardNegative, roundTowardPositive):
        overflows = negative if mode == roundTowardNegative else ~negative
    sign = negative.astype(u64) * u64(f.sign_bit)
    beyond = bits > u64(f.largest)
    if ftz:
        unbounded = wide.drop(high, np.full_like(high, usual), negative, mode)
        reaches = (top == f.emin - 1) & (unbounded == u64(1 << f.precision))
        bits = np.where((top < f.emin) & ~reaches, u64(0), bits)
    bits = np.where(beyond, u64(f.largest), bits) | sign
    return np.where(beyond & overflows, _overflow(sign, f), bits).astype(f.unsigned)


def _overflow(sign: Array, f: Format | Declared) -> Array:
    """What a number too large becomes, and an infinity where there is none."""
    assert isinstance(f, Declared)
    found, takes_sign = f.overflown
    return sign | sign.dtype.type(found) if takes_sign else np.full_like(sign, found)


def _to_fixed(x: Finite, f: FixedPoint, mode: Direction) -> Array:
    """The encoding of the nearest integer in a direction, in units of 2**-point; beyond the range, of its end."""
    count = -(x.exponent + f.point)
    lost = np.clip(count - 63, 0, 2).astype(u64)
    rest = (x.significand & ((u64(1) << lost) - u64(1))) != 0
    dropped = wide.drop((x.significand >> lost) | rest, np.clip(count, 1, 63).astype(u64), x.negative, mode)
    magnitude = np.where(count > 0, dropped, x.significand)
    limit = np.where(x.negative, u64(f.most_negative), u64(f.largest))
    magnitude = np.where(count < 0, limit, np.minimum(magnitude, limit))
    bits = np.where(x.negative, ~magnitude + u64(1), magnitude) & u64((1 << f.width) - 1)
    return bits.astype(f.unsigned)


def _is_nan(x: Array, f: Number) -> Array | None:
    """None where there is no NaN."""
    if isinstance(f, Format):
        return encoding.isNaN(x, f)
    return isNaN(x, f) if isinstance(f, Declared) and f.nans else None


def _is_infinite(x: Array, f: Number) -> Array | None:
    """None where there is no infinity."""
    if isinstance(f, Format):
        return encoding.isInfinite(x, f)
    return isInfinite(x, f) if isinstance(f, Declared) and f.has_infinity else None


def _nans(result: Array, f: Declared, *operands: Array, invalid: Array | None = None) -> Array:
    """`result`, reused, with the canonical NaN where an operand is a NaN or the operation invalid."""
    for x in operands if f.nans else ():
        np.copyto(result, f.canonical_nan, where=isNaN(x, f))
    if invalid is not None:
        np.copyto(result, f.canonical_nan, where=invalid)
    return result


# Operations that round


@_operation(2)
def addition(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    """x + y (IEEE 754-2019, 5.4.1)."""
    result = pack(*wide.total(unpack(x, f), unpack(y, f), mode), f, mode, ftz)
    x_infinite, y_infinite = isInfinite(x, f), isInfinite(y, f)
    np.copyto(result, y, where=y_infinite)
    np.copyto(result, x, where=x_infinite)
    return _nans(result, f, x, y, invalid=x_infinite & y_infinite & (x != y))


def subtraction(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    """x - y, which is x + (-y)."""
    return addition(x, negate(y, f), f, mode, ftz)


@_operation(2)
def multiplication(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    """x * y."""
    result = pack(*wide.product(unpack(x, f), unpack(y, f)), f, mode, ftz)
    infinite = isInfinite(x, f) | isInfinite(y, f)
    np.copyto(result, f.infinity | (x ^ y) & f.sign_bit, where=infinite)
    return _nans(result, f, x, y, invalid=infinite & (isZero(x, f) | isZero(y, f)))


@_operation(2)
def division(x: Array, y: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    """x / y."""
    result = pack(wide.quotient(unpack(x, f), unpack(y, f)), False, f, mode, ftz)
    sign = (x ^ y) & f.unsigned.type(f.sign_bit)
    x_infinite, y_infinite = isInfinite(x, f), isInfinite(y, f)
    infinite = f.infinity | sign if f.has_infinity else _overflow(sign, f)
    np.copyto(result, sign, where=y_infinite)
    np.copyto(result, infinite, where=x_infinite | isZero(y, f))
    return _nans(result, f, x, y, invalid=np.where(x_infinite, y_infinite, isZero(x, f) & isZero(y, f)))


@_operation(3)
def fusedMultiplyAdd(x: Array, y: Array, z: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    """x * y + z, rounded once."""
    result = pack(*wide.product_total(unpack(x, f), unpack(y, f), unpack(z, f), mode), f, mode, ftz)
    infinite, z_infinite = isInfinite(x, f) | isInfinite(y, f), isInfinite(z, f)
    product = f.infinity | (x ^ y) & f.sign_bit
    np.copyto(result, z, where=z_infinite)
    np.copyto(result, product, where=infinite)
    invalid = infinite & (isZero(x, f) | isZero(y, f) | (z_infinite & (product != z)))
    return _nans(result, f, x, y, z, invalid=invalid)


@_operation(1)
def squareRoot(x: Array, f: Declared, mode: Direction, ftz: bool) -> Array:
    """The square root of x."""
    result = pack(wide.square_root(unpack(x, f)), False, f, mode, ftz)
    np.copyto(result, x, where=isZero(x, f) | isInfinite(x, f))
    return _nans(result, f, x, invalid=isSignMinus(x, f) & ~isZero(x, f))


@_operation(1)
def convert(x: Array, source: Number, f: Number, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """x in another format. With `daz`, subnormal numbers of a format of IEEE 754 count as zeros of their sign."""
    if daz and isinstance(source, Format):
        x = encoding.flushed(x, source)
    value = unpack(x, source)
    infinite, nan = _is_infinite(x, source), _is_nan(x, source)
    if isinstance(f, FixedPoint):
        result = _to_fixed(value, f, mode)
        if infinite is not None:
            least = f.most_negative  # its two's complement is the same
            np.copyto(result, np.where(value.negative, least, f.largest).astype(f.unsigned), where=infinite)
    else:
        result = pack(value, False, f, mode, ftz) if isinstance(f, Declared) else wide.pack(value, False, f, mode, ftz)
        if infinite is not None:
            sign = value.negative * f.unsigned.type(f.sign_bit if isinstance(f, Declared) else f.sign_mask)
            none = isinstance(f, Declared) and not f.has_infinity
            np.copyto(result, _overflow(sign, f) if none else sign | f.unsigned.type(f.infinity), where=infinite)
    if nan is not None:
        np.copyto(result, 0 if isinstance(f, FixedPoint) else f.canonical_nan, where=nan)
    return result


# Signs and classes


def magnitude(x: Array, f: Declared) -> Array:
    """|x|, of a NaN too."""
    return x & f.unsigned.type(f.magnitudes - 1)


def negate(x: Array, f: Declared) -> Array:
    """-x, of a NaN too."""
    return x ^ f.unsigned.type(f.sign_bit)


def copySign(x: Array, y: Array, f: Declared) -> Array:
    """x with the sign bit of y."""
    return magnitude(x, f) | (y & f.unsigned.type(f.sign_bit))


def isNaN(x: Array, f: Declared) -> Array:
    """Is x a NaN?"""
    return magnitude(x, f) >= f.first_nan if f.nans else _never(x)


def isInfinite(x: Array, f: Declared) -> Array:
    """Is x an infinity?"""
    return magnitude(x, f) == f.infinity if f.has_infinity else _never(x)


def isFinite(x: Array, f: Declared) -> Array:
    """Is x a number that is not infinite?"""
    return magnitude(x, f) <= f.largest


def isZero(x: Array, f: Declared) -> Array:
    """Is x a zero of either sign? Without subnormal numbers, any encoding with their exponent is."""
    if not f.has_zero:
        return _never(x)
    return magnitude(x, f) < (1 if f.has_subnormals else f.least_normal)


def isSubnormal(x: Array, f: Declared) -> Array:
    """Is x not zero and smaller in magnitude than every normal number?"""
    if not f.has_subnormals:
        return _never(x)
    size = magnitude(x, f)
    return (size > 0) & (size < f.least_normal)


def isNormal(x: Array, f: Declared) -> Array:
    """Is x neither zero, subnormal, infinite nor NaN?"""
    size = magnitude(x, f)
    return (size >= f.least_normal) & (size <= f.largest)


def isSignMinus(x: Array, f: Declared) -> Array:
    """Is the sign bit set, of a zero or NaN too?"""
    return (x & f.unsigned.type(f.sign_bit)) != 0


def _never(x: Array) -> Array:
    return np.zeros(np.shape(x), np.bool_)


# Comparison


def _order(x: Array, f: Declared) -> Array:
    """int64 in the order of the values, -0 just below +0."""
    size = np.where(isZero(x, f), 0, magnitude(x, f).astype(np.int64))
    return np.where(isSignMinus(x, f), -1 - size, size)


def _compare(x: Array, y: Array, f: Declared, relation: np.ufunc) -> Array:
    orders = [np.where(isZero(v, f), 0, _order(v, f)) for v in (x, y)]
    unordered = isNaN(x, f) | isNaN(y, f)
    found = relation(*orders)
    return found | unordered if relation is np.not_equal else found & ~unordered


def compareEqual(x: Array, y: Array, f: Declared) -> Array:
    """x = y."""
    return _compare(x, y, f, np.equal)


def compareNotEqual(x: Array, y: Array, f: Declared) -> Array:
    """x != y, or either is NaN."""
    return _compare(x, y, f, np.not_equal)


def compareLess(x: Array, y: Array, f: Declared) -> Array:
    """x < y."""
    return _compare(x, y, f, np.less)


def compareLessEqual(x: Array, y: Array, f: Declared) -> Array:
    """x <= y."""
    return _compare(x, y, f, np.less_equal)


def compareGreater(x: Array, y: Array, f: Declared) -> Array:
    """x > y."""
    return _compare(x, y, f, np.greater)


def compareGreaterEqual(x: Array, y: Array, f: Declared) -> Array:
    """x >= y."""
    return _compare(x, y, f, np.greater_equal)


def lessInteger(x: Array, y: Array, f: FixedPoint) -> Array:
    """x is the smaller of two integers of one type."""
    flip = f.unsigned.type(f.most_negative)
    return (x ^ flip) < (y ^ flip)


def _extreme(x: Array, y: Array, f: Declared, number: bool, largest: bool) -> Array:
    result = np.where((_order(x, f) > _order(y, f)) == largest, x, y)
    x_nan, y_nan = isNaN(x, f), isNaN(y, f)
    if number:
        result = np.where(x_nan, y, np.where(y_nan, x, result))
    nan = x_nan & y_nan if number else x_nan | y_nan
    return np.where(nan, f.unsigned.type(f.canonical_nan), result)


def maximum(x: Array, y: Array, f: Declared) -> Array:
    """The larger, +0 being larger than -0; NaN if either is NaN."""
    return _extreme(x, y, f, number=False, largest=True)


def minimum(x: Array, y: Array, f: Declared) -> Array:
    """The smaller, -0 being smaller than +0; NaN if either is NaN."""
    return _extreme(x, y, f, number=False, largest=False)


def maximumNumber(x: Array, y: Array, f: Declared) -> Array:
    """As maximum, but of a number and a NaN the number."""
    return _extreme(x, y, f, number=True, largest=True)


def minimumNumber(x: Array, y: Array, f: Declared) -> Array:
    """As minimum, but of a number and a NaN the number."""
    return _extreme(x, y, f, number=True, largest=False)
