"""Two sides on special operands in all combinations and on random ones: what differs, counted and with examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gpu import vectors
from ..gpu.vectors import Part, Signature, Sizes
from ..model import Kind
from .classes import cells, count, cover
from .differing import MAY, MEASURED, NAN_BITS, complexity, differences, distances
from .sides import Face, Misfit, Side, common_face

Array = NDArray[Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Example:
    """Encodings of one lane: of the operands, and of what each side makes of them."""

    operands: tuple[int, ...]
    a: int
    b: int


@dataclass(frozen=True)
class Row:
    """Results that differ in one thing, for operands of these classes. `result` is the place of the result, `kind`
    what differs, `open` why it may, empty where it may not. `count` of the `tried` operands of the classes differ; of
    numbers `worst` is the largest distance, and `steps` how many are one step apart, two, and more."""

    result: int
    kind: int
    open: str
    classes: tuple[str, ...]
    count: int
    tried: int
    worst: int
    steps: tuple[int, int, int]
    example: Example


@dataclass(frozen=True)
class Tried:
    """Operands of one stream; `whole` where they are all that there are."""

    stream: str
    count: int
    whole: bool


@dataclass(frozen=True)
class Found:
    """What a comparison found. `rows` are what differs and may not, then what is left open."""

    a: Side
    b: Side
    face: Face
    tried: tuple[Tried, ...]
    rows: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        """But for what one of the two leaves open."""
        return all(row.open for row in self.rows)

    @property
    def whole(self) -> bool:
        return any(t.whole for t in self.tried)

    @property
    def in_nans_alone(self) -> bool:
        """What differs and may not are bits of NaNs."""
        return not self.equal and all(row.open or row.kind == NAN_BITS for row in self.rows)


def compare(a: Side, b: Side, samples: int, exhaustive: bool, progress: Progress | None = None) -> Found:
    """Hold one side against the other; with `exhaustive` on all operands, where these have 32 bits together. Raises
    Misfit where they take or give other types."""
    face = common_face(a, b)
    s = signature(face)
    tried = list(parts(s, samples, exhaustive))
    if exhaustive and not any(t.whole for _, t in tried):
        bits = sum(t.width for _, t in face.registers())
        raise Misfit(f"{a.name} takes {bits} bits: all operands can be tried of 32 in one register, or in two of 16")
    tally = _Tally(a, b, face)
    done, total = 0, sum(t.count for _, t in tried)
    for some, _ in tried:
        for part in some:
            for start, size in part.blocks():
                tally.add(vectors.operands_of(s, part.stream, start, size))
                done += size
                if progress:
                    progress(done, total)
    return Found(a, b, face, tuple(t for _, t in tried), tuple(tally.rows()))


def signature(face: Face) -> Signature:
    """What operands depend on."""
    kind = face.results[0].kind
    result = kind if kind.sort in ("float", "integer") else None
    return Signature(tuple((o.type, o.registers) for o in face.sources), face.lanes, result)


def parts(s: Signature, samples: int, exhaustive: bool) -> Iterator[tuple[list[Part], Tried]]:
    """What is run, one stream after the other; nothing behind one that has all operands."""
    every = vectors.parts_of(s, Sizes(random=samples, sample=0, exhaustive=exhaustive))
    if exhaustive and 16 < s.pair <= 32:
        size = min(vectors.SLICE, 1 << s.pair)
        every += [Part("pairs", start, size, 0) for start in range(0, 1 << s.pair, size)]
    bits = s.single or s.pair
    by_stream: dict[str, list[Part]] = {}
    for p in every:
        by_stream.setdefault(p.stream, []).append(p)
    order = ["grid", "every", "pairs", "uniform", "near"]
    for stream in sorted(by_stream, key=order.index):
        found = by_stream[stream]
        number = sum(p.count for p in found)
        whole = bool(bits) and number == 1 << bits and stream not in ("uniform", "near")
        yield found, Tried(stream, number, whole)
        if whole:
            return


@dataclass(frozen=True)
class _Seen:
    """Lanes: their operands, the combinations of classes, and what each side made of them."""

    operands: list[Array]
    cell: Array
    a: Array
    b: Array

    def rows(self, which: Array) -> _Seen:
        return _Seen([c[which] for c in self.operands], self.cell[which], self.a[which], self.b[which])

    def example(self, i: int) -> Example:
        return Example(tuple(int(c[i]) for c in self.operands), int(self.a[i]), int(self.b[i]))


@dataclass
class _Group:
    """What differs in one thing: how many of each combination of classes, and the best example of each."""

    counts: Array
    steps: Array
    best: dict[int, tuple[tuple[int, int], Example]] = field(default_factory=dict)


class _Tally:
    def __init__(self, a: Side, b: Side, face: Face) -> None:
        self.a, self.b, self.face = a, b, face
        self.kinds: list[Kind] = face.kinds
        self.size = count(self.kinds)
        self.tried = np.zeros(self.size, np.int64)
        self.groups: dict[tuple[int, int, str], _Group] = {}
        # Lanes that differ, for whatever reason.
        self.unequal = 0

    def add(self, columns: Sequence[Array]) -> None:
        operands = self.face.operands(columns)
        cell = cells(self.kinds, operands)
        self.tried += np.bincount(cell, minlength=self.size)
        made = [self.face.values(side.run(self.face, columns)) for side in (self.a, self.b)]
        left = np.ones(cell.shape, np.bool_)
        for opened in (o for side in (self.a, self.b) for o in side.open if o.of_operands):
            here = left & opened.holds(self.kinds, operands, cell)
            left &= ~here
            if here.any():
                rows = np.flatnonzero(here)
                seen = _Seen([c[rows] for c in operands], cell[rows], *(m[0][rows] for m in made))
                self._group(0, MAY, opened.why, seen, np.zeros(rows.shape, np.uint64))
        for place, (o, x, y) in enumerate(zip(self.face.results, *made, strict=True)):
            rows = np.flatnonzero(left & (x != y))
            if rows.size:
                self._differing(place, o.kind, _Seen([c[rows] for c in operands], cell[rows], x[rows], y[rows]))

    def _differing(self, place: int, kind: Kind, seen: _Seen) -> None:
        """Count results that differ, each in what it does, and with the reason why it may."""
        self.unequal += seen.a.size if place == 0 else 0
        differ, steps = differences(kind, seen.a, seen.b), distances(kind, seen.a, seen.b)
        left = np.ones(differ.shape, np.bool_)
        for opened in (o for side in (self.a, self.b) for o in side.open if not o.of_operands):
            here = left & opened.holds(self.kinds, seen.operands, differ)
            left &= ~here
            self._by_kind(place, differ, here, opened.why, seen, steps)
        self._by_kind(place, differ, left, "", seen, steps)

    def _by_kind(self, place: int, differ: Array, which: Array, why: str, seen: _Seen, steps: Array) -> None:
        for kind in np.unique(differ[which]).tolist():
            rows = np.flatnonzero(which & (differ == kind))
            self._group(place, kind, why, seen.rows(rows), steps[rows])

    def _group(self, place: int, kind: int, why: str, seen: _Seen, steps: Array) -> None:
        group = self.groups.setdefault(
            (place, kind, why), _Group(np.zeros(self.size, np.int64), np.zeros((self.size, 3), np.int64))
        )
        group.counts += np.bincount(seen.cell, minlength=self.size)
        for i, some in enumerate((steps == 1, steps == 2, steps > 2)):
            group.steps[:, i] += np.bincount(seen.cell[some], minlength=self.size)
        simple = complexity(seen.operands)
        far = steps if kind in MEASURED else np.zeros(steps.shape, np.uint64)
        # The farthest first, of these the one that is read most easily.
        order = np.lexsort((simple, ~far))
        _, first = np.unique(seen.cell[order], return_index=True)
        for i in order[first].tolist():
            rank, at = (-int(far[i]), int(simple[i])), int(seen.cell[i])
            if at not in group.best or rank < group.best[at][0]:
                group.best[at] = rank, seen.example(i)

    def rows(self) -> Iterator[Row]:
        for (place, kind, why), group in sorted(self.groups.items(), key=lambda g: (bool(g[0][2]), g[0])):
            for box in cover(self.kinds, group.counts > 0, self.tried > 0):
                ranked = [group.best[c] for c in box.cells.tolist() if c in group.best]
                (far, _), example = min(ranked, key=lambda r: r[0])
                steps = group.steps[box.cells].sum(axis=0).tolist()
                yield Row(
                    place, kind, why, box.names, int(group.counts[box.cells].sum()), int(self.tried[box.cells].sum()),
                    -far, (steps[0], steps[1], steps[2]), example,
                )  # fmt: skip
