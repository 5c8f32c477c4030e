"""ptxas as a judge of results: kernels whose operands are constants, and what it folds them to."""

from __future__ import annotations

import re
from math import prod

import numpy as np
from ptxspec import Variant


def conversion(name: str, spelling: str, operands: list[int], result: int, source: int) -> str:
    """A kernel that converts constants, between types of so many bytes; each result has eight."""
    lines = [f".visible .entry {name}(.param .u64 p) {{", ".reg .b64 %p;", "ld.param.u64 %p, [p];"]
    lines += [f".reg .b{8 * size} %{x}<{len(operands)}>;" for x, size in (("d", result), ("s", source), ("w", 2))]
    for i, x in enumerate(operands):
        # No constant is moved into eight bits.
        lines += (
            [f"mov.b16 %w{i}, {x};", f"cvt.u8.u16 %s{i}, %w{i};"] if source == 1 else [f"mov.b{8 * source} %s{i}, {x};"]
        )
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
        elif re.fullmatch(r"U?P[0-9T]", operands[0]):
            # A result may stand behind a predicate.
            known.pop(operands[1].replace("RZ", ""), None)
        elif re.fullmatch(r"R\d+", operands[0]):
            # What is written is no longer known; a 64-bit result fills the next register too.
            known.pop(operands[0], None)
            if ".64" in opcode or opcode.startswith("D"):
                known.pop(f"R{int(operands[0][1:]) + 1}", None)
            if (constant := _constant(opcode, operands[1:])) is not None:
                known[operands[0]] = constant
    return found


def _constant(opcode: str, operands: list[str]) -> int | None:
    """The constant that an instruction moves into its register: by a move, an addition to zero, or two of halves."""
    if opcode == "MOV" and (m := _BITS.fullmatch(operands[0])):
        return int(m[0], 16) & 0xFFFFFFFF
    if opcode == "IMAD.MOV.U32" and operands[:2] == ["RZ", "RZ"] and (m := _BITS.fullmatch(operands[2])):
        return int(m[0], 16) & 0xFFFFFFFF
    if opcode.startswith("HFMA2") and operands[:2] == ["-RZ", "RZ"] and all(map(_NUMBER.fullmatch, operands[2:])):
        high, low = np.array(operands[2:], np.float16).view(np.uint16).tolist()
        return int(high) << 16 | int(low)
    return None


_BITS = re.compile(r"-?0x[0-9a-f]+")
_NUMBER = re.compile(r"-?[0-9.]+(?:e[-+]?[0-9]+)?")


def kernel_of(v: Variant, name: str, rows: list[tuple[int, ...]]) -> str:
    """A kernel that runs a variant on rows of constants. Results are stored one behind the other, as `stored` says."""
    size, results = bytes_of(v), len(_types(v)) - v.operands
    lines = [f".visible .entry {name}(.param .u64 a) {{", ".reg .b64 %a;", "ld.param.u64 %a, [a];"]
    lines += [f".reg .{register} %{register}_<{len(rows) * _STEP}>;" for register in ("b16", "b32", "b64", "pred")]
    for i, row in enumerate(rows):
        first = i * _STEP
        names = [f"%{_register(t)}_{first + k}" for k, t in enumerate(_types(v))]
        for register, type_, x in zip(names[results:], _types(v)[results:], row, strict=True):
            move = f"mov.{_register(type_)} {register}, {x};"
            lines.append(f"setp.ne.b32 {register}, {x}, 0;" if type_ == "pred" else move)
        constants = {i: str(x) for i, (t, x) in enumerate(zip(_types(v)[results:], row, strict=True)) if t == "imm32"}
        names = [*names[:results], *(constants.get(i, n) for i, n in enumerate(names[results:]))]
        vector = f"{{{', '.join(names[results:])}}}" if v.sources[0].braced else ", ".join(names[results:])
        lines.append(f"{v.spelling} {'|'.join(names[:results])}, {vector};")
        for k, register in enumerate(names[:results]):
            value, at = f"%b32_{first + _STEP - 1 - k}", (i * results + k) * size
            if _types(v)[k] == "pred":
                lines.append(f"selp.b32 {value}, 1, 0, {register};")
            elif _register(v.result) == "b16":
                lines.append(f"mov.b32 {value}, {{{register}, {register}}};")
            else:
                value = register
            lines.append(f"st.global.b{size * 8} [%a+{at}], {value};")
    return "\n".join([*lines, "ret; }"])


# The registers of each kind that a row may need.
_STEP = 8


def bytes_of(v: Variant) -> int:
    """Return the bytes that a result takes in memory: a predicate is stored as 1 or 0, and 16 bits are stored twice."""
    return 8 if _register(v.result) == "b64" else 4


def has_own_registers(v: Variant) -> bool:
    """Return whether all of a variant's registers have sizes into which `kernel_of` moves constants."""
    return {_register(t) for t in _types(v)} <= {"b16", "b32", "b64", "pred"}


def stored(v: Variant, result: int) -> int:
    """Return the bits that stand in memory for a result."""
    return result << 16 | result if _register(v.result) == "b16" else result


def _register(type_: str) -> str:
    sizes = [int(n) for n in re.findall(r"\d+", type_)]
    return f"b{prod(sizes)}" if sizes else "pred"


def _types(v: Variant) -> list[str]:
    return [v.result, *([v.second] if v.second else []), *(s.type for s in v.sources for _ in range(s.registers))]
