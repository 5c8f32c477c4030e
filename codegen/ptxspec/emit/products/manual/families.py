"""Groups of variants with the same requirement, claim and hazards: the rows of the availability page and of the data
for the manual's scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ....catalog import Requirement
from ....model import Instruction, Spec, Variant
from ...parts import Parts
from .forms import Forms, Writer


@dataclass(frozen=True)
class Family:
    """Variants of an opcode with one requirement, one claim and one set of hazards. `count` is their number, and
    `types` are those in their spellings. `hazards` has the targets of each hazard by its text; `claims` has the targets
    of each other claim."""

    forms: Forms
    count: int
    types: Sequence[str]
    requires: Requirement
    claim: str
    hazards: Mapping[str, Sequence[str]]
    claims: Mapping[str, Sequence[str]]


def families(spec: Spec, write: Writer, parts: Parts) -> dict[str, list[Family]]:
    """Return the groups of each opcode, without variants on which the assembler crashes."""
    return {n: parts.of("families", n, "", partial(_of, spec, write, i)) for n, i in spec.instructions.items()}


def _of(spec: Spec, write: Writer, instruction: Instruction) -> list[Family]:
    found: dict[object, list[Variant]] = {}
    for v in instruction.variants:
        if not v.crash:
            others = spec.other_claims(v).items()
            found.setdefault((v.requires, v.claim, v.hazards, write.operands(v), *others), []).append(v)
    return [
        Family(
            forms,
            len(alike),
            [*dict.fromkeys(name for v in alike for name in v.type_names)],
            alike[0].requires,
            alike[0].claim,
            _hazards(spec, alike[0]),
            spec.other_claims(alike[0]),
        )
        for alike in found.values()
        for forms in write(alike)
    ]


def _hazards(spec: Spec, v: Variant) -> dict[str, list[str]]:
    """Return the targets on which each hazard of a variant holds."""
    found: dict[str, list[str]] = {}
    for t in spec.targets if v.hazards else ():
        if spec.catalog.takes(v.requires, t):
            for h in spec.catalog.hazards(v, t):
                found.setdefault(h.text, []).append(t)
    return found
