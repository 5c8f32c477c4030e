"""The exact back end of the elementary functions: correctly rounded by Ziv's strategy with mpmath.

A function is evaluated with more and more bits until everything within its error rounds to the same encoding. That
ends because no result but the few that are told apart first is exact or a tie. mpmath is needed for nothing else, and
is imported at the first use.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from ...model import Format
from .rounding import decode, round_to

ONE = Fraction(1)


def exp2(x: int, f: Format, mode: str, ftz: bool) -> int:
    if f.is_nan(x):
        return f.canonical_nan
    if f.is_infinite(x):
        return 0 if x & f.sign_bit else f.infinity
    value = decode(x, f)
    # Beyond the largest number and below half the least one, one size is as good as another.
    value = max(min(value, Fraction(f.emax + 1)), Fraction(f.emin - f.precision - 2))
    if value.denominator == 1:
        return round_to(Fraction(2) ** int(value), f, mode, ftz)
    if _is_small(value, f):
        return round_to(1 + value / 2, f, mode, ftz)
    return _round_function(lambda mp, v: mp.power(2, v), value, f, mode, ftz)


def log2(x: int, f: Format, mode: str, ftz: bool) -> int:
    if f.is_zero(x):
        return f.sign_bit | f.infinity
    if f.is_nan(x) or x & f.sign_bit:
        return f.canonical_nan
    if f.is_infinite(x):
        return x
    value = decode(x, f)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value == Fraction(2) ** exponent:
        return round_to(Fraction(exponent), f, mode, ftz)
    return _round_function(lambda mp, v: mp.log(v, 2), value, f, mode, ftz)


def sin(x: int, f: Format, mode: str, ftz: bool) -> int:
    if f.is_zero(x):
        return x
    if f.is_nan(x) or f.is_infinite(x):
        return f.canonical_nan
    value = decode(x, f)
    if _is_small(value, f):
        return round_to(value - value**3 / 6, f, mode, ftz)
    return _round_function(lambda mp, v: mp.sin(v), value, f, mode, ftz)


def cos(x: int, f: Format, mode: str, ftz: bool) -> int:
    if f.is_nan(x) or f.is_infinite(x):
        return f.canonical_nan
    value = decode(x, f)
    if _is_small(value, f):
        return round_to(1 - value**2 / 2, f, mode, ftz)
    return _round_function(lambda mp, v: mp.cos(v), value, f, mode, ftz)


def tanh(x: int, f: Format, mode: str, ftz: bool) -> int:
    if f.is_zero(x):
        return x
    if f.is_nan(x):
        return f.canonical_nan
    sign = -1 if x & f.sign_bit else 1
    if f.is_infinite(x):
        return round_to(sign * ONE, f, mode, ftz)
    value = decode(x, f)
    if _is_small(value, f):
        return round_to(value - value**3 / 3, f, mode, ftz)
    if abs(value) > f.width:
        # Less than 1 by so little that no number or tie lies between.
        return round_to(sign * (1 - Fraction(2) ** -f.width), f, mode, ftz)
    return _round_function(lambda mp, v: mp.tanh(v), value, f, mode, ftz)


def rSqrt(x: int, f: Format, mode: str, ftz: bool) -> int:
    if f.is_zero(x):
        return x | f.infinity
    if f.is_nan(x) or x & f.sign_bit:
        return f.canonical_nan
    if f.is_infinite(x):
        return 0
    value = decode(x, f)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value == Fraction(2) ** exponent and exponent % 2 == 0:
        return round_to(Fraction(2) ** (-exponent // 2), f, mode, ftz)
    return _round_function(lambda mp, v: 1 / mp.sqrt(v), value, f, mode, ftz)


FUNCTIONS: dict[str, Callable[[int, Format, str, bool], int]] = {
    "exp2": exp2,
    "log2": log2,
    "sin": sin,
    "cos": cos,
    "tanh": tanh,
    "rSqrt": rSqrt,
}


def _is_small(value: Fraction, f: Format) -> bool:
    """So near to zero that two terms of a series round as the function does; evaluation would need long to see that."""
    return abs(value) < Fraction(1, 1 << f.width)


def _round_function(function: Callable[[Any, Any], Any], value: Fraction, f: Format, mode: str, ftz: bool) -> int:
    mp = _context()
    precision = 2 * f.width
    while True:
        mp.prec = precision
        # The operand is exact: a few bits and a power of two.
        result = _fraction(function(mp, mp.mpf(value.numerator) / value.denominator))
        # mpmath delivers all but the last bit or so; sixteen are spared.
        error = abs(result) / 2 ** (precision - 16)
        low, high = (round_to(end, f, mode, ftz) for end in (result - error, result + error))
        if low == high:
            return low
        precision *= 2


def _fraction(x: Any) -> Fraction:
    significand, exponent = (int(part) for part in abs(x).man_exp)
    magnitude = Fraction(significand) * Fraction(2) ** exponent
    return -magnitude if x < 0 else magnitude


@cache
def _context() -> Any:
    """A precision of our own, which nobody else's use of mpmath changes."""
    import mpmath  # type: ignore[import-untyped]

    return mpmath.mp.clone()
