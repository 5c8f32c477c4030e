"""MPFR as a side: every variant that rounds is held against it, and what it cannot judge is refused."""

from __future__ import annotations

import pytest
from helpers.repository import database
from ptxspec.proving.compare.differing import VALUE
from ptxspec.proving.compare.sides import Misfit

from .conftest import Compare

pytestmark = pytest.mark.inputs("emulator", "codegen/ptxspec/proving/compare")

# Why MPFR does not judge a variant.
REFUSED = ("does not round", "MPFR has no", "only functions of 1 to 4")


@pytest.mark.exhaustive
def test_the_emulator_rounds_as_mpfr_does(compared: Compare) -> None:
    judged = 0
    every = [v for o in database().opcodes.values() for v in o.variants]
    for v in every[::7]:
        try:
            found = compared(v.spelling, "mpfr", samples=100)
        except Misfit as e:
            assert any(why in str(e) for why in REFUSED), e
            continue
        assert found.rows == (), v
        judged += 1
    assert judged > 200


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "spelling",
    ["add.rn.ftz.f32", "fma.rm.f32", "div.rp.f64", "sqrt.rz.f32", "rsqrt.approx.f32", "lg2.approx.f32",
     "add.sat.f16x2", "cvt.rpi.s8.f32", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rzi.f32.f32", "cvt.rm.f32.u64",
     "fma.rn.relu.bf16"],
)  # fmt: skip
def test_what_rounds_in_each_way_is_as_mpfr_has_it(compared: Compare, spelling: str) -> None:
    assert compared(spelling, "mpfr", samples=500).rows == ()
    assert compared("mpfr", spelling, samples=1).rows == ()


@pytest.mark.parametrize(
    ("spelling", "why"),
    [
        ("neg.f32", "neg.f32 does not round, so it cannot be compared with mpfr"),
        ("cvt.rs.f16x2.f32", "cvt.rs.f16x2.f32: MPFR has no convertStochastic"),
        ("cvt.rna.tf32.f32", "cvt.rna.tf32.f32: MPFR has no roundTiesToAway"),
        ("cvt.rz.ue8m0x2.f32", "MPFR has no numbers like those of .ue8m0"),
        ("fmaxf", "requires a variant such as add.rn.f16 on the other side"),
    ],
)
def test_what_it_cannot_judge_is_refused(compared: Compare, spelling: str, why: str) -> None:
    with pytest.raises(Misfit, match=why):
        compared(spelling, "mpfr")


def test_what_is_inside_of_the_manuals_bound_is_left_open_and_measured(compared: Compare) -> None:
    found = compared("ex2.approx.ftz.f32", "mpfr", "sm_75")
    assert found.equal and {r.kind for r in found.rows} == {VALUE}
    (row,) = found.rows
    assert row.open.startswith("the bound in NVIDIA's manual: 2 ulp") and 1 <= row.worst <= 2 and row.count > 100


@pytest.mark.parametrize("spelling", ["add.f32", "mad.f32"])
def test_what_an_old_target_does_otherwise_is_so_around_mpfr_too(compared: Compare, spelling: str) -> None:
    assert compared(spelling, "mpfr", "sm_13", samples=200).rows == ()
