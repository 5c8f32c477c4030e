"""Rules -> what a variant requires: the highest floor and the lowest ceiling of all that match, each by itself, on the
targets that all of them name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ..catalog import Catalog, Limit, Requirement
from ..model import Rule, Variant

Floors = dict[str, str]


def manual_requirement(variant: Variant, rules: Iterable[Rule], catalog: Catalog) -> Requirement:
    """What the manual's rules require of a variant. Without a rule, the oldest version and target do."""
    return _Reading(catalog, [], _matching(variant, rules)).requirement()


def observed_requirement(
    variant: Variant, manual: Iterable[Rule], assembler: Iterable[Rule], catalog: Catalog
) -> Requirement:
    """What the manual's rules require, with the values of the assembler's on the axes that they name."""
    return _Reading(catalog, _matching(variant, manual), _matching(variant, assembler)).requirement()


def _matching(variant: Variant, rules: Iterable[Rule]) -> list[Rule]:
    return [r for r in rules if r.selector.matches(variant)]


class _Reading:
    """The rules that match one variant: on each axis those of `first` count where none of `then` names it."""

    def __init__(self, catalog: Catalog, first: list[Rule], then: list[Rule]) -> None:
        self.catalog = catalog
        self.rules = (then, first)

    def requirement(self) -> Requirement:
        targets, versions = self.catalog.targets, self.catalog.versions
        ptx = max(self._given("ptx"), key=lambda v: versions[v].order, default=next(iter(versions)))
        target = max(self._given("target"), key=lambda t: targets[t].order, default=next(iter(targets)))
        until = min(self._given("until"), key=lambda v: versions[v].order, default=None)
        limits = next(filter(None, map(_limits, self.rules)), ())
        named = next(filter(None, ([dict(r.on) for r in rules if r.on] for rules in self.rules)), [])
        if not named:
            return Requirement(ptx, target, until, limits)
        every = (t for t in targets.values() if t.order >= targets[target].order)
        least = {t.name: self._later(ptx, t.ptx) for t in every}
        floors = reduce(self._both, named, least)
        lowest = min(floors.values(), key=lambda v: versions[v].order, default=ptx)
        # A range with none of these targets says nothing.
        limits = tuple(w for w in limits if any(self._is_within(t, w) for t in floors))
        return Requirement(lowest, next(iter(floors), target), until, limits, tuple(floors.items()))

    def _is_within(self, target: str, limit: Limit) -> bool:
        first, here, last = (self.catalog.targets[t].order for t in (limit.first, target, limit.last))
        return first <= here <= last

    def _given(self, axis: str) -> list[str]:
        values = ([v for r in rules if r.within is None and (v := getattr(r, axis))] for rules in self.rules)
        return next(filter(None, values), [])

    def _both(self, one: Floors, other: Floors) -> Floors:
        """The targets that stand in both, in target order."""
        return {t: self._later(v, other[t]) for t, v in one.items() if t in other}

    def _later(self, *versions: str) -> str:
        return max(versions, key=lambda v: self.catalog.versions[v].order)


def _limits(rules: list[Rule]) -> tuple[Limit, ...]:
    return tuple(Limit(*r.within, r.ptx, r.until) for r in rules if r.within is not None)


def expanded(entries: Iterable[tuple[str, str]], catalog: Catalog) -> tuple[tuple[str, str], ...]:
    """The targets that entries of `on` name, with the lowest PTX version that any of them gives a target. An f kind
    stands for its family."""
    floors: Floors = {}
    for name, ptx in entries:
        own = catalog.targets[name]
        for t in catalog.family(name) if own.kind == "family" else [own]:
            found = floors.get(t.name, ptx)
            floors[t.name] = min(found, ptx, key=lambda v: catalog.versions[v].order)
    return tuple(sorted(floors.items(), key=lambda f: catalog.targets[f[0]].order))
