"""What ptxas folds constants to, against the emulator: arithmetic that neither this project nor MPFR wrote."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
from helpers.comparing import FOLDED, operands
from helpers.grids import special
from helpers.repository import database
from helpers.sizes import each_size, spread
from oracles import judge
from oracles.folding import SIZE, bytes_of, folded, kernel, kernel_of, stored

COUNT = 40
HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"
SPELLINGS = [
    (v.spelling, v.operands)
    for v in database().available(target="sm_90", ptx="8.8")
    if v.types[-1] in SIZE and v.claim == "exact" and judge.judged(v.spelling) and v.kind != "predicate"
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


def machine_code(ptxas: Path, nvdisasm: Path, folder: Path, text: str) -> dict[str, Any]:
    """The instructions of each kernel."""
    (folder / "k.ptx").write_text(text, "utf-8")
    subprocess.run([ptxas, "-arch", "sm_90", "k.ptx", "-o", "k.cubin"], check=True, cwd=folder)
    listed = subprocess.run([nvdisasm, "-json", "k.cubin"], check=True, cwd=folder, capture_output=True, text=True)
    return {f["function-name"]: f["sass-instructions"] for f in json.loads(listed.stdout)[1]}


@each_size
def test_folded_constants_are_what_the_emulator_returns(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, whole: bool
) -> None:
    judged = SPELLINGS if whole else spread(SPELLINGS, 60)
    rows = {f"k{i}": operands_of(s, n) for i, (s, n) in enumerate(judged)}
    text = HEADER + "\n".join(kernel(f"k{i}", s, rows[f"k{i}"]) for i, (s, _) in enumerate(judged))
    code = machine_code(ptxas, nvdisasm, tmp_path, text)
    compared, wrong = 0, []
    for i, (spelling, _) in enumerate(judged):
        size = SIZE[spelling.rsplit(".", 1)[1]]
        for row, want in folded(code[f"k{i}"], size).items():
            operands = rows[f"k{i}"][row]
            got = int(ptxemu.execute(spelling, *(np.dtype(f"u{size}").type(x) for x in operands)))
            compared += 1
            if got != want:
                wrong.append(f"{spelling} of {', '.join(map(hex, operands))}: ptxas {want:#x}, emulator {got:#x}")
    assert not wrong, "\n".join(wrong[:20])
    assert compared > (300 if whole else 100)


@each_size
def test_comparisons_and_selections_are_folded_to_what_the_emulator_returns(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, whole: bool
) -> None:
    variants = FOLDED if whole else spread(FOLDED, 120)
    rng = np.random.default_rng(5)
    columns = {}
    for i, v in enumerate(variants):
        given = operands(v)
        chosen = rng.integers(0, given[0].size, COUNT)
        columns[f"k{i}"] = [x[chosen] for x in given]
    rows = {name: list(zip(*(x.tolist() for x in c), strict=True)) for name, c in columns.items()}
    text = "\n".join(kernel_of(v, f"k{i}", [tuple(map(int, r)) for r in rows[f"k{i}"]]) for i, v in enumerate(variants))
    code = machine_code(ptxas, nvdisasm, tmp_path, HEADER + text)
    for i, v in enumerate(variants):
        results = 2 if v.second else 1
        got = ptxemu.execute(v.spelling, *columns[f"k{i}"], results=results)
        flat = np.stack(got, axis=-1).reshape(-1) if isinstance(got, tuple) else got
        want = folded(code[f"k{i}"], bytes_of(v))
        assert len(want) > COUNT * results // 2, v
        for row, bits in want.items():
            assert stored(v, int(flat[row])) == bits, (v, rows[f"k{i}"][row // results])
