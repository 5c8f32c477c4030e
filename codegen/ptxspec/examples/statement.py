"""A variant as a statement of inline assembly: with operands that such a statement may have.

Predicates cannot be operands, nor can registers of eight bits: these are made of others in the statement's block."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model import BOOL, Operand, Spec, Variant

_OPERAND = re.compile(r"%(\w+)")
# What is taken in the place of a register that no letter names, the narrowest first.
_WIDER = {"b16": "h", "b32": "r"}


@dataclass(frozen=True)
class AsmOperand:
    """An operand of inline assembly: its name in the statement, and the letter of its register."""

    name: str
    letter: str


@dataclass(frozen=True)
class Statement:
    """`lines` hold operands as `%a`, and registers of their own without a percent sign. Of one line they are a
    statement, else the lines of a block."""

    lines: tuple[str, ...]
    results: tuple[AsmOperand, ...]
    sources: tuple[AsmOperand, ...]

    @property
    def places(self) -> tuple[AsmOperand, ...]:
        return (*self.results, *self.sources)

    def numbered(self, mark: str) -> list[str]:
        """Return the lines with numbers for operands, in their order."""
        return self.renamed({p.name: f"{mark}{n}" for n, p in enumerate(self.places)})

    def renamed(self, names: Mapping[str, str]) -> list[str]:
        """Return the lines with other texts for some operands."""
        return [_OPERAND.sub(lambda m: names.get(m[1], m[0]), line) for line in self.lines]


def ptx(v: Variant) -> str:
    """Return the statement with registers named like the operands."""
    return _written(v, [f"%{p}" for r in v.needed for p in r.places], [[f"%{p}" for p in s.places] for s in v.written])


def statement(spec: Spec, v: Variant) -> Statement | None:
    """Return a variant as a statement; None where an operand has a register that cannot be had, and where the statement
    alone makes no sense, as other statements read or set the condition code."""
    if v.has_implicit:
        return None
    writer = _Writer(spec, v)
    results = [writer.result(r, p) for r in v.needed for p in r.places]
    sources = [[writer.source(s, p) for p in s.places] for s in v.sources]
    if writer.impossible:
        return None
    text = _written(v, results, sources)
    lines = [*writer.declared, *writer.before, text, *writer.after]
    return Statement(tuple(lines), tuple(writer.results), tuple(writer.sources))


def _written(v: Variant, results: Sequence[str], sources: Sequence[Sequence[str]]) -> str:
    operands = ["|".join(results)]
    for s, names in zip(v.written, sources, strict=True):
        text = ", ".join(names)
        operands.append(f"{{{text}}}" if s.braced else text)
    return f"{v.spelling} {', '.join(operands)};"


class _Writer:
    """A writer that finds a register for each operand, and writes what brings others in and out."""

    def __init__(self, spec: Spec, v: Variant) -> None:
        self._spec, self._v = spec, v
        self.declared: list[str] = []
        self.before: list[str] = []
        self.after: list[str] = []
        self.results: list[AsmOperand] = []
        self.sources: list[AsmOperand] = []
        self.impossible = False

    def result(self, o: Operand, name: str) -> str:
        letter, own = self._letter(o), f"_{name}"
        if o.type.kind == BOOL:
            self.declared.append(f".reg .pred {own};")
            self.after.append(f"selp.b32 %{name}, 1, 0, {own};")
        elif letter == "":
            self.declared.append(f".reg .b8 {own};")
            self.after.append(f"mov.b16 %{name}, {{{own}, 0}};")
        self.results.append(AsmOperand(name, self._given(o, letter)))
        return own if letter == "" else f"%{name}"

    def source(self, o: Operand, name: str) -> str:
        letter, own = self._letter(o), f"_{name}"
        if o.type.kind == BOOL:
            self.declared.append(f".reg .pred {own};")
            self.before.append(f"setp.ne.b32 {own}, %{name}, 0;")
        elif letter == "":
            self.declared.append(f".reg .b8 {own}, {own}h;")
            self.before.append(f"mov.b16 {{{own}, {own}h}}, %{name};")
        self.sources.append(AsmOperand(name, self._given(o, letter)))
        return own if letter == "" else f"%{name}"

    def _given(self, o: Operand, letter: str) -> str:
        return letter or ("r" if o.type.kind == BOOL else "h")

    def _letter(self, o: Operand) -> str:
        """Return the letter that names a register of an operand; none where its own register must be made of
        another."""
        if o.type.kind == BOOL:
            return ""
        if o.type.constraint:
            return o.type.constraint
        taken = self._spec.registers(self._spec.instructions[self._v.opcode], self._v, o.type.name)
        letter = next((letter for register, letter in _WIDER.items() if register in taken), "")
        self.impossible |= not letter and "b8" not in taken
        return letter
