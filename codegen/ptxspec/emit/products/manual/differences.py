"""The page of the differences between NVIDIA's manual and the assembler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....check.checking import Checked
from ....model import Instruction, Spec, Variant
from ...text import Files
from . import folding
from .forms import Writer
from .site import Site


@dataclass(frozen=True)
class Differing:
    """Variants for which the assembler does something else than the manual states. `counted`: variants with other
    numbers of operands have the same spelling."""

    opcode: str
    forms: Sequence[str]
    operands: int
    counted: bool
    manual: str
    assembler: str


def emit(spec: Spec, checked: Sequence[Checked], write: Writer, site: Site) -> Files:
    """Return manual/differences if something was observed."""
    if spec.evidence is None:
        return {}
    instructions = [c.instruction for c in checked]
    values = {
        "evidence": spec.evidence,
        "count": len(spec.differences),
        "differences": [row for i in instructions for row in rows(spec, i, write)],
        "changed": [o for o, asked in spec.evidence.asked.items() if o in spec.instructions and asked != spec.asked(o)],
        "folding": [entry for c in checked for entry in folding.entries(spec, write, c)],
        "exceeded": [(i, a) for i in instructions for a in i.accuracy if a.exceeded],
    }
    return site.page("differences", ["spec/observed/evidence.yaml", "spec/instructions/"], values)


def rows(spec: Spec, i: Instruction, write: Writer) -> list[Differing]:
    """Return the instruction's part of the page."""
    found: dict[tuple[int, str, str], list[Variant]] = {}
    refused = set(i.refused)
    for v in (*i.variants, *i.refused):
        if v.manual != v.requires:
            manual = spec.catalog.text(v.manual) if v.manual else "does not list it"
            assembler = "refuses it" if v in refused else spec.catalog.text(v.requires)
            found.setdefault((v.operands, manual, assembler), []).append(v)
    return [
        Differing(i.opcode, write.whole(vs), operands, write.operands(vs[0]) is not None, manual, assembler)
        for (operands, manual, assembler), vs in found.items()
    ]
