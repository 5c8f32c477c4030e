"""The model -> the manual's page about CUDA, drivers and GPUs: what reads a PTX version, and what compiles for a
target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....catalog import PtxVersion, Target
from ....model import Spec
from ...text import Files
from .catalog import products
from .site import Site


@dataclass(frozen=True)
class Sold:
    """A target, the names of its GPUs, and the targets that run code compiled for it, if these differ."""

    target: Target
    products: Sequence[str]
    runs_on: Sequence[Target]


def emit(spec: Spec, site: Site) -> Files:
    """Return manual/releases, as HTML and as Markdown, with the newest first."""
    targets = list(spec.targets.values())
    values = {
        "versions": [(v, _known(targets, v)) for v in list(spec.versions.values())[::-1]],
        "targets": [
            Sold(t, products(spec, t), spec.catalog.family(t.name) if t.kind == "family" else ())
            for t in reversed(targets)
        ],
        "unreleased": [v for v in spec.versions.values() if v.listed],
        "references": list(spec.naming.sources.values()),
    }
    return site.page("releases", ["spec/targets.yaml"], values)


def _known(targets: Sequence[Target], version: PtxVersion) -> list[Target]:
    return [t for t in targets if t.ptx == version.version]
