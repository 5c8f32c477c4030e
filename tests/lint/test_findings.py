"""The findings of lint, and what it leaves alone."""

from __future__ import annotations

import re

import pytest
from helpers import ROOT
from helpers.linting import (
    ENDS,
    UNTOUCHED,
    spoilt,
)
from helpers.sizes import each_size
from ptxspec import Database
from ptxspec.__main__ import main
from ptxspec.lint.findings import CODES
from ptxspec.ptx.complaints import ERROR, NOTE, WARNING


def test_what_is_right_and_what_is_none_of_the_databases_passes_untouched(db: Database) -> None:
    assert [(f.line, f.message) for f in db.lint(UNTOUCHED)] == []


def test_every_kind_of_finding_says_what_to_do(db: Database) -> None:
    text = """\
        add.foo.f32 %f0, %f1, %f2;
        add.foo %f0, %f1, %f2;
        add.rn %f0, %f1, %f2;
        div.bf16 %h0, %h1, %h2;
        max.NaN.f64 %d0, %d1, %d2;
        fma.f32 %f0, %f1, %f2, %f3;
        add.rn.rz.f32 %f0, %f1, %f2;
        max.xorsign.f32 %f0, %f1, %f2;
        add.ftz.ftz.f32 %f0, %f1, %f2;
        div.ftz.full.f32 %f0, %f1, %f2;
        add.f32 %f0, %f1;
        add.f32 %f0, %f1, 1;
        add.f16 %h0, %h1, 1.0;
        add.f32 %f0, %f1, {%f2};
        add.f32 _, %f1, %f2;
        add.f32 %f0, %f1, 1.0f;
    """
    found = db.lint(text)
    assert [f.code for f in found] == [
        "unknown-modifier", "unknown-type", "missing-type", "illegal-type", "illegal-modifier", "missing-modifier",
        "excluding-modifiers", "missing-modifier", "repeated-modifier", "misplaced-modifier", "operand-count",
        "illegal-immediate", "illegal-immediate", "illegal-operand", "illegal-destination", "syntax",
    ]  # fmt: skip
    assert {f.severity for f in found} == {ERROR}
    assert all(f.help for f in found)
    meant = [f.source[f.at : f.at + f.length] for f in found]
    assert meant[0] == ".foo" and meant[4] == ".NaN" and meant[9] == ".full" and meant[11] == "1" and meant[12] == "1.0"


def test_what_ptxas_tolerates_is_no_error(db: Database) -> None:
    found = db.lint(
        "add.finite.f32 %f0, %f1, %f2;\ntestp.f32 %p0, %f1;\nadd.sat.sat.f32 %f0, %f1, %f2;\n"
        "add.ftz.rn.f32 %f0, %f1, %f2;\nadd.f32.rn %f0, %f1, %f2;\nfma.rz.bf16 %h0, %h1, %h2, %h3;\n"
    )
    assert [(f.line, f.severity, f.code) for f in found] == [
        (1, WARNING, "ignored-modifier"),
        (2, WARNING, "tolerated-spelling"),
        (3, WARNING, "repeated-modifier"),
        (4, NOTE, "modifier-order"),
        (5, NOTE, "modifier-order"),
        (6, WARNING, "hazard"),
    ]
    assert found[-1].also == ("NVIDIA's manual does not list fma.rz.bf16; the assembler accepts it",)


def test_what_is_offered_exists_there(db: Database) -> None:
    for target, ptx in ENDS:
        text = f".version {ptx}\n.target {target}\nmax.NaN.f64 %d0, %d1, %d2;\nfma.rn.relu.f16 %h0, %h1, %h2;\n"
        for f in db.lint(text):
            for spelling in re.findall(r"[a-z]\w+\.[\w.]+", f.help.partition("write ")[2]):
                assert any(db.takes(v, target, ptx) for v in db.variants if v.spelling == spelling), f


@each_size
def test_codes_are_documented(db: Database, whole: bool) -> None:
    statements = spoilt(db, 2_000 if whole else 400, "codes")
    assert {f.code for f in db.lint("\n".join(statements))} <= set(CODES)


def test_a_page_of_the_manual_lists_every_code_and_help_leads_there(capsys: pytest.CaptureFixture[str]) -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \| \S", (ROOT / "generated/manual/codes.md").read_text("utf-8"), re.MULTILINE)
    assert listed == list(CODES)
    with pytest.raises(SystemExit):
        main(["lint", "--help"])
    assert "`ptxspec manual codes` explains all codes" in " ".join(capsys.readouterr().out.split())
    assert main(["lint", "--select", "what", "--root", str(ROOT)]) == 2
    assert "unknown code 'what'; `ptxspec manual codes` lists them" in capsys.readouterr().err


def test_a_recipe_names_the_registers_of_the_statement(db: Database) -> None:
    """The advised recipe can stand in the statement's place; if an operand is no register, it keeps its own names."""
    head = ".version 8.6\n.target sm_75\n"
    (found,) = db.lint(f"{head}max.NaN.f32 %f1, %t, %f2;")
    block = "{ .reg .pred %_p; .reg .b32 %_t; setp.nan.f32 %_p, %t, %f2; max.f32 %_t, %t, %f2; "
    assert found.help == f"instead: {block}selp.f32 %f1, 0f7FFFFFFF, %_t, %_p; }}"
    (found,) = db.lint(f"{head}max.NaN.f32 %f1, %t, 1.0;")
    assert "setp.nan.f32 %_p, %a, %b;" in found.help
    (found,) = db.lint('asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));', target="sm_75", language="c++")
    assert "setp.nan.f32 _p, %1, %2; max.f32 _t, %1, %2;" in found.help


def test_registers_of_a_recipe_hide_none_of_the_statement(db: Database) -> None:
    head = ".version 8.0\n.target sm_80\n"
    (found,) = db.lint(f"{head}add.bf16 %h1, %_t, %_t_;")
    assert found.help == "instead: { .reg .b16 %_t__; mov.b16 %_t__, 0x3f80; fma.rn.bf16 %h1, %_t, %_t__, %_t_; }"
    (found,) = db.lint(f"{head}max.NaN.f32 %f1, %_p, %f2;", target="sm_75")
    assert ".reg .pred %_p_;" in found.help and "setp.nan.f32 %_p_, %_p, %f2; max.f32 %_t_, %_p, %f2;" in found.help
    (found,) = db.lint('asm("add.bf16 %0, _t, %%_t;" : "=h"(d));', target="sm_80", language="c++")
    assert found.help == "instead: { .reg .b16 _t_; mov.b16 _t_, 0x3f80; fma.rn.bf16 %0, _t, _t_, %%_t; }"


def test_a_recipe_is_not_filled_with_registers_of_another_width(db: Database) -> None:
    """cvt takes wider ones, of which testp and mov take none."""
    head = ".version 6.3\n.target sm_70\n.reg .b16 %h<2>; .reg .f32 %f<3>; .reg .b32 %r<2>; .reg .b64 %b<2>;\n"
    for statement, wanted in (
        ("cvt.rn.relu.f16.f32 %h0, %f1;", "testp.notanumber.f32 %_nan, %f1;"),
        ("cvt.rn.relu.f16.f32 %h0, %r1;", "testp.notanumber.f32 %_nan, %r1;"),
        ("cvt.rn.relu.f16.f32 %h0, %b1;", "testp.notanumber.f32 %_nan, %a;"),
        ("cvt.rn.f16x2.f32 %r0, %f1, %f2;", "mov.b32 %r0, {%_h0, %_h1};"),
        ("cvt.rn.f16x2.f32 %b0, %f1, %f2;", "mov.b32 %d, {%_h0, %_h1};"),
    ):
        (found,) = db.lint(head + statement)
        assert wanted in found.help, statement
    for letter, wanted in (("f", "_nan, %1;"), ("r", "_nan, %1;"), ("d", "%_nan, %a;")):
        asm = f'asm("cvt.rn.relu.f16.f32 %0, %1;" : "=h"(d) : "{letter}"(a));'
        (found,) = db.lint(asm, target="sm_75", language="c++")
        assert f"testp.notanumber.f32 {wanted}" in found.help, letter


def test_a_block_does_not_take_the_guard_of_the_statement(db: Database) -> None:
    head = ".version 8.6\n.target sm_75\n"
    (found,) = db.lint(f"{head}@!%p1 max.NaN.f32 %f1, %f2, %f3;")
    assert found.help.endswith("%_p; }; a block cannot have a guard: branch around it")
    (found,) = db.lint(f"{head}@%p1 neg.bf16 %h1, %h2;")
    assert found.help == "instead: xor.b16 %h1, %h2, 0x8000;, equal except for the bits of a NaN"
    for guard in ("@%p1\n", "@%p1 /* on */ ", "@ %p1 // on\n\t"):
        (found,) = db.lint(f"{head}{guard}max.NaN.f32 %f1, %f2, %f3;")
        assert found.help.endswith("; a block cannot have a guard: branch around it"), guard
        # Many statements are looked up, and are a block too.
        (found,) = db.lint(f"{head}{guard}cvt.rn.bf16x2.f32 %r1, %f2, %f3;")
        assert found.help.startswith("instead: the ") and found.help.endswith("branch around it"), guard
    (found,) = db.lint(f"{head}/* @%p1 */ max.NaN.f32 %f1, %f2, %f3;")
    assert found.help.endswith("%_p; }")
