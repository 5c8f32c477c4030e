"""The errors in the types of registers and variables that a text declares, and in their names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..catalog.explaining import meant_type
from ..ptx.registers import Registers, as_held
from ..ptx.scanning import COMMENT, HOLE, Declaration, Problem
from ..query.database import Database

_HIDDEN = re.compile(rf'{COMMENT}|"[^"]*"|=[^;]*')
_REGISTER = re.compile(r"\.reg\b\s*+(?:\.align\s++\d++\s*+)?(?:\.v[24]\b\s*+)?\.(?P<type>[A-Za-z]\w*+)", re.ASCII)
_TYPE = re.compile(rf"\.(?P<type>[A-Za-z]\w*+)(?![\w{HOLE}])", re.ASCII)


class Declarations:
    """A judge of declarations. Types of instructions need not be types of registers: bfloat16 numbers are in registers
    of bits."""

    def __init__(self, db: Database) -> None:
        assembler = db.data["assembler"]
        every = (*assembler["registers"].values(), *assembler["constraints"].values())
        self._held = {r: None for registers in every for r in registers}
        self._holds = {t: as_held(t, assembler["registers"]) for t in db.types}
        # Types of textures are opaque: variables may have them, but registers may not.
        self._foreign = {t for t in (*db.types, *db.other_types) if not t.endswith("ref")} - self._held.keys()

    def problems(self, item: Declaration) -> Iterator[Problem]:
        """Yield what is wrong with the types in a declaration."""
        if item.text is None or item.text[0] in "{}":
            return
        text = _HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), item.text)
        declared = {m.start("type") for m in _REGISTER.finditer(text)}
        for m in _TYPE.finditer(text):
            type = m["type"]
            if type in self._foreign or (m.start("type") in declared and type not in self._held):
                yield self._problem(type, item.start + m.start())

    def repeated(self, item: Declaration, registers: Registers) -> Iterator[Problem]:
        """Yield the registers that their block has already."""
        for name, offset in registers.repeated(item.text) if item.text else ():
            message = f"{name} is declared twice in this block"
            yield Problem(item.start + offset, len(name), "repeated-register", message, "name it once")

    def mended(self, text: str | None) -> str | None:
        """Return a declaration with the types that were meant, by which uses of the declared names are then checked."""
        return text and _TYPE.sub(lambda m: f".{self._right(m['type'])}" if m["type"] in self._foreign else m[0], text)

    def _right(self, type: str) -> str:
        """Return the type that was meant by one that no register has; the same one if unknown."""
        meant = self._holds.get(type) or meant_type(type)
        return next((t for t in (meant, type.lower()) if t in self._held), type)

    def _problem(self, type: str, start: int) -> Problem:
        what = "type" if type not in self._foreign else "register or variable of type"
        right = self._right(type)
        help = f"types are {' '.join(f'.{r}' for r in self._held)}"
        if right != type:
            help = f"write .{right}"
        elif re.fullmatch(r"v\d+", type):
            help = "vectors are .v2 and .v4"
        return Problem(start, len(type) + 1, "unknown-type", f"there is no {what} .{type}", help)
