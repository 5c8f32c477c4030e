"""What kind each operand of an instruction is, as far as verdicts depend on it."""

from __future__ import annotations

import math
import operator
import re
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from .scanning import HOLE

REGISTER, FLOAT, OVERFLOW, CONSTANT, VECTOR, ADDRESS, NEGATED, DISCARD, SINK, PAIR, SUM, MALFORMED, UNKNOWN = (
    "register", "float", "overflow", "constant", "vector", "address", "negated", "discard", "sink", "pair", "sum",
    "malformed", "unknown",
)  # fmt: skip
# What a register turns out to be by its name and the declarations; else its type.
SPECIAL, UNDECLARED, PART, FUNCTION = "special", "undeclared", "part", "function"


class Operand(NamedTuple):
    kind: str
    text: str
    start: int


_NAME = r"(?:%{0,2}[A-Za-z_$][\w$]*+|[%$]\d++)"
_INTEGER = r"(?:0[xX][0-9a-fA-F]++|0[bB][01]++|0[0-7]*+|[1-9]\d*+)U?(?![\w.])"
_DECIMAL = r"(?:\d++\.\d*+|\.\d++|\d++(?=[eE]))(?:[eE][+-]?\d++)?(?!\w)"
_FLOAT = re.compile(
    rf"(?P<single>0[fF][0-9a-fA-F]{{8}}(?!\w))|0[dD](?P<double>[0-9a-fA-F]{{16}})(?!\w)|(?P<decimal>{_DECIMAL})"
)
_TOKEN = re.compile(rf"{_FLOAT.pattern}|(?P<mark>[()+*/-])")
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (DISCARD, r"_"),
        # A component or an element is the assembler's to resolve.
        (REGISTER, rf"{_NAME}(?:\.\w++|\[[^\]]*+\])*+"),
        (SUM, rf"{_NAME}\s*+[+-]\s*+\w++"),
        (CONSTANT, rf"[+~!-]*+\s*+{_INTEGER}"),
        (SINK, rf"{_NAME}\s*+\|\s*+_"),
        (PAIR, rf"{_NAME}\s*+\|\s*+{_NAME}"),
        (NEGATED, rf"[-!]\s*+{_NAME}"),
        (VECTOR, r"\{[^{}]*+\}"),
        (ADDRESS, r"\[[^\]]*+\]"),
    )
)
_RANK = {"(": 0, "+": 1, "-": 1, "*": 2, "/": 2, "plus": 3, "minus": 3}
_BINARY: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_EXPRESSION = re.compile(r"[\w\s.()+*/<>=!&|^~?:-]++")


def split(text: str) -> Iterator[Operand]:
    """The operands in the text between an instruction's spelling and its semicolon."""
    if not text.strip():
        return
    depth, begin = 0, 0
    for m in re.finditer(r"[,(){}\[\]]|\Z", text):
        mark = m[0]
        if mark and mark in "({[":
            depth += 1
        elif mark and mark in ")}]":
            depth -= 1
        elif depth <= 0 or not mark:
            part = text[begin : m.start()]
            stripped = part.strip()
            yield Operand(kind(stripped), stripped, begin + len(part) - len(part.lstrip()))
            begin = m.end()


def kind(text: str) -> str:
    """The kind of one operand."""
    if HOLE in text:
        return UNKNOWN
    for name, pattern in _KINDS:
        if pattern.fullmatch(text):
            return name
    return _expression(text)


def _expression(text: str) -> str:
    """A constant expression. One of floating-point numbers only is such a number; comparisons and integers make it an
    integer."""
    if not re.match(r"[\d.(+~!-]", text) or not _EXPRESSION.fullmatch(text) or text.count("(") != text.count(")"):
        return MALFORMED
    left = _FLOAT.sub("N", text)
    if "N" in left and re.fullmatch(r"[N\s()+*/-]+", left):
        return _float(text)
    if re.search(r"[N)\w]\s*+[N(]|[N)]\s*+\w", re.sub(r"\(\s*+\.\w++\s*+\)", "", left)):
        return MALFORMED
    return (
        CONSTANT
        if re.fullmatch(r"(?:N|\.[a-z]\d+|0[xX][0-9a-fA-F]+U?|\d+U?|[\s()+*/<>=!&|^~?:-])+", left)
        else MALFORMED
    )


def _float(text: str) -> str:
    """The kind of an expression of floating-point numbers."""
    tokens = list(_TOKEN.finditer(text))
    if any(t["single"] for t in tokens) and any(t[0] in "+-*/" for t in tokens):
        # These stand by themselves only.
        return MALFORMED
    try:
        _evaluate([t[0] if t["mark"] else _number(t) for t in tokens])
    except ValueError:
        return MALFORMED
    except ArithmeticError:
        return OVERFLOW
    return FLOAT


def _number(m: re.Match[str]) -> float:
    """Raises ArithmeticError for a decimal number that the C library finds out of range."""
    if not m["decimal"]:
        return float(struct.unpack(">d", bytes.fromhex(m["double"]))[0]) if m["double"] else 1.0
    value = float(m[0])
    if not re.search("[1-9]", m[0].lower().partition("e")[0]):
        return value
    if value == math.inf or (value < sys.float_info.min and Decimal(value) != Decimal(m[0])):
        raise OverflowError
    return value


def _evaluate(tokens: Iterable[str | float]) -> None:
    """Computes an expression, since the assembler does and refuses to divide by zero. Raises ValueError for what is no
    expression."""
    values: list[float] = []
    operators: list[str] = []
    wanted = True  # an operand comes next

    def reduce(rank: int) -> None:
        while operators and _RANK[operators[-1]] >= rank:
            sign, b = operators.pop(), values.pop()
            values.append(-b if sign == "minus" else b if sign == "plus" else _BINARY[sign](values.pop(), b))

    for token in tokens:
        if isinstance(token, float) and wanted:
            values.append(token)
            wanted = False
        elif wanted and token in ("(", "+", "-"):
            operators.append({"(": "(", "+": "plus", "-": "minus"}[token])
        elif token == ")" and not wanted:
            reduce(1)
            if not operators:
                raise ValueError
            operators.pop()
        elif isinstance(token, str) and token in _BINARY and not wanted:
            reduce(_RANK[token])
            operators.append(token)
            wanted = True
        else:
            raise ValueError
    if wanted:
        raise ValueError
    reduce(1)
    if operators:
        raise ValueError
