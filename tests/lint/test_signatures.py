"""Operands of several types, and predicates, are judged by their signatures: lint's verdict is ptxas's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.linting import NEWEST, Pair, disagreements, pairs, writer, written
from helpers.sizes import each_size, spread
from ptxspec import Database, Variant
from ptxspec.proving.ptxas.asking import FOOTER, HEADER

pytestmark = pytest.mark.inputs(
    "requirements",
    "spec/assembler.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/ptx",
    "codegen/ptxspec/query",
    "codegen/ptxspec/proving/ptxas",
)

OPCODES = ("setp", "set", "selp", "slct", "and", "or", "xor", "not", "shl", "shr")


def right(db: Database, v: Variant) -> Iterator[str]:
    """A variant's statements: with q and without it, with a negated predicate and without it."""
    for second in (False, True) if v.second or v.result_registers > 1 else (False,):
        for inverted in (False, True) if any(s.negatable for s in v.sources) else (False,):
            yield written(db, v.spelling, v.operands, second, inverted)


@each_size
def test_what_is_right_is_taken_where_ptxas_takes_it(db: Database, ptxas: Path, whole: bool) -> None:
    every = [s for o in OPCODES for v in db.opcodes[o].variants for s in right(db, v)]
    assert len(every) > 1_400
    some = every if whole else spread(every, 350)
    assert disagreements(db, ptxas, some, NEWEST) == []
    moved = [s for v in db.opcodes["mov"].variants for s in right(db, v)]
    assert disagreements(db, ptxas, moved, NEWEST) == []
    for pair in spread(pairs(db), 30 if whole else 2):
        assert disagreements(db, ptxas, some, pair) == []


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


def spoilt(db: Database, v: Variant) -> Iterator[str]:
    """A variant's statement with one operand replaced, missing or beside another one."""
    operands = writer(db).operands(v)
    for i in range(len(operands)):
        for other in SPOILT:
            yield f"{v.spelling} {', '.join([*operands[:i], other, *operands[i + 1 :]])};"
        for several in ([], [operands[i]] * 2, [operands[i], "%p7"]):
            yield f"{v.spelling} {', '.join([*operands[:i], *several, *operands[i + 1 :]])};"


@pytest.mark.sampled(0)
@each_size
@pytest.mark.parametrize("pair", [NEWEST, ("sm_61", "8.2")])
def test_spoilt_operands_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, pair: Pair, whole: bool) -> None:
    """Of each opcode and signature one variant, and of what can be done to it some."""
    by_signature = {(v.types, v.result, v.second, v.sources): v for o in OPCODES for v in db.available(*pair, opcode=o)}
    some = [s for v in by_signature.values() for s in spoilt(db, v)]
    assert len(some) > 2_000
    assert disagreements(db, ptxas, spread(some, 6_000 if whole else 150), pair, batch=150) == []


def test_a_form_of_other_instructions_is_left_alone(db: Database) -> None:
    others = "mov.b128 d, {a, b};"
    others += "cvt.rn.ue8m0x2.f16x2 d, {a};"
    assert db.lint(others) == []
    assert db.lint(f'asm("{others}" :: "r"(a));', language="c++") == []
    assert db.lint(f'"{others}"', language="python") == []
    assert [r.code for r in db.query("mov.b128").reasons] == ["not-in-database"]
    # What no instruction of the name has is wrong.
    for statement in ("setp.lt.b8 %p0, %h1, %h2;", "selp.f16 %h0, %h1, %h2, %p3;", "slct.f32.f64 %f0, %f1, %f2, %d3;"):
        assert db.lint(statement)[0].code == "illegal-type"


AROUND = """
.global .f32 table[8];
.visible .entry k(.param .u64 a) {
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %b<9>;
mov.u32 %r1, %tid.x; mov.u64 %b1, %clock64; mov.u64 %b1, table; mov.u64 %b2, table+4; mov.u32 %r2, table[2];
mov.b64 {%r1, %r2}, %b1; mov.b32 {%h1, %h2}, %r3; mov.b64 {_, %r1}, %b2; mov.b64 %b3, {%r1, %r2};
mov.b32 %r1, {%h1, %h2}; mov.b64 %b1, {%f1, %f2}; mov.b64 %b1, {%h1, %h2, %h3, %h4}; mov.f32 %f1, 0f3F800000;
add.cc.u32 %r1, %r2, %r3; addc.u32 %r1, %r2, %r3; add.s32 %r1, %r2, -5; add.sat.s32 %r1, %r2, 3; add.s64 %b1, %b2, 8;
and.b32 %r1, %r2, 255; and.pred %p1, %p2, !%p3; not.pred %p1, %p2; shl.b32 %r1, %r2, 3; shr.u32 %r1, %r2, %r3;
selp.b32 %r1, %r2, 0, %p1; setp.lt.f32 %p1|_, %f1, %f2; setp.eq.s32 %p1, %r1, 0; set.gt.u32.u32 %r1, %r2, %r3;
}
"""


def test_what_stands_around_floating_point_is_taken(db: Database) -> None:
    assert db.lint(f".version 9.0\n.target sm_90\n{AROUND}") == []


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
        ("mov.b32 %r0, {%h1, %d2};", "illegal-register", "%d2"),
        ("mov.b32 %r0, %h1, %h2;", "illegal-operand", "%h1"),
        ("mov.b64 %b0, {%h1, %h2, %h3};", "operand-count", "mov.b64"),
        ("shl.b32 %r0, %r1, %h2;", "illegal-register", "%h2"),
        ("slct.f32.s32 %f0, %f1, %f2, 1 + 1.0;", "illegal-immediate", "1 + 1.0"),
    ],
)
def test_what_is_wrong_is_pointed_at(db: Database, statement: str, code: str, meant: str) -> None:
    header = HEADER.format(ptx="9.5", target="sm_121a")
    (found,) = db.lint(header + statement + FOOTER)
    assert (found.code, found.source[found.at : found.at + found.length]) == (code, meant)
    assert found.help


def test_types_keep_their_order_and_modifiers_need_none(db: Database) -> None:
    assert [f.code for f in db.lint("setp.f32.and.lt.ftz %p0, %f1, %f2, %p3;")] == ["modifier-order"]
    assert [f.code for f in db.lint("slct.f32.ftz.f32 %f0, %f1, %f2, %f3;")] == ["modifier-order"]
    assert db.lint("slct.f64.s32 %d0, %d1, %d2, %r3;") == []
    assert [f.code for f in db.lint("slct.s32.f64 %r0, %r1, %r2, %d3;")] == ["illegal-type"]


def test_constraints_are_of_each_operands_type(db: Database) -> None:
    text = 'asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(x) : "f"(a), "f"(b), "{}"(c));'
    assert db.lint(text.format("r"), language="c++") == []
    # CUDA 13 makes .b32 of f.
    assert db.lint(text.format("f"), language="c++") == []
    (found,) = db.lint(text.format("d"), language="c++")
    assert (found.code, found.help) == ("illegal-register", 'write "r"')
    assert "%3" in found.message
