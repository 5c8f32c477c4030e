"""ptxas as a judge of results: kernels whose operands are constants, and what it folds them to."""

from __future__ import annotations

import re

SIZE = {"f32": 4, "f64": 8}


def kernel(name: str, spelling: str, rows: list[tuple[int, ...]]) -> str:
    size, step = SIZE[spelling.rsplit(".", 1)[1]], len(rows[0]) + 1
    register = f"b{size * 8}"
    lines = [f".visible .entry {name}(.param .u64 p) {{", ".reg .b64 %p;", f".reg .{register} %v<{step * len(rows)}>;"]
    lines.append("ld.param.u64 %p, [p];")
    for i, row in enumerate(rows):
        names = [f"%v{i * step + k}" for k in range(step)]
        lines += [f"mov.{register} {n}, {x};" for n, x in zip(names[1:], row, strict=True)]
        lines += [f"{spelling} {', '.join(names)};", f"st.global.{register} [%p+{i * size}], {names[0]};"]
    return "\n".join([*lines, "ret; }"])


def conversion(name: str, spelling: str, operands: list[int], result: int, source: int) -> str:
    """A kernel that converts constants, between types of so many bytes; each result has eight."""
    lines = [f".visible .entry {name}(.param .u64 p) {{", ".reg .b64 %p;", "ld.param.u64 %p, [p];"]
    lines += [f".reg .b{8 * size} %{x}<{len(operands)}>;" for x, size in (("d", result), ("s", source), ("w", 2))]
    for i, x in enumerate(operands):
        # No constant is moved into eight bits.
        lines += [f"mov.b16 %w{i}, {x};", f"cvt.u8.u16 %s{i}, %w{i};"] if source == 1 else [f"mov.b{8 * source} %s{i}, {x};"]
        lines += [f"{spelling} %d{i}, %s{i};", f"st.global.b{8 * result} [%p+{8 * i}], %d{i};"]
    return "\n".join([*lines, "ret; }"])


def folded(instructions: list[dict[str, str]], size: int, step: int = 0) -> dict[int, int]:
    """Row -> the constant of so many bytes that is stored for it, every `step` bytes. Only plain moves of constants are
    read: anything else was computed."""
    known = {"RZ": 0}
    found = {}
    for i in instructions:
        opcode, operands = i["opcode"], [o.strip() for o in i.get("operands", "").split(",")]
        if opcode.startswith(("BRA", "BSSY", "BSYNC", "CALL")):
            # A slow path elsewhere may write any register.
            known = {"RZ": 0}
        elif opcode.startswith("STG"):
            offset = re.search(r"\+0x([0-9a-f]+)\]", operands[0])
            low = operands[-1]
            parts = [low] if size <= 4 else [low, low if low == "RZ" else f"R{int(low[1:]) + 1}"]
            if all(p in known for p in parts):
                row = (int(offset[1], 16) if offset else 0) // (step or size)
                found[row] = sum(known[p] << (32 * k) for k, p in enumerate(parts)) & ((1 << 8 * size) - 1)
        elif re.fullmatch(r"R\d+", operands[0]):
            # What is written is no longer known; a 64-bit result fills the next register too.
            known.pop(operands[0], None)
            if ".64" in opcode or opcode.startswith("D"):
                known.pop(f"R{int(operands[0][1:]) + 1}", None)
            if opcode == "MOV" and operands[1].startswith("0x"):
                known[operands[0]] = int(operands[1], 16)
    return found
