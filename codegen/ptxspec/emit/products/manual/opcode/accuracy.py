"""How faithful the emulator is: the manual's bounds, the claims, what they rest on, and the recordings of GPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....check.claims import CLAIMS, basis
from .....model import Instruction, Recording, Spec, Variant
from ..forms import Writer
from .about import About


@dataclass(frozen=True)
class Claim:
    """A claim of a page, what it rests on, and which variants make it: how many, and where others make another, their
    forms."""

    name: str
    rests_on: str
    variants: int
    forms: Sequence[str]


@dataclass(frozen=True)
class Accuracy:
    claims: Sequence[Claim]
    meanings: Mapping[str, str]
    recordings: Sequence[tuple[Recording, Counter[str | None]]]


def section(about: About) -> Accuracy:
    claims = _claims(about.spec, about.write, about.instruction)
    return Accuracy(claims, {c.name: CLAIMS[c.name] for c in claims}, _recordings(about.spec, about.instruction))


def _claims(spec: Spec, write: Writer, instruction: Instruction) -> list[Claim]:
    found: dict[tuple[str, str], list[Variant]] = {}
    for v in instruction.variants:
        found.setdefault((v.claim, basis(instruction, v)), []).append(v)
    for v in instruction.variants:
        if targets := spec.reported_on(v):
            told = f"all 2^32 results of {spec.reporter(v, targets[0])}; here on {', '.join(targets)}"
            found.setdefault(("reported", told), []).append(v)
    return [
        Claim(name, rests_on, len(variants), write.whole(variants) if len(found) > 1 else ())
        for (name, rests_on), variants in found.items()
    ]


def _recordings(spec: Spec, instruction: Instruction) -> list[tuple[Recording, Counter[str | None]]]:
    """The recordings that have variants of the instruction, with how many are equal, inside of a bound, or neither."""
    counted = [(r, Counter(r.finding(v) for v in instruction.variants)) for r in spec.recordings]
    return [(r, c) for r, c in counted if c["equal"] + c["inside"] + c["unequal"]]
