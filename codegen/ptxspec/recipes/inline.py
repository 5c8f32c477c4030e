"""The operands of a recipe as CUDA's inline assembly has them."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Instead, Operand, Type, Variant

# The letter of 16 bits. An instruction on an integer of 8 bits also accepts a wider register.
_WIDER = "h"


def asm_operands(variant: Variant, instead: Instead) -> str:
    """Return the part of an asm statement after its text; empty if inline assembly has no letter for an operand's
    register: a predicate, or 8 bits that a statement of the recipe does not accept in a wider register."""
    results = [(place, _letter(o, place, instead)) for o in variant.results[:1] for place in o.places]
    sources = [(place, _letter(o, place, instead)) for o in variant.sources for place in o.places]
    if variant.has_implicit or not all(letter for _, letter in (*results, *sources)):
        return ""
    outputs = ", ".join(f'"={letter}"({name})' for name, letter in results)
    inputs = ", ".join(f'"{letter}"({name})' for name, letter in sources)
    return f"{outputs} : {inputs}"


def _letter(o: Operand, place: str, instead: Instead) -> str:
    """Return the letter for a register; empty if there is none."""
    if o.type.constraint:
        return o.type.constraint
    types = list(_types(f"%{place}", instead))
    return _WIDER if types and all(t.kind.sort == "integer" and t.width == 8 for t in types) else ""


def _types(register: str, instead: Instead) -> Iterator[Type]:
    """Yield the types as which statements of a recipe read or write a register."""
    for call in instead.calls:
        for written, operands in ((call.results, call.variant.results), (call.arguments, call.variant.sources)):
            types = [o.type for o in operands for _ in o.places]
            yield from (t for name, t in zip(written, types, strict=False) if name == register)
