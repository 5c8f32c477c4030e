"""The operands of statements, as ptx/matching.py checks them, and the constants among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .assembler import ASSEMBLER, OTHER_TYPES
from .catalog.known import is_elsewhere
from .index import TYPES
from .ptx import constants
from .rows import Row, opcode_named, rows_of
from .signature import Signature, Type, signature


class Source(NamedTuple):
    type: str
    registers: int
    braced: bool
    negatable: bool


class Statement(NamedTuple):
    """A statement with the attributes that ptx/matching.py uses."""

    row: Row
    result: str
    result_registers: int
    second: str | None
    sources: tuple[Source, ...]

    @property
    def opcode(self) -> str:
        return self.row.opcode

    @property
    def spelling(self) -> str:
        return self.row.variant.spelling


class Rules:
    """The rules that ptx/matching.py uses."""

    assembler = ASSEMBLER

    def has_two_results(self, opcode: str) -> bool:
        return any(_has_two(signature(operands)) for operands in {row.signature for row in rows_of(opcode)})

    def has_vectors_elsewhere(self, opcode: str) -> bool:
        return opcode_named(opcode).vectors_elsewhere

    def unpacks(self, opcode: str) -> bool:
        return opcode_named(opcode).unpacks

    def operand_rules(self, v: Statement) -> Sequence[Mapping[str, Any]]:
        return v.row.group.operand_rules


def _has_two(s: Signature) -> bool:
    return (len(s.results) > 1 and not s.results[1].implicit) or len(s.results[0].registers) > 1


def is_other(opcode: str, names: Sequence[str]) -> bool:
    """Return whether a spelling belongs to other instructions with the same opcode."""
    rules, own = opcode_named(opcode).assembler, {row.types for row in rows_of(opcode)}
    return bool(rules) and is_elsewhere(names, rules, lambda n: n in TYPES or n in OTHER_TYPES, own)


def statement(row: Row, s: Signature) -> Statement:
    first = s.results[0]
    sources = tuple(Source(o.type.name, len(o.registers), o.braced, o.negatable) for o in s.sources if not o.implicit)
    pair = len(s.results) > 1 and not s.results[1].implicit
    second = s.results[1].type.name if pair else None
    return Statement(row, first.type.name, len(first.registers), second, sources)


def reversed_signature(s: Signature) -> Signature:
    """Return the signature of a statement in the opposite direction, whose vector is the result."""
    (d,), (a,) = s.results, s.sources
    names = tuple(f"d{i}" for i in range(len(a.registers)))
    return signature(((("d", a.type.name, names),), (("a", d.type.name),)))


def bits_of(kind: str, value: float | int, t: Type) -> np.generic:
    """Return the bits of a constant as an operand of a type: a double is rounded to f32, integers and bits are
    truncated."""
    if t.sort == "bool":
        return np.bool_(bool(value))
    word: Callable[[Any], np.generic] = t.bits.type
    if kind == constants.DOUBLE:
        number = np.array(value, np.float64)
        if t.native_name == "float32":
            with np.errstate(all="ignore"):
                number = number.astype(np.float32)
        return word(number.view(f"u{number.itemsize}")[()])
    return word(int(value) & ((1 << 8 * t.bits.itemsize) - 1))
