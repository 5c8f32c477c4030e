"""The syntax of an instruction: its lines, what each name in them means, and what its operands may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....compact import named_in
from .....model import Instruction, Spec, Type, Variant
from .....model.spec import Modifier
from ..forms import unpacking
from .about import About


@dataclass(frozen=True)
class Line:
    """A line of the syntax, and what is to be said of it."""

    text: str
    remark: str


@dataclass(frozen=True)
class Operands:
    """The operands of a type: the manual's registers, the registers that the assembler takes, and the constants."""

    type: Type
    registers: str
    taken: str
    constants: str


@dataclass(frozen=True)
class Syntax:
    lines: Sequence[Line]
    groups: Mapping[str, Sequence[str]]
    modifiers: Sequence[Modifier]
    types: Sequence[Operands]
    assembler: str


def section(about: About) -> Syntax:
    spec, i = about.spec, about.instruction
    used = {name for v in i.variants for name in v.modifiers}
    texts = [*(s.text for s in i.syntax), *about.write.whole(i.variants), *about.write.whole(i.refused)]
    return Syntax(
        lines=[*_lines(i), *_unpacking(i)],
        groups={**named_in(texts, spec.notation), **_asked(about)},
        modifiers=[m for m in spec.modifiers.values() if m.name in used],
        types=_operands(spec, i),
        assembler=spec.assembler.observed,
    )


def _asked(about: About) -> Mapping[str, Sequence[str]]:
    """Return the groups of modifiers that the instruction has members of; of those that are the same, the first."""
    used = {name for v in about.instruction.variants for name in v.modifiers}
    found = dict[str, Sequence[str]]()
    for group, members in about.spec.groups.items():
        if not used.isdisjoint(members) and members not in found.values():
            found[group] = members
    return found


def _lines(instruction: Instruction) -> list[Line]:
    """Return the lines of the syntax. The last PTX version that has a line's spellings stands behind it where none
    exists any more."""
    ends = {v.form: v.requires.until for v in instruction.variants}
    refused = {v.form for v in instruction.refused}
    found = []
    for line in instruction.syntax:
        until = {ends[form] for form in line.forms if form in ends}
        said = ["not in the manual"] * (not line.listed)
        said += [f"until PTX {last}" for last in until if last and len(until) == 1]
        said += [f"refused by {instruction.observed}"] * (not refused.isdisjoint(line.forms))
        found.append(Line(line.text, ", ".join(said)))
    return found


def _unpacking(instruction: Instruction) -> list[Line]:
    remark = "the other way round; _ stands for a register that is not wanted"
    return [Line(text, "" if n else remark) for n, text in enumerate(unpacking(instruction))]


def _operands(spec: Spec, instruction: Instruction) -> list[Operands]:
    first: dict[Type, Variant] = {}
    for v in instruction.variants:
        for t in (*v.types, *(o.type for o in (v.result, *v.sources) if o.name != "p")):
            first.setdefault(t, v)
    return [
        Operands(
            type=t,
            registers=instruction.registers.get(t.name, t.registers),
            taken=", ".join(f".{r}" for r in spec.registers(instruction, v, t.name)),
            constants=_constants(spec.constants(instruction, v, t.name)),
        )
        for t, v in first.items()
    ]


def _constants(sorts: tuple[str, ...] | None) -> str:
    floats = bool(sorts) and not set(sorts or ()).isdisjoint(("single", "double"))
    found = ["floating-point ones"] * floats + ["integers"] * ("integer" in (sorts or ()))
    return "" if sorts is None else " and ".join(found) or "none"
