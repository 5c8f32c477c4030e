"""Rules -> what a variant requires: the highest floor and the lowest ceiling of all that match, each by itself, on the
targets that all of them name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from ..catalog import Catalog, Limit, Requirement
from ..model import Instruction, Rule, Variant

Floors = dict[str, str]


class Requirements:
    """What an instruction's rules require of its variants, made once for all that the same rules match."""

    def __init__(self, manual: Sequence[Rule], assembler: Sequence[Rule], catalog: Catalog) -> None:
        self._rules = manual, assembler
        self._catalog = catalog
        self._known: dict[tuple[tuple[int, ...], ...], tuple[Requirement, Requirement]] = {}

    def of(self, variant: Variant) -> tuple[Requirement, Requirement]:
        """What the manual's rules require, and the same with the values of the assembler's on the axes that they name.
        Without a rule, the oldest version and target do."""
        manual, assembler = ([r for r in rules if r.selector.matches(variant)] for rules in self._rules)
        key = tuple(map(id, manual)), tuple(map(id, assembler))
        if key not in self._known:
            readings = _Reading(self._catalog, [], manual), _Reading(self._catalog, manual, assembler)
            self._known[key] = readings[0].requirement(), readings[1].requirement()
        return self._known[key]


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


def why_nowhere(catalog: Catalog, v: Variant, made: Instruction) -> Iterator[str]:
    """Why a variant can exist nowhere: its last PTX version comes before its first, or its rules leave it no target."""
    versions, r = catalog.versions, v.requires
    if r.until is not None and versions[r.until].order < versions[catalog.first_version(r)].order:
        yield f"{v} can never be taken: it needs {r.target} and PTX {r.ptx}, and ends with PTX {r.until}"
    for needed, rules in ((r, (*made.rules, *made.assembler_rules)), (v.manual, made.rules)):
        if needed and not needed.on and any(rule.on and rule.selector.matches(v) for rule in rules):
            yield f"{v} can never be taken: the rules that match it have no target in common"
            break
