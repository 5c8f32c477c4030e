"""The accuracy of the emulator: the bounds in NVIDIA's manual, the claims on each target, and their basis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....check.claims import CLAIMS, claim_basis, followed
from .....model import Accuracy as Bound, Instruction, RegisteredRecording, Spec, Variant
from ..forms import Writer
from .about import About

# No claim of a variant, but a note beside the claim for some targets.
INFERRED = {"inferred": "computed as in a published model of that target; the variant has not been compared with a GPU"}


@dataclass(frozen=True)
class Bounded:
    """Variants with the same bounds and claims: `claims` by target, and the claim `elsewhere`."""

    forms: Sequence[str]
    variants: int
    bounds: Sequence[Bound]
    claims: Sequence[tuple[str, Sequence[str]]]
    elsewhere: str


@dataclass(frozen=True)
class ClaimBasis:
    """The basis of a claim, with the number of variants that make it, and their forms if other variants make another
    claim."""

    name: str
    basis: str
    variants: int
    forms: Sequence[str]


@dataclass(frozen=True)
class Accuracy:
    rows: Sequence[Bounded]
    claims: Sequence[ClaimBasis]
    meanings: Mapping[str, str]
    recordings: Sequence[tuple[RegisteredRecording, Counter[str | None]]]


def section(about: About) -> Accuracy:
    rows = _rows(about)
    made = {name for row in rows for name in (row.elsewhere, *(name for name, _ in row.claims))}
    return Accuracy(
        rows=rows,
        claims=_claims(about.spec, about.write, about.instruction),
        meanings={name: meaning for name, meaning in {**CLAIMS, **INFERRED}.items() if name in made},
        recordings=_recordings(about.spec, about.instruction),
    )


def _rows(about: About) -> list[Bounded]:
    spec, i = about.spec, about.instruction
    found: dict[object, list[Variant]] = {}
    for v in i.variants:
        bounds = tuple(n for n, a in enumerate(i.accuracy) if a.selector.matches(v))
        found.setdefault((bounds, v.claim, *claimed(spec, v)), []).append(v)
    rows = []
    for variants in found.values():
        v = variants[0]
        bounds_here = [a for a in i.accuracy if a.selector.matches(v)]
        rows.append(Bounded(about.write.whole(variants), len(variants), bounds_here, claimed(spec, v), v.claim))
    return rows


def claimed(spec: Spec, v: Variant) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the claims on targets that differ from the claim elsewhere, and the targets where a published model is
    followed by inference."""
    inferred = spec.inferred_on(v) if v.claim != "exact" else ()
    return (*spec.other_claims(v).items(), *([("inferred", inferred)] if inferred else []))


def _claims(spec: Spec, write: Writer, instruction: Instruction) -> list[ClaimBasis]:
    found: dict[tuple[str, str], list[Variant]] = {}
    for v in instruction.variants:
        found.setdefault((v.claim, claim_basis(instruction, v)), []).append(v)
    for v in instruction.variants:
        for targets, claim, told in followed(spec, v):
            if claim:
                found.setdefault((claim, f"{told}; here on {', '.join(targets)}"), []).append(v)
    return [
        ClaimBasis(name, basis, len(variants), write.whole(variants) if len(found) > 1 else ())
        for (name, basis), variants in found.items()
    ]


def _recordings(spec: Spec, instruction: Instruction) -> list[tuple[RegisteredRecording, Counter[str | None]]]:
    """Return the recordings that include variants of the instruction, with the number of these that are equal, within a
    bound, or neither."""
    counted = [(r, Counter(r.finding(v) for v in instruction.variants)) for r in spec.recordings]
    return [(r, c) for r, c in counted if c["equal"] + c["inside"] + c["unequal"]]
