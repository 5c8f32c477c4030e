"""The model -> the manual's page about the variants that each PTX version and each target introduced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ....catalog import PtxVersion, Requirement, Target
from ....model import Instruction, Spec, Variant
from ...parts import Parts
from ...text import Files
from .catalog import products
from .forms import Forms, Writer
from .site import Site


@dataclass(frozen=True)
class Change:
    """Variants in the notation of syntax lines, by their opcodes."""

    count: int
    forms: Sequence[tuple[str, Sequence[Forms]]]


@dataclass(frozen=True)
class Release:
    """A PTX version, the targets that it introduced, and the variants that it added or removed."""

    version: PtxVersion
    targets: Sequence[Target]
    begun: Change
    ended: Change


@dataclass(frozen=True)
class Generation:
    """A target, and the variants of which it is the oldest target."""

    target: Target
    products: Sequence[str]
    begun: Change


@dataclass(frozen=True)
class _Changes:
    """The changes of an opcode's variants: the new ones by their oldest target and by the PTX version that added
    them, and those that are gone by the last PTX version that has them. Each has their number and notations."""

    oldest: Mapping[str | None, tuple[int, Sequence[Forms]]]
    begun: Mapping[str | None, tuple[int, Sequence[Forms]]]
    ended: Mapping[str | None, tuple[int, Sequence[Forms]]]


def emit(spec: Spec, write: Writer, parts: Parts, site: Site) -> Files:
    """Return manual/history, as HTML and as Markdown, with the newest first."""
    every = {n: parts.of("history", n, "", partial(_changes, spec, write, i)) for n, i in spec.instructions.items()}
    generations = [
        Generation(t, products(spec, t), _change({n: c.oldest.get(t.name) for n, c in every.items()}))
        for t in spec.targets.values()
    ]
    values = {"releases": _releases(spec, every)[::-1], "generations": generations[::-1]}
    return site.page("history", ["spec/targets.yaml", "spec/instructions/"], values)


def _releases(spec: Spec, every: Mapping[str, _Changes]) -> list[Release]:
    versions = list(spec.versions.values())
    before = [None, *(p.version for p in versions)]
    return [
        Release(
            p,
            [t for t in spec.targets.values() if t.ptx == p.version],
            _change({n: c.begun.get(p.version) for n, c in every.items()}),
            _change({n: c.ended.get(last) if last else None for n, c in every.items()}),
        )
        for p, last in zip(versions, before, strict=False)
    ]


def _changes(spec: Spec, write: Writer, instruction: Instruction) -> _Changes:
    variants = [v for v in instruction.variants if not v.crash]
    first = {r: _first_version(spec, r) for r in {v.requires for v in variants}}

    def grouped(key: Callable[[Variant], str | None]) -> Mapping[str | None, tuple[int, Sequence[Forms]]]:
        found: dict[str | None, list[Variant]] = {}
        for v in variants:
            found.setdefault(key(v), []).append(v)
        return {x: (len(alike), write(alike)) for x, alike in found.items()}

    return _Changes(
        grouped(lambda v: v.requires.target), grouped(lambda v: first[v.requires]), grouped(lambda v: v.requires.until)
    )


def _first_version(spec: Spec, r: Requirement) -> str:
    """Return the first PTX version in which some target has a variant. This target need not be the oldest one: an older
    target may have been introduced in a newer PTX version."""
    taking = [t for t in spec.targets.values() if spec.catalog.takes(r, t.name)]
    first = [(spec.versions[spec.catalog.window(r, t.name)[0]], spec.versions[t.ptx]) for t in taking]
    return min((max(both, key=lambda p: p.order) for both in first), key=lambda p: p.order).version


def _change(of: Mapping[str, tuple[int, Sequence[Forms]] | None]) -> Change:
    """Return the changes of all opcodes as one."""
    found = {opcode: some for opcode, some in of.items() if some}
    return Change(sum(n for n, _ in found.values()), sorted((opcode, forms) for opcode, (_, forms) in found.items()))
