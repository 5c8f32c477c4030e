"""Operations with operands and results of several formats: the formatOf operations of IEEE 754-2019, 5.4.1.

Their arguments are the operands, the operands' formats, the format of the result, and the rest as in arithmetic.py.
Operands are float64 numbers with at most 24 bits: products are exact, sums are exact or rounded to odd, and the result
is rounded once more. A result in binary64 itself is rounded to nearest, and needs no second rounding.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeAlias

import numpy as np

from . import arithmetic
from .binary import BINARY64, Array, Direction, Format, roundTowardNegative
from .conversion import as_double, to_float
from .declared import Declared
from .narrowing import widen
from .rounding import Operation, sum_to_odd
from .selection import canonicalise
from .tables import ENOUGH, are_kept, every_pattern, kept

Formats: TypeAlias = "tuple[Format | Declared, ...]"
_SINGLE = np.dtype(np.float32)
# The number of results at a time from which a table by products pays off.
_MANY = 1 << 16
# The summands: one number, or two.
Parts: TypeAlias = "Callable[[tuple[Array, ...], Formats, bool], tuple[Array, ...]]"


def _mixed(count: int, parts: Parts) -> Operation:
    """Return an operation on `count` operands, which `parts` converts to float64."""

    @arithmetic.elementwise(count)
    def operation(*arguments: Any) -> Array:
        operands, (formats, f, mode, ftz, *daz) = arguments[:count], arguments[count:]
        factors = count if parts is _multiplied and count == 2 else count - 1
        if operands[0].size >= ENOUGH and f.width <= 8 and not any(daz) and _is_of_single(formats, factors):
            x, *y = (np.take(t, i, mode="wrap") for t, i in _single_parts(operands, formats, factors))
            if y and parts is _negated:
                np.negative(y[0], out=y[0])
            return to_float(_odd_sum(x, y[0], mode) if y else x, f, mode, ftz)
        if parts is _multiplied and count == 3 and isinstance(f, Format) and f.native == np.float32:
            return _fused(operands, formats, f, mode, ftz, any(daz))
        x, *y = parts(operands, formats, any(daz))
        if f == BINARY64:
            return canonicalise(x + y[0] if y else x, f)
        return to_float(_sum(x, y[0], formats, mode) if y else x, f, mode, ftz)

    return operation


def _sum(x: Array, y: Array, formats: Formats, mode: Direction) -> Array:
    return _with_sign(x + y if _is_exact(formats) else sum_to_odd(x, y), x, y, mode)


def _odd_sum(x: Array, y: Array, mode: Direction) -> Array:
    return _with_sign(sum_to_odd(x, y), x, y, mode)


def _fused(operands: tuple[Array, ...], formats: Formats, f: Format, mode: Direction, ftz: bool, daz: bool) -> Array:
    """Return a fused operation with a result in binary32. Its sums are in binary32 too, where all products are normal
    numbers there."""
    (x, y, z), (a, b, c) = operands, formats
    if c == f and not daz and _has_normal_products(a, b):
        assert isinstance(a, Format) and isinstance(b, Format)
        product = widen(x, a, _SINGLE)
        product *= widen(y, b, _SINGLE)
        return arithmetic.addition(product.view(np.uint32), z, f, mode, ftz)
    double = as_double(x, a, daz)
    double *= as_double(y, b, daz)
    return arithmetic.sum_of_carrier(double, as_double(z, c, daz), f, mode, ftz)


@cache
def _has_normal_products(a: Format | Declared, b: Format | Declared) -> bool:
    """Return whether all products are normal numbers of binary32."""
    usual = isinstance(a, Format) and isinstance(b, Format) and a.width <= 16 >= b.width
    low = a.emin - a.fraction_bits + b.emin - b.fraction_bits
    inside = low >= -126 and _largest_exponent(a) + _largest_exponent(b) < 126
    return usual and inside and a.fraction_bits + b.fraction_bits <= 22


def _with_sign(total: Array, x: Array, y: Array, mode: Direction) -> Array:
    if mode == roundTowardNegative:
        # A sum of zero is -0 unless both summands are +0.
        np.copyto(total, -0.0, where=(total == 0) & (np.signbit(x) | np.signbit(y)))
    return total


@cache
def _is_exact(formats: Formats) -> bool:
    """Return whether float64 has all bits of a sum. The last number is one summand, the product of the others is the
    other."""
    ends = [(f.emin - f.fraction_bits, _largest_exponent(f) + 1) for f in formats]
    *factors, last = ends
    low = min(sum(least for least, _ in factors), last[0])
    return max(sum(most for _, most in factors), last[1]) + 1 - low <= BINARY64.precision


@cache
def _is_of_single(formats: Formats, factors: int) -> bool:
    """Return whether all formats have at most 8 bits, products are numbers of float32 and sums are in its range."""
    ends = [(f.emin - f.fraction_bits, _largest_exponent(f) + 1) for f in formats]
    low = min(sum(least for least, _ in ends[:factors]), ends[-1][0])
    high = max(sum(most for _, most in ends[:factors]), ends[-1][1])
    return all(f.width <= 8 for f in formats) and low >= -149 and high < 127


def _single_parts(operands: tuple[Array, ...], formats: Formats, factors: int) -> list[tuple[Array, Array]]:
    """Return tables of float32, and the indices to read."""
    multiplied = 2 * (factors > 1)
    found = [(_every_single(formats[:2]), _index(operands[0], operands[1], formats[1]))] if multiplied else []
    rest = zip(operands[multiplied:], formats[multiplied:], strict=True)
    return [*found, *((_every_single((f,)), x) for x, f in rest)]


@cache
def _every_single(formats: Formats) -> Array:
    """Return every number of a format, or every product of numbers of two, as float32."""
    if len(formats) == 1:
        value = as_double(every_pattern(formats[0].width), formats[0], False)
    else:
        value = _every_product(formats[0], formats[1], False)
    found = value.astype(np.float32)
    found.flags.writeable = False
    return found


def _index(x: Array, y: Array, b: Format | Declared) -> Array:
    index = x.astype(np.uint16)
    index <<= np.uint16(b.width)
    index |= y
    return index


def _largest_exponent(f: Format | Declared) -> int:
    return f.emax if isinstance(f, Format) else f.largest_exponent


def _product(x: Array, y: Array, a: Format | Declared, b: Format | Declared, daz: bool) -> Array:
    if a.width + b.width > 16 or x.size < ENOUGH:
        return as_double(x, a, daz) * as_double(y, b, daz)
    # Any index of the unsigned type is in range; "wrap" spares the check.
    return _every_product(a, b, daz).take(_index(x, y, b), mode="wrap")


@cache
def _every_product(a: Format | Declared, b: Format | Declared, daz: bool) -> Array:
    every = every_pattern(a.width + b.width)
    x, y = (every >> b.width).astype(a.unsigned), (every & ((1 << b.width) - 1)).astype(b.unsigned)
    with np.errstate(all="ignore"):
        found = as_double(x, a, daz) * as_double(y, b, daz)
    found.flags.writeable = False
    return found


def by_product(a: Format | Declared, b: Format | Declared, c: Format | Declared) -> Callable[[Operation], Operation]:
    """Return a decorator for a function of three operands of at most 8 bits, with such a result, that depends only on
    the third and the product of the first two. There are few products, and fewer with different results: where many
    results are wanted at a time, they are looked up by the product's row and the third operand."""

    def decorate(function: Operation) -> Operation:
        @wraps(function)
        def reading(x: Array, y: Array, z: Array) -> Array:
            enough = are_kept(function) or np.size(x) >= _MANY
            if not enough or not np.shape(x) == np.shape(y) == np.shape(z) != ():
                return function(x, y, z)
            rows, results = kept(function, lambda: _every_row(function, a, b, c))
            # Any index of the unsigned types is in range; "wrap" spares the check.
            places = rows.take(_index(x, y, b), mode="wrap")
            places |= z.astype(np.uint32)
            return results.take(places, mode="wrap")

        return reading

    return decorate


def _every_row(
    function: Operation, a: Format | Declared, b: Format | Declared, c: Format | Declared
) -> tuple[Array, Array]:
    """Return the start of the row of results of every pair of operands, and the results: products with the same results
    share a row."""
    product = _every_product(a, b, False).copy()
    product[np.isnan(product)] = np.nan
    _, pairs, product_of = np.unique(product.view(np.uint64), return_index=True, return_inverse=True)
    z = every_pattern(c.width)
    found: dict[bytes, int] = {}
    row_of = []
    # In parts, to limit memory.
    for part in np.array_split(pairs, 1 + pairs.size * z.size // _MANY):
        x, y = (part >> b.width).astype(a.unsigned), (part & ((1 << b.width) - 1)).astype(b.unsigned)
        rows = function(np.repeat(x, z.size), np.repeat(y, z.size), np.tile(z, part.size))
        row_of += [found.setdefault(row.tobytes(), len(found)) for row in rows.reshape(-1, z.size)]
    places = np.array(row_of, np.uint32)[product_of] << np.uint32(c.width)
    return places, np.frombuffer(b"".join(found), np.uint8)


def _each(operands: tuple[Array, ...], formats: Formats, daz: bool) -> tuple[Array, ...]:
    return tuple(as_double(x, f, daz) for x, f in zip(operands, formats, strict=True))


def _negated(operands: tuple[Array, ...], formats: Formats, daz: bool) -> tuple[Array, ...]:
    x, y = _each(operands, formats, daz)
    return x, -y


def _multiplied(operands: tuple[Array, ...], formats: Formats, daz: bool) -> tuple[Array, ...]:
    product = _product(operands[0], operands[1], formats[0], formats[1], daz)
    return (product, *_each(operands[2:], formats[2:], daz))


addition = _mixed(2, _each)
subtraction = _mixed(2, _negated)
multiplication = _mixed(2, _multiplied)
fusedMultiplyAdd = _mixed(3, _multiplied)
