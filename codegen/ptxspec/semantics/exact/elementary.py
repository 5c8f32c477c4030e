"""The exact back end of the elementary functions: values that round correctly, by Ziv's strategy with mpmath.

A function is evaluated with more and more bits until everything within its error rounds to the same encoding. This ends
because only the few results that are handled first are exact or a tie. Only these functions need mpmath, which is
imported at the first use.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from ...model import Format
from .results import Invalid, Number, Unrounded
from .rounding import decode, round_to

# The arguments: an encoding, its format, the rounding, and whether tiny results are flushed.
Function = Callable[[int, Format, str, bool], Unrounded]

ONE = Fraction(1)
# The natural logarithm of 2, to more bits than two terms of a series give correctly.
LN2 = Fraction(0xB17217F7D1CF79ABC9E3B39803F2F6AF, 1 << 128)


def exp2(x: int, f: Format, mode: str, ftz: bool) -> Unrounded:
    if f.is_nan(x):
        return _NAN
    if f.is_infinite(x):
        return Number(Fraction(0), False) if x & f.sign_bit else Number(None, False)
    exact = decode(x, f)
    # All results above the largest number round alike, and so do all below half the smallest.
    value = max(min(exact, Fraction(f.emax + 1)), Fraction(f.emin - f.precision - 2))
    if value.denominator == 1:
        nearness = "above" if exact > value else "below" if exact < value else "equal"
        return Number(Fraction(2) ** int(value), False, nearness)
    if _is_small(value, f):
        power = value * LN2
        return _about(1 + power + power**2 / 2)
    return _evaluated(lambda mp, v: mp.power(2, v), value, f, mode, ftz)


def log2(x: int, f: Format, mode: str, ftz: bool) -> Unrounded:
    if f.is_zero(x):
        return Number(None, True, note="the logarithm of zero")
    if f.is_nan(x):
        return _NAN
    if x & f.sign_bit:
        return Invalid("a number below zero has no logarithm")
    if f.is_infinite(x):
        return Number(None, False)
    value = decode(x, f)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value == Fraction(2) ** exponent:
        return Number(Fraction(exponent), False)
    return _evaluated(lambda mp, v: mp.log(v, 2), value, f, mode, ftz)


def sin(x: int, f: Format, mode: str, ftz: bool) -> Unrounded:
    if f.is_zero(x):
        return Number(Fraction(0), x & f.sign_bit != 0)
    if f.is_nan(x) or f.is_infinite(x):
        return _NAN if f.is_nan(x) else Invalid("an infinity has no sine")
    value = decode(x, f)
    if _is_small(value, f):
        return _about(value - value**3 / 6)
    return _evaluated(lambda mp, v: mp.sin(v), value, f, mode, ftz)


def cos(x: int, f: Format, mode: str, ftz: bool) -> Unrounded:
    if f.is_nan(x) or f.is_infinite(x):
        return _NAN if f.is_nan(x) else Invalid("an infinity has no cosine")
    value = decode(x, f)
    if value == 0:
        return Number(ONE, False)
    if _is_small(value, f):
        return _about(1 - value**2 / 2)
    return _evaluated(lambda mp, v: mp.cos(v), value, f, mode, ftz)


def tanh(x: int, f: Format, mode: str, ftz: bool) -> Unrounded:
    negative = x & f.sign_bit != 0
    if f.is_zero(x):
        return Number(Fraction(0), negative)
    if f.is_nan(x):
        return _NAN
    sign = -1 if negative else 1
    if f.is_infinite(x):
        return Number(sign * ONE, negative)
    value = decode(x, f)
    if _is_small(value, f):
        return _about(value - value**3 / 3)
    if abs(value) > f.width:
        # So close to 1 that no number or tie lies between.
        return Number(sign * (1 - Fraction(2) ** -f.width), negative, "above")
    return _evaluated(lambda mp, v: mp.tanh(v), value, f, mode, ftz)


def rSqrt(x: int, f: Format, mode: str, ftz: bool) -> Unrounded:
    if f.is_zero(x):
        return Number(None, x & f.sign_bit != 0, note="a number over zero")
    if f.is_nan(x):
        return _NAN
    if x & f.sign_bit:
        return Invalid("a number below zero has no square root")
    if f.is_infinite(x):
        return Number(Fraction(0), False)
    value = decode(x, f)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value == Fraction(2) ** exponent and exponent % 2 == 0:
        return Number(Fraction(2) ** (-exponent // 2), False)
    return _evaluated(lambda mp, v: 1 / mp.sqrt(v), value, f, mode, ftz)


FUNCTIONS: dict[str, Function] = {
    "exp2": exp2,
    "log2": log2,
    "sin": sin,
    "cos": cos,
    "tanh": tanh,
    "rSqrt": rSqrt,
}

_NAN = Invalid("an operand is a NaN")


def _about(value: Fraction) -> Number:
    return Number(value, value < 0, "about")


def _is_small(value: Fraction, f: Format) -> bool:
    """Return whether a value is so near to zero that the first terms of a series round as the function does, which an
    evaluation would take long to find."""
    return abs(value) < Fraction(1, 1 << f.width)


def _evaluated(function: Callable[[Any, Any], Any], value: Fraction, f: Format, mode: str, ftz: bool) -> Number:
    mp = _context()
    precision = f.width + 64
    while True:
        mp.prec = precision
        # The operand is exact: a few bits and a power of two.
        result = _fraction(function(mp, mp.mpf(value.numerator) / value.denominator))
        # mpmath delivers all but the last bit or so; this margin is sixteen bits.
        error = abs(result) / 2 ** (precision - 16)
        low, high = (round_to(end, f, mode, ftz) for end in (result - error, result + error))
        if low == high:
            return _about(result)
        precision *= 2


def _fraction(x: Any) -> Fraction:
    significand, exponent = (int(part) for part in abs(x).man_exp)
    magnitude = Fraction(significand) * Fraction(2) ** exponent
    return -magnitude if x < 0 else magnitude


@cache
def _context() -> Any:
    """Return a context of mpmath with a precision of its own, which no other use of mpmath changes."""
    import mpmath  # type: ignore[import-untyped]

    return mpmath.mp.clone()
