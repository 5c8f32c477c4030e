"""Results of operations before rounding: exact values, infinities, and reasons why there is none.

The exact back end rounds these results once, and `eval --trace` shows them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from ...model import Format, Kind
from ..program import Apply
from . import elementary
from .results import Invalid, Number, Unrounded
from .rounding import decode

OPERAND = Invalid("an operand is a NaN")


def format_of(t: Apply) -> Format:
    assert t.format is not None
    return t.format


def integer(x: int, kind: Kind) -> Fraction:
    """Return the number that an integer's encoding represents."""
    assert kind.fixed is not None
    return Fraction(kind.fixed.value(x), 1 << kind.fixed.point)


@lru_cache(maxsize=1 << 16)
def _number(x: int, f: Format) -> Unrounded:
    """Return the value of an operand."""
    if f.is_nan(x):
        return OPERAND
    return Number(None if f.is_infinite(x) else decode(x, f), x & f.sign_bit != 0)


def _numbers(t: Apply, *operands: int) -> list[Number] | None:
    """Return the values of the operands, each in its own format; None if one is a NaN."""
    formats = [a.kind.format or format_of(t) for a in t.arguments] or [format_of(t)] * len(operands)
    found = []
    for number in map(_number, operands, formats):
        if not isinstance(number, Number):
            return None
        found.append(number)
    return found


def _sum(t: Apply, x: Number, y: Number) -> Unrounded:
    if x.value is not None and y.value is not None:
        value = x.value + y.value
        if x.negative == y.negative:
            return Number(value, x.negative)
        # IEEE 754, 6.3
        note = "an exactly zero sum of terms of unlike signs" if value == 0 else ""
        return Number(value, t.mode == "roundTowardNegative", note=note)
    if x.value is None and y.value is None and x.negative != y.negative:
        return Invalid("infinities of unlike signs have no sum")
    return Number(None, x.negative if x.value is None else y.negative)


def _product(x: Number, y: Number) -> Unrounded:
    negative = x.negative != y.negative
    if x.value is not None and y.value is not None:
        return Number(x.value * y.value, negative)
    if x.is_zero or y.is_zero:
        return Invalid("zero times infinity has no value")
    return Number(None, negative)


def _addition(t: Apply, *operands: int) -> Unrounded:
    numbers = _numbers(t, *operands)
    return _sum(t, *numbers) if numbers else OPERAND


def _subtraction(t: Apply, *operands: int) -> Unrounded:
    numbers = _numbers(t, *operands)
    if numbers is None:
        return OPERAND
    x, y = numbers
    return _sum(t, x, Number(None if y.value is None else -y.value, not y.negative))


def _multiplication(t: Apply, *operands: int) -> Unrounded:
    numbers = _numbers(t, *operands)
    return _product(*numbers) if numbers else OPERAND


def _division(t: Apply, *operands: int) -> Unrounded:
    numbers = _numbers(t, *operands)
    if numbers is None:
        return OPERAND
    return quotient(*numbers)


def quotient(x: Number, y: Number) -> Unrounded:
    negative = x.negative != y.negative
    if x.value is None:
        return Invalid("infinity over infinity has no value") if y.value is None else Number(None, negative)
    if y.is_zero:
        if x.is_zero:
            return Invalid("zero over zero has no value")
        return Number(None, negative, note="a number over zero")
    return Number(Fraction(0) if y.value is None else x.value / y.value, negative)


def _fused(t: Apply, *operands: int) -> Unrounded:
    numbers = _numbers(t, *operands)
    if numbers is None:
        return OPERAND
    x, y, z = numbers
    product = _product(x, y)
    return _sum(t, product, z) if isinstance(product, Number) else product


def _square_root(t: Apply, x: int) -> Unrounded:
    f = format_of(t)
    number = _number(x, f)
    if not isinstance(number, Number) or number.is_zero:
        return number
    if number.negative:
        return Invalid("a number below zero has no square root")
    if number.value is None:
        return number
    # Far more bits than any format has, and a last bit for the rest: this rounds the same as the exact root.
    value, shift = number.value, 4 * f.width + 2 * abs(f.bias)
    root = isqrt((value.numerator << 2 * shift) // value.denominator)
    exact = root * root * value.denominator == value.numerator << 2 * shift
    return Number(Fraction(2 * root + (not exact), 2 << shift), False, "equal" if exact else "about")


def _converted(t: Apply, x: int) -> Unrounded:
    """Return the operand, whatever it is converted to."""
    source = t.arguments[0].kind
    if source.format is not None:
        return _number(x, source.format)
    value = integer(x, source)
    return Number(value, value < 0)


def _same(t: Apply, x: int) -> Unrounded:
    return _number(x, format_of(t))


def _stochastic(t: Apply, x: int, random: int) -> Unrounded:
    number, width = _converted(t, x), t.arguments[1].kind.width
    return number._replace(random=Fraction(random, 1 << width)) if isinstance(number, Number) else number


def _elementary(function: elementary.Function) -> Callable[..., Unrounded]:
    return lambda t, x: function(x, format_of(t), t.mode, t.ftz)


UNROUNDED: dict[str, Callable[..., Unrounded]] = {
    "addition": _addition,
    "subtraction": _subtraction,
    "multiplication": _multiplication,
    "division": _division,
    "fusedMultiplyAdd": _fused,
    "squareRoot": _square_root,
    "roundToIntegral": _same,
    "convert": _converted,
    "convertStochastic": _stochastic,
    **{name: _elementary(function) for name, function in elementary.FUNCTIONS.items()},
}
