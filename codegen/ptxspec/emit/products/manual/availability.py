"""The model -> two pages of the manual: which variant is on which target, and what each PTX version brought."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ....catalog import PtxVersion, Target
from ....model import Spec, Variant
from ...text import Files, Templates

PAGES = ("availability", "history")


@dataclass(frozen=True)
class Column:
    """Targets next to each other that take the same variants; an a or f kind takes what its base takes."""

    first: Target
    last: Target

    def __str__(self) -> str:
        return self.first.name if self.first == self.last else f"{self.first.name} to {self.last.name}"


@dataclass(frozen=True)
class Brought:
    """What is available since a target or a PTX version, and what no longer is."""

    variants: list[Variant]
    ended: list[Variant]


def emit(spec: Spec, templates: Templates) -> Files:
    """manual/availability and manual/history, as HTML and as Markdown."""
    variants = [v for i in spec.instructions.values() for v in i.variants]
    cells = {t.name: [_cell(spec, v, t) for v in variants] for t in spec.targets.values() if not t.base}
    columns: list[Column] = []
    for name, found in cells.items():
        if columns and cells[columns[-1].first.name] == found:
            columns[-1] = Column(columns[-1].first, spec.targets[name])
        else:
            columns.append(Column(spec.targets[name], spec.targets[name]))
    rows = [(v, [cells[c.first.name][i] for c in columns]) for i, v in enumerate(variants)]
    spellings = Counter(v.spelling for v in variants)
    values = {
        "columns": columns,
        "ambiguous": {s for s, n in spellings.items() if n > 1},
        "rows": rows,
        "versions": [(p, _known(spec, p), _by_version(spec, variants, p)) for p in spec.versions.values()],
        "targets": [(t, [v for v in variants if v.requires.target == t.name]) for t in spec.targets.values()],
    }
    sources = ["spec/targets.yaml", *(i.path for i in spec.instructions.values())]
    return {
        f"manual/{page}.{suffix}": templates.render(
            f"manual/{page}.{suffix}.j2", sources, comment="<!-- {} -->", **values
        )
        for page in PAGES
        for suffix in ("md", "html")
    }


def _cell(spec: Spec, v: Variant, target: Target) -> str:
    if not spec.catalog.takes(v.requires, target.name):
        return ""
    first, last = spec.catalog.window(v.requires, target.name)
    return f"{first}\N{EN DASH}{last}" if last else first


def _known(spec: Spec, version: PtxVersion) -> list[Target]:
    """The targets that came with a version."""
    return [t for t in spec.targets.values() if t.ptx == version.version]


def _by_version(spec: Spec, variants: list[Variant], version: PtxVersion) -> Brought:
    return Brought(
        [v for v in variants if spec.catalog.first_version(v.requires) == version.version],
        [v for v in variants if v.requires.until and spec.versions[v.requires.until].order == version.order - 1],
    )
