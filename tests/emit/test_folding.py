"""What ptxas folds constants to, against the emulator: arithmetic that neither this project nor MPFR wrote."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import numpy as np
import ptxemu
from helpers.grids import special
from helpers.repository import database
from helpers.sizes import each_size, spread
from oracles import judge
from oracles.folding import SIZE, folded, kernel

COUNT = 40
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


@each_size
def test_folded_constants_are_what_the_emulator_returns(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, whole: bool
) -> None:
    judged = SPELLINGS if whole else spread(SPELLINGS, 60)
    rows = {f"k{i}": operands_of(s, n) for i, (s, n) in enumerate(judged)}
    text = ".version 8.8\n.target sm_90\n.address_size 64\n"
    text += "\n".join(kernel(f"k{i}", s, rows[f"k{i}"]) for i, (s, _) in enumerate(judged))
    (tmp_path / "k.ptx").write_text(text, "utf-8")
    subprocess.run([ptxas, "-arch", "sm_90", "k.ptx", "-o", "k.cubin"], check=True, cwd=tmp_path)
    listed = subprocess.run([nvdisasm, "-json", "k.cubin"], check=True, cwd=tmp_path, capture_output=True, text=True)
    code = {f["function-name"]: f["sass-instructions"] for f in json.loads(listed.stdout)[1]}
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
