"""What kind each operand of an instruction is, as far as verdicts depend on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .scanning import HOLE

REGISTER, FLOAT, CONSTANT, VECTOR, ADDRESS, NEGATED, DISCARD, SINK, PAIR, SUM, MALFORMED, UNKNOWN = (
    "register", "float", "constant", "vector", "address", "negated", "discard", "sink", "pair", "sum", "malformed",
    "unknown",
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
_BITS = r"0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w)"
_FLOAT = re.compile(rf"{_BITS}|{_DECIMAL}")
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (DISCARD, r"_"),
        # A component or an element is the assembler's to resolve.
        (REGISTER, rf"{_NAME}(?:\.\w++|\[[^\]]*+\])*+"),
        (SUM, rf"{_NAME}\s*+[+-]\s*+\w++"),
        (FLOAT, rf"{_BITS}|[+-]*+\s*+(?:{_DECIMAL})"),
        (CONSTANT, rf"[+~!-]*+\s*+{_INTEGER}"),
        (SINK, rf"{_NAME}\s*+\|\s*+_"),
        (PAIR, rf"{_NAME}\s*+\|\s*+{_NAME}"),
        (NEGATED, rf"[-!]\s*+{_NAME}"),
        (VECTOR, r"\{[^{}]*+\}"),
        (ADDRESS, r"\[[^\]]*+\]"),
    )
)
_EXPRESSION = re.compile(r"[\w\s.()+*/<>=!&|^~?:-]++")


def split(text: str) -> Iterator[Operand]:
    """The operands in the text between an instruction's spelling and its semicolon."""
    if not text.strip():
        return
    depth, begin = 0, 0
    for m in re.finditer(r"[,(){}\[\]]|$", text):
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
    """A constant expression of floating-point numbers is one too; comparisons and integers make it an integer."""
    if not re.match(r"[\d.(+~!-]", text) or not _EXPRESSION.fullmatch(text) or text.count("(") != text.count(")"):
        return MALFORMED
    left = _FLOAT.sub("N", text)
    if re.search(r"[N)\w]\s*+[N(]|[N)]\s*+\w", re.sub(r"\(\s*+\.\w++\s*+\)", "", left)) or re.search(
        r"[-+]\s*+0[fF]", text
    ):
        return MALFORMED
    if re.fullmatch(r"[N\s()+*/-]+", left):
        return FLOAT if "N" in left else MALFORMED
    return (
        CONSTANT
        if re.fullmatch(r"(?:N|\.[a-z]\d+|0[xX][0-9a-fA-F]+U?|\d+U?|[\s()+*/<>=!&|^~?:-])+", left)
        else MALFORMED
    )
