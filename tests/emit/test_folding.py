"""The folding of constants by ptxas, against the emulator and the entries `folding` of the specification: arithmetic
that neither this project nor MPFR wrote."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.comparing import FOLDED
from helpers.folding import columns_of
from helpers.grids import special
from helpers.judging import Judged
from helpers.machine_code import HEADER, listed, machine_code
from helpers.repository import database, specification
from helpers.sizes import each_size, spread
from numpy.typing import NDArray
from oracles import conversions, judge
from oracles.folding import bytes_of, conversion, folded, has_own_registers, kernel_of, stored
from ptxspec import Variant
from ptxspec.check.folding import folding_programs, in_register
from ptxspec.model import Folding, Instruction

pytestmark = pytest.mark.inputs("emulator", "specification", "codegen/ptxspec/proving/ptxas")

SPEC, DB = specification(), database()
MODELS = {v.key: v for i in SPEC.instructions.values() for v in i.variants}
ENTRIES = [f for i in SPEC.instructions.values() for f in i.folding]
# What sets or reads the condition code is folded in chains, which tests/emit/test_carries.py has.
FOLDABLE = [
    v
    for v in DB.available(target="sm_90", ptx="8.8")
    if has_own_registers(v) and not v.hazards and not MODELS[v.spelling, v.operands].has_implicit
]


def entry_of(v: Variant) -> tuple[Instruction, Folding] | None:
    """Return the specification's entry on the variant's folding, with its instruction, or None."""
    instruction = SPEC.instructions[v.opcode]
    model = MODELS[v.spelling, v.operands]
    return next(((instruction, f) for f in instruction.folding if f.selector.matches(model)), None)


OTHERWISE = [v for v in FOLDABLE if entry_of(v)]


def registers(v: Variant) -> list[str]:
    return [s.type for s in v.sources for _ in range(s.registers)]


def emulated(v: Variant, columns: list[NDArray[Any]]) -> list[int]:
    given = [x.astype(bool) if t == "pred" else x for x, t in zip(columns, registers(v), strict=True)]
    got = ptxemu.execute(v.spelling, *given, results=2 if v.second else 1)
    flat = np.stack(got, axis=-1).reshape(-1) if isinstance(got, tuple) else got
    return [int(x) for x in (flat if flat.dtype == bool else flat.view(f"u{flat.itemsize}"))]


def by_entry(v: Variant, instruction: Instruction, folding: Folding, columns: list[NDArray[Any]]) -> list[int]:
    model = MODELS[v.spelling, v.operands]
    program = folding_programs(SPEC, instruction, folding)[model]
    return [in_register(model, program, row) for row in zip(*(x.tolist() for x in columns), strict=True)]


def differences(
    code: dict[str, Any], variants: list[Variant], columns: list[list[NDArray[Any]]], judged: Judged | None
) -> list[str]:
    """Return where ptxas folds to something else than it should; results that are not folded are not looked at. ptxas
    counts as a judge of comparisons and selections alone: for arithmetic these are too few constants."""
    wrong = []
    for i, v in enumerate(variants):
        want = folded(code[f"k{i}"], bytes_of(v))
        if not want:
            continue
        entry = entry_of(v)
        got = by_entry(v, *entry, columns[i]) if entry else emulated(v, columns[i])
        results = 2 if v.second else 1
        for row, bits in want.items():
            if stored(v, got[row]) != bits:
                operands = ", ".join(hex(int(x[row // results])) for x in columns[i])
                wrong.append(f"{v.spelling} of {operands}: ptxas {bits:#x}, not {stored(v, got[row]):#x}")
        if judged and v in FOLDED and not entry:
            judged("ptxas folding", [(v.spelling, v.operands)])
    return wrong


def compiled(
    ptxas: Path,
    nvdisasm: Path,
    folder: Path,
    variants: list[Variant],
    count: int,
    *on: str,
    judged: Judged | None = None,
) -> list[str]:
    columns = [columns_of(MODELS[v.spelling, v.operands], count) for v in variants]
    rows = [[tuple(map(int, r)) for r in zip(*(x.tolist() for x in c), strict=True)] for c in columns]
    kernels = [kernel_of(v, f"k{i}", rows[i]) for i, v in enumerate(variants)]
    return differences(machine_code(ptxas, nvdisasm, folder, kernels, *on), variants, columns, judged)


@pytest.mark.sampled(0)
@each_size
def test_constants_are_folded_to_what_the_emulator_returns_or_to_what_an_entry_says(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, whole: bool, judged: Judged
) -> None:
    variants = FOLDABLE if whole else spread(FOLDABLE, 25)
    for start in range(0, len(variants), 500):
        part = variants[start : start + 500]
        assert compiled(ptxas, nvdisasm, tmp_path, part, 4 if whole else 12, judged=judged if whole else None) == []


@pytest.mark.sampled(0)
@pytest.mark.parametrize(
    ("target", "ptx"),
    [
        ("sm_90", "8.8"),
        pytest.param("sm_75", "8.8", marks=pytest.mark.exhaustive),
        pytest.param("sm_120a", "8.8", marks=pytest.mark.exhaustive),
    ],
)
@each_size
def test_the_rule_of_an_entry_is_what_ptxas_computes(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, target: str, ptx: str, whole: bool
) -> None:
    variants = [v for v in OTHERWISE if DB.catalog.takes(v.requires, target, ptx)]
    assert compiled(ptxas, nvdisasm, tmp_path, variants, 200 if whole else 12, target, ptx) == []


@pytest.mark.exhaustive
def test_constants_of_every_variant_of_an_entry_are_folded(ptxas: Path, nvdisasm: Path, tmp_path: Path) -> None:
    rows = [[tuple(int(c[0]) for c in columns_of(MODELS[v.spelling, v.operands], 1))] for v in OTHERWISE]
    code = machine_code(ptxas, nvdisasm, tmp_path, [kernel_of(v, f"k{i}", rows[i]) for i, v in enumerate(OTHERWISE)])
    assert [str(v) for i, v in enumerate(OTHERWISE) if not folded(code[f"k{i}"], bytes_of(v))] == []


def shown() -> list[str]:
    page = (ROOT / "generated/manual/differences.md").read_text("utf-8")
    return re.findall(r"```ptx\n(.*?)```", page, re.DOTALL)


def test_the_manual_shows_ptx_for_every_entry() -> None:
    assert len(shown()) == len(ENTRIES) >= 8


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", shown(), ids=lambda text: re.findall(r"(\S+) %d,", text)[0])
def test_the_ptx_that_the_manual_shows_is_folded_so(ptxas: Path, nvdisasm: Path, tmp_path: Path, text: str) -> None:
    stores = int(re.findall(r"// Stores (0x\w+);", text)[0], 16)
    size = int(re.findall(r"st\.global\.b(\d+)", text)[0]) // 8
    assert folded(listed(ptxas, nvdisasm, tmp_path, text)["folded"], size) == {0: stores}


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


@pytest.mark.sampled(0)
@each_size
def test_folded_conversions_are_what_the_emulator_returns(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, whole: bool, judged: Judged
) -> None:
    found = [s for s in conversions.spellings() if conversions.is_on(s, "sm_90", "8.8")]
    asked = found if whole else spread(found, 60)
    operands = {s: constants(s, 60 if whole else 25) for s in asked}
    sizes = {s: [size_of(t) for t in (conversions.conversion(s).to, conversions.conversion(s).source)] for s in asked}
    kernels = [conversion(f"k{i}", s, operands[s], *sizes[s]) for i, s in enumerate(asked)]
    code = machine_code(ptxas, nvdisasm, tmp_path, kernels)
    # Of hazards the specification says so, too.
    entered = {v.spelling for v in DB.variants if v.hazards or v in OTHERWISE}
    wrong, folding = [], set()
    for i, s in enumerate(asked):
        for row, want in folded(code[f"k{i}"], sizes[s][0], 8).items():
            x = operands[s][row]
            got = int(conversions.bits(ptxemu.execute(s, np.array([x], f"u{sizes[s][1]}")))[0])
            folding.add(s)
            if got != want and not (s in entered and conversions.is_nan(s, x)):
                wrong.append(f"{s} of {x:#x}: ptxas {want:#x}, emulator {got:#x}")
    assert not wrong, "\n".join(wrong[:20])
    if whole:
        judged("ptxas folding", [(s, 1) for s in folding - entered])
    else:
        assert len(folding) > 10


@each_size
def test_for_sm_1x_single_precision_is_folded_to_what_the_emulator_returns_there(
    ptxas: Path, nvdisasm: Path, tmp_path: Path, whole: bool
) -> None:
    """A target that implies .ftz gives the NaNs of .ftz too. ptxas assembles PTX for it for newer machines alone."""
    target, ptx = "sm_13", "9.5"
    found = [s for s in conversions.spellings() if conversions.conversion(s).source == "f32"]
    asked = [s for s in found if conversions.is_on(s, target, ptx)]
    asked = asked if whole else ["cvt.f32.f32", "cvt.ftz.f32.f32", "cvt.f64.f32", "cvt.rn.f16.f32"]
    operands = [0x7F800001, 0xFFC00000, 1, 0x807FFFFF, 0x3FC00001]
    sizes = [size_of(conversions.conversion(s).to) for s in asked]
    kernels = [conversion(f"k{i}", s, operands, sizes[i], 4) for i, s in enumerate(asked)]
    text = "\n".join([HEADER.format(target=target, ptx=ptx), *kernels])
    code = listed(ptxas, nvdisasm, tmp_path, text, "sm_75")
    rows = 0
    for i, s in enumerate(asked):
        got = conversions.bits(ptxemu.execute(s, np.array(operands, np.uint32), target=target)).tolist()
        for row, want in folded(code[f"k{i}"], sizes[i], 8).items():
            assert got[row] == want, f"{s} of {operands[row]:#x}: ptxas {want:#x}, emulator {got[row]:#x}"
            rows += 1
    assert rows >= 15
