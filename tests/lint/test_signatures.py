"""Operands are judged by their signatures, of opcodes that were added in YAML alone: lint's verdict is ptxas's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import ptxspec
import pytest
from helpers.comparisons import with_comparisons
from helpers.linting import Pair, disagreements, pairs, writer, written
from helpers.sizes import each_size, spread
from ptxspec import Database, Variant
from ptxspec.ptxas.asking import FOOTER, HEADER

NEW = ("setp", "selp", "slct", "cvt")
RS = ("sm_100a", "9.5")


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return ptxspec.load(root=with_comparisons(tmp_path_factory.mktemp("comparisons") / "project"))


def new(added: Database) -> list[Variant]:
    return [v for v in added.variants if v.opcode in NEW]


def right(added: Database, v: Variant) -> Iterator[str]:
    """A variant's statements: with q and without it, with a negated predicate and without it."""
    for second in (False, True) if v.second else (False,):
        for inverted in (False, True) if any(s.negatable for s in v.sources) else (False,):
            yield written(added, v.spelling, v.operands, second, inverted)


@each_size
def test_what_is_right_is_taken_where_ptxas_takes_it(added: Database, ptxas: Path, whole: bool) -> None:
    every = [s for v in new(added) for s in right(added, v)]
    assert len(every) > 700
    assert disagreements(added, ptxas, every, RS) == []
    # The made-up requirements do not say that .rs is on some kinds of targets only.
    some = [s for s in every if ".rs." not in s]
    for pair in spread(pairs(added), 80 if whole else 4):
        assert disagreements(added, ptxas, some, pair) == []


REGISTERS = ("%y7", "%h7", "%r7", "%b7", "%f7", "%d7", "%p7")
CONSTANTS = ("1", "0", "-1", "!1", "~7", "1U", "1.0", "-2.5", "1e3", "0f3F800000", "0d3FF0000000000000", "1+1", "(1)",
             "1.0+2.0", "1.0<2.0", "1+1.0", "1/0", "1.0/0.0", "1?2:3", "1?2.0:3.0", "(.s64)1", "(.u32)1", "1e-400",
             "0xffffffffffffffff", "99999999999999999999", "WARP_SZ", "-WARP_SZ", "!WARP_SZ", "0x1g", "08")  # fmt: skip
NO_REGISTERS = ("_", "", "%tid.x", "%clock64", "undeclared", "judge", "[%b1]", "%f7.x", "%f7[0]", "%f7 %f7")
NEGATED = ("!%p7", "-%f7", "!%f7", "! %p7", "!!%p7", "-%p7", "!undeclared", "!judge")
SEVERAL = ("%p6|%p7", "%f6|%p7", "%p6|%f7", "%f6|_", "%p6|_", "_|%p7", "_|_", "_|%f7", "%p5|%p6|%p7", "%p6||%p7",
           "%p6|", "%p6|undeclared", "undeclared|_", "%p6 | %p7", "%p6|1")  # fmt: skip
VECTORS = ("{%f7}", "{%f4, %f5}", "{%f4,%f5,%f6}", "{%f4, %r5, %f6, %r7}", "{ %f4 , 1.0 , %f6 , 0f3F800000 }", "{}",
           "{%f4, _, %f6, %f7}", "{%f4, %d5, %f6, %f7}", "{%f4, %f5, %f6, undeclared}", "{%f4, %f5, %f6, judge}",
           "{%f4, %f5, %f6, -%f7}", "{%f4, %f5, %f6, }", "{%f4, %f5, %f6, %tid.x}", "{%h4, %h5, %h6, %h7}", "{%b4,%b5}",
           "{%p4, %p5}", "{%f3, %f4, %f5, %f6, %f7}", "{%f4, %p5, %f6, %f7}", "{%f4, %f5|%f6, %f6, %f7}")  # fmt: skip
SPOILT = (*REGISTERS, *CONSTANTS, *NO_REGISTERS, *NEGATED, *SEVERAL, *VECTORS)


def spoilt(added: Database, v: Variant) -> Iterator[str]:
    """A variant's statement with one operand replaced, missing or beside another one."""
    operands = writer(added).operands(v)
    for i in range(len(operands)):
        for other in SPOILT:
            yield f"{v.spelling} {', '.join([*operands[:i], other, *operands[i + 1 :]])};"
        for several in ([], [operands[i]] * 2, [operands[i], "%p7"]):
            yield f"{v.spelling} {', '.join([*operands[:i], *several, *operands[i + 1 :]])};"


@each_size
@pytest.mark.parametrize("pair", [RS, ("sm_61", "8.2")])
def test_spoilt_operands_are_judged_as_ptxas_judges_them(added: Database, ptxas: Path, pair: Pair, whole: bool) -> None:
    """Of each opcode and signature one variant; all of them with the sweeps."""
    by_signature = {
        (v.opcode, v.types, v.result, v.second, v.sources): v for v in added.available(*pair) if v.opcode in NEW
    }
    some = [s for v in by_signature.values() for s in spoilt(added, v)]
    assert len(some) > 2_000
    assert disagreements(added, ptxas, some if whole else spread(some, 700), pair, batch=150) == []


def test_a_form_that_nobody_described_is_left_alone(added: Database) -> None:
    others = "setp.lt.s32 %p0, %r1, 5; setp.lo.and.u32 p|q, a, b, !c; setp.lt.bf16x2 p|q, a, b; selp.b32 d, a, 1, p;"
    others += "slct.u32.f32 d, a, b, c; cvt.rn.bf16.f32 %h0, %f1; cvt.f64.f32 d, a; cvt.foo.bar.f32.f16 {a}, _;"
    assert added.lint(others) == []
    assert added.lint(f'asm("{others}" :: "r"(a));', language="c++") == []
    assert added.lint(f'"{others}"', language="python") == []
    assert [r.code for r in added.query("setp.lt.s32").reasons] == ["not-in-database"]
    # The types that it describes are no other instructions' for that.
    assert added.lint("add.s32 %r0, %r1, 1; add.b32 %r0, %r1, 1;")[0].code == "illegal-type"


@pytest.mark.parametrize(
    ("statement", "code", "meant"),
    [
        ("setp.lt.f32 %p0|%f1, %f1, %f2;", "illegal-register", "%f1"),
        ("setp.lt.f16 %p0|%p1, %h1, %h2;", "illegal-destination", "%p0|%p1"),
        ("setp.lt.and.f32 %p0, %f1, %f2, !%f3;", "illegal-register", "%f3"),
        ("setp.lt.and.f32 %p0, !%f1, %f2, !%p3;", "illegal-operand", "!%f1"),
        ("setp.lt.and.f32 %p0, %f1, %f2, 1.0;", "illegal-immediate", "1.0"),
        ("setp.lt.f32 %p0, %f1, %f2, %p3;", "operand-count", "setp.lt.f32"),
        ("setp.lt.gt.f32 %p0, %f1, %f2;", "excluding-modifiers", "setp.lt.gt.f32"),
        ("setp.f32 %p0, %f1, %f2;", "missing-modifier", "setp.f32"),
        ("slct.f32.s32 %f0, %f1, %f2, %f3;", "illegal-register", "%f3"),
        ("slct.f32.s32 %f0, %f1, %f2, 1.5;", "illegal-immediate", "1.5"),
        ("slct.f32.s32 %f0, %f1, %f2, 99999999999999999999;", "illegal-immediate", "99999999999999999999"),
        ("slct.f32.s32 %f0, %f1, %f2, 1 + 1.0;", "illegal-immediate", "1 + 1.0"),
        ("cvt.rn.f16x2.f32 %r0, {%f1, %f2};", "illegal-operand", "{%f1, %f2}"),
        ("cvt.rs.satfinite.e4m3x4.f32 %r0, {%f1, %f2, %f3, %d4}, %r5;", "illegal-register", "%d4"),
        ("cvt.rs.satfinite.e4m3x4.f32 %r0, {%f1, %f2, %f3, %f4}, 5;", "illegal-immediate", "5"),
        ("cvt.rs.satfinite.e4m3x4.f32 %r0, %f1, %f2, %f3, %f4, %r5;", "illegal-operand", "%f1"),
    ],
)
def test_what_is_wrong_is_pointed_at(added: Database, statement: str, code: str, meant: str) -> None:
    header = HEADER.format(ptx="9.5", target="sm_100a")
    (found,) = added.lint(header + statement + FOOTER)
    assert (found.code, found.source[found.at : found.at + found.length]) == (code, meant)
    assert found.help


def test_types_keep_their_order_and_modifiers_need_none(added: Database) -> None:
    assert [f.code for f in added.lint("setp.f32.and.lt.ftz %p0, %f1, %f2, %p3;")] == ["modifier-order"]
    assert [f.code for f in added.lint("slct.f32.ftz.f32 %f0, %f1, %f2, %f3;")] == ["modifier-order"]
    assert added.lint("slct.f64.s32 %d0, %d1, %d2, %r3;") == added.lint("slct.s32.f64 %r0, %r1, %r2, %d3;") == []
    assert [r.code for r in added.query("slct.s32.f64").reasons] == ["not-in-database"]


def test_constraints_are_of_each_operands_type(added: Database) -> None:
    text = 'asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(x) : "f"(a), "f"(b), "{}"(c));'
    assert added.lint(text.format("r"), language="c++") == []
    # CUDA 13 makes .b32 of f.
    assert added.lint(text.format("f"), language="c++") == []
    (found,) = added.lint(text.format("d"), language="c++")
    assert (found.code, found.help) == ("illegal-register", 'write "r"')
    assert "%3" in found.message
