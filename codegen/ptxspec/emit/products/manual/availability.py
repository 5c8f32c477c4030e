"""The model -> two pages of the manual: which variant is on which target, and what each PTX version brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ....catalog import PtxVersion, Requirement, Target
from ....model import Spec, Variant
from ...text import Files, Templates
from .forms import Forms, Writer

PAGES = ("availability", "history")


@dataclass(frozen=True)
class Column:
    """Targets next to each other that take the same variants; an a or f kind takes what its base takes."""

    first: Target
    last: Target

    def __str__(self) -> str:
        return self.first.name if self.first == self.last else f"{self.first.name} to {self.last.name}"


@dataclass(frozen=True)
class Row:
    """Variants of an opcode that are taken alike, and for each column what takes them."""

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


def emit(spec: Spec, write: Writer, templates: Templates) -> Files:
    """manual/availability and manual/history, as HTML and as Markdown."""
    variants = [v for i in spec.instructions.values() for v in i.variants]
    requirements = list(dict.fromkeys(v.requires for v in variants))
    cells = {t.name: [_cell(spec, r, t) for r in requirements] for t in spec.targets.values() if not t.base}
    columns: list[Column] = []
    for name, found in cells.items():
        if columns and cells[columns[-1].first.name] == found:
            columns[-1] = Column(columns[-1].first, spec.targets[name])
        else:
            columns.append(Column(spec.targets[name], spec.targets[name]))
    # What an opcode's variants have in common stands once: those with one requirement are a row.
    alike: dict[tuple[str, Requirement], list[Variant]] = {}
    for v in variants:
        alike.setdefault((v.opcode, v.requires), []).append(v)
    rows = [Row(write(vs), tuple(_cell(spec, r, c.first) for c in columns)) for (_, r), vs in alike.items()]
    values = {
        "columns": columns,
        "rows": rows,
        "count": len(variants),
        "versions": [(p, _known(spec, p), _by_version(spec, write, variants, p)) for p in spec.versions.values()],
        "targets": [(t, write(v for v in variants if v.requires.target == t.name)) for t in spec.targets.values()],
    }
    sources = ["spec/targets.yaml", *(i.path for i in spec.instructions.values())]
    return {
        f"manual/{page}.{suffix}": templates.render(
            f"manual/{page}.{suffix}.j2", sources, comment="<!-- {} -->", **values
        )
        for page in PAGES
        for suffix in ("md", "html")
    }


def _cell(spec: Spec, r: Requirement, target: Target) -> str:
    if not spec.catalog.takes(r, target.name):
        return ""
    first, last = spec.catalog.window(r, target.name)
    return f"{first}\N{EN DASH}{last}" if last else first


def _known(spec: Spec, version: PtxVersion) -> list[Target]:
    """The targets that came with a version."""
    return [t for t in spec.targets.values() if t.ptx == version.version]


def _by_version(spec: Spec, write: Writer, variants: list[Variant], version: PtxVersion) -> Brought:
    return Brought(
        write(v for v in variants if spec.catalog.first_version(v.requires) == version.version),
        write(v for v in variants if v.requires.until and spec.versions[v.requires.until].order == version.order - 1),
    )
