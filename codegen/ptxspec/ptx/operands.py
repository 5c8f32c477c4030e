"""The kinds of an instruction's operands, as far as verdicts depend on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from .constants import INTEGER, INTEGER_OVERFLOW, kind as constant
from .scanning import HOLE

REGISTER, VECTOR, ADDRESS, NEGATED, INVERTED, DISCARD, PAIR, SUM, MALFORMED, UNKNOWN = (
    "register", "vector", "address", "negated", "inverted", "discard", "pair", "sum", "malformed", "unknown",
)  # fmt: skip
# A constant expression if its names are those of integers.
EXPRESSION = "expression"
# The kinds of a register by its name and the declarations; a declared one has its type instead.
SPECIAL, UNDECLARED, PART, FUNCTION = "special", "undeclared", "part", "function"
# A variable or a parameter, which is an address.
VARIABLE = "variable"
# The number of an operand that the asm statement does not have.
BEYOND = "beyond"
# Special registers of 32 bits are SPECIAL; others have 16 or 32, 64, any of these, or are predicates. No instruction
# reads a strange one: a vector as a whole, or a field of a register that is not a vector.
NARROW_SPECIAL, WIDE_SPECIAL, ANY_SPECIAL = "narrow special", "wide special", "any special"
PREDICATE_SPECIAL, STRANGE_SPECIAL = "predicate special", "strange special"
SPECIALS = (SPECIAL, NARROW_SPECIAL, WIDE_SPECIAL, ANY_SPECIAL, PREDICATE_SPECIAL, STRANGE_SPECIAL)

# The kind of an operand; if it has parts, their kinds follow.
Shape: TypeAlias = "str | tuple[str, ...]"


class Operand(NamedTuple):
    """An operand. `parts` are the registers and constants in a vector, the two results of p|q, a negated or inverted
    operand, and the names in a sum or an expression."""

    kind: str
    text: str
    start: int
    parts: tuple[Operand, ...] = ()

    @property
    def shape(self) -> Shape:
        return (self.kind, *(p.kind for p in self.parts)) if self.parts else self.kind


_NAME = r"(?:%{0,2}[A-Za-z_$][\w$]*+|[%$]\d++)"
_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (DISCARD, r"_"),
        # The assembler itself resolves a component or an element.
        (REGISTER, rf"{_NAME}(?:\s*+\.\s*+\w++|\s*+\[[^\]]*+\])*+"),
        (MALFORMED, r"_\s*+\|\s*+_"),
        (PAIR, rf"{_NAME}\s*+\|\s*+{_NAME}"),
        (NEGATED, rf"-\s*+{_NAME}"),
        (INVERTED, rf"!\s*+{_NAME}"),
        (VECTOR, r"\{[^{}]*+\}"),
        (ADDRESS, r"\[[^\]]*+\]"),
    )
)
_MARKS = re.compile(r"[,(){}\[\]]|\Z")
# The names in an expression, and the first one of a sum. Digits may replace names with a percent sign, so these may be
# within a number.
_NAMES = re.compile(r"(?<![\w.$%])[A-Za-z_$][\w$]*+|%{1,2}[A-Za-z_$][\w$]*+|[%$]\d++", re.ASCII)
_BASE = re.compile(rf"{_NAME}\s*+\+")
_PARTS = {
    VECTOR: re.compile(r"(?<=[{,])[^,}]*+"),
    PAIR: re.compile(r"[^|\s]++"),
    NEGATED: re.compile(r"[^-\s]++"),
    INVERTED: re.compile(r"[^!\s]++"),
    SUM: _NAMES,
    EXPRESSION: _NAMES,
}
# Placeholders of inline assembly.
_PASTED = re.compile(r"[%$]\d++|\$\w++|%_\w+_")


def may_be_constant(kind: str, name: str) -> bool:
    """Return whether an undeclared name is a placeholder of inline assembly, in place of which a constant may be."""
    return kind == REGISTER and _PASTED.fullmatch(name) is not None


def split(text: str) -> Iterator[Operand]:
    """Yield the operands in the text between an instruction's spelling and its semicolon."""
    if not text.strip():
        return
    depth, begin = 0, 0
    for m in _MARKS.finditer(text):
        mark = m[0]
        if mark and mark in "({[":
            depth += 1
        elif mark and mark in ")}]":
            depth -= 1
        elif depth <= 0 or not mark:
            yield _operand(text[begin : m.start()], begin)
            begin = m.end()


def _operand(text: str, start: int) -> Operand:
    stripped = text.strip()
    start += len(text) - len(text.lstrip())
    found = kind(stripped)
    if found not in _PARTS:
        return Operand(found, stripped, start)
    inside = _PARTS[found].finditer(stripped)
    return Operand(found, stripped, start, tuple(_operand(m[0], start + m.start()) for m in inside))


def kind(text: str) -> str:
    """Return the kind of one operand."""
    if HOLE in text:
        return UNKNOWN
    for name, pattern in _KINDS:
        if pattern.fullmatch(text):
            return name
    found = constant(text)
    if found != MALFORMED or not _NAMES.search(text):
        return found
    base = _BASE.match(text)
    if base and computed(text[base.end() :]) == INTEGER:
        return SUM
    return found if computed(text) == MALFORMED else EXPRESSION


def computed(text: str) -> str:
    """Return the kind of an expression with only names of integers. A division by 0 is not detected."""
    found = constant(_NAMES.sub("1", text))
    return INTEGER if found == INTEGER_OVERFLOW else found
