"""Laws that hold for the results of any operands."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from helpers.properties import given, strategies as st

pytestmark = pytest.mark.inputs("emulator")

bits32 = st.integers(0, 2**32 - 1)


def f32(x: int) -> np.uint32:
    return np.uint32(x)


@pytest.mark.exhaustive
@given(bits32, bits32)
def test_addition_and_multiplication_commute_but_for_payloads(x: int, y: int) -> None:
    for spelling in ("add.rz.f32", "mul.rp.ftz.f32", "max.f32", "min.NaN.f32"):
        assert ptxemu.execute(spelling, f32(x), f32(y)) == ptxemu.execute(spelling, f32(y), f32(x))


@given(bits32, bits32)
def test_directed_roundings_enclose_the_nearest(x: int, y: int) -> None:
    down, near, up = (ptxemu.execute(f"add.{r}.f32", f32(x), f32(y)).view(np.float32) for r in ("rm", "rn", "rp"))
    assert down <= near <= up or (np.isnan(down) and np.isnan(near) and np.isnan(up))


@given(bits32, bits32)
def test_rounding_toward_zero_is_the_one_nearer_zero(x: int, y: int) -> None:
    down, cut, up = (ptxemu.execute(f"mul.{r}.f32", f32(x), f32(y)).view(np.float32) for r in ("rm", "rz", "rp"))
    assert np.isnan(cut) or cut == (up if cut < 0 or np.signbit(cut) else down)


@given(bits32, bits32)
def test_a_lane_does_not_see_the_other(x: int, y: int) -> None:
    for spelling in ("add.bf16x2", "mul.ftz.sat.f16x2", "min.xorsign.abs.f16x2"):
        both = int(ptxemu.execute(spelling, f32(x), f32(y)))
        low = int(ptxemu.execute(spelling, f32(x & 0xFFFF), f32(y & 0xFFFF)))
        high = int(ptxemu.execute(spelling, f32(x & 0xFFFF0000), f32(y & 0xFFFF0000)))
        assert both & 0xFFFF == low & 0xFFFF
        assert both >> 16 == high >> 16


@given(bits32)
def test_saturated_results_lie_between_zero_and_one(x: int) -> None:
    result = ptxemu.execute("add.sat.f32", f32(x), f32(0))
    assert result <= 0x3F800000
