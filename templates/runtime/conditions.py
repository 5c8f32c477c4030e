"""The lanes in which a statement has effect: conditions on predicates, and whether one of them implies another."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]


class Literal(NamedTuple):
    """A predicate by the number of its value, and what it must be."""

    value: int
    wanted: bool


class Condition:
    """A condition: one of its terms holds, and a term holds where all of its literals do. A condition of no term never
    holds, a term of no literal always does. Each value is true or false whatever the others are."""

    def __init__(self, terms: frozenset[frozenset[Literal]]) -> None:
        # A term that asks for more than another one adds nothing.
        self.terms = frozenset(t for t in terms if not any(other < t for other in terms))

    def __and__(self, other: Condition) -> Condition:
        if self is ALWAYS or other is ALWAYS:
            return other if self is ALWAYS else self
        both = (a | b for a in self.terms for b in other.terms)
        return Condition(frozenset(t for t in both if not any(x._replace(wanted=not x.wanted) in t for x in t)))

    def __or__(self, other: Condition) -> Condition:
        either = Condition(self.terms | other.terms)
        return ALWAYS if either.is_certain else either

    @cached_property
    def values(self) -> frozenset[int]:
        """The values that it depends on."""
        return frozenset(x.value for t in self.terms for x in t)

    @cached_property
    def is_certain(self) -> bool:
        """Return whether it holds whatever the predicates are."""
        if not self.values:
            return bool(self.terms)
        value = min(self.values)
        return all(self._given(Literal(value, wanted)).is_certain for wanted in (False, True))

    def implies(self, other: Condition) -> bool:
        """Return whether another condition holds wherever this one does."""
        for term in self.terms:
            rest = other
            for literal in term:
                rest = rest._given(literal)
            if not rest.is_certain:
                return False
        return True

    def _given(self, known: Literal) -> Condition:
        """Return what is left to hold where a literal holds."""
        opposite = known._replace(wanted=not known.wanted)
        return Condition(frozenset(t - {known} for t in self.terms if opposite not in t))

    def holds(self, values: Mapping[int, NDArray[Any]], size: int) -> Bools:
        """Return in which of so many lanes it holds, `values` being the predicates."""
        found = np.zeros(size, np.bool_)
        for term in self.terms:
            where = np.ones(size, np.bool_)
            for value, wanted in term:
                where &= values[value] if wanted else ~values[value]
            found |= where
        return found


ALWAYS = Condition(frozenset({frozenset()}))
NEVER = Condition(frozenset())


def literal(value: int, wanted: bool) -> Condition:
    """Return the condition that a predicate is true, or false."""
    return Condition(frozenset({frozenset({Literal(value, wanted)})}))
