"""The model -> two pages of the manual: which variant is on which target, and what each PTX version brought."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from ....catalog import PtxVersion, Requirement, Target
from ....model import Spec, Variant
from ...text import Files
from .forms import Forms, Writer
from .site import Site

K = TypeVar("K")


@dataclass(frozen=True)
class Column:
    """Targets that take the same variants: some next to each other, or the a and f kinds that take more than their
    base."""

    targets: tuple[Target, ...]

    @property
    def first(self) -> Target:
        return self.targets[0]

    def __str__(self) -> str:
        if self.first.base:
            return ", ".join(t.name for t in self.targets)
        return self.first.name if len(self.targets) == 1 else f"{self.first.name} to {self.targets[-1].name}"


@dataclass(frozen=True)
class Row:
    """Variants of an opcode that are taken alike, and for each column what takes them; where the machine code does
    something else than they say, marked as a hazard."""

    forms: Sequence[Forms]
    cells: tuple[str, ...]

    @property
    def runs(self) -> list[tuple[str, int]]:
        """Each different cell, with the number of columns next to each other that have it."""
        return [(text, len(list(same))) for text, same in groupby(self.cells)]


@dataclass(frozen=True)
class Brought:
    """What is available since a target or a PTX version, and what no longer is."""

    forms: Sequence[Forms]
    ended: Sequence[Forms]


def emit(spec: Spec, write: Writer, site: Site) -> Files:
    """manual/availability and manual/history, as HTML and as Markdown."""
    variants = [v for i in spec.instructions.values() for v in i.variants if not v.crash]
    requirements = list(dict.fromkeys(v.requires for v in variants))
    columns = _columns(spec, requirements)
    # What an opcode's variants have in common stands once: those with one requirement and one hazard are a row.
    alike = _grouped(variants, lambda v: (v.opcode, v.requires, v.hazards))
    rows = [Row(write(vs), tuple(_marked(spec, vs[0], c) for c in columns)) for vs in alike.values()]
    oldest = _grouped(variants, lambda v: v.requires.target)
    values = {
        "columns": columns,
        "rows": rows,
        "count": len(variants),
        "versions": [(p, _known(spec, p), brought) for p, brought in _by_version(spec, write, variants)],
        "targets": [(t, write(oldest.get(t.name, ()))) for t in spec.targets.values()],
    }
    sources = ["spec/targets.yaml", *(i.path for i in spec.instructions.values())]
    return site.page("availability", sources, values) | site.page("history", sources, values)


def _columns(spec: Spec, requirements: list[Requirement]) -> list[Column]:
    cells = {t: tuple(_cell(spec, r, t) for r in requirements) for t in spec.targets.values()}
    columns: list[Column] = []
    for t, found in cells.items():
        if t.base:
            continue
        if columns and cells[columns[-1].first] == found:
            columns[-1] = Column((*columns[-1].targets, t))
        else:
            columns.append(Column((t,)))
    more: dict[tuple[str, ...], list[Target]] = {}
    for t, found in cells.items():
        if t.base and found != cells[spec.targets[t.base]]:
            more.setdefault(found, []).append(t)
    return columns + [Column(tuple(kinds)) for kinds in more.values()]


def _cell(spec: Spec, r: Requirement, target: Target) -> str:
    if not spec.catalog.takes(r, target.name):
        return ""
    first, last = spec.catalog.window(r, target.name)
    if r.on and first == target.ptx and not last:
        return "\N{CHECK MARK}"
    return f"{first}\N{EN DASH}{last}" if last else first


def _marked(spec: Spec, v: Variant, column: Column) -> str:
    """What takes a variant in a column, with a mark where a hazard holds on one of its targets."""
    cell = _cell(spec, v.requires, column.first)
    return cell + "!" if cell and any(not spec.catalog.is_safe(v, t.name) for t in column.targets) else cell


def _known(spec: Spec, version: PtxVersion) -> list[Target]:
    """The targets that came with a version."""
    return [t for t in spec.targets.values() if t.ptx == version.version]


def _by_version(spec: Spec, write: Writer, variants: list[Variant]) -> list[tuple[PtxVersion, Brought]]:
    begun = _grouped(variants, lambda v: spec.catalog.first_version(v.requires))
    ended = _grouped(variants, lambda v: v.requires.until)
    versions = list(spec.versions.values())
    before = [None, *(p.version for p in versions)]
    return [
        (p, Brought(write(begun.get(p.version, ())), write(ended.get(last, ()) if last else ())))
        for p, last in zip(versions, before, strict=False)
    ]


def _grouped(variants: Iterable[Variant], key: Callable[[Variant], K]) -> dict[K, list[Variant]]:
    found: dict[K, list[Variant]] = {}
    for v in variants:
        found.setdefault(key(v), []).append(v)
    return found
