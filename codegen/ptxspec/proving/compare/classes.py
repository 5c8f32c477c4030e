"""Classes of operands, and short names for sets of their combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import BOOL, FixedPoint, Format, Kind

Array = NDArray[Any]

_PARTS = ("0", "subnormal", "normal", "inf")
# Names of several classes at once, the narrower first, with the parts that they contain.
_WIDER = {"nonzero": ("subnormal", "normal"), "finite": ("0", "subnormal", "normal"), "number": _PARTS}


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a kind's values. `names` are names of sets of classes, the narrower first. `members` has a row for
    each name and a column for each class; `mirror` gives the class of the other sign. An encoding is of class
    `table[rank]`; rank is twice the number of `bounds` that its magnitude has reached, plus one for a set sign bit."""

    count: int
    names: tuple[str, ...]
    members: Array
    magnitudes: int
    sign_bit: int
    bounds: tuple[int, ...]
    table: Array
    mirror: Array

    def of(self, x: Array) -> Array:
        """Return the class of each encoding."""
        dtype = x.dtype.type
        magnitude = x & dtype(self.magnitudes - 1)
        rank = np.zeros(x.shape, np.uint8)
        for bound in self.bounds:
            rank += magnitude >= dtype(bound)
        rank += rank
        if self.sign_bit:
            rank += (x & dtype(self.sign_bit)) != 0
        return np.asarray(self.table[rank])


@lru_cache(maxsize=64)
def classes(kind: Kind) -> Classes:
    if kind == BOOL:
        return _made(["false", "true"], {}, 2, 0, (1,), [0, 0, 1, 1])
    if kind.format is not None:
        return _of_floats(kind.format)
    if kind.fixed is not None:
        return _of_integers(kind.fixed)
    return _made(["any bits"], {}, 1 << kind.width, 0, (), [0, 0])


def _of_floats(f: Format) -> Classes:
    """Return the classes of a float format, which distinguish the signs of numbers, and quiet and signaling NaNs."""
    starts: list[tuple[int, str]] = [(0, "0")] if f.has_zero else []
    if f.has_subnormals:
        starts.append((1, "subnormal"))
    starts.append((f.least_normal, "normal"))
    if f.has_infinity:
        starts.append((f.infinity, "inf"))
    if f.is_ieee and f.quiet_bit > 1:
        starts += [(f.first_nan, "sNaN"), (f.infinity | f.quiet_bit, "qNaN")]
    elif f.nans:
        starts.append((f.first_nan, "NaN"))
    signs = ("+", "-") if f.signed else ("",)
    names = [part if part.endswith("NaN") else sign + part for _, part in starts for sign in signs]
    names = list(dict.fromkeys(names))
    sets: dict[str, set[str]] = {"NaN": {n for n in names if n.endswith("NaN")}}
    for word, parts in {**{p: (p,) for p in _PARTS}, **_WIDER}.items():
        for sign in signs:
            sets[sign + word] = {sign + p for p in parts} & {*names}
        sets[word] = {s + p for s in signs for p in parts} & {*names}
    # In a format without a sign, both entries of a rank are the same.
    places = [(part, sign) for _, part in starts for sign in (signs * 2)[:2]]
    table = [names.index(part if part.endswith("NaN") else sign + part) for part, sign in places]
    return _made(names, sets, f.magnitudes, f.sign_bit, tuple(start for start, _ in starts[1:]), table)


def _of_integers(f: FixedPoint) -> Classes:
    if not f.signed:
        return _made(["0", "positive"], {}, 1 << f.width, 0, (1,), [0, 0, 1, 1])
    names = ["0", "positive", "negative"]
    sets = {"nonzero": {"positive", "negative"}}
    # Magnitude here means the bits below the sign.
    return _made(names, sets, 1 << (f.width - 1), 1 << (f.width - 1), (1,), [0, 2, 1, 2])


def _made(
    names: Sequence[str],
    sets: dict[str, set[str]],
    magnitudes: int,
    sign_bit: int,
    bounds: tuple[int, ...],
    table: Sequence[int],
) -> Classes:
    every: dict[str, frozenset[str]] = {n: frozenset({n}) for n in names}
    for name, members in {**sets, "any": {*names}}.items():
        # Of two names for the same classes, as in a format without infinity, the first is enough.
        if members and frozenset(members) not in every.values():
            every[name] = frozenset(members)
    ordered = sorted(every, key=lambda n: len(every[n]))
    rows = np.array([[n in every[word] for n in names] for word in ordered])
    turned = {"+": "-", "-": "+"}
    mirror = np.array([names.index(turned.get(n[0], n[0]) + n[1:]) for n in names])
    table_array = np.array(table, np.uint8)
    return Classes(len(names), tuple(ordered), rows, magnitudes, sign_bit, bounds, table_array, mirror)


def cells(kinds: Sequence[Kind], columns: Sequence[Array]) -> Array:
    """Return the number of each row's combination of classes."""
    found: Array = np.zeros(columns[0].shape, np.int64)
    for kind, x in zip(kinds, columns, strict=True):
        found = found * classes(kind).count + classes(kind).of(x)
    return found


def count(kinds: Sequence[Kind]) -> int:
    """Return the number of combinations of classes."""
    return prod(classes(kind).count for kind in kinds)


@dataclass(frozen=True)
class Box:
    """Combinations of classes with one name for each operand; `cells` are those that no earlier box has."""

    names: tuple[str, ...]
    cells: Array


def cover(kinds: Sequence[Kind], differ: Array, tried: Array, most: int = 6) -> list[Box]:
    """Return a few boxes that have every combination in `differ`, the largest first. Both arrays have a truth value for
    each combination. Boxes have no other combination that was `tried`, unless that takes too many boxes: then signs are
    ignored, and if need be one box has all."""
    sets = [classes(kind) for kind in kinds]
    exact, every = (x.reshape(tuple(s.count for s in sets)) for x in (differ, tried))
    signless = exact
    for axis, s in enumerate(sets):
        signless = signless | np.take(signless, s.mirror, axis)
    for wanted in (exact, signless & every):
        boxes = _cover(sets, wanted, every & ~wanted, most)
        if boxes is not None:
            return boxes
    around = [np.array([exact.take(c, axis).any() for c in range(s.count)]) for axis, s in enumerate(sets)]
    names = tuple(
        next(n for n, row in zip(s.names, s.members, strict=True) if not (held & ~row).any())
        for s, held in zip(sets, around, strict=True)
    )
    return [Box(names, np.flatnonzero(every & _box(sets, names)))]


def _cover(sets: Sequence[Classes], wanted: Array, wrong: Array, most: int) -> list[Box] | None:
    """Return the boxes of `cover`, or None where there would be too many."""
    possible, left = _inside(sets, wrong) == 0, wanted.copy()
    boxes: list[Box] = []
    while left.any():
        if len(boxes) == most:
            return None
        gain = np.where(possible, _inside(sets, left), 0)
        place = np.unravel_index(int(np.argmax(gain)), gain.shape)
        names = tuple(s.names[i] for s, i in zip(sets, place, strict=True))
        here = left & _box(sets, names)
        boxes.append(Box(names, np.flatnonzero(here)))
        left &= ~here
    return boxes


def _box(sets: Sequence[Classes], names: Sequence[str]) -> Array:
    """Return the combinations with these names."""
    found = np.ones(tuple(s.count for s in sets), np.bool_)
    for axis, (s, name) in enumerate(zip(sets, names, strict=True)):
        row = s.members[s.names.index(name)]
        found &= np.expand_dims(row, [k for k in range(len(sets)) if k != axis])
    return found


def _inside(sets: Sequence[Classes], which: Array) -> Array:
    """Return how many of these combinations of classes each combination of names has."""
    found: Array = which.astype(np.int32)
    for s in sets:
        # Each step replaces the first axis by one of names at the end, so that all are in the old order afterwards.
        found = np.tensordot(found, s.members.astype(np.int32), axes=([0], [1]))
    return found
