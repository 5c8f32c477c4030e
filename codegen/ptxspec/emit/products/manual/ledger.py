"""The page of what NVIDIA's manual says and the assembler does."""

from __future__ import annotations

from collections.abc import Sequence

from ....model import Entry, Instruction, Spec
from ...text import Files
from .forms import Writer
from .site import Site


def emit(spec: Spec, instructions: Sequence[Instruction], write: Writer, site: Site) -> Files:
    """manual/ledger, where something was observed."""
    if spec.evidence is None:
        return {}
    values = {
        "evidence": spec.evidence,
        "count": len(spec.ledger),
        "ledger": _ledger(spec, write),
        "proven": is_proven(spec),
        "exceeded": [(i, a) for i in instructions for a in i.accuracy if a.exceeded],
    }
    return site.page("ledger", ["spec/observed/evidence.yaml", *(i.path for i in instructions)], values)


def is_proven(spec: Spec) -> bool:
    """The evidence is about this specification: it speaks of as many variants, and of the same differences."""
    variants = sum(len(i.variants) for i in spec.instructions.values())
    return spec.evidence is not None and spec.evidence.variants == variants and spec.evidence.ledger == spec.ledger


def _ledger(spec: Spec, write: Writer) -> list[tuple[Entry, Sequence[str]]]:
    """The ledger with the lines of an opcode in one that say the same of its variants."""
    found: dict[tuple[str, int, str, str], list[Entry]] = {}
    for e in spec.ledger:
        found.setdefault((e.variant.partition(".")[0], e.operands, e.manual, e.assembler), []).append(e)
    variants = {v.key: v for i in spec.instructions.values() for v in (*i.refused, *i.variants)}
    return [(same[0], write.whole(variants[e.variant, e.operands] for e in same)) for same in found.values()]
