"""A recipe in CUDA: as inline assembly, and as a function."""

from __future__ import annotations

import re

_REGISTER = re.compile(r"%\w+")
_NAME = re.compile(r"\((\w+)\)")
_RESULT = re.compile(r'"=(\w)"\((\w+)\)')
_SOURCE = re.compile(r'"(\w)"\((\w+)\)')
# What the letters of inline assembly take.
TYPES = {
    "h": "unsigned short", "r": "unsigned", "l": "unsigned long long", "f": "float", "d": "double",
    "n": "constexpr unsigned",
}  # fmt: skip


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


def as_function(spelling: str, assembly: str, operands: str) -> str:
    """Return a function of CUDA C++ around an asm statement with one result."""
    [(letter, result)] = _RESULT.findall(operands)
    takes = ", ".join(f"{TYPES[c]} {name}" for c, name in _SOURCE.findall(operands))
    name = re.sub(r"\W+", "_", spelling)
    lines = [f"{TYPES[letter]} {result};", *assembly.split("\n"), f"return {result};"]
    body = "\n".join(f"    {line}" for line in lines)
    return f"__device__ inline {TYPES[letter]} {name}({takes}) {{\n{body}\n}}"
