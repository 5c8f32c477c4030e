"""Comparisons as relations: a number is less than another, equal, greater, or unordered with it.

All comparisons of two operands become one function with a relation, so that programs that differ only in this can be
one with a parameter (families.py). The operators that combine a comparison with a predicate are handled alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ..model import BOOL, bits_of
from ..semantics.program import Apply, Const, Let, Term, Var

LESS, EQUAL, GREATER, UNORDERED = 1, 2, 4, 8
ORDERED, ALL = LESS | EQUAL | GREATER, 15
RELATION, OPERATOR = bits_of(4), bits_of(2)
OPERATORS = ("logicalAnd", "logicalOr", "logicalXor")
TRUE_OF = {
    "compareEqual": EQUAL, "compareNotEqual": ALL ^ EQUAL, "compareLess": LESS, "compareLessEqual": LESS | EQUAL,
    "compareGreater": GREATER, "compareGreaterEqual": GREATER | EQUAL, "lessInteger": LESS, "sameInteger": EQUAL,
}  # fmt: skip


class _Compared(NamedTuple):
    """Operands with the relations that are true of them. `like` is one of the original comparisons."""

    x: Term
    y: Term
    relation: int
    like: Apply

    @property
    def term(self) -> Term:
        of_numbers = self.x.kind.fixed is None
        relation = Const(RELATION, self.relation & (ALL if of_numbers else ORDERED))
        return replace(self.like, function="compare", arguments=(self.x, self.y, relation))


def comparing(lets: Iterable[Let], results: Iterable[Term]) -> tuple[tuple[Let, ...], tuple[Term, ...]]:
    """Return lets and results in which all comparisons are `compare`, and the operators that combine them with an
    operand are `combine`."""
    return tuple(let.of(_changed(let.value)) for let in lets), tuple(map(_changed, results))


def _changed(term: Term) -> Term:
    if not isinstance(term, Apply):
        return term
    compared = _compared(term)
    if compared is not None:
        return compared.term
    if term.function in OPERATORS:
        p, c = term.arguments
        if isinstance(c, Var):
            operator = Const(OPERATOR, OPERATORS.index(term.function))
            return Apply(BOOL, "combine", (_changed(p), c, operator))
    return term.of(map(_changed, term.arguments))


def _compared(term: Term) -> _Compared | None:
    match term:
        case Apply(function=name, arguments=(x, y)) if name in TRUE_OF:
            return _Compared(x, y, TRUE_OF[name], term)
        case Apply(function="logicalOr", arguments=(Apply(function="isNaN") as x, Apply(function="isNaN") as y)) if (
            x.format == y.format
        ):
            return _unordered(x, y)
        case Apply(
            function="logicalAnd",
            arguments=(
                Apply(function="logicalNot", arguments=(Apply(function="isNaN") as x,)),
                Apply(function="logicalNot", arguments=(Apply(function="isNaN") as y,)),
            ),
        ) if x.format == y.format:
            return _unordered(x, y)._replace(relation=ORDERED)
        case Apply(function="logicalNot", arguments=(x,)):
            inner = _compared(x)
            return inner and inner._replace(relation=ALL ^ inner.relation)
        case Apply(function="logicalAnd" | "logicalOr" as name, arguments=(x, y)):
            one, other = _compared(x), _compared(y)
            if one is None or other is None or (one.x, one.y) != (other.x, other.y):
                return None
            if one.like.daz != other.like.daz:
                return None
            of_both = one.relation & other.relation if name == "logicalAnd" else one.relation | other.relation
            return one._replace(relation=of_both)
    return None


def _unordered(x: Apply, y: Apply) -> _Compared:
    return _Compared(x.arguments[0], y.arguments[0], UNORDERED, replace(x, arguments=()))
