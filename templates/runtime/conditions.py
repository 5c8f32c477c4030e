"""The lanes in which a statement has effect: conditions on predicates, as ordered binary decision diagrams in which
equal conditions are one node (Bryant, Graph-Based Algorithms for Boolean Function Manipulation, 1986)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A condition is the number of a node; these two are never and always true.
NEVER, ALWAYS = 0, 1
# Programs written by people have some dozens of nodes.
_MANY = 20_000


class TooManyError(Exception):
    """The error for conditions with too many nodes."""


@dataclass(frozen=True, eq=False)
class Guard:
    """A condition by itself: nodes, each with the value of a predicate, and the places, counted from 2 on, of the nodes
    that decide where it is false and where it is true. The last node is the condition."""

    nodes: tuple[tuple[int, int, int], ...]

    @cached_property
    def values(self) -> frozenset[int]:
        """The values of the predicates that it depends on."""
        return frozenset(value for value, _, _ in self.nodes)

    def holds(self, values: Mapping[int, NDArray[Any]], size: int) -> NDArray[np.bool_]:
        """Return in which of `size` lanes it is true, given the predicates' `values`."""
        found: list[Any] = [np.False_, np.True_]
        for value, low, high in self.nodes:
            found.append(np.where(values[value], found[high], found[low]))
        return np.broadcast_to(found[-1], size)


class Conditions:
    """The conditions of one program. A predicate is the number of its value. Predicates are independent of each
    other."""

    def __init__(self) -> None:
        # A predicate, the node that decides where it is false, and the node that decides where it is true.
        self._nodes: list[tuple[int, int, int]] = [(-1, NEVER, NEVER), (-1, ALWAYS, ALWAYS)]
        self._known: dict[tuple[int, int, int], int] = {}
        self._chosen: dict[tuple[int, int, int], int] = {}

    def literal(self, value: int, wanted: bool) -> int:
        """Return the condition that a predicate is true, or false."""
        return self._node(value, int(not wanted), int(wanted))

    def both(self, a: int, b: int) -> int:
        return self._choice(a, b, NEVER)

    def either(self, a: int, b: int) -> int:
        return self._choice(a, ALWAYS, b)

    def implies(self, a: int, b: int) -> bool:
        """Return whether b is true wherever a is."""
        return self._choice(a, b, ALWAYS) == ALWAYS

    def guard(self, condition: int) -> Guard | None:
        """Return a condition by itself; None for the one that is always true."""
        if condition == ALWAYS:
            return None
        order: dict[int, int] = {NEVER: 0, ALWAYS: 1}
        nodes: list[tuple[int, int, int]] = []
        left = [condition]
        while left:
            value, low, high = self._nodes[left[-1]]
            missing = [n for n in (low, high) if n not in order]
            if left[-1] in order or not missing:
                number = left.pop()
                if number not in order:
                    order[number] = len(nodes) + 2
                    nodes.append((value, order[low], order[high]))
            left += missing
        return Guard(tuple(nodes))

    def _node(self, value: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = value, low, high
        if key not in self._known:
            if len(self._nodes) > _MANY:
                raise TooManyError
            self._known[key] = len(self._nodes)
            self._nodes.append(key)
        return self._known[key]

    def _choice(self, a: int, b: int, c: int) -> int:
        """Return b where a holds, and c elsewhere."""
        if a == ALWAYS or b == c:
            return b
        if a == NEVER:
            return c
        if (b, c) == (ALWAYS, NEVER):
            return a
        key = a, b, c
        if key not in self._chosen:
            value = min(v for v, _, _ in (self._nodes[n] for n in key) if v >= 0)
            low, high = ([self._given(n, value, truth) for n in key] for truth in (False, True))
            self._chosen[key] = self._node(value, self._choice(*low), self._choice(*high))
        return self._chosen[key]

    def _given(self, condition: int, value: int, truth: bool) -> int:
        """Return the rest of a condition when its first predicate is known."""
        first, low, high = self._nodes[condition]
        return condition if first != value else high if truth else low
