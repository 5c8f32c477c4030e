"""Advice is written as the string needs it that it is about, so that it can be pasted there."""

from __future__ import annotations

import pytest
from ptxspec import Database


@pytest.mark.parametrize(
    ("language", "text", "advice"),
    [
        ("c++", 'asm("add.bf16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));', "{ fma %0, %1, _t, %2; }"),
        ("c++", 'asm("add.bf16 %%d, %%a, %0;" :: "h"(b));', "{ fma %%d, %%a, _t, %0; }"),
        ("rust", 'asm!("add.bf16 {d}, {a}, {b};", d = out(reg16) d)', "{{ fma {d}, {a}, _t, {b}; }}"),
        ("rust", 'asm!("add.bf16 {0}, {1}, {2};", out(reg16) d)', "{{ fma {0}, {1}, _t, {2}; }}"),
        ("rust", 'asm!("add.bf16 {}, {}, {};", out(reg16) d)', "{{ fma {0}, {1}, _t, {2}; }}"),
        ("python", 'x = f"{{ add.bf16 %d, %a, %b; }}"', "{{ fma %d, %a, _t, %b; }}"),
        ("python", 'x = "{ add.bf16 %%d, %%a, %%b; } %s" % y', "{ fma %%d, %%a, _t, %%b; }"),
        ("python", """x = f'asm("add.bf16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));'""", "{{ fma %0, %1, _t, %2; }}"),
        ("python", 'inline_ptx("add.bf16 {$w0}, {$r0}, {$r1};")', "{ fma {$w0}, {$r0}, _t, {$r1}; }"),
        ("julia", r'@asmcall("add.bf16 \$0, \$1, \$2;", "=h,h,h", T)', r"{ fma \$0, \$1, _t, \$2; }"),
        ("julia", '@asmcall(raw"add.bf16 $0, $1, $2;", "=h,h,h", T)', "{ fma $0, $1, _t, $2; }"),
        ("mlir", 'llvm.inline_asm "add.bf16 $0, $1, $2;", "=h,h,h" %a, %b', "{ fma $0, $1, _t, $2; }"),
    ],
)
def test_a_recipe_can_be_pasted(db: Database, language: str, text: str, advice: str) -> None:
    (found,) = db.lint(text, target="sm_80", language=language)
    recipe = advice.replace("fma", ".reg .b16 _t; mov.b16 _t, 0x3f80; fma.rn.bf16")
    assert found.help == f"instead: {recipe}"


@pytest.mark.parametrize(
    ("statement", "letter", "wanted"),
    [("add.f64", "f", "d"), ("add.f32", "d", "f"), ("add.rn.f16", "f", "h"), ("add.rn.bf16", "f", "h")],
)
def test_the_constraint_that_takes_a_variable_of_the_type_is_advised(
    db: Database, statement: str, letter: str, wanted: str
) -> None:
    """Another one would hold the bits, and make an integer of the variable."""
    text = f'asm("{statement} %0, %1, %2;" : "={wanted}"(d) : "{letter}"(a), "{wanted}"(b));'
    (found,) = db.lint(text, language="c++")
    assert found.help == f'write "{wanted}"'
