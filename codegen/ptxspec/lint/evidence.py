"""Evidence that assembly in a program is PTX.

Other machines have statements that look like PTX, as `fadd.f16 v0, v1, v2` does. The names in a statement are not
evidence enough where PTX does not have them: they may be another machine's, spelled right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from ..ptx.scanning import HOLE
from ..query.database import Database
from . import traces
from .constraints import Constraints, uses

# Files of nothing but CUDA.
_CUDA = frozenset([".cu", ".cuh"])
# What no program has that is not about CUDA or PTX; reg32 and its kin are Rust's registers of PTX.
_WORDS = re.compile(
    r"__CUDA|__global__|__device__|\bcuda|\bCUDA|nvptx|\breg(?:16|32|64)\b|\btriton\b|inline_asm_elementwise|inline_ptx"
)
_END = re.compile(rf"\s*+[;{HOLE}]")
# The constraints of constants, which stand beside those of registers.
_CONSTANTS = frozenset("niC")
# Operands of MLIR's inline PTX, where they are read, written, or both.
_OPERAND_OF_MLIR = re.compile(r"\$(?:r|w|rw)\d")
# A statement that a person writes.
_LONGEST = 4096
_HEADER = re.compile(rf"\d+\.\d+|(?:sm|compute)_\d+[af]?|.*{HOLE}.*")


def is_cuda(file: str) -> bool:
    """Return whether a file's name says that all assembly in it is PTX."""
    return PurePath(file).suffix.lower() in _CUDA


def speaks_of_cuda(program: str) -> bool:
    return _WORDS.search(program) is not None


class Evidence:
    """The evidence that one text has given so far. `certain`: something says that it is PTX; `likely`: the program
    around it speaks of CUDA, but may have other machines' assembly too, which seldom ends in a semicolon."""

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
        """Take in a statement of an opcode that PTX has, which ends where `behind` is. `ours`: its names are like
        PTX's."""
        names = _names(head)
        if self._types.isdisjoint(names):
            self.certain |= ours and (self._fit(names, operands) or (self._likely and self._ends(behind)))
        elif not self.certain:
            # Spelled as PTX is. Registers of other machines have names of their own, and no semicolon behind them.
            self.certain = self._likely or bool(uses(operands)) or self._ends(behind) or self._fit(names, operands)

    def stranger(self, start: int, head: str) -> None:
        """Take in a statement of an opcode that PTX does not have."""
        end = self._text.find(";", start, start + _LONGEST)
        if not self.certain and end >= 0:
            # Bare names are registers of other machines.
            operands = self._text[start + len(head) : end]
            self.certain = (self._likely and bool(uses(operands) or _OPERAND_OF_MLIR.search(operands))) or self._fit(
                _names(head), operands
            )

    def header(self, values: Sequence[str]) -> None:
        """Take in `.version` or `.target`, which other assemblers have for other things."""
        self.certain |= any(_HEADER.fullmatch(v) for v in values)

    def _ends(self, behind: int) -> bool:
        return _END.match(self._text, behind) is not None

    def _fit(self, names: Sequence[str], operands: str) -> bool:
        """Return whether the constraints are PTX's, and those of a statement's operands are of its types, each of which
        some operand has."""
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
