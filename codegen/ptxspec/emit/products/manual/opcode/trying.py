"""The evaluator's form: the variant that it begins with, and the claims and targets for its scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....check.claims import CLAIMS
from .....model import Variant
from .about import About


@dataclass(frozen=True)
class Trying:
    """The values of the form. `first` is the variant that it begins with, and `texts` are those of the operands, by
    register name; if there are none, the form chooses. `meanings` are those of claims, `current` the targets that CUDA
    compiles for."""

    first: Variant
    texts: Mapping[str, str]
    count: int
    meanings: Mapping[str, str]
    current: Sequence[str]


def section(about: About) -> Trying | None:
    i = about.instruction
    variants = [v for v in i.variants if not v.crash]
    if not variants:
        return None
    asked = (v for v in variants if i.trial and v.spelling == i.trial.spelling)
    plain = (v for v in variants if v.listed and not v.hazards and not v.means and not v.requires.until)
    return Trying(
        first=next(asked, None) or next(plain, variants[0]),
        texts=i.trial.operands if i.trial else {},
        count=len(variants),
        meanings=CLAIMS,
        current=[t.name for t in about.spec.targets.values() if t.nvcc and not t.gone],
    )
