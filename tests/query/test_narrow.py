"""Questions about narrow formats over which people lost days: one command answers each."""

from __future__ import annotations

import json

import pytest
from helpers import ROOT
from ptxspec import Database
from ptxspec.cli.main import main

pytestmark = pytest.mark.inputs(
    "requirements", "codegen/ptxspec/catalog", "codegen/ptxspec/query", "codegen/ptxspec/proving/ptxas"
)

FP4 = "cvt.rn.satfinite.e2m1x2.f32"
FP8 = "cvt.rn.satfinite.e4m3x2.f32"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main([arguments[0], "--root", str(ROOT), *arguments[1:]])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "has"),
    [("sm_120", False), ("sm_120a", True), ("sm_120f", True), ("sm_121", False), ("sm_121a", True), ("sm_100", False),
     ("sm_100f", True), ("sm_103a", True), ("sm_90a", False)],
)  # fmt: skip
def test_fp4_is_there_on_a_and_f_kinds_of_targets_alone(
    capsys: pytest.CaptureFixture[str], target: str, has: bool
) -> None:
    code, out = answer(capsys, "query", FP4, "--target", target)
    assert code == (0 if has else 1)
    if target == "sm_120":
        assert "sm_120a" in out and "sm_120f" in out


@pytest.mark.parametrize(
    ("target", "ptx", "has"),
    [("sm_89", "7.8", False), ("sm_89", "8.0", False), ("sm_89", "8.1", True), ("sm_90", "7.8", True),
     ("sm_86", "8.1", False)],
)  # fmt: skip
def test_fp8_is_there_on_sm_89_from_ptx_8_1_on(
    capsys: pytest.CaptureFixture[str], target: str, ptx: str, has: bool
) -> None:
    for spelling in (FP8, "cvt.rn.f16x2.e5m2x2"):
        code, _ = answer(capsys, "query", spelling, "--target", target, "--ptx", ptx)
        assert code == (0 if has else 1), spelling


def test_random_bits_are_there_on_three_targets(db: Database) -> None:
    rs = [v for o in db.opcodes.values() for v in o.variants if "rs" in v.spelling.split(".")]
    assert len(rs) == 18
    for v in rs:
        assert [t for t in db.catalog.targets if db.takes(v, t, "9.5")] == ["sm_100a", "sm_103a", "sm_107a"]
        assert v.claim == "unjudged"


def test_the_page_says_what_the_random_bits_do(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = answer(capsys, "show", "cvt.rs.satfinite.e4m3x4.f32")
    text = " ".join(out.split())
    assert "a carry rounds away from zero" in text and "in reverse order" in text
    assert "which random bits each of four lanes reads, in NVIDIA's own words" in text


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("spelling", "operand", "result"),
    [
        ("cvt.rz.ue8m0x2.f32", "0.0", 0x00),
        ("cvt.rp.ue8m0x2.f32", "0.0", 0x00),
        ("cvt.rz.ue8m0x2.f32", "1.5", 0x7F),
        ("cvt.rp.ue8m0x2.f32", "1.5", 0x80),
        ("cvt.rp.ue8m0x2.f32", "-1.5", 0x80),
        ("cvt.rp.ue8m0x2.f32", "inf", 0xFF),
        ("cvt.rp.satfinite.ue8m0x2.f32", "inf", 0xFE),
    ],
)
def test_scales_of_zero_of_what_lies_between_and_of_infinity(
    capsys: pytest.CaptureFixture[str], spelling: str, operand: str, result: int
) -> None:
    code, out = answer(capsys, "eval", spelling, operand, operand, "--format", "json")
    assert code == 0 and json.loads(out)["result"] == f"0x{result * 0x0101:04x}"


def test_the_first_source_is_the_upper_lane(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = answer(capsys, "eval", FP8, "1.0", "2.0", "--format", "json")
    assert json.loads(out)["result"] == "0x3840"
    _, out = answer(capsys, "eval", FP4, "1.0", "2.0", "--format", "json")
    assert json.loads(out)["result"] == "0x24"


@pytest.mark.exhaustive
def test_the_same_random_bits_give_the_same_result(capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the last place rounds up where the lane's highest random bit is set: bit 28 and 12 of r for f16."""
    for r, result in (("0x00000000", "0x3c003c00"), ("0x10000000", "0x3c013c00"), ("0x00001000", "0x3c003c01")):
        _, out = answer(capsys, "eval", "cvt.rs.f16x2.f32", "0x1.002p0", "0x1.002p0", r, "--format", "json")
        assert json.loads(out)["result"] == result
