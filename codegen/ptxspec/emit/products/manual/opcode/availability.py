"""The availability of an instruction: groups of variants with the same requirements, by target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....catalog import Target
from .....model import Spec, Variant
from ..catalog import products, versions
from .about import About


@dataclass(frozen=True)
class Column:
    """Neighbouring targets that support the same variants, or architecture- and family-specific targets that support
    more than their base. `sold` has the products of each, the best known first. `open`: the last one is the newest
    target."""

    targets: Sequence[Target]
    sold: Sequence[Sequence[str]]
    open: bool

    @property
    def title(self) -> str:
        names = [t.name for t in self.targets]
        if self.targets[0].base:
            return ", ".join(names)
        if self.open and len(names) > 1:
            return f"{names[0]} and newer"
        return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"

    @property
    def known(self) -> str:
        """The PTX versions that introduce the targets, as in "7.0" or "4.2 to 6.3"."""
        versions = list(dict.fromkeys(t.ptx for t in self.targets))
        if len(versions) < 3:
            return ", ".join(versions) if self.targets[0].base else " to ".join(versions)
        return f"{versions[0]} to {versions[-1]}"

    @property
    def products(self) -> Sequence[str]:
        """The best known product of each target."""
        return list(dict.fromkeys(names[0] for names in self.sold if names))

    @property
    def told(self) -> str:
        """All targets with their products."""
        named = zip(self.targets, self.sold, strict=True)
        return ", ".join(f"{t.name} ({', '.join(names[:3])})" if names else t.name for t, names in named)


@dataclass(frozen=True)
class Cell:
    """The PTX versions that support a group on the targets of a column; empty if none does. `hazard`: on some or all of
    these targets the machine code does not do what the spelling says."""

    text: str
    hazard: bool


@dataclass(frozen=True)
class Group:
    """Variants with the same requirements and hazards. `operands` is their number if others have the same spelling."""

    forms: Sequence[str]
    operands: int | None
    needs: str
    cells: Sequence[Cell]
    hazards: Sequence[str]
    crash: str


@dataclass(frozen=True)
class Availability:
    columns: Sequence[Column]
    groups: Sequence[Group]

    @property
    def has_hazards(self) -> bool:
        return any(g.hazards for g in self.groups)


def section(about: About) -> Availability:
    spec = about.spec
    alike: dict[object, list[Variant]] = {}
    for v in about.instruction.variants:
        alike.setdefault((v.requires, v.hazards, v.crash, about.write.operands(v)), []).append(v)
    columns = _columns(spec, [vs[0] for vs in alike.values()])
    return Availability(columns, [_group(about, columns, vs) for vs in alike.values()])


def _group(about: About, columns: Sequence[Column], variants: Sequence[Variant]) -> Group:
    spec, v = about.spec, variants[0]
    return Group(
        forms=about.write.whole(variants),
        operands=about.write.operands(v),
        needs=spec.catalog.text(v.requires),
        cells=[Cell(*_taken(spec, v, column.targets[0])) for column in columns],
        hazards=[h.text for h in v.hazards],
        crash=v.crash,
    )


def _taken(spec: Spec, v: Variant, target: Target) -> tuple[str, bool]:
    """Return the PTX versions that a variant needs on a target, and whether a hazard holds there."""
    text = "" if v.crash else _told(versions(spec, v.requires, target), target)
    return text, bool(text) and not spec.catalog.is_safe(v, target.name)


def _told(window: tuple[str, str | None] | None, target: Target) -> str:
    """Return PTX versions as text: "7.0" for that and all later ones, "1.0 to 1.3", or "yes" for every version that
    supports the target."""
    if window is None:
        return ""
    first, last = window
    if first == target.ptx:
        return f"up to {last}" if last else "yes"
    return f"{first} to {last}" if last else first


def _columns(spec: Spec, groups: Sequence[Variant]) -> list[Column]:
    """Return the columns, the newest target first: base targets, with neighbours together if they support all groups
    alike, and kinds that support more than their base, by what they support."""
    contents = {t: tuple(_taken(spec, v, t) for v in groups) for t in spec.targets.values()}
    bases: list[list[Target]] = []
    kinds: dict[tuple[tuple[str, bool], ...], list[Target]] = {}
    for t, found in contents.items():
        if t.base:
            if found != contents[spec.targets[t.base]]:
                kinds.setdefault(found, []).append(t)
        elif bases and contents[bases[-1][0]] == found:
            bases[-1].append(t)
        else:
            bases.append([t])
    newest = [t for t in spec.targets.values() if not t.base][-1]
    columns = [
        *(Column(ts, [products(spec, t) for t in ts], ts[-1] is newest) for ts in bases),
        *(Column(ts, [products(spec, t) for t in ts], False) for ts in kinds.values()),
    ]
    return sorted(columns, key=lambda c: max(t.order for t in c.targets), reverse=True)
