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


def folded(instructions: list[dict[str, str]], size: int) -> dict[int, int]:
    """Row -> the constant that is stored for it. Only plain moves of constants are read: anything else was computed."""
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
            parts = [low] if size == 4 else [low, low if low == "RZ" else f"R{int(low[1:]) + 1}"]
            if all(p in known for p in parts):
                row = (int(offset[1], 16) if offset else 0) // size
                found[row] = sum(known[p] << (32 * k) for k, p in enumerate(parts))
        elif re.fullmatch(r"R\d+", operands[0]):
            # What is written is no longer known; a 64-bit result fills the next register too.
            known.pop(operands[0], None)
            if ".64" in opcode or opcode.startswith("D"):
                known.pop(f"R{int(operands[0][1:]) + 1}", None)
            if opcode == "MOV" and operands[1].startswith("0x"):
                known[operands[0]] = int(operands[1], 16)
    return found
