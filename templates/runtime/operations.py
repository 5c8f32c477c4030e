"""IEEE 754-2019 operations on arrays of bit patterns: the function table of the semantics language.

Functions that the standard only recommends are in elementary.py.

Operands are NumPy arrays or scalars of the unsigned integer type of their format and broadcast against each other;
results are new arrays of the format's type (bool for predicates and comparisons). Clauses are those of
IEEE 754-2019. Floating-point warnings are the caller's to silence: `with np.errstate(all="ignore")`.

An operation that rounds takes a rounding direction and `ftz`; with it, a result that is tiny after rounding with an
unbounded exponent becomes a zero of its sign. Each has up to three ways to its result, the quickest that is exact:
the processor's own operation and what it lacks of the exact value (`Format.native`), a wider native type and a second
rounding (`Format.carrier`, rounding.py), or integers (wide.py).
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeAlias

import numpy as np

from . import environment, wide
from .binary import (
    Array,
    Direction,
    Format,
    native_format,
    roundTiesToAway,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardZero,
)
from .fused import fused_binary64
from .rounding import (
    canonicalise,
    flush,
    flushed,
    narrow,
    replace,
    round_to_odd,
    step,
    sum_to_odd,
    two_sum,
    widen,
)

P = ParamSpec("P")
Operation: TypeAlias = Callable[..., Array]


def elementwise(count: int) -> Callable[[Callable[P, Array]], Callable[P, Array]]:
    """Give a function whose first `count` arguments are arrays of one shape the broadcasting of a ufunc."""

    def decorate(function: Callable[P, Array]) -> Callable[P, Array]:
        call: Operation = function

        @wraps(function)
        def broadcasting(*arguments: P.args, **keywords: P.kwargs) -> Array:
            operands: Any = arguments[:count]
            shape = np.shape(operands[0])
            if shape:
                for operand in operands:
                    if operand.shape != shape:
                        break
                else:
                    return function(*arguments, **keywords)
            shape = np.broadcast_shapes(*(np.shape(operand) for operand in operands))
            spread: Any = [np.broadcast_to(operand, shape or (1,)) for operand in operands]
            result = call(*spread, *arguments[count:], **keywords)
            return result if shape else result[0]

        return broadcasting

    return decorate


# Operations that round (5.4)

# Of which some processors take long where an operand or the result is subnormal.
_STUMBLING = (np.multiply, np.divide, np.sqrt)


def _native(
    ufunc: np.ufunc, operands: tuple[Array, ...], f: Format, mode: Direction, ftz: bool, daz: bool
) -> Array | None:
    """The processor's own operation, steered; None where there is none, or none that can be."""
    if f.native is None or not environment.can(mode, ftz, daz):
        return None
    values = [operand.view(f.native) for operand in operands]
    if ufunc in _STUMBLING and f.carrier is not None and not (ftz or daz) and _stumbles(ufunc, values, f):
        # In the carrier nothing is subnormal. Products are exact there; for the rest, see _rounds_twice_safely, also of
        # quotients that become subnormal, and what was rounded in one direction may be again.
        wider = [value.astype(f.carrier) for value in values]
        with environment.environment(mode):
            value = ufunc(*wider)
        return narrow(value, f, mode, False)
    if mode == roundTiesToEven and not (ftz or daz):
        return canonicalise(ufunc(*values), f)
    with environment.environment(mode, ftz, daz):
        value = ufunc(*values)
    return canonicalise(value, f)


def _stumbles(ufunc: np.ufunc, values: list[Array], f: Format) -> bool:
    """Would the processor take long for many lanes, whose operands or results are subnormal? A sample tells."""
    if not environment.STUMBLES:
        return False
    sample = [value.flat[:256] for value in values]
    bits = np.concatenate([*sample, ufunc(*sample)]).view(f.unsigned)
    bits &= f.magnitude_mask
    bits -= f.unsigned.type(1)
    return bool(64 * np.count_nonzero(bits < f.fraction_mask) > bits.size)


@elementwise(2)
def addition(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """x + y (5.4.1). An exact zero sum of opposite signs is +0, or -0 under roundTowardNegative (6.3)."""
    steered = _native(np.add, (x, y), f, mode, ftz, daz)
    if steered is not None:
        return steered
    if daz:
        x, y = flushed(x, f), flushed(y, f)
    if f.native is None and f.carrier is None:
        return wide.addition(x, y, f, mode, ftz)
    if f.native is not None and mode == roundTiesToEven:
        # A sum in the subnormal range is exact, so that a result of 2**emin was not tiny.
        return _finish(x.view(f.native) + y.view(f.native), f, ftz, _never)
    if f.native is not None and mode != roundTiesToAway:
        total, error = two_sum(x.view(f.native), y.view(f.native))
        nan = np.isnan(total)
        lanes = np.nonzero(np.isnan(error) & isFinite(x, f) & isFinite(y, f))
        if lanes[0].size:
            error[lanes] = -total[lanes]  # of an overflow: the exact sum is smaller
            lanes = tuple(axis[np.isfinite(total[lanes])] for axis in lanes)
        bits = step(total.view(f.unsigned), error < 0, error > 0, f, mode)
        if mode == roundTowardNegative:
            _sign_exact_zero(bits, total, x | y, f)
        if lanes[0].size:
            bits[lanes] = wide.addition(x[lanes], y[lanes], f, mode, False)
        replace(bits, nan, f.nan, f)
        return flush(bits, f, _never) if ftz else bits
    if f.carrier is None:
        return wide.addition(x, y, f, mode, ftz)
    carrier = _nearest_carrier(f, mode) or f.carrier
    a, b = widen(x, f, carrier), widen(y, f, carrier)
    total = a + b if _rounds_twice_safely(f, carrier, mode) else sum_to_odd(a, b)
    bits = narrow(total, f, mode, ftz)
    if mode == roundTowardNegative:
        _sign_exact_zero(bits, total, x | y, f)
    return bits


@elementwise(2)
def subtraction(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """x - y (5.4.1), which is x + (-y) in all but the sign of a NaN."""
    steered = _native(np.subtract, (x, y), f, mode, ftz, daz)
    return addition(x, y ^ f.sign_mask, f, mode, ftz, daz) if steered is None else steered


@elementwise(2)
def multiplication(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """x * y (5.4.1)."""
    steered = _native(np.multiply, (x, y), f, mode, ftz, daz)
    if steered is not None:
        return steered
    if daz:
        x, y = flushed(x, f), flushed(y, f)
    if f.native is not None and mode == roundTiesToEven:
        product = x.view(f.native) * y.view(f.native)
        return _finish(product, f, ftz, _tested_by(wide.multiplication, (x, y), f, mode))
    if f.carrier is not None:
        return narrow(widen(x, f, f.carrier) * widen(y, f, f.carrier), f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.multiplication(x, y, f, mode, ftz)
    product = x.view(f.native) * y.view(f.native)
    return _directed(product, (x, y), _product_remainder, wide.multiplication, f, mode, ftz)


@elementwise(2)
def division(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """x / y (5.4.1); a finite number but zero divided by zero is an infinity (7.3)."""
    steered = _native(np.divide, (x, y), f, mode, ftz, daz)
    if steered is not None:
        return steered
    if daz:
        x, y = flushed(x, f), flushed(y, f)
    if f.native is not None and mode == roundTiesToEven:
        quotient = x.view(f.native) / y.view(f.native)
        return _finish(quotient, f, ftz, _tested_by(wide.division, (x, y), f, mode))
    if f.carrier is not None:
        a, b = widen(x, f, f.carrier), widen(y, f, f.carrier)
        quotient = a / b
        if not _rounds_twice_safely(f, f.carrier, mode):
            high, low = _split(quotient)
            round_to_odd(quotient, ((a - high * b) - low * b) * np.copysign(b.dtype.type(1), b))
        return narrow(quotient, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.division(x, y, f, mode, ftz)
    quotient = x.view(f.native) / y.view(f.native)
    return _directed(quotient, (x, y), _quotient_remainder, wide.division, f, mode, ftz)


@elementwise(1)
def squareRoot(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """The square root (5.4.1): that of -0 is -0, of a smaller number NaN."""
    steered = _native(np.sqrt, (x,), f, mode, ftz, daz)
    if steered is not None:
        return steered
    if daz:
        x = flushed(x, f)
    if f.native is not None and mode == roundTiesToEven:
        return _finish(np.sqrt(x.view(f.native)), f, ftz, _never)
    if f.carrier is not None:
        carrier = _nearest_carrier(f, mode) or f.carrier
        a = widen(x, f, carrier)
        root = np.sqrt(a)
        if not _rounds_twice_safely(f, carrier, mode):
            high, low = _split(root)
            round_to_odd(root, ((a - high * high) - 2 * high * low) - low * low)
        return narrow(root, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.squareRoot(x, f, mode, ftz)
    return _directed(np.sqrt(x.view(f.native)), (x,), _root_remainder, wide.squareRoot, f, mode, ftz)


@elementwise(3)
def fusedMultiplyAdd(x: Array, y: Array, z: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """x * y + z, rounded once (5.4.1). An exact zero has the sign that the sum of the product and z has (6.3)."""
    if daz and f.carrier is None:
        x, y, z = flushed(x, f), flushed(y, f), flushed(z, f)
    if f.native is not None and f.carrier is None and mode != roundTiesToAway:
        if environment.FUSES and environment.can(mode):
            with environment.environment(mode):
                value = environment.product_sum(x.view(f.native), y.view(f.native), z.view(f.native))
            bits = canonicalise(value, f)
        else:
            bits = fused_binary64(x, y, z, f, mode)
        return flush(bits, f, _tested_by(wide.fusedMultiplyAdd, (x, y, z), f, mode)) if ftz else bits
    if f.carrier is None:
        return wide.fusedMultiplyAdd(x, y, z, f, mode, ftz)
    product = widen(x, f, f.carrier, daz)
    product *= widen(y, f, f.carrier, daz)
    addend = widen(z, f, f.carrier, daz)
    if f.native is not None and mode not in (roundTiesToEven, roundTiesToAway) and environment.can(mode, ftz):
        # Rounded twice in one direction is rounded once.
        with environment.environment(mode):
            product += addend
        return narrow(product, f, mode, ftz)
    total = sum_to_odd(product, addend)
    bits = narrow(total, f, mode, ftz)
    if mode == roundTowardNegative:
        _sign_exact_zero(bits, total, (x ^ y) | z, f)
    return bits


@elementwise(1)
def convert(x: Array, source: Format, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """`x` of the format `source` in the format `f` (5.4.2)."""
    if daz:
        x = flushed(x, source)
    if (source.exponent_bits, source.fraction_bits) == (f.exponent_bits, f.fraction_bits):
        bits = replace(x.copy(), isNaN(x, source), f.nan, f)
        return flush(bits, f, _never) if ftz else bits
    readable = source.native or source.carrier
    if readable is None or (f.carrier is None and f.native is None):
        return wide.convert(x, source, f, mode, ftz)
    if f.carrier is None:
        # Every value of every format is a binary64 value.
        return _finish(widen(x, source, np.dtype(np.float64)), f, ftz, _never)
    if f.native is None and source.precision <= 24 and source.exponent_bits <= 8 and f.precision <= 22:
        return narrow(widen(x, source, np.dtype(np.float32)), f, mode, ftz)
    return narrow(widen(x, source, np.dtype(np.float64)), f, mode, ftz)


def _never(lanes: tuple[Array, ...]) -> Array:
    return np.zeros(lanes[0].shape, np.bool_)


def _tested_by(operation: Operation, operands: tuple[Array, ...], f: Format, mode: Direction) -> Operation:
    """Whether results are tiny, told by the integer form of the operation."""
    return lambda lanes: isZero(operation(*(operand[lanes] for operand in operands), f, mode, True), f)


def _finish(value: Array, f: Format, ftz: bool, edge_is_tiny: Operation) -> Array:
    """Bits of a fresh native result: NaN canonical, tiny results flushed."""
    bits = canonicalise(value, f)
    return flush(bits, f, edge_is_tiny) if ftz else bits


def _rounds_twice_safely(f: Format, carrier: np.dtype[Any], mode: Direction) -> bool:
    """May a result to nearest in the carrier be rounded to nearest again? With 2p + 2 bits, yes (Figueroa 1995)."""
    nearest = mode in (roundTiesToEven, roundTiesToAway)
    return nearest and native_format(carrier).precision >= 2 * f.precision + 2


def _nearest_carrier(f: Format, mode: Direction) -> np.dtype[Any] | None:
    """float32 where it serves for sums and roots to nearest though not for products and remainders.

    It may have the exponent range of `f`: roots stay in range, subnormal sums are exact, and a sum that overflows in
    float32 does so in `f`.
    """
    single = np.dtype(np.float32)
    return single if f.exponent_bits <= 8 and _rounds_twice_safely(f, single, mode) else None


def _sign_exact_zero(bits: Array, total: Array, signs: Array, f: Format) -> None:
    """Under roundTowardNegative a sum of zero is -0 unless both summands are +0; a nonzero sum is never zero here."""
    np.copyto(bits, signs & f.sign_mask, where=total == 0)


def _split(value: Array) -> tuple[Array, Array]:
    """The value as a sum of two with half the bits each."""
    if value.dtype == np.float32:
        high = (value.view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)
    else:
        high = (value.view(np.uint64) & np.uint64(0xFFFFFFFFF8000000)).view(np.float64)
    return high, value - high


# The remainders of binary64: the sign of |exact| - |result| for normal operands and results. Both terms exceed 64 bits,
# but their difference is less than 2**54, so that it survives when both wrap around.


def _fields(x: Array, f: Format) -> tuple[Array, Array]:
    """Biased exponent and significand of normal numbers."""
    exponent = x >> f.unsigned.type(f.fraction_bits)
    exponent &= f.unsigned.type((1 << f.exponent_bits) - 1)
    significand = x & f.fraction_mask
    significand |= f.smallest_normal
    return exponent, significand


def _product_remainder(result: Array, f: Format, x: Array, y: Array) -> Array:
    (x_exponent, a), (y_exponent, b), (exponent, c) = _fields(x, f), _fields(y, f), _fields(result, f)
    a *= b
    exponent -= x_exponent
    exponent -= y_exponent
    exponent += f.unsigned.type(f.bias + f.fraction_bits)
    c <<= exponent
    a -= c
    return a.view(f.signed)


def _quotient_remainder(result: Array, f: Format, x: Array, y: Array) -> Array:
    (x_exponent, a), (y_exponent, b), (exponent, c) = _fields(x, f), _fields(y, f), _fields(result, f)
    c *= b
    x_exponent -= y_exponent
    x_exponent -= exponent
    x_exponent += f.unsigned.type(f.bias + f.fraction_bits)
    a <<= x_exponent
    a -= c
    return a.view(f.signed)


def _root_remainder(result: Array, f: Format, x: Array) -> Array:
    return _quotient_remainder(result, f, x, result)


def _directed(
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
    # The remainder speaks where all are normal; 2**emin may have been rounded as a subnormal.
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
        # Finite numbers but zeros never give an exact infinity or zero; others are exact.
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
    return flush(bits, f, _tested_by(exactly, operands, f, mode)) if ftz else bits


def _between(magnitude: Array, lower: Any, f: Format) -> Array:
    """lower < magnitude < infinity: bool."""
    inside = magnitude > lower
    inside &= magnitude < f.infinity
    return inside


# Operations on the sign and on NaN (5.5.1, 6.2)


def magnitude(x: Array, f: Format) -> Array:
    """|x|: clears the sign bit, of a NaN too (abs, 5.5.1)."""
    return x & f.magnitude_mask


def negate(x: Array, f: Format) -> Array:
    """-x: flips the sign bit, of a NaN too (5.5.1)."""
    return x ^ f.sign_mask


def copySign(x: Array, y: Array, f: Format) -> Array:
    """x with the sign bit of y, be they NaN or not (5.5.1)."""
    return (x & f.magnitude_mask) | (y & f.sign_mask)


def quieten(x: Array, f: Format) -> Array:
    """Sets the bit that makes a NaN quiet (6.2.1); for NaNs only."""
    return x | f.quiet_mask


def propagate(value: Array, operands: tuple[Array, ...], f: Format) -> Array:
    """`value`, reused, with the first NaN of the operands, made quiet, where it is a NaN and there is one (6.2.3)."""
    shapes = {np.shape(x) for x in (value, *operands)}
    if len(shapes) > 1 or () in shapes:
        # What is made of constants is one number.
        shape = np.broadcast_shapes(*shapes)
        value, *spread = (np.array(np.broadcast_to(x, shape or (1,))) for x in (value, *operands))
        return propagate(value, tuple(spread), f).reshape(shape)
    nan = isNaN(value, f)
    count = np.count_nonzero(nan)
    if 16 * count > nan.size:
        # Many may come from operands that are numbers, as roots do: only the NaNs among these are looked up.
        for operand in reversed(operands):
            chosen = nan & isNaN(operand, f)
            lanes: Any = chosen.nonzero() if not chosen.all() else ...
            value[lanes] = quieten(operand[lanes], f)
    elif count:
        lanes = nan.nonzero()
        found = value[lanes]
        for operand in reversed(operands):
            few = operand[lanes]
            np.copyto(found, quieten(few, f), where=isNaN(few, f))
        value[lanes] = found
    return value


# Minimum and maximum (9.6)


def _order(x: Array, f: Format) -> Array:
    """Signed integers, fresh, in the order of the values, -0 below +0; NaNs lie outside the infinities."""
    key = x.view(f.signed) >> f.signed.type(f.width - 1)
    key &= f.signed.type(f.magnitude_mask)
    key ^= x.view(f.signed)
    return key


def _from_order(key: Array, f: Format) -> Array:
    """The inverse of `_order`."""
    return _order(key.view(f.unsigned), f).view(f.unsigned)


def _by_order(x: Array, y: Array, f: Format, choose: np.ufunc, marker: int) -> Array:
    """`marker`, an order of no number, stands for NaN: the first chosen where it wins, the last where it loses."""
    nan = f.signed.type(marker)
    keys = []
    for operand in np.atleast_1d(x, y):
        key = _order(operand, f)
        replace(key.view(f.unsigned), isNaN(operand, f), nan.view(f.unsigned), f)
        keys.append(key)
    a, b = keys
    if b.size == 1 < a.size:
        # NumPy takes several times as long for one number as for an array of it.
        b = np.full_like(a, b)
    a = choose(a, b)
    result = _from_order(a, f)
    replace(result, a == nan, f.nan, f)
    return result.reshape(np.broadcast_shapes(np.shape(x), np.shape(y)))


def _extreme(x: Array, y: Array, f: Format, native: np.ufunc, choose: np.ufunc, marker: int, daz: bool) -> Array:
    if f.native is None or not np.ndim(x):
        return _by_order(flushed(x, f), flushed(y, f), f, choose, marker) if daz else _by_order(x, y, f, choose, marker)
    number = None if np.ndim(y) else y.view(f.native)
    if number is not None:
        # NumPy takes several times as long for one number as for an array of it.
        y = np.full_like(x, y)
    x, y = np.broadcast_arrays(x, y) if x.shape != y.shape else (x, y)
    value = native(x.view(f.native), y.view(f.native))
    if choose is np.maximum and number is not None and number == 0 and not np.signbit(number):
        value += number
    elif number is None or number == 0:
        # Of two zeros NumPy takes either. Other equal numbers have the same bits.
        both = np.bitwise_and if choose is np.maximum else np.bitwise_or
        equal = x.view(f.native) == y.view(f.native)
        if equal.any():
            equal &= x != y
            lanes = equal.nonzero()
            value.view(f.unsigned)[lanes] = both(x[lanes], y[lanes])
    if daz and environment.can(roundTiesToEven, False, True):
        # Flushing keeps the order, so that it may as well come last.
        with environment.environment(roundTiesToEven, False, True):
            value *= f.native.type(1)
    nan = np.isnan(value)
    bits = value.view(f.unsigned)
    if native in (np.fmax, np.fmin) and nan.any():
        # For some lanes NumPy calls the C library, whose fmax and fmin make a NaN of a signaling one.
        lanes = np.nonzero(nan & (isNaN(x, f) != isNaN(y, f)))
        if lanes[0].size:
            of_one = _by_order(x[lanes], y[lanes], f, choose, marker)
            bits[lanes] = flushed(of_one, f) if daz else of_one
            nan[lanes] = False
    replace(bits, nan, f.nan, f)
    return flushed(bits, f) if daz and not environment.can(roundTiesToEven, False, True) else bits


def maximum(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """The larger, +0 being larger than -0; NaN if either is NaN (9.6)."""
    return _extreme(x, y, f, np.maximum, np.maximum, (1 << (f.width - 1)) - 1, daz)


def minimum(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """The smaller, -0 being smaller than +0; NaN if either is NaN (9.6)."""
    return _extreme(x, y, f, np.minimum, np.minimum, -(1 << (f.width - 1)), daz)


def maximumNumber(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """As maximum, but of a number and a NaN, quiet or signaling, the number (9.6)."""
    return _extreme(x, y, f, np.fmax, np.maximum, -(1 << (f.width - 1)), daz)


def minimumNumber(x: Array, y: Array, f: Format, daz: bool = False) -> Array:
    """As minimum, but of a number and a NaN, quiet or signaling, the number (9.6)."""
    return _extreme(x, y, f, np.fmin, np.minimum, (1 << (f.width - 1)) - 1, daz)


# Classes (5.7.2)


def isNaN(x: Array, f: Format) -> Array:
    """Is x a NaN? (5.7.2)"""
    if f.native is not None:
        return np.isnan(x.view(f.native))
    return (x & f.magnitude_mask) > f.infinity


def isSignaling(x: Array, f: Format) -> Array:
    """Is x a signaling NaN? (5.7.2, 6.2.1)"""
    return isNaN(x, f) & ((x & f.quiet_mask) == 0)


def isInfinite(x: Array, f: Format) -> Array:
    """Is x an infinity? (5.7.2)"""
    return (x & f.magnitude_mask) == f.infinity


def isFinite(x: Array, f: Format) -> Array:
    """Is x zero, subnormal or normal? (5.7.2)"""
    return (x & f.magnitude_mask) < f.infinity


def isZero(x: Array, f: Format) -> Array:
    """Is x a zero of either sign? (5.7.2)"""
    return (x & f.magnitude_mask) == 0


def isSubnormal(x: Array, f: Format) -> Array:
    """Is x nonzero and smaller in magnitude than 2**emin? (5.7.2)"""
    # Zero wraps around to the largest integer.
    return (x & f.magnitude_mask) - f.unsigned.type(1) < f.fraction_mask


def isNormal(x: Array, f: Format) -> Array:
    """Is x neither zero, subnormal, infinite nor NaN? (5.7.2)"""
    return (x & f.magnitude_mask) - f.smallest_normal < f.infinity - f.smallest_normal


def isSignMinus(x: Array, f: Format) -> Array:
    """Is the sign bit set, of a zero or NaN too? (5.7.2)"""
    return x > f.magnitude_mask


# Comparisons (5.11): quiet; a NaN is unordered with everything, itself too


def _compare(x: Array, y: Array, f: Format, relation: np.ufunc) -> Array:
    if f.native is not None:
        result: Array = relation(x.view(f.native), y.view(f.native))
        return result
    result = relation(_value_order(x, f), _value_order(y, f))
    if relation is np.not_equal:
        return result | isNaN(x, f) | isNaN(y, f)
    return result & ~(isNaN(x, f) | isNaN(y, f))


def _value_order(x: Array, f: Format) -> Array:
    """Signed integers in the order of the values, both zeros alike."""
    sign = x.view(f.signed) >> f.signed.type(f.width - 1)
    return ((x & f.magnitude_mask).view(f.signed) ^ sign) - sign


def compareEqual(x: Array, y: Array, f: Format) -> Array:
    """x = y (compareQuietEqual, 5.11)."""
    return _compare(x, y, f, np.equal)


def compareNotEqual(x: Array, y: Array, f: Format) -> Array:
    """x != y, or either is NaN (compareQuietNotEqual, 5.11)."""
    return _compare(x, y, f, np.not_equal)


def compareLess(x: Array, y: Array, f: Format) -> Array:
    """x < y (compareQuietLess, 5.11)."""
    return _compare(x, y, f, np.less)


def compareLessEqual(x: Array, y: Array, f: Format) -> Array:
    """x <= y (compareQuietLessEqual, 5.11)."""
    return _compare(x, y, f, np.less_equal)


def compareGreater(x: Array, y: Array, f: Format) -> Array:
    """x > y (compareQuietGreater, 5.11)."""
    return _compare(x, y, f, np.greater)


def compareGreaterEqual(x: Array, y: Array, f: Format) -> Array:
    """x >= y (compareQuietGreaterEqual, 5.11)."""
    return _compare(x, y, f, np.greater_equal)


def select(condition: Array, x: Array, y: Array) -> Array:
    """x where the condition holds, else y, lane by lane; x and y share their type. The result may be x or y itself."""
    shape = np.broadcast_shapes(np.shape(condition), np.shape(x), np.shape(y))
    size = np.size(condition)
    count = np.count_nonzero(condition)
    if count in (0, size):
        return np.broadcast_to(x if count else y, shape)
    if 16 * count < size:
        return _amended(y, x, condition, shape)
    if 16 * (size - count) < size:
        return _amended(x, y, ~condition, shape)
    # NumPy's own selection costs ten times this where no processor can foresee the condition.
    result = x ^ y
    result &= np.negative(condition.view(np.int8)).astype(result.dtype)
    result ^= y
    return result


def _amended(most: Array, few: Array, condition: Array, shape: tuple[int, ...]) -> Array:
    result = np.array(np.broadcast_to(most, shape))
    np.copyto(result, few, where=condition)
    return result
