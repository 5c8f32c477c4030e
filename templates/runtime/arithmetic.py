"""Operations that round (IEEE 754-2019, 5.4), on arrays of bit patterns.

Operands are NumPy arrays or scalars of the unsigned integer type of their format and broadcast against each other;
results are new arrays. Floating-point warnings are the caller's to silence: `with np.errstate(all="ignore")`.

An operation takes a rounding direction and `ftz`; with it, a result that is tiny after rounding with an unbounded
exponent becomes a zero of its sign. With `daz`, subnormal operands are zeros of theirs. Each has up to three ways to
its result, the quickest that is exact: the processor's own operation and what it lacks of the exact value
(`Format.native`, directed.py), a wider native type and a second rounding (`Format.carrier`, narrowing.py), or integers
(wide.py).
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec

import numpy as np

from . import environment
from .binary import (
    BINARY32,
    BINARY64,
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
from .few import FEW, are_few
from .narrowing import fits_single, narrow, widen
from .rounding import (
    Operation,
    flush,
    never,
    quotient_to_odd,
    root_to_odd,
    step,
    sum_to_odd,
    sum_to_odd_single,
    tested_by,
    two_sum,
)
from .selection import canonicalise, replace
from .steered import in_carrier, steered
from .tables import ENOUGH, every_pattern

P = ParamSpec("P")
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class _Wide:
    """The operations of wide.py, which is loaded when the first of them is needed: on many processors never."""

    def __getattr__(self, name: str) -> Operation:
        from . import wide

        operation: Operation = getattr(wide, name)
        setattr(self, name, operation)
        return operation


wide = _Wide()


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


# Rounding to whole numbers in NumPy.
_WHOLE = {
    roundTiesToEven: np.rint, roundTowardZero: np.trunc, roundTowardNegative: np.floor, roundTowardPositive: np.ceil,
}  # fmt: skip


@elementwise(2)
def addition(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x + y (5.4.1). An exact zero sum of opposite signs is +0, or -0 under roundTowardNegative (6.3)."""
    own = steered(np.add, (x, y), f, mode, ftz, daz)
    if own is not None:
        return own
    if daz and _flushes_first(f):
        x, y = flushed(x, f), flushed(y, f)
    if f.native is None and f.carrier is None:
        return wide.addition(x, y, f, mode, ftz)
    if f.native is not None and mode == roundTiesToEven:
        # A sum in the subnormal range is exact, so that a result of 2**emin was not tiny.
        return _finish(x.view(f.native) + y.view(f.native), f, ftz, never)
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
        return flush(bits, f, never) if ftz else bits
    if f.carrier is None:
        return wide.addition(x, y, f, mode, ftz)
    carrier = _nearest_carrier(f, mode) or f.carrier
    a, b = widen(x, f, carrier, daz), widen(y, f, carrier, daz)
    total = _reusing(np.add, a, b) if _rounds_twice_safely(f, carrier, mode) else sum_to_odd(a, b)
    del a, b
    bits = narrow(total, f, mode, ftz)
    if mode == roundTowardNegative:
        _sign_exact_zero(bits, total, x | y, f)
    return bits


@elementwise(2)
def subtraction(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x - y (5.4.1), which is x + (-y) in all but the sign of a NaN."""
    own = steered(np.subtract, (x, y), f, mode, ftz, daz)
    return addition(x, y ^ f.sign_mask, f, mode, ftz, daz) if own is None else own


@elementwise(2)
def multiplication(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x * y (5.4.1)."""
    own = steered(np.multiply, (x, y), f, mode, ftz, daz)
    if own is not None:
        return own
    if daz and _flushes_first(f):
        x, y = flushed(x, f), flushed(y, f)
    if f.native is not None and mode == roundTiesToEven:
        product = x.view(f.native) * y.view(f.native)
        return _finish(product, f, ftz, tested_by(wide.multiplication, (x, y), f, mode))
    if f.carrier is not None:
        carrier = _SINGLE if _has_single_products(f, mode, ftz) else f.carrier
        a, b = widen(x, f, carrier, daz), widen(y, f, carrier, daz)
        if carrier == f.carrier or mode == roundTiesToEven:
            product = _product(a, b, f)
        else:
            with environment.environment(mode):
                product = _product(a, b, f)
        del a, b  # their memory is in the cache, for what comes next
        return narrow(product, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.multiplication(x, y, f, mode, ftz)
    product = x.view(f.native) * y.view(f.native)
    return directed(product, (x, y), product_remainder, wide.multiplication, f, mode, ftz)


@elementwise(2)
def division(x: Array, y: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x / y (5.4.1); a finite number but zero divided by zero is an infinity (7.3)."""
    own = steered(np.divide, (x, y), f, mode, ftz, daz)
    if own is not None:
        return own
    if daz and _flushes_first(f):
        x, y = flushed(x, f), flushed(y, f)
    if f.native is not None and mode == roundTiesToEven:
        quotient = x.view(f.native) / y.view(f.native)
        return _finish(quotient, f, ftz, tested_by(wide.division, (x, y), f, mode))
    if f.carrier is not None:
        a, b = widen(x, f, f.carrier, daz), widen(y, f, f.carrier, daz)
        quotient = _reusing(np.divide, a, b) if _rounds_twice_safely(f, f.carrier, mode) else quotient_to_odd(a, b)
        del a, b
        return narrow(quotient, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.division(x, y, f, mode, ftz)
    quotient = x.view(f.native) / y.view(f.native)
    return directed(quotient, (x, y), quotient_remainder, wide.division, f, mode, ftz)


@elementwise(1)
def squareRoot(x: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return the square root (5.4.1): that of -0 is -0, of a smaller number NaN."""
    own = steered(np.sqrt, (x,), f, mode, ftz, daz)
    if own is not None:
        return own
    if daz and _flushes_first(f):
        x = flushed(x, f)
    if f.native is not None and mode == roundTiesToEven:
        return _finish(np.sqrt(x.view(f.native)), f, ftz, never)
    if f.carrier is not None:
        carrier = _nearest_carrier(f, mode) or f.carrier
        a = widen(x, f, carrier, daz)
        root = np.sqrt(a) if _rounds_twice_safely(f, carrier, mode) else root_to_odd(a)
        return narrow(root, f, mode, ftz)
    if f.native is None or mode == roundTiesToAway:
        return wide.squareRoot(x, f, mode, ftz)
    return directed(np.sqrt(x.view(f.native)), (x,), root_remainder, wide.squareRoot, f, mode, ftz)


@elementwise(3)
def fusedMultiplyAdd(x: Array, y: Array, z: Array, f: Format, mode: Direction, ftz: bool, daz: bool = False) -> Array:
    """Return x * y + z, rounded once (5.4.1). An exact zero has the sign that the sum of the product and z has
    (6.3)."""
    if daz and f.carrier is None:
        x, y, z = flushed(x, f), flushed(y, f), flushed(z, f)
    if f.native is not None and f.carrier is None and mode != roundTiesToAway:
        if environment.FUSES and environment.can(mode):
            with environment.environment(mode):
                value = environment.product_sum(x.view(f.native), y.view(f.native), z.view(f.native))
            bits = canonicalise(value, f)
        else:
            from .fused import fused_binary64  # where the processor cannot be reached

            bits = fused_binary64(x, y, z, f, mode)
        return flush(bits, f, tested_by(wide.fusedMultiplyAdd, (x, y, z), f, mode)) if ftz else bits
    if f.carrier is None:
        return wide.fusedMultiplyAdd(x, y, z, f, mode, ftz)
    if are_few(x, f) and mode in (roundTiesToEven, roundTiesToAway) and _sums_round_twice_safely(f):
        return narrow(widen(x, f, _DOUBLE, daz) * widen(y, f, _DOUBLE, daz) + widen(z, f, _DOUBLE, daz), f, mode, ftz)
    product = widen(x, f, f.carrier, daz)
    product *= widen(y, f, f.carrier, daz)
    return sum_of_carrier(product, widen(z, f, f.carrier, daz), f, mode, ftz)


def sum_of_carrier(product: Array, addend: Array, f: Format, mode: Direction, ftz: bool) -> Array:
    """Return the sum of numbers of the carrier, rounded once; the first is reused."""
    if mode not in (roundTiesToEven, roundTiesToAway) and environment.can(mode, ftz and f.native is not None):
        # Rounded twice in one direction is rounded once.
        with environment.environment(mode):
            product += addend
        return narrow(product, f, mode, ftz)
    is_single = fits_single(f) and environment.STEERS and not are_few(product, f)
    total = (sum_to_odd_single if is_single else sum_to_odd)(product, addend)
    bits = narrow(total, f, mode, ftz)
    if mode == roundTowardNegative:
        # As `_sign_exact_zero`; the product has the sign that its factors make.
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
    """Return the encodings of a narrow format, in their order, in a native format that has all of its numbers."""
    with np.errstate(all="ignore"), environment.ordinary():
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
    """Return the whole number next to x in a direction, of x's sign (5.9). It is never tiny."""
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
    """Return the results of a narrow format's encodings, in their order."""
    every = np.arange(1 << f.width, dtype=np.uint32).astype(f.unsigned)
    with np.errstate(all="ignore"):
        found = narrow(_integral(widen(every, f, np.dtype(np.float64)), mode), f, roundTiesToEven, False)
    found.flags.writeable = False
    return found


def _finish(value: Array, f: Format, ftz: bool, edge_is_tiny: Operation) -> Array:
    """Return bits of a fresh native result: NaN canonical, tiny results flushed."""
    bits = canonicalise(value, f)
    return flush(bits, f, edge_is_tiny) if ftz else bits


def _rounds_twice_safely(f: Format, carrier: np.dtype[Any], mode: Direction) -> bool:
    """Return whether a result to nearest in the carrier may be rounded to nearest again. With 2p + 2 bits it may
    (Figueroa 1995)."""
    nearest = mode in (roundTiesToEven, roundTiesToAway)
    return nearest and native_format(carrier).precision >= 2 * f.precision + 2


@cache
def _sums_round_twice_safely(f: Format) -> bool:
    """Return whether the sum of a product and a number may be rounded to nearest in float64, and again.

    It is exact there, or the product is less than a quarter of the number's last place, and what is lost makes no
    difference: a number is nowhere so small that the product of a finite result has no place for it."""
    return max(3 * f.precision + 3, f.emax + 3 - (f.emin - f.fraction_bits)) <= BINARY64.precision


def _nearest_carrier(f: Format, mode: Direction) -> np.dtype[Any] | None:
    """Return float32 where it serves for sums and roots to nearest though not for products and remainders.

    It may have the exponent range of `f`: roots stay in range, subnormal sums are exact, and a sum that overflows in
    float32 does so in `f`.
    """
    single = np.dtype(np.float32)
    return single if f.exponent_bits <= 8 and _rounds_twice_safely(f, single, mode) else None


def _reusing(ufunc: np.ufunc, x: Array, y: Array) -> Array:
    """Compute an operation in its first operand's place, unless operands are few: then that takes longer to begin."""
    return ufunc(x, y, out=x) if x.size > FEW else ufunc(x, y)


def _product(x: Array, y: Array, f: Format) -> Array:
    """Return the product of numbers of `f` in a carrier; the first may be reused."""
    stumbles = environment.STUMBLES and x.dtype == _SINGLE and _has_subnormal_products(f) and x.size > FEW
    return in_carrier(np.multiply, (x, y), _DOUBLE, _SINGLE) if stumbles else _reusing(np.multiply, x, y)


def _has_single_products(f: Format, mode: Direction, ftz: bool) -> bool:
    """Return whether float32 serves for products though some of them are subnormal there, and not exact.

    All that reach half of the least number of `f` are: they have that many bits. A smaller one stays below it or, to
    nearest, reaches it as a tie, which goes to zero like itself; and what was rounded in one direction may be again."""
    bits = 2 * f.precision
    inside = f.exponent_bits <= 8 and bits <= 24 and f.emin - f.fraction_bits - 1 - (bits - 1) >= -149
    steered = mode == roundTiesToEven or (mode != roundTiesToAway and environment.can(mode))
    return inside and steered and not ftz


def _has_subnormal_products(f: Format) -> bool:
    """Return whether some of the products that float32 has are subnormal there."""
    return 2 * (f.emin - f.fraction_bits) < BINARY32.emin


def _flushes_first(f: Format) -> bool:
    """Return whether operands are flushed before they are widened. In a carrier that is done at once."""
    return f.native is not None or f.carrier is None


def _sign_exact_zero(bits: Array, total: Array, signs: Array, f: Format) -> None:
    """Set the sign of a zero sum under roundTowardNegative, which is -0 unless both summands are +0; a nonzero sum is
    never zero here."""
    np.copyto(bits, signs & f.sign_mask, where=total == 0)
