"""Variants as the manual's pages write them: many at once, in the notation of its syntax lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ....compact import compact
from ....model import Instruction, Operand, Spec, Variant


@dataclass(frozen=True)
class Forms:
    """Notations of variants of one opcode. `operands` is set if the spelling alone does not distinguish them from
    others."""

    opcode: str
    texts: tuple[str, ...]
    operands: int | None = None

    @property
    def whole(self) -> list[str]:
        return [self.opcode + text for text in self.texts]

    @property
    def counted(self) -> str:
        return "" if self.operands is None else f" ({self.operands})"


class Writer:
    """A writer of a specification's variants in few words."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    def __call__(self, variants: Iterable[Variant]) -> list[Forms]:
        """Return the variants for pages about several opcodes: texts without the opcode, and the number of operands if
        it distinguishes variants."""
        found: dict[tuple[str, int | None], list[Variant]] = {}
        for v in variants:
            found.setdefault((v.opcode, self.operands(v)), []).append(v)
        return [Forms(opcode, self._texts(alike), operands) for (opcode, operands), alike in found.items()]

    def operands(self, v: Variant) -> int | None:
        """Return the number of operands if the spelling alone does not distinguish the variant from others."""
        return v.operands if v.key[0] in self._ambiguous else None

    def whole(self, variants: Iterable[Variant]) -> list[str]:
        """Return the variants for the page of their opcode: texts with the opcode."""
        alike = list(variants)
        return [alike[0].opcode + text for text in self._texts(alike)] if alike else []

    def _texts(self, variants: Iterable[Variant]) -> tuple[str, ...]:
        return tuple(compact(((v.modifiers, v.type_names) for v in variants), self.spec.notation))

    @cached_property
    def _ambiguous(self) -> set[str]:
        """The spellings that several variants share."""
        spellings = Counter(v.spelling for i in self.spec.instructions.values() for v in i.variants)
        return {s for s, n in spellings.items() if n > 1}


def statement(v: Variant) -> str:
    """Return the operands as in a syntax line, without their types: `p{|q}, a, b, {!}c`."""
    result = "|".join(v.result.places) + ("" if not v.pair else "|q" if v.pair in v.needed else "{|q}")
    return ", ".join([result, *map(_source, v.written)])


def unpacking(instruction: Instruction) -> list[str]:
    """Return the reverse statements, whose result is a vector."""
    packing = [(v, s) for v in instruction.variants for s in v.sources if s.braced] if instruction.unpacks else []
    return [f"{v.spelling} {{{', '.join(r.replace(s.name, 'd') for r in s.registers)}}}, a" for v, s in packing]


def _source(s: Operand) -> str:
    text = ", ".join(s.places)
    return f"{{{text}}}" if s.braced else f"{{!}}{text}" if s.negatable else text
