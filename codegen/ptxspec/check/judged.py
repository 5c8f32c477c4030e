"""Claims that runs have earned: `exact` are the variants whose present programs a judge found right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from ..diagnostics import SpecError
from ..model import Instruction, Judgement, Variant
from ..semantics.compile import Compiler
from ..semantics.digest import Digests, together
from .claims import FIXED, JUDGES


def digests(instruction: Instruction, variants: Iterable[Variant], compiler: Compiler) -> dict[Variant, list[str]]:
    """Return the digests of each variant's programs, first of the one without a target. Raises SpecError."""
    known = Digests()
    return {v: [known.of(v, p) for p in compiler.programs(instruction, v).values()] for v in variants}


def judged(
    instruction: Instruction, judgements: Iterable[Judgement], compiler: Compiler, spelling: str | None = None
) -> Instruction:
    """Return the instruction with the digests and claims of its variants, or of those of one spelling. A judge must
    have run a variant's program without a target; its programs on some targets must be ones that the judge ran for some
    variant."""
    asked = [v for v in instruction.variants if spelling in (None, v.spelling)]
    try:
        found = digests(instruction, asked, compiler)
    except SpecError:  # the check of the specification reports it
        return instruction
    ran: dict[str, set[str]] = defaultdict(set)
    earlier: dict[str, set[Judgement]] = defaultdict(set)
    for j in judgements:
        ran[j.by].add(j.program)
        earlier[j.variant].add(j)
    known = {(j.by, j.variant, j.program) for js in earlier.values() for j in js}
    present = {(v.spelling, own) for v, (own, *_) in found.items()}

    def claimed(v: Variant) -> Variant:
        own, *others = found[v]
        v = replace(v, program=together(found[v]))
        if v.claim not in FIXED:
            return v
        judges = tuple(by for by in JUDGES if (by, v.spelling, own) in known and ran[by].issuperset(others))
        if judges:
            return replace(v, claim="exact", judges=judges)
        lapsed = {j.by for j in earlier[v.spelling] if (j.variant, j.program) not in present}
        return replace(v, claim="unjudged", judges=tuple(by for by in JUDGES if by in lapsed))

    return replace(instruction, variants=tuple(claimed(v) if v in found else v for v in instruction.variants))
