"""A recipe with a statement's own registers in the places of %d, %a, %b and %c."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..ptx.operands import PAIR, REGISTER, VECTOR, Operand
from ..query.database import Variant

_REGISTER = re.compile(r"%\w+")
_OWN = re.compile(r"%_\w+")
_NAME = re.compile(r"[\w%$]+")


def filled(recipe: str, variant: Variant, operands: Sequence[Operand], embedded: bool) -> str:
    """As it is where the operands are not registers all: a statement of the recipe need not take a constant.

    In a string of inline assembly a percent sign is an operand's, and registers of the recipe's own go without."""
    places = [place.strip("{} ") for place in re.split(r"[,|]", variant.places)]
    parts = [part for o in operands for part in (o.parts if o.kind in (VECTOR, PAIR) else (o,))]
    if variant.second is not None and operands and operands[0].kind != PAIR:
        places.remove("q")
    if len(places) != len(parts) or any(part.kind != REGISTER for part in parts):
        return recipe
    texts = {f"%{place}": part.text for place, part in zip(places, parts, strict=True)}
    # A register of the recipe's own would hide one of the statement's that has its name.
    taken = {name for part in parts for name in _NAME.findall(part.text)}
    own = {name: name[1:] if embedded else name for name in _OWN.findall(recipe)}
    while not taken.isdisjoint(own.values()):
        own = {name: f"{new}_" for name, new in own.items()}
    return _REGISTER.sub(lambda m: texts.get(m[0]) or own.get(m[0], m[0]), recipe)
