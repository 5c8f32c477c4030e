"""Constant expressions, evaluated as the assembler does it."""

from __future__ import annotations

import math
import operator
import re
import struct
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

# The kinds of expressions. A single is a number with 0f and eight digits by itself; other floating-point ones are
# doubles.
SINGLE, DOUBLE, INTEGER = "single", "double", "integer"
# The errors: out of the range of doubles, or of 64 bits; both sorts of numbers in one operation; not an expression.
OVERFLOW, INTEGER_OVERFLOW, MIXED, MALFORMED = "overflow", "integer overflow", "mixed", "malformed"

_DECIMAL = r"(?:\d++\.\d*+|\.\d++|\d++(?=[eE]))(?:[eE][+-]?\d++)?(?!\w)"
_TOKEN = re.compile(
    rf"""\s*+(?:
        0[fF](?P<single>[0-9a-fA-F]{{8}})(?!\w) | 0[dD](?P<double>[0-9a-fA-F]{{16}})(?!\w) | (?P<decimal>{_DECIMAL})
      | (?P<integer>(?:0[xX](?P<hexadecimal>[0-9a-fA-F]++)|0[bB](?P<binary>[01]++)|0(?P<octal>[0-7]*+)|[1-9]\d*+))
            (?P<unsigned>U?)(?![\w.])
      | \(\s*+\.(?P<cast>[su]64)\s*+\)
      | (?P<mark>&&|\|\||<<|>>|[<>=!]=|%(?![\w$%])|[-+*/<>&|^!~?:()])
    )\s*+""",
    re.VERBOSE,
)
_BITS = 1 << 64
_Number: TypeAlias = "float | int"


class _Failed(Exception):
    """The expression is not a number; the argument says what it is."""


def kind(text: str) -> str:
    """Return the kind of a constant expression."""
    return value(text)[0]


def value(text: str) -> tuple[str, float | int]:
    """Return the kind of a constant expression and its value; for a single, the bits. The value is meaningless if the
    text is not a constant."""
    expression = _Expression()
    position = 0
    try:
        while position < len(text):
            m = _TOKEN.match(text, position)
            if m is None:
                return MALFORMED, 0
            expression.take(m)
            position = m.end()
        found = expression.end()
    except _Failed as e:
        return str(e), 0
    if isinstance(found, float):
        return (SINGLE, expression.single) if expression.singles else (DOUBLE, found)
    return INTEGER, found


def _divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_SUMS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide, "%": lambda a, b: a - b * _divide(a, b),
    "<<": lambda a, b: a << (b & 63), ">>": lambda a, b: a >> (b & 63), "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "&&": lambda a, b: int(bool(a and b)), "||": lambda a, b: int(bool(a or b)),
}  # fmt: skip
_UNARY = {"+": "plus", "-": "minus", "!": "!", "~": "~", "(": "("}
# Operators that bind tighter have a higher rank. A `?` waits for its `:`, and that for what follows.
_RANK = {"(": -1, "?": 0, ":": 1, "||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7, "<": 8, "<=": 8, ">": 8,
         ">=": 8, "<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11}  # fmt: skip
_TIGHTEST = 12


class _Expression:
    """An expression of any depth, evaluated as its tokens come."""

    def __init__(self) -> None:
        self.singles = 0
        self.single = 0  # the bits of the last single
        self._values: list[_Number] = []
        self._operators: list[str] = []
        self._tokens = 0  # without parentheses
        self._wanted = True  # an operand comes next

    def take(self, token: re.Match[str]) -> None:
        mark = token["mark"]
        if mark is None and token["cast"] is None:
            if not self._wanted:
                raise _Failed(MALFORMED)
            self._values.append(self._number(token))
            self._wanted = False
        elif self._wanted:
            if mark is not None and mark not in _UNARY:
                raise _Failed(MALFORMED)
            self._operators.append(_UNARY[mark] if mark else "cast")
        elif mark == ")":
            self._reduce(0)
            self._close("(")
        elif mark == ":":
            self._reduce(1)
            self._close("?")
            self._operators.append(":")
            self._wanted = True
        elif mark in _RANK and mark != "(":
            # `?` groups to the right, all others to the left.
            self._reduce(_RANK[mark] + (mark == "?") * 2)
            self._operators.append(mark)
            self._wanted = True
        else:
            raise _Failed(MALFORMED)
        self._tokens += mark not in ("(", ")")
        if self.singles and self._tokens > 1:
            raise _Failed(MALFORMED)

    def end(self) -> _Number:
        if self._wanted:
            raise _Failed(MALFORMED)
        self._reduce(0)
        if self._operators:
            raise _Failed(MALFORMED)
        return self._values.pop()

    def _close(self, opening: str) -> None:
        if not self._operators or self._operators.pop() != opening:
            raise _Failed(MALFORMED)

    def _reduce(self, rank: int) -> None:
        while self._operators and _RANK.get(self._operators[-1], _TIGHTEST) >= max(rank, 1):
            self._values.append(self._apply(self._operators.pop()))

    def _apply(self, sign: str) -> _Number:
        values = self._values
        b = values.pop()
        if sign == "plus":
            return b
        if sign == "minus":
            return -b
        if sign in ("!", "~", "cast"):
            x = _integer(b)
            return _wrapped(int(not x) if sign == "!" else ~x if sign == "~" else x)
        a = values.pop()
        if sign == ":":
            return _integer(a) if _integer(values.pop()) else _integer(b)
        if isinstance(a, float) != isinstance(b, float) or (
            isinstance(a, float) and sign not in (*_SUMS, *_COMPARISONS)
        ):
            raise _Failed(MIXED)
        if sign in _COMPARISONS:
            return int(_COMPARISONS[sign](a, b))
        try:
            if isinstance(a, int) and isinstance(b, int):
                return _wrapped(_INTEGERS[sign](a, b))
            return _SUMS[sign](a, b)
        except ZeroDivisionError:
            raise _Failed(INTEGER_OVERFLOW if isinstance(a, int) else OVERFLOW) from None

    def _number(self, m: re.Match[str]) -> _Number:
        if m["integer"]:
            return _whole(m)
        if m["single"]:
            self.singles += 1
            self.single = int(m["single"], 16)
            return 1.0
        if m["double"]:
            return float(struct.unpack(">d", bytes.fromhex(m["double"]))[0])
        value = float(m["decimal"])
        # The C library reports numbers that would be subnormal as out of range.
        if not re.search("[1-9]", m["decimal"].lower().partition("e")[0]):
            return value
        if value == math.inf or (value < sys.float_info.min and Decimal(value) != Decimal(m["decimal"])):
            raise _Failed(OVERFLOW)
        return value


def _integer(value: _Number) -> int:
    if isinstance(value, float):
        raise _Failed(MIXED)
    return value


def _wrapped(value: int) -> int:
    value %= _BITS
    return value - _BITS if value >= _BITS >> 1 else value


def _whole(m: re.Match[str]) -> int:
    """Return an integer. The assembler only detects overflow if the value exceeds 2**63 before the last digit."""
    bases = (("hexadecimal", 16), ("binary", 2), ("octal", 8), ("integer", 10))
    base, digits = next((base, m[name]) for name, base in bases if m[name])
    value = 0
    for digit in digits:
        if value >= _BITS >> 1:
            raise _Failed(INTEGER_OVERFLOW)
        value = (value * base + int(digit, 16)) % _BITS
    return value
