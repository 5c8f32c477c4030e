"""Groups of variants with the same requirement, claim and hazards: the rows of the availability page and of the data
for the manual's scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....model import Instruction, Spec, Variant
from .forms import Forms, Writer


@dataclass(frozen=True)
class Family:
    """Variants of an opcode with one requirement, one claim and one set of hazards. `hazards` has the targets of each
    hazard by its text; `claims` has the targets of each other claim."""

    forms: Forms
    variants: Sequence[Variant]
    hazards: Mapping[str, Sequence[str]]
    claims: Mapping[str, Sequence[str]]

    @property
    def first(self) -> Variant:
        return self.variants[0]


def families(spec: Spec, write: Writer) -> dict[str, list[Family]]:
    """Return the groups of each opcode, without variants on which the assembler crashes."""
    return {i.opcode: _of(spec, write, i) for i in spec.instructions.values()}


def _of(spec: Spec, write: Writer, instruction: Instruction) -> list[Family]:
    found: dict[object, list[Variant]] = {}
    for v in instruction.variants:
        if not v.crash:
            others = spec.other_claims(v).items()
            found.setdefault((v.requires, v.claim, v.hazards, write.operands(v), *others), []).append(v)
    return [
        Family(forms, alike, _hazards(spec, alike[0]), spec.other_claims(alike[0]))
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
