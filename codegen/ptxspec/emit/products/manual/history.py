"""The model -> the manual's page about the variants that each PTX version and each target introduced."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ....catalog import PtxVersion, Requirement, Target
from ....model import Spec, Variant
from ...text import Files
from .catalog import products
from .forms import Forms, Writer
from .site import Site

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


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


def emit(spec: Spec, write: Writer, site: Site) -> Files:
    """Return manual/history, as HTML and as Markdown, with the newest first."""
    variants = [v for i in spec.instructions.values() for v in i.variants if not v.crash]
    oldest = _grouped(variants, lambda v: v.requires.target)
    generations = [
        Generation(t, products(spec, t), _change(write, oldest.get(t.name, ()))) for t in spec.targets.values()
    ]
    values = {"releases": _releases(spec, write, variants)[::-1], "generations": generations[::-1]}
    return site.page("history", ["spec/targets.yaml", "spec/instructions/"], values)


def _releases(spec: Spec, write: Writer, variants: Iterable[Variant]) -> list[Release]:
    every = list(variants)
    first = {r: _first_version(spec, r) for r in {v.requires for v in every}}
    begun = _grouped(every, lambda v: first[v.requires])
    ended = _grouped(every, lambda v: v.requires.until)
    versions = list(spec.versions.values())
    before = [None, *(p.version for p in versions)]
    return [
        Release(
            p,
            [t for t in spec.targets.values() if t.ptx == p.version],
            _change(write, begun.get(p.version, ())),
            _change(write, ended.get(last, ()) if last else ()),
        )
        for p, last in zip(versions, before, strict=False)
    ]


def _first_version(spec: Spec, r: Requirement) -> str:
    """Return the first PTX version in which some target has a variant. This target need not be the oldest one: an older
    target may have been introduced in a newer PTX version."""
    taking = [t for t in spec.targets.values() if spec.catalog.takes(r, t.name)]
    first = [(spec.versions[spec.catalog.window(r, t.name)[0]], spec.versions[t.ptx]) for t in taking]
    return min((max(both, key=lambda p: p.order) for both in first), key=lambda p: p.order).version


def _change(write: Writer, variants: Sequence[Variant]) -> Change:
    found = _grouped(write(variants), lambda f: f.opcode)
    return Change(len(variants), sorted(found.items()))


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found
