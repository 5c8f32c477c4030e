"""The evaluator's form: what its page shows before a script runs, and what scripts say of claims and targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....check.claims import CLAIMS
from .....model import Variant
from .about import About


@dataclass(frozen=True)
class Trying:
    """`first` is the variant that the form begins with. `meanings` are those of claims, `current` the targets that CUDA
    compiles for."""

    first: Variant
    count: int
    meanings: Mapping[str, str]
    current: Sequence[str]


def section(about: About) -> Trying | None:
    variants = [v for v in about.instruction.variants if not v.crash]
    if not variants:
        return None
    plain = (v for v in variants if v.listed and not v.hazards and not v.means and not v.requires.until)
    return Trying(
        first=next(plain, variants[0]),
        count=len(variants),
        meanings=CLAIMS,
        current=[t.name for t in about.spec.targets.values() if t.nvcc and not t.gone],
    )
