"""Rules -> what a variant requires: on each axis the highest floor and the lowest ceiling of all rules that match, on
the targets that all of them name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from ..catalog import Catalog, Limit, Requirement
from ..model import Instruction, Rule, Variant

Floors = dict[str, str]


class Requirements:
    """The requirements of an instruction's variants, computed once for all variants that the same rules match.

    A rule of the assembler replaces a rule of NVIDIA's manual on the axes that it names, if it is about no more
    variants than that. A rule of the manual about only some of its variants stays."""

    def __init__(
        self, manual: Sequence[Rule], assembler: Sequence[Rule], variants: Iterable[Variant], catalog: Catalog
    ) -> None:
        self._rules = [*_each_pattern(manual)], [*_each_pattern(assembler)]
        self._variants = tuple(variants)
        self._catalog = catalog
        self._about: dict[int, frozenset[int]] = {}
        self._known: dict[tuple[tuple[int, ...], ...], tuple[Requirement, Requirement]] = {}

    def of(self, variant: Variant) -> tuple[Requirement, Requirement]:
        """Return what the rules of NVIDIA's manual require, and the same with the assembler's rules in place of those
        that they replace. Without a rule, the oldest version and target suffice."""
        manual, assembler = ([r for r in rules if r.selector.matches(variant)] for rules in self._rules)
        key = tuple(map(id, manual)), tuple(map(id, assembler))
        if key not in self._known:
            left = {axis: self._left(axis, manual, assembler) for axis in _AXES}
            together = _Reading(self._catalog, {axis: left[axis] + _naming(axis, assembler) for axis in _AXES})
            alone = _Reading(self._catalog, {axis: _naming(axis, manual) for axis in _AXES})
            self._known[key] = alone.requirement(), together.requirement()
        return self._known[key]

    def _left(self, axis: str, manual: list[Rule], assembler: list[Rule]) -> list[Rule]:
        """Return the rules of NVIDIA's manual that name an axis and are not replaced."""
        replacing = [self._variants_of(r) for r in _naming(axis, assembler)]
        rules = _naming(axis, manual)
        return (
            [r for r in rules if not any(about <= self._variants_of(r) for about in replacing)] if replacing else rules
        )

    def _variants_of(self, rule: Rule) -> frozenset[int]:
        found = self._about.get(id(rule))
        if found is None:
            found = frozenset(i for i, v in enumerate(self._variants) if rule.selector.matches(v))
            self._about[id(rule)] = found
        return found


# The axes of rules. What a rule says about a range of targets holds for that range alone.
_AXES = ("ptx", "target", "until", "within", "on")


def _each_pattern(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Yield a rule for each pattern of the rules: a rule about several patterns is equivalent to one for each of
    them."""
    for r in rules:
        for pattern in r.selector.patterns:
            yield replace(r, selector=replace(r.selector, patterns=(pattern,)))


def _naming(axis: str, rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules that name an axis."""
    return [r for r in rules if getattr(r, axis) and (axis in ("within", "on") or r.within is None)]


class _Reading:
    """The rules that count for one variant, by the axis that they name."""

    def __init__(self, catalog: Catalog, rules: Mapping[str, Sequence[Rule]]) -> None:
        self.catalog = catalog
        self.rules = rules

    def requirement(self) -> Requirement:
        targets, versions = self.catalog.targets, self.catalog.versions
        ptx = max(self._given("ptx"), key=lambda v: versions[v].order, default=next(iter(versions)))
        target = max(self._given("target"), key=lambda t: targets[t].order, default=next(iter(targets)))
        until = min(self._given("until"), key=lambda v: versions[v].order, default=None)
        ranges = (Limit(*r.within, r.ptx, r.until) for r in self.rules["within"] if r.within is not None)
        limits = tuple(dict.fromkeys(ranges))
        named = [dict(r.on) for r in self.rules["on"]]
        if not named:
            return Requirement(ptx, target, until, limits)
        every = (t for t in targets.values() if t.order >= targets[target].order)
        least = {t.name: self._later(ptx, t.ptx) for t in every}
        floors = reduce(self._both, named, least)
        lowest = min(floors.values(), key=lambda v: versions[v].order, default=ptx)
        # A range with none of these targets has no effect.
        limits = tuple(w for w in limits if any(self._is_within(t, w) for t in floors))
        return Requirement(lowest, next(iter(floors), target), until, limits, tuple(floors.items()))

    def _given(self, axis: str) -> list[str]:
        return [getattr(r, axis) for r in self.rules[axis]]

    def _is_within(self, target: str, limit: Limit) -> bool:
        first, here, last = (self.catalog.targets[t].order for t in (limit.first, target, limit.last))
        return first <= here <= last

    def _both(self, one: Floors, other: Floors) -> Floors:
        """Return the targets that both have, in target order, each with the later version."""
        return {t: self._later(v, other[t]) for t, v in one.items() if t in other}

    def _later(self, *versions: str) -> str:
        return max(versions, key=lambda v: self.catalog.versions[v].order)


def expanded(entries: Iterable[tuple[str, str]], catalog: Catalog) -> tuple[tuple[str, str], ...]:
    """Return the targets that entries of `on` name, each with the lowest PTX version given for it. A family-specific
    target stands for its family."""
    floors: Floors = {}
    for name, ptx in entries:
        own = catalog.targets[name]
        for t in catalog.family(name) if own.kind == "family" else [own]:
            found = floors.get(t.name, ptx)
            floors[t.name] = min(found, ptx, key=lambda v: catalog.versions[v].order)
    return tuple(sorted(floors.items(), key=lambda f: catalog.targets[f[0]].order))


def why_nowhere(catalog: Catalog, v: Variant, made: Instruction) -> Iterator[str]:
    """Yield why a variant can exist nowhere: its last PTX version precedes its first, or its rules leave it no
    target."""
    versions, r = catalog.versions, v.requires
    if r.until is not None and versions[r.until].order < versions[catalog.first_version(r)].order:
        yield f"{v} can never be taken: it needs {r.target} and PTX {r.ptx}, and ends with PTX {r.until}"
    for needed, rules in ((r, (*made.rules, *made.assembler_rules)), (v.manual, made.rules)):
        if needed and not needed.on and any(rule.on and rule.selector.matches(v) for rule in rules):
            yield f"{v} can never be taken: the rules that match it have no target in common"
            break
