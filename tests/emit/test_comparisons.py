"""Comparisons and selections, against the four relations and the tables of truth, written anew."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from helpers.comparing import GROUPS, operands
from helpers.grids import special
from helpers.judging import Judged
from helpers.sizes import each_size, spread
from oracles import relations
from oracles.relations import FLOATS, Bits
from ptxspec import Variant

pytestmark = pytest.mark.inputs("emulator")


def run(v: Variant, columns: list[Bits]) -> list[Bits]:
    """The emulator's results, lane by lane."""
    packed = "x" in v.sources[0].type
    if packed:
        columns = [x[::2] if x.dtype == bool else x.view("u4") for x in columns]
    found = ptxemu.execute(v.spelling, *columns, results=2 if v.second else 1)
    if v.result_registers > 1:
        return [np.stack(found, axis=-1).reshape(-1)]
    results = found if isinstance(found, tuple) else (found,)
    lanes = relations.unsigned(v.sources[0].type)
    return [r if r.dtype == bool else r.view(lanes if packed else f"u{r.itemsize}") for r in results]


def check(v: Variant, columns: list[Bits]) -> None:
    for got, want in zip(run(v, columns), relations.expected(v.spelling, columns), strict=True):
        assert got.dtype == want.dtype
        wrong = np.flatnonzero(got != want)
        if wrong.size:
            shown = ", ".join(hex(int(x[wrong[0]])) for x in columns)
            pytest.fail(f"{v} of {shown}: {got[wrong[0]]}, not {want[wrong[0]]}; {wrong.size} of {got.size} wrong")


@each_size
@pytest.mark.parametrize("group", GROUPS)
def test_special_values_and_some_random_ones(group: str, whole: bool, judged: Judged) -> None:
    for v in GROUPS[group] if whole else spread(GROUPS[group], 4):
        check(v, operands(v))
    if whole:
        judged("definition", [(v.spelling, v.operands) for v in GROUPS[group]])


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_operators_on_some_values_and_all_of_16_bits(type_: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    for a in special(*FLOATS[type_])[::5]:
        columns = [np.full_like(every, a), every]
        found = relations.relation(*columns, type_)
        for operator in relations.OF_FLOATS:
            got = ptxemu.execute(f"setp.{operator}.{type_}", *columns)
            assert (got == np.isin(found, list(relations.HOLDS[operator]))).all(), (operator, hex(a))


@pytest.mark.exhaustive
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_the_four_relations_on_all_pairs_of_16_bits(type_: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    keys, nan = relations.order(every, type_)
    for a in every.reshape(-1, 16, 1):
        x, unordered = keys[a], nan[a] | nan
        ordered = ~unordered
        wanted = {"lt": (x < keys) & ordered, "eq": (x == keys) & ordered, "gt": (x > keys) & ordered, "nan": unordered}
        for operator, want in wanted.items():
            assert (ptxemu.execute(f"setp.{operator}.{type_}", a, every) == want).all(), (operator, hex(a[0, 0]))


def test_unequal_is_false_of_a_nan_and_its_unordered_kin_is_true() -> None:
    nan, one = np.float32(np.nan), np.float32(1)
    assert not ptxemu.execute("setp.ne.f32", nan, one) and not ptxemu.execute("setp.ne.f32", nan, nan)
    assert ptxemu.execute("setp.neu.f32", nan, one) and ptxemu.execute("setp.neu.f32", nan, nan)


def test_the_predicates_of_two_lanes_are_not_complements() -> None:
    a, b = (np.array(x, np.float16).view(np.uint32)[0] for x in ([1, 1], [2, 3]))
    assert ptxemu.execute("setp.lt.f16x2", a, b) == (True, True)
    assert ptxemu.execute("setp.lt.f32", np.float32(1), np.float32(2), results=2) == (True, False)
