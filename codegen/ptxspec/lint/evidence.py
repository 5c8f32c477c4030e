"""What says that assembly in a program is PTX.

Other machines have statements that look like it, as `fadd.f16 v0, v1, v2` does: a statement's own names are not enough
where they are none of PTX's, since they may be another machine's, and spelled right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from ..ptx.scanning import HOLE
from ..query.database import Database
from .constraints import Constraints

# Files of nothing but CUDA.
_CUDA = frozenset([".cu", ".cuh"])
# What no program has that is not about CUDA or PTX; reg32 and its kin are Rust's registers of PTX.
_WORDS = re.compile(
    r"__CUDA|__global__|__device__|\bcuda|\bCUDA|nvptx|\breg(?:16|32|64)\b|\btriton\b|inline_asm_elementwise|inline_ptx"
)
_NUMBER = re.compile(r"[%$](\d++)")
_END = re.compile(rf"\s*+[;{HOLE}]")
# The constraints of constants, which stand beside those of registers.
_CONSTANTS = frozenset("niC")
_HEADER = re.compile(rf"\d+\.\d+|(?:sm|compute)_\d+[af]?|.*{HOLE}.*")


def is_cuda(file: str) -> bool:
    """Whether a file's name says that all assembly in it is PTX."""
    return PurePath(file).suffix.lower() in _CUDA


def speaks_of_cuda(program: str) -> bool:
    return _WORDS.search(program) is not None


class Evidence:
    """What one text says of itself so far. `certain`: something says that it is PTX; `likely`: the program around it
    speaks of CUDA, but may have other machines' assembly too, which seldom ends in a semicolon."""

    def __init__(self, db: Database, text: str, constraints: Constraints, certain: bool, likely: bool) -> None:
        self._types = db.types | db.other_types
        assembler = db.data["assembler"]
        self._registers, self._letters = assembler["registers"], assembler["constraints"]
        self._text, self._constraints, self._likely = text, constraints, likely
        others = "|".join(assembler["other_opcodes"])
        self.certain = certain or re.search(rf"\b(?:{others})(?:\.[\w:]+)*\.[bsuf]\d+\s[^;]*;", text) is not None

    def statement(self, head: str, operands: str, behind: int, known: bool) -> None:
        """A statement, which ends where `behind` is. `known`: PTX has its opcode."""
        _, *names = "".join(head.split()).split(".")
        ended = _END.match(self._text, behind) is not None
        fitting = self._fit(names, operands)
        if known and not self._types.isdisjoint(names):
            # Spelled as PTX is. Registers of other machines have names of their own, and no semicolon behind them.
            self.certain |= ended or fitting or self._likely or _NUMBER.search(operands) is not None
        else:
            self.certain |= (fitting and (known or ended)) or (self._likely and ended)

    def stranger(self, start: int, head: str) -> None:
        """A statement of an opcode that PTX does not have."""
        end = self._text.find(";", start)
        behind = end if end >= 0 else len(self._text)
        self.statement(head, self._text[start + len(head) : behind], behind, known=False)

    def header(self, values: Sequence[str]) -> None:
        """`.version` or `.target`, which other assemblers have for other things."""
        self.certain |= any(_HEADER.fullmatch(v) for v in values)

    def _fit(self, names: Sequence[str], operands: str) -> bool:
        """Whether the constraints are PTX's, and those of a statement's operands are of its types, each of which some
        operand has."""
        every = {c for c in self._constraints if c is not None}
        if not every <= self._letters.keys() | _CONSTANTS:
            return False
        numbers = [int(n) for n in _NUMBER.findall(operands)]
        letters = {self._constraints[n] for n in numbers if n < len(self._constraints)} - _CONSTANTS
        held = [{*self._letters[c]} for c in letters if c is not None]
        wanted = [{*self._registers[n]} for n in names if n in self._registers]
        fitting = all(any(h & w for w in wanted) for h in held) and all(any(h & w for h in held) for w in wanted)
        return bool(held) and (fitting or not wanted)
