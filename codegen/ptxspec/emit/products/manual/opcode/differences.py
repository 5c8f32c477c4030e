"""The differences between the assembler and NVIDIA's manual, and whether the assembler has been observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import differences
from .about import About


@dataclass(frozen=True)
class Section:
    """The section. `rows` are the instruction's part of the page. `unasked`: the assembler was not asked about these
    variants, or they or their requirements have `changed` since."""

    rows: Sequence[differences.Differing]
    assembler: str
    unasked: bool
    changed: bool


def section(about: About) -> Section:
    i, evidence = about.instruction, about.spec.evidence
    asked = evidence.asked.get(i.opcode) if evidence else None
    return Section(
        differences.rows(about.spec, i, about.write),
        evidence.assembler if evidence else "",
        unasked=evidence is not None and asked is None,
        changed=asked is not None and asked != about.spec.asked(i.opcode),
    )
