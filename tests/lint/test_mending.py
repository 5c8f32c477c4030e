"""Changes that mend what lint finds: behind them the same is not found there, and nothing else has changed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from helpers.linting import ENDS, FLAGS, HEADS, spelled_types, written
from ptxspec import Database
from ptxspec.lint.findings import Finding, merged
from ptxspec.lint.mending import Edit, edit


def mended(text: str, change: Edit) -> str:
    return text[: change.start] + change.new + text[change.end :]


def place(f: Finding) -> tuple[int, str]:
    return f.line, f.code


def one(db: Database, text: str, language: str = "ptx", target: str | None = None) -> str | None:
    """Return a text with its first finding mended; None where no change is known."""
    found = db.lint(text, target=target, language=language)
    change = edit(found[0], text)
    if change is None:
        return None
    after = mended(text, change)
    assert place(found[0]) not in map(place, db.lint(after, target=target, language=language)), after
    return after


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("add.ftz.ftz.f32 %f0, %f1, %f2;", "add.ftz.f32 %f0, %f1, %f2;"),
        ("add.f32.rn %f0, %f1, %f2;", "add.rn.f32 %f0, %f1, %f2;"),
        ("add.finite.f32 %f0, %f1, %f2;", "add.f32 %f0, %f1, %f2;"),
        ("ADD.f32 %f0, %f1, %f2;", "add.f32 %f0, %f1, %f2;"),
        ("add.F32 %f0, %f1, %f2;", "add.f32 %f0, %f1, %f2;"),
        ("max.float %f0, %f1, %f2;", "max.f32 %f0, %f1, %f2;"),
        ("fmaf.rn.f32 %f0, %f1, %f2, %f3;", "fma.rn.f32 %f0, %f1, %f2, %f3;"),
        ("max.nan.f32 %f0, %f1, %f2;", "max.NaN.f32 %f0, %f1, %f2;"),
        ("max.xorsign.f32 %f0, %f1, %f2;", "max.xorsign.abs.f32 %f0, %f1, %f2;"),
    ],
)
def test_a_spelling_is_mended(db: Database, wrong: str, right: str) -> None:
    assert one(db, wrong) == right


@pytest.mark.parametrize(
    "text",
    [
        "fma.f32 %f0, %f1, %f2, %f3;",  # of several roundings nobody knows which
        "add.f32 %f0, %f1;",
        "max.xorsign.f64 %d0, %d1, %d2;",
        "add.foo.f32 %f0, %f1, %f2;",  # what a name means that nobody knows would be lost
    ],
)
def test_what_is_not_plain_stays(db: Database, text: str) -> None:
    assert edit(db.lint(text)[0], text) is None


def test_what_was_meant_is_a_guess(db: Database) -> None:
    for text, doubt in (("add.rnn.f32 %f0, %f1, %f2;", "if that was meant"), ("add.F32 %f0, %f1, %f2;", "")):
        change = edit(db.lint(text)[0], text)
        assert change and change.doubt == doubt


def test_a_recipe_takes_the_place_of_the_statement(db: Database) -> None:
    before, statement, behind = ".reg .b16 %h<4>; .reg .pred %p; ", "add.bf16 %h0, %h1, %h2;", " // and more\n"
    recipe = "{ .reg .b16 %_t; mov.b16 %_t, 0x3f80; fma.rn.bf16 %h0, %h1, %_t, %h2; }"
    assert one(db, before + statement + behind, target="sm_80") == before + recipe + behind
    # A guard would be the first statement's only.
    assert one(db, before + "@%p " + statement + behind, target="sm_80") is None


def test_a_recipe_takes_the_place_of_a_spelling_that_ptx_does_not_have(db: Database) -> None:
    text = ".reg .f32 %f<4>; .reg .pred %p; fma.rn.relu.f32 %f0, %f1, %f2, %f3;"
    recipe = "{ .reg .b32 %_t; fma.rn.f32 %_t, %f1, %f2, %f3; max.NaN.f32 %f0, %_t, 0f00000000; }"
    assert one(db, text, target="sm_80") == text.partition("fma")[0] + recipe
    # A recipe's statements may not accept a constant, and the recipe of three operands is not that of two.
    for operands in ("%f1, %f2, 0f3F800000", "%f1, %f2"):
        [f, *_] = db.lint(text.replace("%f1, %f2, %f3", operands), target="sm_80")
        assert f.mend is None


def test_a_guard_stays_before_one_statement(db: Database) -> None:
    statements = {
        (str(v), target): recipe
        for target in ("sm_53", "sm_70", "sm_80")
        for v in db.variants
        for recipe in db.opcodes[v.opcode].recipes(v)
        if recipe.statements == 1
        and not recipe.line.startswith("{")
        and not db.takes(v, target, None)
        and db.catalog.takes(recipe.requires, target, None)
    }
    assert statements
    for (v, target), recipe in list(statements.items())[:20]:
        spelling = v.partition(" ")[0]
        (variant, *_) = (w for w in db.opcodes[spelling.partition(".")[0]].variants if str(w) == v)
        statement = written(db, spelling, variant.operands)
        text = f".reg .pred %p;\n@%p {statement}\n"
        found = db.lint(text, target=target)
        change = edit(found[0], text) if found else None
        if change:
            assert mended(text, change).startswith(f".reg .pred %p;\n@%p {recipe.line.partition(' ')[0]}")


@pytest.mark.parametrize(
    ("language", "text", "right"),
    [
        (
            "c++",
            'asm("add.bf16 %0, %1, %2;\\n" : "=h"(d) : "h"(a), "h"(b));',
            'asm("{ .reg .b16 _t; mov.b16 _t, 0x3f80; fma.rn.bf16 %0, %1, _t, %2; }\\n" : "=h"(d) : "h"(a), "h"(b));',
        ),
        (
            "rust",
            'asm!("add.bf16 {d}, {a}, {b};", d = out(reg16) d)',
            'asm!("{{ .reg .b16 _t; mov.b16 _t, 0x3f80; fma.rn.bf16 {d}, {a}, _t, {b}; }}", d = out(reg16) d)',
        ),
        (
            "python",
            'x = f"{{ add.bf16 %d, %a, %b; }}"',
            'x = f"{{ {{ .reg .b16 _t; mov.b16 _t, 0x3f80; fma.rn.bf16 %d, %a, _t, %b; }} }}"',
        ),
        # What stands in two strings, or is escaped, is left to people.
        ("c++", 'asm("add.bf16 %0, "\n    "%1, %2;" : "=h"(d) : "h"(a), "h"(b));', None),
        ("c++", 'asm("add.bf16 %0,\\t%1, %2;" : "=h"(d) : "h"(a), "h"(b));', None),
        ("c++", 'asm("add.bf16 %0, /* x */ %1, %2;" : "=h"(d) : "h"(a), "h"(b));', None),
        ("c++", 'asm("add." "rn.rn.f32 %0, %0, %0;" : "+f"(d));', None),
        ("c++", 'asm("add.rn.rn.f32 %0, %0, %0;" : "+f"(d));', 'asm("add.rn.f32 %0, %0, %0;" : "+f"(d));'),
        (
            "julia",
            '@asmcall("add.rn.rn.f32 \\$0, \\$1, \\$1;", "=f,f", T)',
            '@asmcall("add.rn.f32 \\$0, \\$1, \\$1;", "=f,f", T)',
        ),
    ],
)
def test_a_string_is_mended_as_it_is_written(db: Database, language: str, text: str, right: str | None) -> None:
    assert one(db, text, language, "sm_80") == right


def test_what_holds_for_some_targets_only_is_not_mended(db: Database) -> None:
    text = "add.bf16 %h0, %h1, %h2;\nadd.ftz.ftz.f32 %f0, %f1, %f2;\n"
    found = merged({t: db.lint(text, target=t) for t in ("sm_80", "sm_90")})
    assert [edit(f, text) is None for f in found] == [True, False]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("add.f32 a, b, c; // ptxspec: ignore[hazard]\nx", "add.f32 a, b, c;\nx"),
        ("// ptxspec: ignore[hazard]\nadd.f32 a, b, c;", "add.f32 a, b, c;"),
        ("/* ptxspec: ignore[hazard] */ add.f32 a, b, c;", None),
        (
            "add.rn.rn.f32 a, b, c; // ptxspec: ignore[hazard, repeated-modifier]",
            "add.rn.rn.f32 a, b, c; // ptxspec: ignore[repeated-modifier]",
        ),
        (
            "add.rn.rn.f32 a, b, c; // ptxspec: ignore[repeated-modifier , hazard]",
            "add.rn.rn.f32 a, b, c; // ptxspec: ignore[repeated-modifier]",
        ),
        ("add.f32 a, b, c; // ptxspec: ignore[hazard] as of today", None),
    ],
)
def test_an_ignore_that_ignores_nothing_goes(db: Database, text: str, right: str | None) -> None:
    assert one(db, text) == right


def spoilt(db: Database, dice: random.Random, count: int) -> Iterator[str]:
    """Yield statements with registers of the right types, and spellings most of which are wrong."""
    for v in dice.sample(db.variants, count):
        right = written(db, v.spelling, v.operands)
        yield right
        opcode, *names = v.spelling.split(".")
        for _ in range(3):
            names = [n for n in names if dice.random() < 0.9] or names
            if dice.random() < 0.5:
                names.insert(dice.randrange(len(names) + 1), dice.choice([*HEADS[1:], *FLAGS, *spelled_types(db)]))
            yield right.replace(v.spelling, ".".join((opcode, *names)), 1)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("target", "ptx"), ENDS)
def test_behind_every_change_the_same_is_not_found_there(db: Database, target: str, ptx: str) -> None:
    text = f".version {ptx}\n.target {target}\n" + "\n".join(spoilt(db, random.Random(target), 400)) + "\n"
    made, after = [], text
    for f in reversed(db.lint(text)):  # from the end on, so that offsets stay
        if change := edit(f, text):
            after = mended(after, change)
            made.append(place(f))
    assert len(made) > 5
    assert not set(made).intersection(map(place, db.lint(after)))


def test_an_ignore_in_what_is_no_ignore_is_left(db: Database) -> None:
    text = "//! T# ptxspec: ignore[hazard) ptxspec: ignore[hazard]\n"
    found = db.lint(text, language="rust", target="sm_80")
    assert [(f.code, edit(f, text)) for f in found] == [("unused-ignore", None)]
