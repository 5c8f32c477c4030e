"""The page of availability: the PTX versions that support each group of variants on each target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ....catalog import Target, targets_text
from ....check.claims import CLAIMS
from ....compact import named_in
from ....model import Spec
from ...text import Files
from .catalog import products, versions
from .families import Family
from .site import Site

# The number of products shown with a target in the list of targets, and the number of notations in a row before it
# folds.
_SHOWN = 3
_FOLDED = 4


@dataclass(frozen=True)
class Column:
    """A target with its architecture- and family-specific targets; `about` is its usual name."""

    target: Target
    kinds: Sequence[Target]
    products: Sequence[str]

    @property
    def about(self) -> str:
        return _short(self.products[0]) if self.products else self.target.architecture

    @property
    def title(self) -> str:
        t = self.target
        return "; ".join(filter(None, [t.architecture, ", ".join(self.products), f"introduced in PTX {t.ptx}"]))


@dataclass(frozen=True)
class Part:
    """The PTX versions that support variants on a target or on a kind of it; `last` is None if all later ones do.
    `since`: older versions also support the target. `hazards` are the places of the hazards there."""

    kind: str
    first: str
    last: str | None
    since: bool
    hazards: tuple[int, ...]

    @property
    def versions(self) -> str:
        return "\N{EN DASH}".join(filter(None, (self.first, self.last)))


@dataclass(frozen=True)
class MatrixRow:
    """A row. `cells` is the place of its cells, which many rows share."""

    family: Family
    needs: str
    hazards: Sequence[int]
    cells: int

    @property
    def shown(self) -> Sequence[str]:
        texts = self.family.forms.whole
        return texts if len(texts) <= _FOLDED else texts[: _FOLDED - 1]

    @property
    def folded(self) -> Sequence[str]:
        return self.family.forms.whole[len(self.shown) :]


@dataclass(frozen=True)
class HazardNote:
    """A hazard: its description, its variants, and the targets of each."""

    text: str
    families: Sequence[tuple[Family, str]]


def emit(spec: Spec, families: Mapping[str, Sequence[Family]], site: Site) -> Files:
    """Return manual/availability, as HTML and as Markdown."""
    every = [f for found in families.values() for f in found]
    hazards = list(dict.fromkeys(text for f in every for text in f.hazards))
    matrix = _Matrix(spec, hazards)
    types = {name for f in every for name in f.types}
    claims = {name for f in every for name in (f.claim, *f.claims)}
    values = {
        "columns": matrix.columns,
        "groups": [(spec.instructions[opcode], list(map(matrix.row, found))) for opcode, found in families.items()],
        "cells": list(matrix.cells),
        "families": len(every),
        "count": sum(f.count for f in every),
        "crashing": sum(bool(v.crash) for i in spec.instructions.values() for v in i.variants),
        "hazards": [_note(spec, every, text) for text in hazards],
        "names": named_in((text for f in every for text in f.forms.texts), spec.notation),
        "types": [name for name in spec.types if name in types],
        "versions": list(spec.versions.values())[::-1],
        "architectures": _architectures(spec),
        "claims": {name: text for name, text in CLAIMS.items() if name in claims},
    }
    return site.page("availability", ["spec/targets.yaml", "spec/instructions/"], values)


class _Matrix:
    """The columns, the newest target first, and the rows. `cells` has each different row of cells once."""

    def __init__(self, spec: Spec, hazards: Sequence[str]) -> None:
        self.cells: dict[tuple[Sequence[Part], ...], int] = {}
        self._places: dict[object, int] = {}
        self._spec = spec
        self._hazards = {text: place for place, text in enumerate(hazards, 1)}

    @cached_property
    def columns(self) -> list[Column]:
        targets = list(self._spec.targets.values())
        return [
            Column(t, [k for k in targets if k.base == t.name], products(self._spec, t))
            for t in reversed(targets)
            if not t.base
        ]

    def row(self, family: Family) -> MatrixRow:
        hazards = [self._hazards[text] for text in family.hazards]
        alike = (family.requires, *((text, *targets) for text, targets in family.hazards.items()))
        if alike not in self._places:
            cells = tuple(tuple(self._parts(family, column)) for column in self.columns)
            self._places[alike] = self.cells.setdefault(cells, len(self.cells))
        return MatrixRow(family, self._spec.catalog.text(family.requires), hazards, self._places[alike])

    def _parts(self, family: Family, column: Column) -> Iterable[Part]:
        """Return the part of a target, and those of its kinds that differ: a kind supports what its base supports, from
        its own PTX version on."""
        base = self._part(family, column.target)
        if base:
            yield base
        for kind in column.kinds:
            part = self._part(family, kind)
            if part and not (base and self._follows(part, base, kind)):
                yield part

    def _part(self, family: Family, target: Target) -> Part | None:
        found = versions(self._spec, family.requires, target)
        if not found:
            return None
        first, last = found
        on = tuple(self._hazards[told] for told, targets in family.hazards.items() if target.name in targets)
        letter = target.name.removeprefix(target.base) if target.base else ""
        return Part(letter, first, last, first != target.ptx, on)

    def _follows(self, part: Part, base: Part, kind: Target) -> bool:
        """Return whether a kind adds nothing to its base except its own first PTX version."""
        known = max(base.first, kind.ptx, key=lambda ptx: self._spec.versions[ptx].order)
        return (part.hazards, part.first, part.last) == (base.hazards, known, base.last)


def _short(product: str) -> str:
    """Return a product's name without its common brand."""
    return product.removeprefix("NVIDIA ").removeprefix("GeForce ").removeprefix("Tesla ")


def _architectures(spec: Spec) -> list[tuple[str, list[tuple[Target, str]]]]:
    """Return all targets of the filter, the newest first, by NVIDIA's name of their architecture."""
    found: dict[str, list[tuple[Target, str]]] = {}
    for t in reversed(list(spec.targets.values())):
        sold = products(spec, t)
        more = ", ..." * (len(sold) > _SHOWN)
        found.setdefault(t.architecture or "other", []).append((t, ", ".join(map(_short, sold[:_SHOWN])) + more))
    return list(found.items())


def _note(spec: Spec, every: Iterable[Family], text: str) -> HazardNote:
    having = [f for f in every if text in f.hazards]
    return HazardNote(text, [(f, _where(spec, f, f.hazards[text])) for f in having])


def _where(spec: Spec, family: Family, targets: Sequence[str]) -> str:
    """Return the targets of a hazard; empty if all that support the variants have it."""
    taking = [t for t in spec.targets if spec.catalog.takes(family.requires, t)]
    first, last = taking.index(targets[0]), taking.index(targets[-1])
    if taking == list(targets):
        return ""
    if taking[first : last + 1] == list(targets):
        return targets_text(targets[0], targets[-1], spec.newest)
    return f"on {', '.join(targets)}"
