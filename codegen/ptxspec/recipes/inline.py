"""The operands of a recipe as CUDA's inline assembly has them."""

from __future__ import annotations

from ..model import Variant


def asm_operands(variant: Variant) -> str:
    """Return the part of an asm statement after its text; empty if inline assembly has no letter for an operand's
    register: predicates and registers of eight bits cannot be operands."""
    results = [(place, o.type.constraint) for o in variant.results[:1] for place in o.places]
    sources = [(place, o.type.constraint) for o in variant.sources for place in o.places]
    if variant.has_implicit or not all(letter for _, letter in (*results, *sources)):
        return ""
    outputs = ", ".join(f'"={letter}"({name})' for name, letter in results)
    inputs = ", ".join(f'"{letter}"({name})' for name, letter in sources)
    return f"{outputs} : {inputs}"
