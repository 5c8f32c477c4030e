"""Statements of forms of mma."""

from __future__ import annotations

import re

from helpers.repository import specification

CORES = specification().tensor
_REGISTERS = {"f32": "%f", "f64": "%d"}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
# Four products at once, or two registers that nothing is done with: A, B, and C and D of f16 and of f32.
_M8N8K4 = {"f16": (2, 2, 4, 8), "bf16": (2, 2, 4, 8), "tf32": (4, 4, 4, 8)}


def written(spelling: str) -> str:
    """The statement of a form, or of what looks like one, with as many registers as the elements of 32 lanes fill."""
    names = spelling.split(".")
    shape = next(n for n in names if _SHAPE.fullmatch(n))
    m, n, k = map(int, _SHAPE.fullmatch(shape).groups())  # type: ignore[union-attr]
    types = [n for n in names if n in CORES.elements]
    packed = next((CORES.packed.get(n[len("kind::") :], {}) for n in names if n.startswith("kind::")), {})
    is_sparse = names[1].startswith("sp")
    counts = []
    for t, elements in zip(types, (m * n, m * k // (2 if is_sparse else 1), k * n, m * n), strict=True):
        bits = (packed.get(t) or CORES.elements[t]).bits
        counts.append(max(1, elements * bits // 32 // (64 if t == "f64" else 32)))
    if shape == "m8n8k4" and (special := _M8N8K4.get(types[1])):
        sums = [special[3 if t == "f32" else 2] if t in ("f16", "f32") else counts[0] for t in (types[0], types[3])]
        counts = [sums[0], special[0], special[1], sums[1]]
    operands = [
        "{" + ", ".join(f"{_REGISTERS.get(t, '%r')}{i}" for i in range(count)) + "}"
        for t, count in zip(types, counts, strict=True)
    ]
    operands += ["%r5", "0"] if is_sparse else []
    operands += ["%r7", "{0, 0}", "%r8", "{0, 0}"] if "block_scale" in names else []
    return f"{spelling} {', '.join(operands)};"
