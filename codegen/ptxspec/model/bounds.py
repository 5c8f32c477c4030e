"""Bounds on the error of approximations: how large a bound is, and for which operands it holds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_NUMBER = r"-?\d+(?:\.\d+)?(?:\^-?\d+)?(?:pi)?"
_INTERVAL = rf"([\[(])({_NUMBER}), ({_NUMBER})([\])])"
_FORMS = re.compile(rf"(positive and finite(?: outside )?)?(?:{_INTERVAL})?|({_NUMBER}) <= \|[abc]\| <= ({_NUMBER})")


@dataclass(frozen=True)
class Range:
    """The operands for which a bound holds: those inside an interval or outside it, of one sign or of both."""

    low: float = -math.inf
    high: float = math.inf
    open: tuple[bool, bool] = (False, False)
    positive: bool = False
    outside: bool = False
    magnitude: bool = False

    def holds(self, x: Any) -> Any:
        """Return for each finite operand of a float64 array whether it is in the range."""
        y = abs(x) if self.magnitude else x
        inside = (y > self.low if self.open[0] else y >= self.low) & (y < self.high if self.open[1] else y <= self.high)
        return (inside != self.outside) & ((x > 0) | (not self.positive))


def parse_range(text: str) -> Range:
    """Return the range that a text of the specification names; an empty text names all operands. Raises ValueError."""
    match = _FORMS.fullmatch(text)
    if not match or (text.endswith("outside ")):
        raise ValueError(f"'{text}' is not a range")
    positive, left, low, high, right, least, largest = match.groups()
    if least:
        return Range(_number(least), _number(largest), magnitude=True)
    if not low:
        return Range(positive=bool(positive))
    if positive and "outside" not in positive:
        raise ValueError(f"'{text}' is not a range")
    return Range(_number(low), _number(high), (left == "(", right == ")"), bool(positive), bool(positive))


def parse_bound(text: str) -> Fraction:
    """Return the value of a bound such as 2 or 2^-20.5: exact, or rounded up if it is irrational."""
    if not text.startswith("2^"):
        return Fraction(text)
    exponent = Fraction(text[2:])
    whole = math.floor(exponent)
    part = Fraction(math.nextafter(2.0 ** float(exponent - whole), 2.0)) if exponent != whole else Fraction(1)
    return part * Fraction(2) ** whole


def _number(text: str) -> float:
    base, _, exponent = text.removesuffix("pi").partition("^")
    return float(base) ** int(exponent or 1) * (math.pi if text.endswith("pi") else 1)
