"""A recipe as CUDA's inline assembly."""

from __future__ import annotations

import re

_REGISTER = re.compile(r"%\w+")
_NAME = re.compile(r"\((\w+)\)")


def inline_assembly(ptx: str, operands: str) -> str:
    """Return an asm statement with these operands; empty if there are none."""
    if not operands:
        return ""
    numbers = {f"%{name}": f"%{i}" for i, name in enumerate(_NAME.findall(operands))}
    # In a string of inline assembly a percent sign means an operand, so the recipe's own registers lose it.
    lines = [_REGISTER.sub(lambda m: numbers.get(m[0], m[0][1:]), line) for line in ptx.split("\n")]
    if len(lines) == 1:
        return f'asm("{lines[0]}" : {operands});'
    first, *rest = (f'"{line}\\n"' for line in lines)
    return "\n    ".join([f"asm({first}", *rest, f": {operands});"])
