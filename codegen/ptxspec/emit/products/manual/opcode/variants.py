"""The variants of an instruction: those that say the same of themselves share a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....model import Instruction, Spec, Variant
from ..forms import Writer, statement
from .about import About


@dataclass(frozen=True)
class Row:
    """What a line of a page's table says of its variants."""

    operands: int
    statement: str
    claim: str
    requires: str
    manual: str
    stands_for: str
    measured: tuple[str, ...]
    hazard: bool
    crash: str
    reported: tuple[str, ...]
    inferred: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Variants of which a page's table says the same."""

    row: Row
    forms: Sequence[str]
    variants: int


@dataclass(frozen=True)
class Variants:
    """`refused` are those that the manual lists and the assembler takes nowhere; `differs`: the manual says otherwise
    of some."""

    rows: Sequence[Group]
    refused: Sequence[Group]
    differs: bool


def section(about: About) -> Variants:
    i = about.instruction
    rows, refused = (_rows(about.spec, about.write, i, vs) for vs in (i.variants, i.refused))
    return Variants(rows, refused, any(v.manual != v.requires for v in i.variants))


def _rows(spec: Spec, write: Writer, instruction: Instruction, variants: Sequence[Variant]) -> list[Group]:
    """The lines of a table of variants; those with the same cells share one."""
    found: dict[Row, list[Variant]] = {}
    for v in variants:
        found.setdefault(_row(spec, instruction, v), []).append(v)
    return [Group(row, write.whole(alike), len(alike)) for row, alike in found.items()]


def _row(spec: Spec, instruction: Instruction, v: Variant) -> Row:
    longer = instruction.stands_for(v)
    manual = "not listed" if v.manual is None else spec.catalog.text(v.manual)
    requires = spec.catalog.text(v.requires)
    return Row(
        operands=v.operands,
        statement=statement(v),
        claim=v.claim,
        requires=requires,
        manual="" if manual == requires else manual,
        stands_for=longer.spelling if longer else "",
        hazard=bool(v.hazards),
        crash=v.crash,
        measured=tuple(dict.fromkeys(r.target for r in spec.recordings if spec.claim(v, r.target) == "measured")),
        reported=spec.reported_on(v),
        inferred=spec.inferred_on(v),
    )
