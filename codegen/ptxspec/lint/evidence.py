"""Evidence that assembly in a program is PTX.

Other machines have statements that look like PTX, such as `fadd.f16 v0, v1, v2`. A statement with names that PTX does
not have is not enough evidence: it may be correct for another machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from ..ptx.scanning import HOLE
from ..query.database import Database
from . import traces
from .constraints import Constraints, uses

# Files that only contain CUDA.
_CUDA = frozenset([".cu", ".cuh"])
# Words of programs about CUDA or PTX; reg32 and the like are Rust's registers of PTX.
_WORDS = re.compile(
    r"__CUDA|__global__|__device__|\bcuda|\bCUDA|nvptx|\breg(?:16|32|64)\b|\btriton\b|inline_asm_elementwise|inline_ptx"
)
_END = re.compile(rf"\s*+[;{HOLE}]")
# The constraints of constants, beside those of registers.
_CONSTANTS = frozenset("niC")
# Operands of MLIR's inline PTX that are read, written, or both.
_OPERAND_OF_MLIR = re.compile(r"\$(?:r|w|rw)\d")
# Longer than any statement written by a person.
_LONGEST = 4096
_HEADER = re.compile(rf"\d+\.\d+|(?:sm|compute)_\d+[af]?|.*{HOLE}.*")


def is_cuda(file: str) -> bool:
    """Return whether a file's name says that all assembly in it is PTX."""
    return PurePath(file).suffix.lower() in _CUDA


def speaks_of_cuda(program: str) -> bool:
    return _WORDS.search(program) is not None


class PtxEvidence:
    """The evidence in one text so far. `certain`: it is PTX; `likely`: the program around it mentions CUDA, but may
    also have assembly of other machines, which seldom ends in a semicolon."""

    def __init__(self, db: Database, text: str, constraints: Constraints, certain: bool, likely: bool) -> None:
        self._types = db.types | db.other_types
        assembler = db.data["assembler"]
        self._registers, self._letters = assembler["registers"], assembler["constraints"]
        self._text, self._constraints, self._likely = text, constraints, likely
        others = "|".join(db.other_opcodes)
        self.certain = (
            certain
            or re.search(rf"(?<![\w.])(?:{others})(?:\.[\w:]+)*\.{traces.TYPE}\s[^;\n]{{0,200}}+;", text) is not None
        )

    def statement(self, head: str, operands: str, behind: int, ours: bool) -> None:
        """Record a statement with one of PTX's opcodes, whose end is `behind`. `ours`: its names are like PTX's."""
        names = _names(head)
        if self._types.isdisjoint(names):
            self.certain |= ours and (self._fit(names, operands) or (self._likely and self._ends(behind)))
        elif not self.certain:
            # Its names are PTX's. Registers of other machines have other names, and no semicolon follows them.
            self.certain = self._likely or bool(uses(operands)) or self._ends(behind) or self._fit(names, operands)

    def stranger(self, start: int, head: str) -> None:
        """Record a statement with an opcode that PTX does not have."""
        end = self._text.find(";", start, start + _LONGEST)
        if not self.certain and end >= 0:
            # Bare names are registers of other machines.
            operands = self._text[start + len(head) : end]
            self.certain = (self._likely and bool(uses(operands) or _OPERAND_OF_MLIR.search(operands))) or self._fit(
                _names(head), operands
            )

    def header(self, values: Sequence[str]) -> None:
        """Record `.version` or `.target`, which other assemblers have with other meanings."""
        self.certain |= any(_HEADER.fullmatch(v) for v in values)

    def _ends(self, behind: int) -> bool:
        return _END.match(self._text, behind) is not None

    def _fit(self, names: Sequence[str], operands: str) -> bool:
        """Return whether the constraints are PTX's, and those of a statement's operands match its types, and vice
        versa."""
        every = {c for c in self._constraints if c is not None}
        if not every <= self._letters.keys() | _CONSTANTS:
            return False
        letters = {self._constraints[n] for n in uses(operands) if n < len(self._constraints)} - _CONSTANTS
        held = [{*self._letters[c]} for c in letters if c is not None]
        wanted = [{*self._registers[n]} for n in names if n in self._registers]
        fitting = all(any(h & w for w in wanted) for h in held) and all(any(h & w for h in held) for w in wanted)
        return bool(held) and (fitting or not wanted)


def _names(head: str) -> list[str]:
    return "".join(head.split()).split(".")[1:]
