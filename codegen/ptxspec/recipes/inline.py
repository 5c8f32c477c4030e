"""A recipe as CUDA inline assembly."""

from __future__ import annotations

import re

from ..model import Instead, Variant

_REGISTER = re.compile(r"%\w+")


def inline_assembly(variant: Variant, instead: Instead) -> str:
    """An asm statement; empty where no letter of inline assembly names an operand's register: predicates cannot be
    operands."""
    results = [(place, o.type.constraint) for o in variant.results[:1] for place in o.places]
    sources = [(place, o.type.constraint) for o in variant.sources for place in o.places]
    if not all(letter for _, letter in (*results, *sources)):
        return ""
    numbers = {f"%{name}": f"%{i}" for i, (name, _) in enumerate((*results, *sources))}
    # A percent sign in a string of inline assembly is an operand's: registers of the recipe's own go without.
    lines = [_REGISTER.sub(lambda m: numbers.get(m[0], m[0][1:]), line) for line in instead.ptx.split("\n")]
    texts = [f'"{line}"' for line in lines] if len(lines) == 1 else [f'"{line}\\n"' for line in lines]
    outputs = ", ".join(f'"={letter}"({name})' for name, letter in results)
    inputs = ", ".join(f'"{letter}"({name})' for name, letter in sources)
    if len(texts) == 1:
        return f"asm({texts[0]} : {outputs} : {inputs});"
    return "\n    ".join([f"asm({texts[0]}", *texts[1:], f": {outputs} : {inputs});"])
