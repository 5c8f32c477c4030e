"""Spellings -> the manual's notation: many at once, as in `{.ftz}{.NaN}.{f16,f16x2}`. read/notation.py reads it.

Queries import this module: like catalog/ it needs little of the standard library, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate, cycle, pairwise, zip_longest

# The modifiers of a spelling in their order, and the types that it ends in.
Word = tuple[tuple[str, ...], tuple[str, ...]]
# The values that a notation allows, as bits: those of each column follow those of the one before.
Box = int
Groups = Mapping[str, Sequence[str]]
# The larger ones first.
Named = Sequence[tuple[str, frozenset[str]]]


def compact(words: Iterable[Word], groups: Groups) -> list[str]:
    """Return notations that together stand for these spellings and no others, each of them once. A group replaces its
    members if all of them are meant."""
    return list(_compacted(tuple(dict.fromkeys(words)), tuple((name, frozenset(m)) for name, m in groups.items())))


# Pages describe the same variants again and again.
@lru_cache(maxsize=1 << 10)
def _compacted(words: tuple[Word, ...], groups: Named) -> tuple[str, ...]:
    named = sorted(groups, key=lambda g: -len(g[1]))
    return tuple(text for family in _families(words) for text in _texts(family, named))


def named_in(texts: Iterable[str], groups: Groups) -> dict[str, Sequence[str]]:
    """Return the groups that are named in notations."""
    names = {name for text in texts for name in re.findall(r"[.{,](\w+)", text)}
    return {name: members for name, members in groups.items() if name in names}


class _Family:
    """Spellings with equally many types and a consistent order of modifiers. `before` has for each modifier those that
    precede it."""

    def __init__(self, types: int) -> None:
        self.types = types
        self.before: dict[str, set[str]] = {}
        self.words: list[Word] = []

    def takes(self, word: Word) -> bool:
        """Add a spelling and return True, unless its modifiers are in another order."""
        modifiers, types = word
        if len(types) != self.types:
            return False
        new = [(one, two) for one, two in pairwise(modifiers) if one not in self.before.get(two, ())]
        if new:
            before = {name: set(earlier) for name, earlier in self.before.items()}
            for one, two in new:
                before.setdefault(two, set()).add(one)
            try:
                TopologicalSorter(before).prepare()
            except CycleError:
                return False
            self.before = before
        self.words.append(word)
        return True


def _families(words: Iterable[Word]) -> list[_Family]:
    found: list[_Family] = []
    for word in words:
        if not any(family.takes(word) for family in found):
            found.append(_Family(len(word[1])))
            found[-1].takes(word)
    return found


def _texts(family: _Family, named: Named) -> list[str]:
    """Return the fewest notations for the spellings of a family. Spellings are rows of a table, and a notation is a
    box: all rows with certain values in each column. The number of boxes depends on which columns are joined first."""
    columns = _columns(family)
    boxes = _boxes(family.words, columns)
    starts = _starts(columns)
    masks = [(1 << end) - (1 << start) for start, end in pairwise(starts)]
    # Most orders lead to the same boxes.
    tried: dict[tuple[Box, ...], None] = {}
    for one in ([first, *rest] for first in masks for rest in (masks, masks[::-1])):
        found = tuple(_joined(boxes, one))
        tried[found] = None
        if len(found) == 1:
            # No order leads to fewer.
            break
    fewest = min(map(len, tried))
    parts = list(zip(columns, masks, starts, strict=False))

    @cache
    def text(part: int, bits: int) -> str:
        column, _, start = parts[part]
        return column.text(bits >> start, named)

    told = [
        ["".join(text(i, box & mask) for i, (_, mask, _) in enumerate(parts)) for box in found]
        for found in tried
        if len(found) == fewest
    ]
    return min(told, key=lambda texts: sum(map(len, texts)))


class _Column:
    """One place of a spelling: the modifiers that may be there, and the values that are. A value is one name, or
    modifiers that always occur together, which have a column of their own; empty if nothing is there."""

    def __init__(self, modifiers: Iterable[str] = ()) -> None:
        self.modifiers = frozenset(modifiers)
        self.values: dict[tuple[str, ...], int] = {}

    def place(self, value: tuple[str, ...]) -> int:
        return self.values.setdefault(value, len(self.values))

    def text(self, bits: int, groups: Named) -> str:
        values = [value for value, place in self.values.items() if bits >> place & 1]
        given = [value for value in values if value]
        if not given:
            return ""
        if len(given) > 1:
            names = _in_groups([name for name, *_ in given], groups)
            text = f".{names[0]}" if len(names) == 1 else f".{{{','.join(names)}}}"
        else:
            text = "." + ".".join(given[0])
        return f"{{{text}}}" if len(given) < len(values) else text


def _in_groups(names: Sequence[str], groups: Named) -> list[str]:
    """Return the names of a choice, with groups in place of their members if all of these are among them."""
    meant = {name: name for name in names}
    for group, members in groups:
        if len(members) > 1 and all(meant.get(m) == m for m in members):
            meant.update(dict.fromkeys(members, group))
    return list(dict.fromkeys(meant.values()))


def _columns(family: _Family) -> list[_Column]:
    """Return the columns of a family. Modifiers that exclude each other share one if they are in the same place."""
    units = _units(family.words)
    unit_of = {name: unit for unit in units for name in unit}
    layers: dict[tuple[str, ...], int] = {}

    def layer(unit: tuple[str, ...]) -> int:
        if unit not in layers:
            earlier = {unit_of[b] for name in unit for b in family.before.get(name, ())} - {unit}
            layers[unit] = 1 + max(map(layer, earlier), default=-1)
        return layers[unit]

    shared: dict[tuple[int, tuple[str, ...]], set[str]] = {}
    for unit in units:
        shared.setdefault((layer(unit), unit if len(unit) > 1 else ()), set()).update(unit)
    modifiers = [_Column(names) for _, names in sorted(shared.items(), key=lambda item: item[0])]
    return [*modifiers, *(_Column() for _ in range(family.types))]


def _units(words: Sequence[Word]) -> list[tuple[str, ...]]:
    """Return the modifiers, those that always occur together as one."""
    places: dict[str, list[int]] = {}
    after: dict[str, set[str]] = {}
    for i, (modifiers, _) in enumerate(words):
        for name, following in zip_longest(modifiers, modifiers[1:], fillvalue=""):
            places.setdefault(name, []).append(i)
            after.setdefault(name, set()).add(following)
    found: list[tuple[str, ...]] = []
    begun: dict[str, tuple[str, ...]] = {}
    for name in places:
        unit = begun.get(name, (name,))
        (following, *others) = after[name]
        if following and not others and places[following] == places[name]:
            begun[following] = (*unit, following)
        else:
            found.append(unit)
    return found


def _starts(columns: Sequence[_Column]) -> list[int]:
    """Return where the bits of each column begin in a box, and where the last ones end."""
    return list(accumulate((len(column.values) for column in columns), initial=0))


def _boxes(words: Iterable[Word], columns: Sequence[_Column]) -> list[Box]:
    """Return a box for each spelling."""
    place = {name: i for i, column in enumerate(columns) for name in column.modifiers}
    found = []
    for modifiers, types in words:
        values: list[tuple[str, ...]] = [()] * (len(columns) - len(types))
        for name in modifiers:
            values[place[name]] += (name,)
        values += [(name,) for name in types]
        found.append([column.place(value) for column, value in zip(columns, values, strict=True)])
    # The number of values of a column is known at the end.
    starts = _starts(columns)
    return [sum(1 << start + place for start, place in zip(starts, places, strict=False)) for places in found]


def _joined(boxes: list[Box], masks: Sequence[int]) -> list[Box]:
    """Return the boxes with those that differ in one column only joined, column by column until none are left."""
    left = len(masks)
    for mask in cycle(masks):
        before = len(boxes)
        boxes = _joined_in(boxes, mask)
        left = left - 1 if len(boxes) == before else len(masks)
        if not left:
            break
    return boxes


def _joined_in(boxes: Iterable[Box], mask: int) -> list[Box]:
    found: dict[int, int] = {}
    for box in boxes:
        others = box & ~mask
        found[others] = found.get(others, 0) | box
    return list(found.values())
