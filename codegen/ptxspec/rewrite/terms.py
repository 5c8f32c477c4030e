"""Terms of programs as rewriting reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeGuard

from ..semantics.functions import ALL
from ..semantics.program import Apply, Let, Term, Var
from .formats import is_usual

Lets: TypeAlias = tuple[Let, ...]
Terms: TypeAlias = tuple[Term, ...]


def is_usual_number(term: Term) -> bool:
    return term.kind.format is not None and is_usual(term.kind.format)


def computes(term: Term | None) -> TypeGuard[Apply]:
    """Return whether this is a function that computes with numbers, so that it can flush its operands itself, and its
    NaN is canonical."""
    return isinstance(term, Apply) and ALL[term.function].nan == "canonical"


def substituted(term: Term, by_name: Mapping[str, Term]) -> Term:
    if not by_name:
        return term
    if isinstance(term, Var):
        return by_name.get(term.name, term)
    if isinstance(term, Apply):
        return term.of(substituted(a, by_name) for a in term.arguments)
    return term


def terms(term: Term) -> Iterator[Term]:
    """Yield a term and the terms in it."""
    yield term
    for a in term.arguments if isinstance(term, Apply) else ():
        yield from terms(a)
