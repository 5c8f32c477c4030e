"""A recipe with a statement's own registers in place of %d, %a, %b and %c."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from ..ptx.operands import PAIR, PART, REGISTER, UNDECLARED, VECTOR, Operand
from ..query.database import Database, Variant

_REGISTER = re.compile(r"%\w+")
_OWN = re.compile(r"%_\w+")
_NAME = re.compile(r"[\w%$]+")
_CONSTRAINED = re.compile(r'"=?&?(\w)"\((\w+)\)')
# Registers by the names that a recipe gives them, each with a type as wide.
Places: TypeAlias = Sequence[tuple[str, str]]


def places(variant: Variant, operands: Sequence[Operand]) -> Places:
    """Return the registers of a statement with these operands."""
    names = [place.strip("{} ") for place in re.split(r"[,|]", variant.places)]
    types = [variant.result] * variant.result_registers + ([variant.second] if variant.second else [])
    types += [source.type for source in variant.sources for _ in range(source.registers)]
    if variant.second is not None and operands and operands[0].kind != PAIR:
        names.remove("q")
        types.remove(variant.second)
    return list(zip(names, types, strict=True))


def places_of_missing(db: Database, opcode: str, names: Sequence[str]) -> Places:
    """Return the registers of a spelling that PTX does not have, as its recipe has them; none if it has no recipe."""
    found = db.missing(opcode, names)
    registers = db.data["assembler"]["constraints"]
    return [(name, registers[c][0]) for c, name in _CONSTRAINED.findall(found[1][0].cuda)] if found else []


def filled(recipe: str, db: Database, places: Places, operands: Sequence[Operand], embedded: bool) -> str:
    """Return a recipe with the operands of a statement filled in. It is unchanged unless all operands are registers as
    wide as their types: a statement of the recipe may not accept a constant, or a value in a wider register.

    In a string of inline assembly a percent sign marks an operand, so the recipe's own registers have none."""
    parts = [part for o in operands for part in (o.parts if o.kind in (VECTOR, PAIR) else (o,))]
    if len(places) != len(parts) or not all(_fits(db, p.kind, t) for p, (_, t) in zip(parts, places, strict=True)):
        return recipe
    texts = {f"%{place}": part.text for (place, _), part in zip(places, parts, strict=True)}
    # A register of the recipe would hide one of the statement's with the same name.
    taken = {name for part in parts for name in _NAME.findall(part.text)}
    own = {name: name[1:] if embedded else name for name in _OWN.findall(recipe)}
    while not taken.isdisjoint(own.values()):
        own = {name: f"{new}_" for name, new in own.items()}
    return _REGISTER.sub(lambda m: texts.get(m[0]) or own.get(m[0], m[0]), recipe)


def _fits(db: Database, kind: str, type: str) -> bool:
    """Return whether an operand may be a register as wide as a type, as far as is known."""
    registers = db.data["assembler"]["constraints"].get(kind.strip('"'), (kind[1:],))
    types = db.data["types"]
    if kind[0] in '."':
        return any(r in types and types[r]["width"] == types[type]["width"] for r in registers)
    return kind in (REGISTER, UNDECLARED, PART)
