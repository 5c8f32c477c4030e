"""A recipe with a statement's own registers in the places of %d, %a, %b and %c."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..ptx.operands import PAIR, REGISTER, VECTOR, Operand
from ..query.database import Variant

_PLACE = re.compile(r"%[a-z]\w*")
_OWN = re.compile(r"%(?=_)")


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
    text = _PLACE.sub(lambda m: texts.get(m[0], m[0]), recipe)
    return _OWN.sub("", text) if embedded else text
