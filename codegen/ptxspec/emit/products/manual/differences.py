"""The page of the differences between NVIDIA's manual and the assembler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ....check.checking import Checked
from ....model import Accuracy, Instruction, Spec, Variant
from ...parts import Parts
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


@dataclass(frozen=True)
class _Own:
    """An opcode's part of the page. `count` is the number of its variants in `differences`, and `asked` the digest of
    what the assembler is asked about it."""

    count: int
    differences: Sequence[Differing]
    asked: str
    folding: Sequence[folding.Folded]
    exceeded: Sequence[Accuracy]


def emit(spec: Spec, checked: Sequence[Checked], write: Writer, parts: Parts, site: Site) -> Files:
    """Return manual/differences if something was observed."""
    if spec.evidence is None:
        return {}
    own = {(n := c.instruction.opcode): parts.of("differences", n, "", partial(_own, spec, write, c)) for c in checked}
    values = {
        "evidence": spec.evidence,
        "count": sum(x.count for x in own.values()),
        "differences": [row for x in own.values() for row in x.differences],
        "changed": [o for o, asked in spec.evidence.asked.items() if o in own and asked != own[o].asked],
        "folding": [entry for x in own.values() for entry in x.folding],
        "exceeded": [(opcode, a) for opcode, x in own.items() for a in x.exceeded],
    }
    return site.page("differences", ["spec/observed/evidence.yaml", "spec/instructions/"], values)


def _own(spec: Spec, write: Writer, checked: Checked) -> _Own:
    i = checked.instruction
    return _Own(
        len(i.differing),
        rows(spec, i, write),
        spec.asked(i.opcode),
        folding.entries(spec, write, checked),
        [a for a in i.accuracy if a.exceeded],
    )


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
