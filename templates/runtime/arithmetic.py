"""Operations that round (IEEE 754-2019, 5.4), on arrays of bit patterns.

Operands are NumPy arrays or scalars of the unsigned integer type of their format and broadcast against each other;
results are new arrays. Callers silence floating-point warnings: `with np.errstate(all="ignore")`.

An operation has a rounding direction and `ftz`: with it, a result that is tiny after rounding with an unbounded
exponent becomes a zero of its sign. With `daz`, subnormal operands count as zeros of their sign. Each operation has up
to three ways to compute its result and uses the quickest that is exact: the processor's own operation and its error
(`Format.native`, directed.py), a wider native type and a second rounding (`Format.carrier`, narrowing.py), or integers
(wide.py).
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec

import numpy as np

from . import wide
from .binary import (
    Array,
    Direction,
    Format,
    native_format,
    roundTiesToAway,
    roundTiesToEven,
    roundTowardNegative,
    roundTowardPositive,
    roundTowardZero,
)
from .directed import directed, product_remainder, quotient_remainder, root_remainder
from .encoding import flushed, isFinite, isNaN
from .fused import fused_binary64
from .narrowing import narrow, widen
from .rounding import (
    Operation,
    flush,
    never,
    quotient_to_odd,
    root_to_odd,
    step,
    sum_to_odd,
    tested_by,
    two_sum,
)
from .selection import canonicalise, replace
from .tables import ENOUGH, every_pattern

P = ParamSpec("P")
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def elementwise(count: int) -> Callable[[Callable[P, Array]], Callable[P, Array]]:
    """Return a decorator that broadcasts the first `count` arguments as a ufunc does, for a function of arrays of one
    shape."""

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


# Rounding to integral values in NumPy.
_WHOLE = {
    roundTiesToEven: np.rint, roundTowardZero: np.trunc, roundTowardNegative: np.floor, roundTowardPositive: np.ceil,
}  # fmt: skip


@elementwise(2)
def addition(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x + y (5.4.1). An exact zero sum of opposite signs is +0, or -0 under roundTowardNegative (6.3)."""
    if daz and _flushes_first(f):
        x, y = flushed(x, f), flushed(y, f)
    if f.native is None and f.carrier is None:
        return wide.addition(x, y, f, mode, ftz)
    if f.native is not None and mode == roundTiesToEven:
        # A sum in the subnormal range is exact: a result of 2**emin was not tiny before rounding.
        return _finish(x.view(f.native) + y.view(f.native), f, ftz, never)
    if f.native is not None and mode != roundTiesToAway:
        total, error = two_sum(x.view(f.native), y.view(f.native))
        nan = np.isnan(total)
        lanes = np.nonzero(np.isnan(error) & isFinite(x, f) & isFinite(y, f))
        if lanes[0].size:
            error[lanes] = -total[lanes]  # overflow: the exact sum is smaller
            lanes = tuple(axis[np.isfinite(total[lanes])] for axis in lanes)
        bits = step(total.view(f.unsigned), error < 0, error > 0, f, mode)
        if mode == roundTowardNegative:
            _sign_exact_zero(bits, total, x | y, f)
        if lanes[0].size:
            bits[lanes] = wide.addition(x[lanes], y[lanes], f, mode, False)
        replace(bits, nan, f.nan, f)
        return flush(bits, f, never) if ftz else bits
    if f.carrier is None:
        return wide.addition(x, y, f, mode, ftz)
    carrier = _nearest_carrier(f, mode) or f.carrier
    a, b = widen(x, f, carrier, daz), widen(y, f, carrier, daz)
    nearest = mode in (roundTiesToEven, roundTiesToAway)
    total = np.add(a, b, out=a) if nearest and _rounds_twice_safely(f, carrier) else sum_to_odd(a, b)
    del a, b
    bits = narrow(total, f, mode, ftz)
    if mode == roundTowardNegative:
        _sign_exact_zero(bits, total, x | y, f)
    return bits


@elementwise(2)
def subtraction(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x - y (5.4.1), which is x + (-y) in all but the sign of a NaN."""
    return addition(x, y ^ f.sign_mask, f, mode, ftz, daz)


@elementwise(2)
def multiplication(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x * y (5.4.1)."""
    if daz and _flushes_first(f):
        x, y = flushed(x, f), flushed(y, f)
    if f.native is not None and mode == roundTiesToEven:
        product = x.view(f.native) * y.view(f.native)
        return _finish(product, f, ftz, tested_by(wide.multiplication, (x, y), f, mode))
    if f.carrier is not None:
        carrier = _SINGLE if mode == roundTiesToEven and not ftz and _has_single_products(f) else f.carrier
        a, b = widen(x, f, carrier, daz), widen(y, f, carrier, daz)
        product = np.multiply(a, b, out=a)
        del a, b  # keep their memory in the cache for the next step
        return narrow(product, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.multiplication(x, y, f, mode, ftz)
    product = x.view(f.native) * y.view(f.native)
    return directed(product, (x, y), product_remainder, wide.multiplication, f, mode, ftz)


@elementwise(2)
def division(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x / y (5.4.1); a nonzero finite number divided by zero is an infinity (7.3)."""
    if daz and _flushes_first(f):
        x, y = flushed(x, f), flushed(y, f)
    if f.native is not None and mode == roundTiesToEven:
        quotient = x.view(f.native) / y.view(f.native)
        return _finish(quotient, f, ftz, tested_by(wide.division, (x, y), f, mode))
    if f.carrier is not None:
        a, b = widen(x, f, f.carrier, daz), widen(y, f, f.carrier, daz)
        quotient = np.divide(a, b, out=a) if _rounds_twice_safely(f, f.carrier) else quotient_to_odd(a, b)
        del a, b
        return narrow(quotient, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.division(x, y, f, mode, ftz)
    quotient = x.view(f.native) / y.view(f.native)
    return directed(quotient, (x, y), quotient_remainder, wide.division, f, mode, ftz)


@elementwise(1)
def squareRoot(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return the square root (5.4.1): -0 for -0, NaN for negative numbers."""
    if daz and _flushes_first(f):
        x = flushed(x, f)
    if f.native is not None and mode == roundTiesToEven:
        return _finish(np.sqrt(x.view(f.native)), f, ftz, never)
    if f.native == _SINGLE and mode != roundTiesToAway:
        root = np.sqrt(x.view(_SINGLE))
        square = root.astype(_DOUBLE)
        square *= square
        exact = x.view(_SINGLE).astype(_DOUBLE)
        # Roots are never tiny, and exact ones are not moved.
        return canonicalise(step(root.view(f.unsigned), square > exact, square < exact, f, mode).view(_SINGLE), f)
    if f.carrier is not None:
        carrier = _nearest_carrier(f, mode) or f.carrier
        a = widen(x, f, carrier, daz)
        root = np.sqrt(a) if _rounds_twice_safely(f, carrier) else root_to_odd(a)
        return narrow(root, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.squareRoot(x, f, mode, ftz)
    return directed(np.sqrt(x.view(f.native)), (x,), root_remainder, wide.squareRoot, f, mode, ftz)


@elementwise(3)
def fusedMultiplyAdd(x: Array, y: Array, z: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x * y + z, rounded once (5.4.1). An exact zero has the sign of the sum of the product and z (6.3)."""
    if daz and f.carrier is None:
        x, y, z = flushed(x, f), flushed(y, f), flushed(z, f)
    if f.native is not None and f.carrier is None and mode != roundTiesToAway:
        bits = fused_binary64(x, y, z, f, mode)
        return flush(bits, f, tested_by(wide.fusedMultiplyAdd, (x, y, z), f, mode)) if ftz else bits
    if f.carrier is None:
        return wide.fusedMultiplyAdd(x, y, z, f, mode, ftz)
    product = widen(x, f, f.carrier, daz)
    product *= widen(y, f, f.carrier, daz)
    return sum_of_carrier(product, widen(z, f, f.carrier, daz), f, mode, ftz)


def sum_of_carrier(product: Array, addend: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """Return the sum of numbers of the carrier, rounded once. The memory of the first is reused."""
    total = sum_to_odd(product, addend)
    bits = narrow(total, f, mode, ftz)
    if mode == roundTowardNegative:
        # As `_sign_exact_zero`; the sign of the product is that of its factors.
        np.copyto(bits, f.sign_mask, where=(total == 0) & (np.signbit(product) | np.signbit(addend)))
    return bits


@elementwise(1)
def convert(x: Array, source: Format, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return `x` of the format `source` in the format `f` (5.4.2)."""
    if source.width <= 16 and f.native is not None and source.carrier is not None and np.size(x) >= ENOUGH:
        # Any index of the unsigned type is in range; "wrap" spares the check.
        return _every_wider(source, f, ftz, daz).take(x, mode="wrap")
    return _convert(x, source, f, mode, ftz, daz)


@cache
def _every_wider(source: Format, f: Format, ftz: bool, daz: bool) -> Array:
    """Return every encoding of a narrow format, in order, converted to a native format that has all of its numbers."""
    with np.errstate(all="ignore"):
        found = _convert(every_pattern(source.width), source, f, roundTiesToEven, ftz, daz)
    found.flags.writeable = False
    return found


def _convert(x: Array, source: Format, f: Format, mode: Direction, ftz: bool, daz: bool) -> Array:
    if daz:
        x = flushed(x, source)
    if (source.exponent_bits, source.fraction_bits) == (f.exponent_bits, f.fraction_bits):
        bits = replace(x.copy(), isNaN(x, source), f.nan, f)
        return flush(bits, f, never) if ftz else bits
    readable = source.native or source.carrier
    if readable is None or (f.carrier is None and f.native is None):
        return wide.convert(x, source, f, mode, ftz)
    if f.carrier is None:
        # Every value of every format is a binary64 value.
        return _finish(widen(x, source, _DOUBLE), f, ftz, never)
    if f.native is None and source.precision <= 24 and source.exponent_bits <= 8 and f.precision <= 22:
        return narrow(widen(x, source, np.dtype(np.float32)), f, mode, ftz)
    return narrow(widen(x, source, _DOUBLE), f, mode, ftz)


@elementwise(1)
def roundToIntegral(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x rounded to an integral value in a direction, with the sign of x (5.9). It is never tiny."""
    if daz:
        x = flushed(x, f)
    if f.native is None:
        return _every_integral(f, mode).take(x, mode="wrap")
    return canonicalise(_integral(x.view(f.native), mode), f)


def _integral(x: Array, mode: Direction) -> Array:
    if mode == roundTiesToAway:
        whole = np.trunc(x)
        return np.copysign(np.abs(whole) + (np.abs(x - whole) >= 0.5), x)
    return _WHOLE[mode](x)


@cache
def _every_integral(f: Format, mode: Direction) -> Array:
    """Return the results for all encodings of a narrow format, in order."""
    every = np.arange(1 << f.width, dtype=np.uint32).astype(f.unsigned)
    with np.errstate(all="ignore"):
        found = narrow(_integral(widen(every, f, np.dtype(np.float64)), mode), f, roundTiesToEven, False)
    found.flags.writeable = False
    return found


def _finish(value: Array, f: Format, ftz: bool, edge_is_tiny: Operation) -> Array:
    """Return the bits of a fresh native result: every NaN canonical, tiny results flushed."""
    bits = canonicalise(value, f)
    return flush(bits, f, edge_is_tiny) if ftz else bits


def _rounds_twice_safely(f: Format, carrier: np.dtype[Any]) -> bool:
    """Return whether a result rounded to nearest in the carrier may be rounded again.

    To nearest, 2p + 2 bits suffice (Figueroa 1995). Quotients and roots may be rounded again in any direction: unless
    they are numbers of p bits, they are further from each of these than the carrier's rounding moves them."""
    return native_format(carrier).precision >= 2 * f.precision + 2


def _nearest_carrier(f: Format, mode: Direction) -> np.dtype[Any] | None:
    """Return float32 where it suffices for sums and roots to nearest, though not for products and remainders.

    Its exponent range may be that of `f`: roots stay in range, subnormal sums are exact, and a sum that overflows in
    float32 also overflows in `f`.
    """
    nearest = mode in (roundTiesToEven, roundTiesToAway)
    return _SINGLE if nearest and f.exponent_bits <= 8 and _rounds_twice_safely(f, _SINGLE) else None


def _has_single_products(f: Format) -> bool:
    """Return whether float32 suffices for products to nearest though some are subnormal there and inexact.

    All products of at least half the least number of `f` are exact: float32 has enough bits for them. A smaller product
    stays below that half or rounds to it; such a tie becomes zero, as the product itself does."""
    bits = 2 * f.precision
    return f.exponent_bits <= 8 and bits <= 24 and f.emin - f.fraction_bits - 1 - (bits - 1) >= -149


def _flushes_first(f: Format) -> bool:
    """Return whether operands are flushed before they are widened. Widening to a carrier flushes them itself."""
    return f.native is not None or f.carrier is None


def _sign_exact_zero(bits: Array, total: Array, signs: Array, f: Format) -> None:
    """Set the sign of a zero sum under roundTowardNegative: -0 unless both summands are +0. A nonzero sum is never zero
    here."""
    np.copyto(bits, signs & f.sign_mask, where=total == 0)
