"""What ptxas folds constants to, against the emulator: arithmetic that neither this project nor MPFR wrote."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import ptxemu
from helpers.comparing import FOLDED, operands
from helpers.grids import special
from helpers.machine_code import machine_code
from helpers.repository import database
from helpers.sizes import each_size, spread
from oracles import conversions, judge
from oracles.folding import SIZE, bytes_of, conversion, folded, kernel, kernel_of, stored

COUNT = 40
SPELLINGS = [
    (v.spelling, v.operands)
    for v in database().available(target="sm_90", ptx="8.8")
    if v.types[-1] in SIZE
    and len(v.types) == 1
    and v.claim == "exact"
    and judge.judged(v.spelling)
    and v.kind != "predicate"
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
    kernels = [kernel(f"k{i}", s, rows[f"k{i}"]) for i, (s, _) in enumerate(judged)]
    code = machine_code(ptxas, nvdisasm, tmp_path, kernels)
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
    kernels = [kernel_of(v, f"k{i}", [tuple(map(int, r)) for r in rows[f"k{i}"]]) for i, v in enumerate(variants)]
    code = machine_code(ptxas, nvdisasm, tmp_path, kernels)
    for i, v in enumerate(variants):
        results = 2 if v.second else 1
        got = ptxemu.execute(v.spelling, *columns[f"k{i}"], results=results)
        flat = np.stack(got, axis=-1).reshape(-1) if isinstance(got, tuple) else got
        flat = flat if flat.dtype == bool else flat.view(f"u{flat.itemsize}")
        want = folded(code[f"k{i}"], bytes_of(v))
        assert len(want) > COUNT * results // 2, v
        for row, bits in want.items():
            assert stored(v, int(flat[row])) == bits, (v, rows[f"k{i}"][row // results])


# Where the emulator returns another NaN than ptxas folds to, as notes say.
OTHER_NANS = {
    s for s in conversions.spellings() if (s.endswith(".f32.bf16") and ".ftz" not in s) or s.startswith("cvt.rna.")
}


def size_of(type_: str) -> int:
    """In bytes, in registers."""
    return int(type_.lstrip("usbtf")) // 8


def constants(spelling: str, count: int) -> list[int]:
    """Special and random operands of a conversion."""
    rng = random.Random(spelling)
    source = conversions.conversion(spelling).source
    every = conversions.operands(spelling, 400).tolist()
    edges = [0, (1 << 8 * size_of(source)) - 1, 1 << (8 * size_of(source) - 1)]
    if source in judge.FIELDS:
        edges += special(*judge.FIELDS[source]).tolist()[-5:]
    return list(dict.fromkeys([*edges, *rng.sample(every, min(len(every), count))]))


@each_size
def test_folded_conversions_are_what_the_emulator_returns(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, whole: bool
) -> None:
    claimed = conversions.claimed("ptxas folding")
    found = (
        sorted(claimed) if not whole else [s for s in conversions.spellings() if conversions.is_on(s, "sm_90", "8.8")]
    )
    judged = found if whole else spread(found, 60)
    operands = {s: constants(s, 60 if whole else 25) for s in judged}
    sizes = {s: [size_of(t) for t in (conversions.conversion(s).to, conversions.conversion(s).source)] for s in judged}
    kernels = [conversion(f"k{i}", s, operands[s], *sizes[s]) for i, s in enumerate(judged)]
    code = machine_code(ptxas, nvdisasm, tmp_path, kernels)
    wrong, folding = [], set()
    for i, s in enumerate(judged):
        for row, want in folded(code[f"k{i}"], sizes[s][0], 8).items():
            x = operands[s][row]
            got = int(conversions.bits(ptxemu.execute(s, np.array([x], f"u{sizes[s][1]}")))[0])
            folding.add(s)
            if got != want and not (s in OTHER_NANS and conversions.is_nan(s, x)):
                wrong.append(f"{s} of {x:#x}: ptxas {want:#x}, emulator {got:#x}")
    assert not wrong, "\n".join(wrong[:20])
    missing = sorted(claimed.intersection(judged) - folding)
    assert not missing, f"ptxas folds none of the operands: {missing}"
