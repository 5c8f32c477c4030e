"""A recipe with a statement's own registers in place of %d, %a, %b and %c."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..ptx.operands import PAIR, PART, REGISTER, UNDECLARED, VECTOR, Operand
from ..query.database import Database, Variant

_REGISTER = re.compile(r"%\w+")
_OWN = re.compile(r"%_\w+")
_NAME = re.compile(r"[\w%$]+")


def filled(recipe: str, db: Database, variant: Variant, operands: Sequence[Operand], embedded: bool) -> str:
    """Return a recipe with the operands of a statement filled in. It is unchanged unless all operands are registers as
    wide as their types: a statement of the recipe may not accept a constant, or a value in a wider register.

    In a string of inline assembly a percent sign marks an operand, so the recipe's own registers have none."""
    places = [place.strip("{} ") for place in re.split(r"[,|]", variant.places)]
    parts = [part for o in operands for part in (o.parts if o.kind in (VECTOR, PAIR) else (o,))]
    types = [variant.result] * variant.result_registers + ([variant.second] if variant.second else [])
    types += [source.type for source in variant.sources for _ in range(source.registers)]
    if variant.second is not None and operands and operands[0].kind != PAIR:
        places.remove("q")
        types.remove(variant.second)
    if len(places) != len(parts) or not all(_fits(db, p.kind, t) for p, t in zip(parts, types, strict=True)):
        return recipe
    texts = {f"%{place}": part.text for place, part in zip(places, parts, strict=True)}
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
