"""Rules -> what a variant requires, the highest floor and the lowest ceiling of all that match, each by itself; and
where that is met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..model import Limit, PtxVersion, Requirement, Rule, Target, Variant


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


def first_version(r: Requirement, targets: Mapping[str, Target], versions: Mapping[str, PtxVersion]) -> str:
    """The first PTX version that has a variant: the target that it needs must be known, too."""
    return max(r.ptx, targets[r.target].ptx, key=lambda p: versions[p].order)


def versions_on(
    r: Requirement, target: str, targets: Mapping[str, Target], versions: Mapping[str, PtxVersion]
) -> tuple[str, str | None] | None:
    """The first and the last PTX version that take a variant on a target, of those that know the target; without a last
    one, all from the first on do. None where no version does."""

    def order(version: str) -> int:
        return versions[version].order

    here = targets[target].order
    if here < targets[r.target].order:
        return None
    limits = [w for w in r.within if targets[w.first].order <= here <= targets[w.last].order]
    first = max([r.ptx, *(w.ptx for w in limits if w.ptx)], key=order)
    last = min((u for u in (r.until, *(w.until for w in limits)) if u), key=order, default=None)
    if last and order(last) < max(order(first), order(targets[target].ptx)):
        return None
    return first, last


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
        pick((r.ptx for r in everywhere), version_order, max, ptx),
        pick((r.target for r in everywhere), lambda t: targets[t].order, max, target),
        pick((r.until for r in everywhere), version_order, min, until) or None,
        limits or (default.within if default else ()),
    )
