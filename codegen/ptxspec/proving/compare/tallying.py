"""Differences counted by class of operands. Tallies of parts of the operands add up to the tally of all, in any
order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .classes import cells, count, cover
from .differing import MAY, MEASURED, complexity, differences, distances
from .sides import Face, Registers, Side

Array = NDArray[Any]

# The number of operands that fit into a cache with all results and intermediate arrays.
_CACHED = 1 << 17
# Minus the distance, the difficulty of reading it, and its operands: the example with the least rank is shown.
_Rank = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True)
class Example:
    """Encodings of one lane: of the operands, and of each side's result."""

    operands: tuple[int, ...]
    a: int
    b: int


@dataclass(frozen=True)
class Difference:
    """Results that differ in one way, for operands of these classes. `result` is the index of the result, `kind` the
    kind of difference, `open` the reason why it is allowed, empty if it is not. `count` of the `tried` operands of the
    classes differ. For numbers, `worst` is the largest distance, and `steps` counts those one step apart, two, and
    more."""

    result: int
    kind: int
    open: str
    classes: tuple[str, ...]
    count: int
    tried: int
    worst: int
    steps: tuple[int, int, int]
    example: Example


@dataclass
class Group:
    """Differences of one kind: the count of each combination of classes, and the best example of each."""

    counts: Array
    steps: Array
    best: dict[int, tuple[_Rank, Example]] = field(default_factory=dict)

    def told(self, cell: int, rank: _Rank, example: Example) -> None:
        if cell not in self.best or rank < self.best[cell][0]:
            self.best[cell] = rank, example


@dataclass
class Tally:
    """The counts of a comparison: `tried` has the number of operands of each combination of classes."""

    tried: Array
    groups: dict[tuple[int, int, str], Group] = field(default_factory=dict)

    @classmethod
    def empty(cls, face: Face) -> Tally:
        return cls(np.zeros(count(face.kinds), np.int64))

    def group(self, place: int, kind: int, why: str) -> Group:
        size = self.tried.size
        return self.groups.setdefault(
            (place, kind, why), Group(np.zeros(size, np.int64), np.zeros((size, 3), np.int64))
        )

    def add(self, other: Tally) -> None:
        """Add another tally; the sum does not depend on the order in which tallies are added."""
        self.tried += other.tried
        for key, theirs in other.groups.items():
            mine = self.group(*key)
            mine.counts += theirs.counts
            mine.steps += theirs.steps
            for cell, (rank, example) in theirs.best.items():
                mine.told(cell, rank, example)

    def rows(self, face: Face) -> Iterator[Difference]:
        for (place, kind, why), group in sorted(self.groups.items(), key=lambda g: (bool(g[0][2]), g[0])):
            for box in cover(face.kinds, group.counts > 0, self.tried > 0):
                ranked = [group.best[c] for c in box.cells.tolist() if c in group.best]
                (far, _, _), example = min(ranked, key=lambda r: r[0])
                steps = group.steps[box.cells].sum(axis=0).tolist()
                yield Difference(
                    place, kind, why, box.names, int(group.counts[box.cells].sum()), int(self.tried[box.cells].sum()),
                    -far, (steps[0], steps[1], steps[2]), example,
                )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Return the whole tally as data for `tally_from_json`."""
        return {
            "tried": [[int(c), int(self.tried[c])] for c in np.flatnonzero(self.tried)],
            "groups": [
                {
                    "place": place, "kind": kind, "why": why,
                    "cells": [
                        [int(c), int(g.counts[c]), *g.steps[c].tolist(), *_best_as_json(*g.best[int(c)])]
                        for c in np.flatnonzero(g.counts)
                    ],
                }
                for (place, kind, why), g in sorted(self.groups.items())
            ],
        }  # fmt: skip


def _best_as_json(rank: _Rank, e: Example) -> list[int]:
    return [*rank[:2], e.a, e.b, *e.operands]


def tally_from_json(face: Face, data: Any) -> Tally:
    """Return the tally from data that `as_json` returned. Raises KeyError, TypeError, ValueError, IndexError and
    OverflowError for anything else."""
    tally = Tally.empty(face)
    for cell, number in data["tried"]:
        tally.tried[_place(cell, tally)] = number
    for found in data["groups"]:
        group = tally.group(int(found["place"]), int(found["kind"]), str(found["why"]))
        for cell, number, one, two, more, far, simple, a, b, *operands in found["cells"]:
            if len(operands) != len(face.kinds):
                raise ValueError("an example has another number of operands")
            at = _place(cell, tally)
            group.counts[at], group.steps[at] = number, (one, two, more)
            group.best[at] = (far, simple, tuple(operands)), Example(tuple(operands), a, b)
    return tally


def _place(cell: Any, tally: Tally) -> int:
    if not 0 <= cell < tally.tried.size:
        raise ValueError(f"there is no class {cell}")
    return int(cell)


@dataclass(frozen=True)
class _Seen:
    """Lanes: their operands, their combinations of classes, and each side's results."""

    operands: list[Array]
    cell: Array
    a: Array
    b: Array

    def rows(self, which: Array) -> _Seen:
        return _Seen([c[which] for c in self.operands], self.cell[which], self.a[which], self.b[which])

    def example(self, i: int) -> Example:
        return Example(tuple(int(c[i]) for c in self.operands), int(self.a[i]), int(self.b[i]))


class Counting:
    """A count of the differences between the results of two sides, in a tally."""

    def __init__(self, a: Side, b: Side, face: Face) -> None:
        self.face, self.kinds = face, face.kinds
        every = [(o, place) for place, side in enumerate((a, b)) for o in side.open]
        self.of_operands = [o for o, _ in every if o.of_operands]
        # Each with the index of the side that leaves it open.
        self.of_results = [(o, place) for o, place in every if not o.of_operands]
        self.tally = Tally.empty(face)

    def add(self, columns: Sequence[Array], a: Registers, b: Registers, tried: Array | None = None) -> None:
        """Count registers: the operands, and the results of each side. `tried` are the numbers of operands by class, if
        known."""
        if tried is None:
            tried = np.bincount(cells(self.kinds, self.face.operands(columns)), minlength=self.tally.tried.size)
        self.tally.tried += tried
        # Equal results need no second look, except where operands alone leave results open.
        rows: Array = np.arange(columns[0].size)
        if not self.of_operands:
            rows = np.flatnonzero(np.logical_or.reduce([x != y for x, y in zip(a, b, strict=True)]))
        for start in range(0, rows.size, _CACHED):
            some = rows[start : start + _CACHED]
            operands = self.face.operands([x[some] for x in columns])
            made = [self.face.values([x[some] for x in side]) for side in (a, b)]
            self._add(operands, cells(self.kinds, operands), made)

    def _add(self, operands: Sequence[Array], cell: Array, made: Sequence[Sequence[Array]]) -> None:
        left = np.ones(cell.shape, np.bool_)
        for opened in self.of_operands:
            here = left & opened.holds(self.kinds, operands, cell, made[0][0], made[1][0])
            left &= ~here
            if here.any():
                rows = np.flatnonzero(here)
                seen = _Seen([c[rows] for c in operands], cell[rows], *(m[0][rows] for m in made))
                self._group(0, MAY, opened.why, seen, np.zeros(rows.shape, np.uint64))
        for place, (o, x, y) in enumerate(zip(self.face.results, *made, strict=True)):
            rows = np.flatnonzero(left & (x != y))
            if rows.size:
                self._differing(place, o.kind, _Seen([c[rows] for c in operands], cell[rows], x[rows], y[rows]))

    def _differing(self, place: int, kind: Any, seen: _Seen) -> None:
        """Count results that differ, by kind of difference and by the reason why it is allowed."""
        differ, steps = differences(kind, seen.a, seen.b), distances(kind, seen.a, seen.b)
        left = np.ones(differ.shape, np.bool_)
        for opened, side in self.of_results:
            own = (seen.b, seen.a) if side else (seen.a, seen.b)
            here = left & opened.holds(self.kinds, seen.operands, differ, *own)
            left &= ~here
            self._by_kind(place, differ, here, opened.why, seen, steps)
        self._by_kind(place, differ, left, "", seen, steps)

    def _by_kind(self, place: int, differ: Array, which: Array, why: str, seen: _Seen, steps: Array) -> None:
        for kind in np.unique(differ[which]).tolist():
            rows = np.flatnonzero(which & (differ == kind))
            self._group(place, kind, why, seen.rows(rows), steps[rows])

    def _group(self, place: int, kind: int, why: str, seen: _Seen, steps: Array) -> None:
        group, size = self.tally.group(place, kind, why), self.tally.tried.size
        group.counts += np.bincount(seen.cell, minlength=size)
        for i, some in enumerate((steps == 1, steps == 2, steps > 2)):
            group.steps[:, i] += np.bincount(seen.cell[some], minlength=size)
        # The farthest one; of several, the easiest to read; of these, the one with the least operands.
        far = steps if kind in MEASURED else np.zeros(steps.shape, np.uint64)
        farthest = np.zeros(size, np.uint64)
        np.maximum.at(farthest, seen.cell, far)
        rows = np.flatnonzero(far == farthest[seen.cell])
        seen, simple = seen.rows(rows), complexity([c[rows] for c in seen.operands])
        simplest = np.full(size, np.iinfo(np.int64).max)
        np.minimum.at(simplest, seen.cell, simple)
        seen = seen.rows(np.flatnonzero(simple == simplest[seen.cell]))
        order = np.lexsort((*reversed(seen.operands), seen.cell))
        _, first = np.unique(seen.cell[order], return_index=True)
        for i in order[first].tolist():
            example, cell = seen.example(i), int(seen.cell[i])
            group.told(cell, (-int(farthest[cell]), int(simplest[cell]), example.operands), example)
