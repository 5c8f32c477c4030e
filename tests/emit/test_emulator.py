"""Every variant whose bits are fixed, against MPFR and the manual's rules."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from helpers.groups import GROUPS, IN_ORDER, assert_equal, check, grid, ids
from helpers.judging import Judged
from helpers.rounding import thinned
from helpers.sizes import each_size
from oracles import judge

pytestmark = pytest.mark.inputs("emulator", "codegen/ptxspec/semantics")

GRID_RANDOM = 1 << 12
MANY = 1 << 17


@pytest.mark.sampled(20)
@each_size
@pytest.mark.parametrize("group", GROUPS, ids=ids)
def test_special_values_and_some_random_ones(
    group: tuple[str, frozenset[str], str, int], whole: bool, judged: Judged
) -> None:
    _, _, format_, count = group
    random = judge.random_operands(format_, count, GRID_RANDOM)
    operands = [np.concatenate([g, r]) for g, r in zip(grid(format_, count), random, strict=True)]
    check(group, thinned(operands, whole, ids(group)))
    if whole:
        judged(judge.judge_of(GROUPS[group][0]), [(spelling, count) for spelling in GROUPS[group]])


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", IN_ORDER, ids=ids)
def test_many_random_operands(group: tuple[str, frozenset[str], str, int]) -> None:
    check(group, list(judge.random_operands(group[2], group[3], MANY)))


@pytest.mark.sampled(20)
@pytest.mark.parametrize("group", [g for g in GROUPS if g[2] in ("f16", "bf16") and g[3] == 1], ids=ids)
def test_all_inputs_of_16_bits(group: tuple[str, frozenset[str], str, int]) -> None:
    check(group, [np.arange(1 << 16, dtype=np.uint16)])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", ["sm_10", "sm_13"])
@pytest.mark.parametrize("spelling", ["add.f32", "mul.rz.f32", "mad.f32", "mad.sat.f32", "max.f32", "abs.f32"])
def test_single_precision_always_flushes_on_sm_1x(spelling: str, target: str) -> None:
    opcode, rest = spelling.split(".", 1)
    count = ptxemu.compile(spelling).operands
    operands = list(judge.random_operands("f32", count, 3 * GRID_RANDOM))
    operands = [np.concatenate([x, g]) for x, g in zip(operands, grid("f32", count), strict=True)]
    want = judge.expected(f"{opcode}.ftz.{rest}", operands)
    assert_equal(spelling, operands, ptxemu.execute(spelling, *operands, target=target), want)


def test_mad_without_rounding_is_fused_from_sm_20_on() -> None:
    operands = list(judge.random_operands("f32", 3, 3 * GRID_RANDOM))
    want = judge.expected("fma.rn.f32", operands)
    assert_equal("mad.f32", operands, ptxemu.execute("mad.f32", *operands, target="sm_20"), want)
