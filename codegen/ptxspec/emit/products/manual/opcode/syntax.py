"""The syntax of an instruction: its lines, the meaning of each name in them, and the types of its operands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from .....compact import named_in
from .....model import Instruction, Spec, SyntaxLine, Type, Variant
from .....model.spec import Modifier
from .....read.notation import Spellings, parse_line
from ..forms import statement, unpacking
from .about import About
from .highlight import linked
from .remarks import Facts, Remark, facts, remarks, shared

# If there are more lines than this, only the first of them are shown unfolded.
_WHOLE, _SHOWN = 20, 16


@dataclass(frozen=True)
class Line:
    """A line of the syntax. `shown` is its spelling with a link from each name to its explanation; `said` is a remark
    on the whole line."""

    spelling: str
    shown: Markup
    operands: str
    remarks: Sequence[Remark]
    said: str

    @property
    def comment(self) -> str:
        """All remarks on the line, as text."""
        return ", ".join([*(r.whole for r in self.remarks), *filter(None, [self.said])])


@dataclass(frozen=True)
class Block:
    """Lines that are shown together, and their placeholders that no earlier block explains."""

    lines: Sequence[Line]
    groups: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Reading:
    """An example of each part of the notation that the lines use, or nothing. `typed` is a variant that ends in several
    types, `lanes` are the registers of an operand's lanes."""

    optional: str
    choice: str
    typed: Variant | None
    lanes: Sequence[str]


@dataclass(frozen=True)
class Operands:
    """The operands of a type: the registers in the manual, those that the assembler accepts, and the constants."""

    type: Type
    registers: str
    taken: str
    constants: str


@dataclass(frozen=True)
class Syntax:
    """The section. `remarks` apply to all lines. `groups` are the placeholders that occur only elsewhere on the page.
    `modifiers` does not include the comparisons, which have a table of their own."""

    blocks: Sequence[Block]
    reading: Reading
    remarks: Sequence[Remark]
    groups: Mapping[str, Sequence[str]]
    modifiers: Sequence[Modifier]
    types: Sequence[Operands]
    assembler: str


def section(about: About) -> Syntax:
    spec, i = about.spec, about.instruction
    used = {name for v in i.variants for name in v.modifiers}
    compared = {name for group in i.comparisons for name in spec.groups[group]}
    types = _operands(spec, i)
    explained = frozenset((*used, *(t.type.name for t in types)))
    parsed = {line: parse_line(line.text, i.opcode, spec.notation) for line in i.syntax}
    everywhere = shared(list(parsed.values()), spec.types)
    lines = [*_lines(spec, i, parsed, everywhere, explained), *_unpacking(spec, i, explained)]
    blocks = _blocks(lines, spec)
    defined = {name for b in blocks for name in b.groups}
    texts = [*about.write.whole(i.variants), *about.write.whole(i.refused)]
    others = {**named_in(texts, spec.notation), **_asked(about)}
    return Syntax(
        blocks=blocks,
        reading=_reading(i, lines),
        remarks=remarks(everywhere),
        groups={name: members for name, members in others.items() if name not in defined},
        modifiers=[m for m in spec.modifiers.values() if m.name in used - compared],
        types=types,
        assembler=spec.assembler.observed,
    )


def _asked(about: About) -> Mapping[str, Sequence[str]]:
    """Return the groups of modifiers with members in the instruction; of equal groups, the first."""
    used = {name for v in about.instruction.variants for name in v.modifiers}
    found = dict[str, Sequence[str]]()
    for group, members in about.spec.groups.items():
        if not used.isdisjoint(members) and members not in found.values():
            found[group] = members
    return found


def _lines(
    spec: Spec, i: Instruction, parsed: Mapping[SyntaxLine, Spellings], everywhere: Facts, explained: frozenset[str]
) -> list[Line]:
    """Return the lines of the syntax. A line whose spellings no longer exist names their last PTX version."""
    every = (*i.variants, *i.refused)
    ends = {v.form: v.requires.until for v in i.variants}
    refused = {v.form for v in i.refused}
    found = []
    for line, spellings in parsed.items():
        until = {ends[form] for form in line.forms if form in ends}
        said = ["not in NVIDIA's manual"] * (not line.listed)
        said += [f"until PTX {last}" for last in until if last and len(until) == 1]
        said += [f"not accepted by {i.observed}"] * (not refused.isdisjoint(line.forms))
        own = {name: f for name, f in facts(spellings, spec.types).items() if everywhere.get(name) != f}
        operands = statement(next(v for v in every if line.gives(v)))
        found.append(_line(spec, line.text.split()[0], operands, explained, remarks(own), ", ".join(said)))
    return found


def _unpacking(spec: Spec, instruction: Instruction, explained: frozenset[str]) -> list[Line]:
    said = "unpacks a register; _ stands for a part that is not needed"
    texts = [text.partition(" ") for text in unpacking(instruction)]
    return [_line(spec, text[0], text[2], explained, (), "" if n else said) for n, text in enumerate(texts)]


def _line(
    spec: Spec, spelling: str, operands: str, explained: frozenset[str], remarks: Sequence[Remark], said: str
) -> Line:
    return Line(spelling, linked(spelling, spec.notation, explained), operands, remarks, said)


def _blocks(lines: Sequence[Line], spec: Spec) -> list[Block]:
    shown = _SHOWN if len(lines) > _WHOLE else len(lines)
    found: list[Block] = []
    for part in filter(None, (lines[:shown], lines[shown:])):
        known = {name for b in found for name in b.groups}
        groups = named_in((line.spelling for line in part), spec.notation)
        found.append(Block(part, {name: members for name, members in groups.items() if name not in known}))
    return found


def _reading(instruction: Instruction, lines: Sequence[Line]) -> Reading:
    def example(pattern: str) -> str:
        return next((m[0] for line in lines if (m := re.search(pattern, line.spelling))), "")

    typed = ((v, v.result.type, v.sources[0].type) for v in instruction.variants)
    plain = (v for v, result, source in typed if v.types == (result, source) and result is not source)
    lanes = (s.registers for v in instruction.variants for s in (v.result, *v.sources) if s.registers and not s.braced)
    return Reading(example(r"(?<!\.)\{\.[^{}]*\}"), example(r"\.\{[^{}]*\}"), next(plain, None), next(lanes, ()))


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
    found = ["floating-point"] * floats + ["integer"] * ("integer" in (sorts or ()))
    return "" if sorts is None else " and ".join(found) or "none"
