"""Questions that people asked about conversions."""

from __future__ import annotations

import re

import numpy as np
import ptxemu
import pytest
from helpers.commands import Run
from helpers.repository import database, specification
from ptxspec import Database
from ptxspec.evaluate import parse_operand
from ptxspec.model import Spec, Type, Variant


@pytest.mark.parametrize(
    ("command", "result"),
    [
        # NaN becomes 0, but the number with the top bit alone where 64 bits are on either side.
        ("cvt.rni.s32.f32 nan", "0x00000000"),
        ("cvt.rzi.u16.bf16 nan", "0x0000"),
        ("cvt.rni.s64.f32 nan", "0x8000000000000000"),
        ("cvt.rni.u64.f16 nan", "0x8000000000000000"),
        ("cvt.rzi.s32.f64 nan", "0x80000000"),
        ("cvt.rzi.u8.f64 nan", "0x80"),
        # Out of range: a float ends in the range with and without .sat, an integer with it alone.
        ("cvt.rzi.u8.f32 300", "0xff"),
        ("cvt.rzi.sat.u8.f32 300", "0xff"),
        ("cvt.rzi.u32.f32 -1", "0x00000000"),
        ("cvt.rni.s32.f32 1e10", "0x7fffffff"),
        ("cvt.u8.s32 300", "0x2c"),
        ("cvt.sat.u8.s32 300", "0xff"),
        ("cvt.s32.s8 -1", "0xffffffff"),
        ("cvt.u32.s8 -1", "0xffffffff"),
        ("cvt.s32.u8 255", "0x000000ff"),
        # The first operand is the upper half.
        ("cvt.rn.f16x2.f32 1 2", "0x3c004000"),
        ("cvt.rn.bf16x2.f32 1 2", "0x3f804000"),
        ("cvt.rna.satfinite.tf32.f32 inf", "0x7f7fe000"),
        ("cvt.rna.tf32.f32 0x1.002p0", "0x3f802000"),
        ("cvt.rn.tf32.f32 0x1.002p0", "0x3f800000"),
        # .ftz is about single precision: this stays a subnormal number.
        ("cvt.rn.ftz.f16.f32 0x1p-20", "0x0010"),
        ("cvt.rn.ftz.f32.f64 0x1p-130", "0x00000000"),
    ],
)
def test_what_a_conversion_returns(spec: Spec, command: str, result: str) -> None:
    spelling, *texts = command.split()
    variant = next(v for v in spec.instructions["cvt"].variants if v.spelling == spelling and v.operands == len(texts))
    types = [s.type for s in variant.sources for _ in s.places]
    operands = [np.array(parse_operand(text, t), f"u{t.width // 8}") for text, t in zip(texts, types, strict=True)]
    found = ptxemu.execute(spelling, *operands)
    assert f"0x{int(found.view(f'u{found.itemsize}')):0{2 * found.itemsize}x}" == result


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("cvt.rna.satfinite.tf32.f32 --target sm_80", 0, "sm_80 or newer, PTX 8.1 or newer"),
        ("cvt.rna.satfinite.tf32.f32 --target sm_75", 1, "requires sm_80 or newer; sm_75 is older"),
        ("cvt.rna.satfinite.tf32.f32 --target sm_80 --ptx 8.0", 1, "requires PTX 8.1 (CUDA 12.1) or newer"),
        ("cvt.rn.satfinite.tf32.f32 --target sm_90", 1, "requires sm_100 or newer"),
        ("cvt.rn.s32.f32", 1, "cvt.s32.f32 has no .rn; it has .rni"),
        (
            "cvt.rni.sat.s32.bf16",
            1,
            "NVIDIA's manual lists cvt.rni.sat.s32.bf16, for sm_90 or newer, PTX 7.8 or newer; ptxas",
        ),
        ("cvt.rni.sat.s32.bf16", 1, "write cvt.rni.s32.bf16"),
        ("cvt.rni.sat.s32.bf16 --target sm_80", 1, "cvt.rni.s32.bf16 exists, but not on sm_80"),
        ("cvt.sat.f32.bf16", 1, "ptxas 13.5.37 accepts no variant with all of these names"),
        ("cvt.rn.sat.f16.bf16", 1, "ptxas 13.5.37 accepts no variant with all of these names"),
        ("cvt.rn.sat.bf16.f32", 1, "cvt.bf16.f32 has no .sat"),
    ],
)
def test_where_a_conversion_is(run: Run, command: str, code: int, said: str) -> None:
    found, out, _ = run("query", *command.split())
    assert found == code and said in out


def test_an_operand_is_an_integer_of_its_type(run: Run) -> None:
    for operand in ("1.5", "-1", "256", "nan", "0x1ff"):
        code, out, err = run("eval", "cvt.rn.f32.u8", operand)
        assert code == 2 and not out and f"'{operand}'" in err


def test_the_notes_say_which_conversions_take_a_wider_register() -> None:
    """Of what the assembler breaks down on nothing is said; what is packed has a note of its own."""
    spec = specification()
    instruction = spec.instructions["cvt"]
    variants = [v for v in instruction.variants if not v.crash and "pack" not in v.modifiers]
    (note,) = (n for n in instruction.notes if n.text.startswith("A result may be in a wider register"))
    (other,) = (n for n in instruction.notes if n.text.startswith("NVIDIA's manual excludes only .bf16, .bf16x2"))
    for v in variants:
        wider = any(_stands_in_wider(spec, v, o.type) for o in (v.result, *v.sources))
        assert (note.selector.matches(v), other.selector.matches(v)) == (wider, not wider), v


def _stands_in_wider(spec: Spec, v: Variant, type: Type) -> bool:
    taken = [re.fullmatch(r"[a-z]+(\d+)(x2)?", r) for r in spec.registers(spec.instructions["cvt"], v, type.name)]
    return any(int(m[1]) * (2 if m[2] else 1) > type.width for m in taken if m)


def test_lint_knows_the_registers_of_conversions(db: Database) -> None:
    """A wider register is taken where neither bf16 nor tf32 is, and a special register for an integer."""
    module = ".version 9.4\n.target sm_90\n.entry k () {{ .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %b<4>; {} }}\n"
    taken = [
        "cvt.u64.u32 %b0, %tid.x;",
        "cvt.u32.u8 %r0, %r1;",
        "cvt.rn.f16.f32 %r0, %r1;",
        "cvt.f32.f16 %b0, %r1;",
        "cvt.rn.bf16.f32 %h0, %r1;",
        "cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;",
        "cvt.pack.sat.u16.s32 %r0, %r1, %r2;",
    ]
    refused = [
        "cvt.rn.bf16.f32 %r0, %r1;",
        "cvt.f32.bf16 %b0, %h1;",
        "cvt.u32.u16 %h0, %h1;",
        "cvt.u64.u64 %b0, %tid.x;",
    ]
    assert [s for s in taken if db.lint(module.format(s))] == []
    assert [s for s in refused if not db.lint(module.format(s))] == []


def test_what_a_refused_modifier_would_not_change_is_written_without_it() -> None:
    """.sat before an integer, and nowhere else: elsewhere it clamps to 1."""
    same = {r["variant"]: r.get("same") for r in database().opcodes["cvt"].data["assembler"]["refused"]}
    to_integers = [s for s in same if re.fullmatch(r"cvt\.r.i\.sat\.[us]\d+\.bf16", s)]
    assert len(to_integers) == 32
    assert {s: w for s, w in same.items() if w} == {s: s.replace(".sat", "") for s in to_integers}
