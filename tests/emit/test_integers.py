"""Integers, bits and predicates around floating-point arithmetic, against Python's integers and what ptxas folds."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.integers import FOLDED, VARIANTS, columns_of, registers, rows_of
from helpers.judging import Judged
from helpers.machine_code import machine_code
from helpers.sizes import each_size
from oracles import integers
from oracles.folding import bytes_of, folded, kernel_of, stored
from ptxspec import Variant

pytestmark = pytest.mark.inputs("emulator", "specification", "codegen/ptxspec/proving/ptxas")


def results_of(v: Variant, row: tuple[int, ...]) -> list[int]:
    d = integers.expected(v.spelling, v.result, registers(v), row)
    return [d, integers.second(v.spelling, d, row)] if v.second else [d]


@each_size
@pytest.mark.parametrize("v", VARIANTS, ids=str)
def test_results_are_those_of_integers(v: Variant, whole: bool, judged: Judged) -> None:
    rows = rows_of(v, 10_000 if whole else 300)
    results = 2 if v.second else 1
    found = ptxemu.execute(v.spelling, *columns_of(v, rows), results=results)
    for place, got in enumerate(found if v.second else [found]):
        got = got if got.dtype == bool else got.view(f"u{got.itemsize}")
        want = [results_of(v, row)[place] for row in rows]
        wrong = [(list(map(hex, r)), hex(int(g)), hex(w)) for r, g, w in zip(rows, got, want, strict=True) if g != w]
        assert not wrong, wrong[:3]
    if whole:
        judged("definition", [(v.spelling, v.operands)])


def has_few_bits(v: Variant) -> bool:
    types = registers(v)
    return {t[1:] for t in types} == {"8x4"} or [integers.width(t) for t in types] == [16]


def all_of_few_bits(v: Variant) -> list[tuple[int, ...]]:
    """All operands of 16 bits, or all pairs of eight, four in a register."""
    types = registers(v)
    if [integers.width(t) for t in types] == [16]:
        return [(x,) for x in range(1 << 16)]
    numbers = range(1 << (8 * len(types)))
    columns = [bytes(x >> (8 * i) & 0xFF for x in numbers) for i in range(len(types))]
    return [tuple(int.from_bytes(c[k : k + 4], "little") for c in columns) for k in range(0, len(numbers), 4)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("v", [v for v in VARIANTS if has_few_bits(v)], ids=str)
def test_all_operands_of_few_bits(v: Variant) -> None:
    rows = all_of_few_bits(v)
    got = ptxemu.execute(v.spelling, *columns_of(v, rows))
    want = [integers.expected(v.spelling, v.result, registers(v), row) for row in rows]
    assert got.view(f"u{got.itemsize}").tolist() == want


def test_single_values_wrap_without_a_word() -> None:
    with np.errstate(all="raise"):
        assert ptxemu.execute("add.u32", np.uint32(0xFFFFFFFF), np.uint32(2)) == 1
        assert ptxemu.execute("sub.s32", np.int32(-(2**31)), np.int32(1)) == 2**31 - 1
        assert ptxemu.execute("shl.b64", np.uint64(1), np.uint32(64)) == 0


def test_the_first_register_of_a_vector_is_the_lowest() -> None:
    assert ptxemu.execute("mov.b32", np.uint16(0x1111), np.uint16(0x2222)) == 0x22221111
    assert ptxemu.execute("mov.b64", *map(np.uint16, (1, 2, 3, 4))) == 0x0004000300020001


@pytest.mark.exhaustive
def test_ptxas_folds_them_to_the_same(ptxas: Path, nvdisasm: Path, tmp_path: Path, judged: Judged) -> None:
    rng = random.Random(3)
    rows = {f"k{i}": rng.sample(rows_of(v, 100), 40) for i, v in enumerate(FOLDED)}
    kernels = [kernel_of(v, f"k{i}", rows[f"k{i}"]) for i, v in enumerate(FOLDED)]
    code = machine_code(ptxas, nvdisasm, tmp_path, kernels)
    for i, v in enumerate(FOLDED):
        found = folded(code[f"k{i}"], bytes_of(v))
        for place, bits in found.items():
            row, number = divmod(place, 2 if v.second else 1)
            operands = rows[f"k{i}"][row]
            want = results_of(v, operands)[number]
            assert stored(v, want) == bits or _is_open(v, operands), (v, list(map(hex, operands)))
        if len(found) > 20:
            judged("ptxas folding", [(v.spelling, v.operands)])
        else:
            assert v.opcode in SELDOM or v.result.endswith("x2"), v


# Instructions some variants of which ptxas leaves to the machine, with constants too, as it does with packed integers.
SELDOM = ("bmsk", "cvt", "div", "dp2a", "dp4a", "lop3", "mad", "max", "min", "mul", "prmt", "rem", "sad", "szext")


def _is_open(v: Variant, operands: tuple[int, ...]) -> bool:
    """Of a distance whose magnitude is no signed integer the manual's loop says nothing."""
    return v.opcode == "fns" and operands[-1] == 1 << 31
