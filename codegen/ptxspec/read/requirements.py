"""Rules -> what a variant requires, the highest floor and the lowest ceiling of all that match, each by
itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..catalog import Limit, PtxVersion, Requirement, Target
from ..model import Rule, Variant


def manual_requirement(
    variant: Variant, rules: Iterable[Rule], targets: Mapping[str, Target], versions: Mapping[str, PtxVersion]
) -> Requirement:
    """What the manual's rules require of a variant. Without a rule, the oldest version and target do."""
    return _combine([r for r in rules if r.selector.matches(variant)], targets, versions, None)


def observed_requirement(
    variant: Variant,
    manual: Requirement,
    rules: Iterable[Rule],
    targets: Mapping[str, Target],
    versions: Mapping[str, PtxVersion],
) -> Requirement:
    """The manual's requirement with the values of the assembler's rules on the axes that they name."""
    return _combine([r for r in rules if r.selector.matches(variant)], targets, versions, manual)


def _combine(
    rules: list[Rule],
    targets: Mapping[str, Target],
    versions: Mapping[str, PtxVersion],
    default: Requirement | None,
) -> Requirement:
    everywhere = [r for r in rules if r.within is None]
    limits = tuple(Limit(*r.within, r.ptx, r.until) for r in rules if r.within is not None)

    def pick(values: Iterable[str | None], order: Callable[[str], int], best: Callable[..., str], else_: str) -> str:
        given = [v for v in values if v is not None]
        return best(given, key=order) if given else else_

    def version_order(v: str) -> int:
        return versions[v].order

    ptx = default.ptx if default else next(iter(versions))
    target = default.target if default else next(iter(targets))
    until = (default.until if default else None) or ""
    return Requirement(
        ptx=pick((r.ptx for r in everywhere), version_order, max, ptx),
        target=pick((r.target for r in everywhere), lambda t: targets[t].order, max, target),
        until=pick((r.until for r in everywhere), version_order, min, until) or None,
        within=limits or (default.within if default else ()),
    )
