"""Operands of which each lane reads bits of its own, and forms on which the assembler breaks down."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.repository import specification
from ptxspec.model import Operand
from ptxspec.read.lane_bits import parse_bits
from ptxspec.semantics.exact.lanes import lanes_of
from ptxspec.specification import read_all

FILE = "spec/instructions/try.yaml"


def write(project: Project, lanes: str, operand: str = "r", syntax: str = "d, a1, a0, r:b32") -> None:
    for path in (project.root / "spec/instructions").iterdir():
        path.unlink()
    project.write(
        FILE,
        f"opcode: try\nsummary: A trial.\nsyntax:\n  - try.f16x2.f32  {syntax}\nrequires:\n  - ptx: 1.0\n"
        f"lane_bits:\n  - {{operand: {operand}, lanes: {lanes}}}\n"
        "semantics: |\n  d = convertStochastic(a, type, r)\n",
    )


def test_runs_of_bits_go_either_way() -> None:
    assert parse_bits("3..0") == (3, 2, 1, 0)
    assert parse_bits("0..3") == (0, 1, 2, 3)
    assert parse_bits("23..22 1..0") == (23, 22, 1, 0)


def test_each_lane_reads_its_bits(project: Project) -> None:
    write(project, "{1: 0..15, 0: 31..16}")
    reading = read_all(project.root)
    assert reading.spec is not None, reading.diagnostics
    (v,) = reading.spec.instructions["try"].variants
    r = v.sources[-1]
    assert str(r.kind) == "16 bits" and r.type.name == "b32"
    assert lanes_of(r, [0x80000001], 2) == [0x8000, 0x8000]
    # Where lanes have bits of their own, a register may give all of them the same.
    assert r.spread(0x1234) == 0x1234_2C48


def test_lanes_that_share_bits_cannot_always_read_the_same() -> None:
    instruction = specification().instructions["cvt"]
    r = next(v for v in instruction.variants if v.spelling == "cvt.rs.satfinite.e4m3x4.f32").sources[-1]
    assert isinstance(r, Operand)
    assert (r.spread(0), r.spread(0xFFFF), r.spread(0x8001)) == (0, 0xFFFFFFFF, 0x80018001)
    assert r.spread(1) is None


@pytest.mark.parametrize(
    ("lanes", "operand", "syntax", "message"),
    [
        ("{1: 31..16, 0: 15..0}", "q", "d, a1, a0, r:b32", "has no operand 'q'"),
        ("{1: 31..16, 0: 15..0}", "a", "d, a1, a0, r:b32", "'a' is no register of bits that all lanes share"),
        ("{2: 31..16, 0: 15..0}", "r", "d, a1, a0, r:b32", "has the lanes 0 to 1"),
        ("{1: 31..16, 0: 15..1}", "r", "d, a1, a0, r:b32", "one lane reads more bits than another"),
        ("{1: 47..32, 0: 15..0}", "r", "d, a1, a0, r:b32", "'r' has 32 bits"),
    ],
)
def test_what_no_lane_can_read_is_an_error(
    project: Project, lanes: str, operand: str, syntax: str, message: str
) -> None:
    write(project, lanes, operand, syntax)
    found = read_all(project.root).diagnostics
    assert any(message in d.message for d in found), found


@pytest.mark.parametrize(
    ("semantics", "message"),
    [
        ("d = convertStochastic(a, type, a)", "takes a float and random bits"),
        ("d = convertStochastic(a, s32, r)", "s32 is no format with subnormal numbers"),
        ("d = convertStochastic(a * a, type, r)", "rounds twice in one expression"),
    ],
)
def test_random_bits_round_a_float_once(project: Project, semantics: str, message: str) -> None:
    write(project, "{1: 31..16, 0: 15..0}")
    path = project.root / FILE
    project.write(FILE, path.read_text("utf-8").replace("d = convertStochastic(a, type, r)", semantics))
    result = project.run("validate")
    assert result.code == 1 and message in result.err


def test_what_the_assembler_breaks_down_on_has_no_kernel() -> None:
    spec = specification()
    broken = [v for v in spec.instructions["cvt"].variants if not spec.has_kernel(v)]
    assert len(broken) == 12 + 4
    for v in broken:
        assert v.claim == "unspecified" and spec.catalog.is_current(v.requires)
        assert v.crash and not spec.instructions["cvt"].is_advisable(v)
