"""What ptxas folds constants to, against the emulator: arithmetic that neither this project nor MPFR wrote."""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path

import numpy as np
import ptxemu
import ptxspec
import pytest
from helpers import ROOT
from helpers.grids import special
from oracles import judge
from ptxspec.ptxas.asking import find_ptxas

SIZE = {"f32": 4, "f64": 8}
COUNT = 40
SPELLINGS = [
    (v.spelling, v.operands)
    for v in ptxspec.load(ROOT).available(target="sm_90", ptx="8.8")
    if v.type in SIZE and v.claim == "exact" and judge.judged(v.spelling) and v.opcode != "testp"
]


def operands_of(spelling: str, count: int) -> list[tuple[int, ...]]:
    """Rows of special and random operands. Left out is what is simplified rather than computed, whatever the operands
    are: an operation on one value twice, and the sign of a NaN in neg and abs of f32."""
    rng = random.Random(spelling)
    exponent, fraction = judge.FIELDS[spelling.rsplit(".", 1)[1]]
    width = 1 + exponent + fraction
    grid = special(exponent, fraction).tolist()
    infinity = ((1 << exponent) - 1) << fraction
    rows = []
    while len(rows) < COUNT:
        row = tuple(rng.choice(grid) if rng.random() < 0.6 else rng.getrandbits(width) for _ in range(count))
        is_nan = (row[0] & ~(1 << (width - 1))) > infinity
        if len(set(row)) == count and not (is_nan and spelling.startswith(("abs.", "neg."))):
            rows.append(row)
    return rows


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


def test_folded_constants_are_what_the_emulator_returns(tmp_path: Path) -> None:
    ptxas = find_ptxas()
    nvdisasm = ptxas.with_name("nvdisasm") if ptxas else None
    if ptxas is None or nvdisasm is None or not nvdisasm.exists():
        pytest.skip("no ptxas and nvdisasm found: install the wheels nvidia-cuda-nvcc and nvidia-cuda-nvdisasm")
    rows = {f"k{i}": operands_of(s, n) for i, (s, n) in enumerate(SPELLINGS)}
    text = ".version 8.8\n.target sm_90\n.address_size 64\n"
    text += "\n".join(kernel(f"k{i}", s, rows[f"k{i}"]) for i, (s, _) in enumerate(SPELLINGS))
    (tmp_path / "k.ptx").write_text(text, "utf-8")
    subprocess.run([ptxas, "-arch", "sm_90", "k.ptx", "-o", "k.cubin"], check=True, cwd=tmp_path)
    listed = subprocess.run([nvdisasm, "-json", "k.cubin"], check=True, cwd=tmp_path, capture_output=True, text=True)
    code = {f["function-name"]: f["sass-instructions"] for f in json.loads(listed.stdout)[1]}
    compared, wrong = 0, []
    for i, (spelling, _) in enumerate(SPELLINGS):
        size = SIZE[spelling.rsplit(".", 1)[1]]
        for row, want in folded(code[f"k{i}"], size).items():
            operands = rows[f"k{i}"][row]
            got = int(ptxemu.execute(spelling, *(np.dtype(f"u{size}").type(x) for x in operands)))
            compared += 1
            if got != want:
                wrong.append(f"{spelling} of {', '.join(map(hex, operands))}: ptxas {want:#x}, emulator {got:#x}")
    assert not wrong, "\n".join(wrong[:20])
    assert compared > 300
