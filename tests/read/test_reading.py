"""What `ptxspec validate` says of a specification with mistakes: each by its place, with what belongs there."""

from __future__ import annotations

import os
import random
import re
import shutil
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import Project, Result
from ptxspec.check.checking import check
from ptxspec.diagnostics import PtxspecError
from ptxspec.read.link import read_all
from ptxspec.read.positioned import load

ADD, MAX, MUL = (f"spec/instructions/{opcode}.yaml" for opcode in ("add", "max", "mul"))
TYPES, MODIFIERS, TARGETS = "spec/types.yaml", "spec/modifiers.yaml", "spec/targets.yaml"


def expect_error(project: Project, result: Result, place: str, message: str, help: str = "") -> None:
    """One error, at this place, with its line and a caret below; `message` and `help` are parts of the texts."""
    assert result.code == 1, result
    assert result.out == ""
    head, *rest = result.err.splitlines()
    assert rest[-1] == "1 error", result.err
    assert head.startswith(f"{place}: error: "), head
    assert message in head
    assert help in "\n".join(rest)
    path, line, column = place.rsplit(":", 2)
    lines = (project.root / path).read_text("utf-8-sig").splitlines()
    assert rest[0] == "    " + lines[int(line) - 1].replace("\t", " ")
    assert re.fullmatch(r" +\^+", rest[1]) and rest[1].index("^") == 3 + int(column)


# Each: the file, what is replaced, by what (« stands before the mistake), a part of the message, a part of the help.
MISTAKES = {
    "broken YAML": (
        ADD,
        "ptx: 8.6, target: sm_100,",
        "ptx: 8.6, target sm_100: «:,",
        "not valid YAML",
        "",
    ),
    "a tab indents": (
        ADD,
        "  - title: Infinities",
        "«\t- title: Infinities",
        "not valid YAML",
        "",
    ),
    "a key twice": (
        ADD,
        "semantics: |",
        "«summary: Again.\nsemantics: |",
        "duplicate key 'summary'",
        "line 3",
    ),
    "an unknown key": (
        ADD,
        "corner_cases:",
        "«corner_case:",
        "unknown key 'corner_case'",
        "'corner_cases'",
    ),
    "a list for text": (
        ADD,
        "summary: Sum of two values.",
        "summary: «[Sum]",
        "expected text, this is a list",
        "",
    ),
    "text for a mapping": (
        ADD,
        "  - {section: 9.7.3.3, anchor: floating-point-instructions-add}",
        "  - «add",
        "expected a mapping, this is text",
        "",
    ),
    "true for text": (
        ADD,
        "observed: ptxas 13.5.37",
        "observed: «true",
        "expected text, this is true or false",
        "",
    ),
    "no section number": (
        ADD,
        "section: 9.7.4.1, anchor",
        "section: «nine, anchor",
        "'nine' is not what belongs here",
        "9.7.3.12",
    ),
    "an unknown type": (
        ADD,
        "add{.rnd}.f64 ",
        "add{.rnd}«.f46 ",
        "unknown modifier or type '.f46'",
        "'.f64'",
    ),
    "an unknown modifier": (
        ADD,
        "add{.rnd}{.ftz}.f32x2",
        "add{.rnd}{«.fzt}.f32x2",
        "unknown modifier or type '.fzt'",
        "'.ftz'",
    ),
    "an unknown modifier in a selector": (
        ADD,
        "{has: .rz, lacks: .sat}",
        "{has: .rz, lacks: «.sta}",
        "unknown modifier or type '.sta'",
        "'.sat'",
    ),
    "an unknown target": (
        ADD,
        "target: sm_53,",
        "target: «sm_54,",
        "unknown target 'sm_54'",
        "'sm_53'",
    ),
    "an unknown PTX version": (
        ADD,
        "ptx: 4.2,",
        "ptx: «4.9,",
        "unknown PTX version '4.9'",
        "did you mean",
    ),
    "an unknown target of a range": (
        ADD,
        "{for: .f64,                         target",
        "{for: .f64, within: sm_20..«sm_36, target",
        "unknown target 'sm_36'",
        "'sm_3",
    ),
    "a range that runs backwards": (
        ADD,
        "{for: .f64,                         target",
        "{for: .f64, within: «sm_30..sm_20, target",
        "sm_30 comes after sm_20",
        "",
    ),
    "a rule that requires nothing": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "«{for: .f64, section: 9.7.3.3}",
        "one of 'ptx' or 'target' or 'until' is missing",
        "",
    ),
    "a rule for no variant": (
        ADD,
        '{for: ".{rm,rp}.f32", ',
        "{for: «.sat.f64, ",
        "no variant of add matches '.sat.f64'",
        "syntax",
    ),
    "a rule for another opcode": (
        ADD,
        '"add{.{rn,rz}}.f64"',
        '«"mul{.{rn,rz}}.f64"',
        "'mul{.{rn,rz}}.f64' selects nothing",
        "'add'",
    ),
    "a note for no variant": (
        ADD,
        "  - for: .f32x2\n",
        "  - for: «.abs\n",
        "no variant of add matches '.abs'",
        "",
    ),
    "a table for no variant": (
        ADD,
        "for: {has: .rz, lacks: .sat}",
        "for: «{has: .rz, operands: 3}",
        "no variant of add matches '.rz, 3 operands'",
        "",
    ),
    "a number of operands": (
        MAX,
        "{has: .abs, operands: 3}",
        "{has: .abs, operands: «4}",
        "'4' is not what belongs here",
        "1, 2 or 3",
    ),
    "a syntax line of another opcode": (
        ADD,
        "- add{.rnd}.f64 ",
        "- «and{.rnd}.f64 ",
        "the line must begin with the file's opcode 'add'",
        "",
    ),
    "a syntax line without operands": (
        ADD,
        "add{.rnd}.f64                       d, a, b",
        "«add{.rnd}.f64",
        "a syntax line is a spelling, blanks, and operands",
        "d, a, b",
    ),
    "a brace that is not closed": (
        ADD,
        "- add{.rnd}.f64 ",
        '- "add«{.rnd.f64   d, a, b" #',
        "this opening brace is never closed",
        "",
    ),
    "a brace that is not opened": (
        ADD,
        "- add{.rnd}.f64 ",
        "- add.rnd«}.f64 ",
        "this closing brace has no opening one",
        "",
    ),
    "an empty choice": (
        ADD,
        "- add{.rnd}.f64 ",
        "- add«.{rn,}.f64 ",
        "an empty name in a choice",
        "",
    ),
    "a stray character": (
        ADD,
        "- add{.rnd}.f64 ",
        "- add{.rnd}«:f64 ",
        "a spelling is made of",
        "",
    ),
    "operands out of order": (
        ADD,
        ".f64                       d, a, b",
        ".f64                       «d, b, a",
        "the source operands are a, then b, then c",
        "",
    ),
    "four operands": (
        ADD,
        ".f64                       d, a, b",
        ".f64                       «d, a, b, c, d",
        "the source operands are a, then b, then c",
        "",
    ),
    "an unknown result": (
        ADD,
        ".f64                       d, a, b",
        ".f64                       «r, a, b",
        "the first operand is the result",
        "",
    ),
    "a spelling without a type": (
        ADD,
        "- add{.rnd}.f64 ",
        "- «add.rn ",
        "'add.rn' has no type",
        "",
    ),
    "a type in the middle": (
        ADD,
        "- add{.rnd}.f64 ",
        "- «add.f64.rn ",
        "must end with its only type",
        "",
    ),
    "a modifier twice": (
        ADD,
        "- add{.rnd}.f64 ",
        "- «add.sat.sat.f64 ",
        "has a modifier twice",
        "",
    ),
    "a variant twice": (
        ADD,
        "- add{.rnd}{.ftz}.f32x2 ",
        "- «add.sat.ftz.{f32x2,f32} ",
        "add.sat.ftz.f32 (2 operands) is produced twice",
        "",
    ),
    "too many spellings": (
        ADD,
        "- add{.rnd}{.ftz}.f32x2 ",
        "- add«{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}{.ftz}.f32x2 ",  # noqa: E501
        "spellings",
        "",
    ),
    "an unknown NaN rule": (
        ADD,
        "corner_cases:",
        "nan: [{for: .f64, rule: «unchange}]\ncorner_cases:",
        "unknown NaN rule 'unchange'",
        "'unchanged'",
    ),
    "a NaN rule for no variant": (
        ADD,
        "corner_cases:",
        "nan: [{for: «.NaN, rule: unchanged}]\ncorner_cases:",
        "no variant of add matches '.NaN'",
        "",
    ),
    "an accuracy for no variant": (
        ADD,
        "corner_cases:",
        "accuracy: [{for: «.abs, kind: ulp, bound: 1, section: 9.7}]\ncorner_cases:",
        "no variant of add matches '.abs'",
        "",
    ),
    "an unknown kind of bound": (
        ADD,
        "corner_cases:",
        "accuracy: [{for: .f64, kind: «ulps, bound: 1, section: 9.7}]\ncorner_cases:",
        "'ulps' is not allowed here",
        "'ulp'",
    ),
    "a row that is not so": (
        ADD,
        "[+inf, 0.5, 1.0]",
        "«[+inf, 0.5, 0.5]",
        "the semantics contradicts this row: add.sat.f32 of +inf 0x7f800000, 0.5 0x1p-1 0x3f000000 is 1.0",
        "line",
    ),
    "a row of another NaN": (
        ADD,
        "[NaN, +normal, 0x7fff]",
        "«[NaN, +normal, 0x7e00]",
        "is NaN 0x7fff, not 0x7e00",
        "",
    ),
    "bits of another width": (
        ADD,
        "[0x7ff0000000000001, 1.0,",
        "«[0x7ff00001, 1.0,",
        "'0x7ff00001' has 32 bits, f64 has 64",
        "for:",
    ),
    "a number that is not exact": (
        ADD,
        "[0.5, 0.25, 0.75]",
        "«[0.1, 0.25, 0.75]",
        "'0.1' is not exact in f32",
        "",
    ),
    "a longer row": (
        ADD,
        "[+inf, 0.5, 1.0]",
        "«[+inf, 0.5, 1.0, 1.0]",
        "as many cells as its first one",
        "",
    ),
    "a row for another number of operands": (
        MAX,
        "[1.0, -3.0, 2.0, 3.0]\n      - [-0.0, -0.0, +0.0, +0.0]",
        "«[1.0, 3.0]",
        "a row of 1 operand and a result matches no variant",
        "operands: 3",
    ),
    "a number beyond every format": (
        ADD,
        "[0.5, 0.25, 0.75]",
        "«[1e999999999, 0.25, 0.75]",
        "'1e999999999' is not exact in f32",
        "",
    ),
    "a third operand as a result": (
        ADD,
        "[+inf, 0.5, 1.0]",
        "[+inf, 0.5, «c]",
        "'c' is neither a class of values, a number nor bits",
        "write a class as -subnormal, a number as 1.5 or 0x1.8p3, bits as 0x7fff, or a, or b",
    ),
    "a class that is none": (
        ADD,
        "[+inf, 0.5, 1.0]",
        "[«+ind, 0.5, 1.0]",
        "'+ind' is neither a class of values, a number nor bits",
        "'+inf'",
    ),
    "an operand of the row as an operand": (
        ADD,
        "[+inf, 0.5, 1.0]",
        "[«a, 0.5, 1.0]",
        "'a' is neither",
        "bits as 0x7fff",
    ),
    "a bool as an operand": (
        ADD,
        "[+inf, 0.5, 1.0]",
        "[«true, 0.5, 1.0]",
        "an operand is a number, not a bool",
        "",
    ),
    "an unknown function": (
        MAX,
        "return maximum(x, y)",
        "return «maximal(x, y)",
        "unknown function 'maximal'",
        "'maximum'",
    ),
    "semantics in quotes": (
        ADD,
        "semantics: |\n  d = a + b\n",
        'semantics: «"d = a\n  + b"\n',
        "one line or a literal block",
        "`|`",
    ),
    "an unknown format": (
        TYPES,
        "{format: f64,  lanes: 1",
        "{format: «f46,  lanes: 1",
        "unknown format 'f46'",
        "'f64'",
    ),
    "an unknown NaN rule of a type": (
        TYPES,
        "nan: payload,",
        "nan: «payloads,",
        "unknown NaN rule 'payloads'",
        "'payload'",
    ),
    "a NaN that is none": (
        TYPES,
        "fraction_bits: 52, canonical_nan: 0xfff8000000000000",
        "fraction_bits: 52, canonical_nan: «0xfff0000000000000",
        "is not a quiet NaN of f64",
        "",
    ),
    "a format that no register holds": (
        TYPES,
        "f64:  {exponent_bits: 11, fraction_bits: 52, canonical_nan: 0xfff8000000000000}",
        "f64:  {exponent_bits: 11, fraction_bits: 52, canonical_nan: 0xfff8000000000000}\n  «f17:  {exponent_bits: 6, fraction_bits: 10, canonical_nan: 0xffff}",  # noqa: E501
        "f17 has 17 bits",
        "",
    ),
    "a modifier with a function's name": (
        MODIFIERS,
        "\n  NaN:\n",
        "\n  «magnitude:\n    summary: A clash.\n    section: 9.7\n  NaN:\n",
        "'magnitude' is the name of a function",
        "",
    ),
    "an unknown rounding": (
        MODIFIERS,
        "roundTowardZero",
        "«roundTowardsZero",
        "not allowed here",
        "'roundTowardZero'",
    ),
    "a group of an unknown modifier": (
        MODIFIERS,
        "rnd: [rn, rz, rm, rp]",
        "rnd: [rn, rz, rm, rp, «rna]",
        "unknown modifier 'rna'",
        "'rn'",
    ),
    "a target twice": (
        TARGETS,
        "- {name: sm_11,    ptx: 1.0}",
        "- {name: «sm_10,    ptx: 1.1}",
        "sm_10 is listed twice",
        "",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_where_it_is(project: Project, name: str) -> None:
    path, old, new, message, help = MISTAKES[name]
    project.edit(path, old, new)
    at = project.place(path, "«")
    project.edit(path, "«", "")
    expect_error(project, project.run("validate"), at, message, help)


def test_a_missing_key_is_reported_where_the_mapping_begins(project: Project) -> None:
    project.edit(ADD, "summary: Sum of two values.\n", "")
    expect_error(project, project.run("validate"), f"{ADD}:2:1", "missing key 'summary'", "opcode, summary, syntax")


# Each: the file, what is replaced, by what (« stands before the mistake), a part of the message.
SHARED_MISTAKES = {
    "a format": (TYPES, "f16:    {format: f16,", "f16:    {format: «f61,", "unknown format 'f61'"),
    "a NaN rule": (TYPES, "nan: payload,", "nan: «payloads,", "unknown NaN rule 'payloads'"),
    "a NaN": (
        TYPES,
        "canonical_nan: 0x7fffffff}",
        "canonical_nan: «0x7f800000}",
        "0x7f800000 is not a quiet NaN of f32",
    ),
    "a group": (MODIFIERS, "[rn, rz, rm, rp]", "[rn, rz, rm, «rpp]", "unknown modifier 'rpp'"),
    "a target": (MODIFIERS, "sm_10..sm_13", "sm_10..«sm_1", "unknown target 'sm_1'"),
    "a stage": (MODIFIERS, "x = copySign(0, x) if", "x = copySign(0, «y) if", "unknown name 'y'"),
    "a unit": ("spec/units.yaml", "  COS:\n", "  «cos:\n", "'cos' cannot be a name here"),
    "a PTX version": (TARGETS, "sm_107,   ptx: 9.4", "sm_107,   ptx: «9.9", "unknown PTX version '9.9'"),
}


@pytest.mark.parametrize("name", SHARED_MISTAKES)
def test_a_mistake_in_a_file_that_others_need_is_not_reported_again_where_they_need_it(
    project: Project, name: str
) -> None:
    shutil.copytree(ROOT / "spec/instructions", project.root / "spec/instructions", dirs_exist_ok=True)
    path, old, new, message = SHARED_MISTAKES[name]
    project.edit(path, old, new)
    at = project.place(path, "«")
    project.edit(path, "«", "")
    expect_error(project, project.run("validate"), at, message)
    # Nor is a file right that was not held against what it needs.
    expect_error(project, project.run("validate", project.root / MAX), at, message)


# What stands in a modifier's stages, and what is said of it.
WITHOUT_EFFECT = {
    "an operand": ("operand: «y = copySign(0, x)", "assign x"),
    "an operand as a result": ("operand: «d = copySign(0, x)", "assign x"),
    "an operand in a helper": ("operand: |\n      «def f(x):\n        x = 1\n        return x", "assign x"),
    "a result": ("result: «x = copySign(0, d)", "assign d"),
    "an override": ("override: «x = copySign(0, d)", "assign d"),
    "a look at the operands": ("raw: «seen = a", "no `override` reads what it assigns"),
    "another look": ("raw: «seen = a\n    override: d = quietNaN if isNaN(a) and isNaN(b) else d", "assign a or b"),
}


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_a_stage_that_changes_nothing_is_a_mistake(project: Project, name: str) -> None:
    stage, help = WITHOUT_EFFECT[name]
    project.edit(MODIFIERS, "  rz:\n    summary: Round toward zero.\n", f"  rz:\n    summary: To zero.\n    {stage}\n")
    at = project.place(MODIFIERS, "«")
    project.edit(MODIFIERS, "«", "")
    expect_error(project, project.run("validate"), at, "this stage assigns nothing that is used", help)


def test_a_nan_rule_that_changes_nothing_is_a_mistake(project: Project) -> None:
    project.edit(TYPES, "d = quietNaN if isNaN(d) else d", "e = quietNaN if isNaN(d) else d")
    at = project.place(TYPES, "e = quietNaN")
    expect_error(project, project.run("validate"), at, "this stage assigns nothing that is used", "assign d")


def test_a_help_says_what_is_expected(project: Project) -> None:
    text = (project.root / TARGETS).read_text("utf-8")
    project.write(TARGETS, re.sub(r"(?m)^targets:\n(?:  - .*\n)+", "targets: []\n", text))
    expected = "help: expected a list of targets, in the order in which requirements compare them\n"
    expect_error(project, project.run("validate"), project.place(TARGETS, "[]"), "too few entries", expected)
    project.write(TARGETS, text)
    project.edit(MODIFIERS, "sm_10..sm_13", "sm_10")
    at = project.place(MODIFIERS, "sm_10", "within")
    expected = "help: expected a range of targets, as in sm_20..sm_35 or sm_20..\n"
    expect_error(project, project.run("validate"), at, "'sm_10' is not what belongs here", expected)


def test_a_key_of_the_wrong_kind_and_an_unknown_one_are_two_errors(project: Project) -> None:
    project.edit(ADD, "syntax:\n", "syntax: many\nsintax:\n")
    err = project.run("validate").err
    assert f"{project.place(ADD, 'many')}: error: expected a list, this is text" in err
    assert f"{project.place(ADD, 'sintax')}: error: unknown key 'sintax'" in err
    assert "did you mean 'syntax'?" in err and err.endswith("2 errors\n")


def test_a_file_is_named_after_its_opcode(project: Project) -> None:
    path = project.root / ADD
    path.rename(path.with_name("sum.yaml"))
    at = project.place("spec/instructions/sum.yaml", "add", "opcode:")
    expect_error(project, project.run("validate"), at, "the opcode is 'add', the file sum.yaml", "rename")


def test_a_long_line_is_shown_around_the_mistake(project: Project) -> None:
    project.edit(ADD, "[+inf, 0.5, 1.0]", f"[1{'0' * 100_000}, {'0' * 100_000}.x, 1.0]")
    result = project.run("validate")
    assert result.code == 1 and "neither a class" in result.err and len(result.err) < 4000


def test_all_errors_of_all_files_are_reported_at_once(project: Project) -> None:
    project.edit(ADD, "add{.rnd}.f64 ", "add{.rnd}.f46 ")
    project.edit(ADD, "target: sm_53,", "target: sm_54,")
    project.edit(MAX, "section: 9.7.3.12, anchor", "section: x, anchor")
    project.edit(MUL, "d = a * b", "d = a * e")
    project.write("spec/instructions/min.yaml", "opcode: [min\n")
    project.write("spec/observed/speed.yaml", "command: none\n")
    result = project.run("validate")
    assert result.code == 1
    places = [
        project.place(ADD, ".f46"),
        project.place(ADD, "sm_54"),
        project.place(MAX, "x, anchor"),
        "spec/instructions/min.yaml:",
        project.place(MUL, "e", "d = a * e"),
        "spec/observed/speed.yaml:1:1",
    ]
    for place in places:
        assert f"{place}" in result.err
    heads = [line for line in result.err.splitlines() if ": error: " in line]
    # Columns point at the parts, and files and lines come in order.
    assert [h.split(":")[0] for h in heads] == sorted(h.split(":")[0] for h in heads)


def test_nothing_is_generated_from_a_specification_with_errors(project: Project) -> None:
    assert project.run("generate").code == 0
    before = {p: p.read_bytes() for p in (project.root / "generated").rglob("*") if p.is_file()}
    project.edit(MAX, "return maximum(x, y)", "return minimum(x, y)")
    result = project.run("generate")
    assert result.code == 1 and "contradicts" in result.err
    assert {p: p.read_bytes() for p in (project.root / "generated").rglob("*") if p.is_file()} == before
    assert [p.name for p in project.root.iterdir() if p.name.startswith(".")] == []


# Files that cannot be read: the bytes, the place and a part of the message.
UNREADABLE: dict[str, tuple[bytes, str, str]] = {
    "not UTF-8": (b"opcode: add\nsummary: na\xefve\n", "2:12", "not UTF-8: byte 0xef"),
    "UTF-16": ("opcode: add\n".encode("utf-16"), "1:1", "not UTF-8"),
    "empty": (b"", "1:1", "the file is empty"),
    "only a comment": (b"# nothing\n", "1:1", "the file is empty"),
    "anchors and aliases": (b"a: &a [x, x]\nb: &b [*a, *a]\n", "1:4", "anchors and aliases are not used"),
    "deeply nested": (b"a: " + b"[" * 10_000 + b"]" * 10_000, "1:35", "nested more than 32 deep"),
    "too large": (b"a: x\n" * 2_000_000, "1:1", "larger than"),
    "two documents": (b"opcode: add\n---\nopcode: sub\n", "2:1", "a second document"),
    "a control character": (b"opcode: add\nsummary: a\x01b\n", "2:11", "the character U+0001 cannot stand in it"),
    "a line separator": ("opcode: add\nsummary: a\u2028b\n".encode(), "2:11", "the line separator U+2028"),
    "a tab": (b"opcode:\tadd\n\tsummary: x\n", "2:1", "not valid YAML"),
    "an unfinished list": (b"opcode: [add\n", "1:13", "not valid YAML"),
    "a list as a key": (b"[a, b]: c\n", "1:1", "a key must be plain text"),
    "plain text": (b"add\n", "1:1", "expected a mapping, this is text"),
    "a list": (b"- add\n", "1:1", "expected a mapping, this is a list"),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("path", [ADD, TYPES])
def test_a_file_that_cannot_be_read_is_one_clear_error(project: Project, path: str, name: str) -> None:
    data, place, message = UNREADABLE[name]
    project.write(path, data)
    result = project.run("validate")
    assert result.code == 1
    head = result.err.splitlines()[0]
    assert head.startswith(f"{path}:{place}: error: ") and message in head
    assert result.err.endswith("\n1 error\n") or name in ("plain text", "a list as a key", "a list")


@pytest.mark.parametrize("name", ["types", "modifiers", "targets"])
def test_a_missing_common_file_is_named(project: Project, name: str) -> None:
    (project.root / f"spec/{name}.yaml").unlink()
    result = project.run("validate")
    assert result.code == 1
    assert f"spec/{name}.yaml:1:1: error: cannot read the file: No such file or directory" in result.err


def test_a_folder_a_pipe_and_a_dangling_link_are_no_files(project: Project) -> None:
    folder = project.root / "spec/instructions"
    (folder / "folder.yaml").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "link.yaml").symlink_to("nowhere")
    result = project.run("validate")
    assert result.code == 1 and result.err.endswith("3 errors\n")
    for name in ("folder", "pipe", "link"):
        assert f"spec/instructions/{name}.yaml:1:1: error: cannot read the file" in result.err


def test_a_project_without_instructions_is_an_error(project: Project) -> None:
    for path in (project.root / "spec/instructions").iterdir():
        path.unlink()
    result = project.run("validate")
    assert result.code == 1 and "no instruction files here" in result.err


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(project: Project) -> None:
    text = (project.root / ADD).read_bytes()
    assert project.run("generate").code == 0
    project.write(ADD, b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    result = project.run("generate", "--check")
    assert result.code == 0, result.out
    project.edit(ADD, "target: sm_53,", "target: sm_54,")
    expect_error(project, project.run("validate"), project.place(ADD, "sm_54"), "unknown target")


def test_scalars_are_text_as_written(tmp_path: Path) -> None:
    texts = [".NaN", "-0.0", "8.10", "no", "0x7f", "1e3", "null", "~", "1_000", "12:30", "2001-01-01", "+.inf", "Yes"]
    (tmp_path / "x.yaml").write_text("".join(f"- {t}\n" for t in texts), "utf-8")
    assert load(tmp_path / "x.yaml", tmp_path).data == texts
    (tmp_path / "y.yaml").write_text("[true, false, 'true']", "utf-8")
    assert load(tmp_path / "y.yaml", tmp_path).data == [True, False, "true"]


def test_positions_in_a_literal_block_count_characters(project: Project) -> None:
    project.edit(ADD, "  d = a + b\n", "  # größer als – ∞\n\n  s = a + b  # ½\n  d = s + e  # é\n")
    expect_error(project, project.run("validate"), project.place(ADD, "e  # é"), "unknown name 'e'")


def test_validate_reports_on_the_paths_it_is_given(project: Project) -> None:
    project.edit(ADD, "target: sm_53,", "target: sm_54,")
    project.edit(MAX, "section: 9.7.3.12, anchor", "section: x, anchor")
    assert project.run("validate", project.root / ADD).err.endswith("\n1 error\n")
    assert project.run("validate", project.root / "spec").err.endswith("\n2 errors\n")
    assert project.run("validate", project.root / ADD, project.root).err.endswith("\n2 errors\n")
    for paths, said in (
        ([MUL], "1 file: 1 opcode, 55 variants, no errors\n"),
        ([TYPES], "1 file: 0 opcodes, 0 variants, no errors\n"),
        ([MUL, TYPES, "spec/instructions/../types.yaml"], "2 files: 1 opcode, 55 variants, no errors\n"),
    ):
        assert project.run("validate", *(project.root / p for p in paths)).out == said
    project.write("spec/instructions/sub.yml", "opcode: sub\n")
    assert "would be ignored" in project.run("validate", project.root / "spec/instructions/sub.yml").err


@pytest.mark.parametrize("path", ["nowhere", "templates", "spec/schema", "../other/spec/types.yaml", ".."])
def test_a_path_that_is_not_validated_is_misuse(project: Project, path: str) -> None:
    shutil.copytree(project.root / "spec", project.root / "../other/spec")
    result = project.run("validate", project.root / TYPES, project.root / path)
    assert result.code == 2 and result.out == ""
    said = "no such file" if path == "nowhere" else f"names no file of the specification of {project.root}"
    assert said in result.err


SHORT_TEXT_OF_MUCH = {
    "choices": "- add" + ".{" + ",".join(["rn", "rz"] * 200) + "}" * 1 + ".{f32,f64}" * 300 + "  d, a, b",
    "options": "- add" + "{.rn}" * 60 + ".f32  d, a, b",
    "empty options": "- add" + "{}" * 60 + ".f32  d, a, b",
    "braces": "- add" + "{" * 5000 + "}" * 5000 + ".f32  d, a, b",
    "names": "- add" + ".rn" * 30_000 + ".f32  d, a, b",
}


@pytest.mark.parametrize("name", SHORT_TEXT_OF_MUCH)
def test_a_line_that_stands_for_too_much_is_refused_at_once(project: Project, name: str) -> None:
    project.edit(ADD, "  - add{.rnd}.f64                       d, a, b", f"  {SHORT_TEXT_OF_MUCH[name]}")
    result = project.run("validate")
    assert result.code == 1
    assert "spellings" in result.err or "names in one spelling" in result.err


TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
STRANGE = ["{", "}", "[", ":", "|", "\t", '"', "&x", "*x", "!!int", "é", "0x", "1e9999", "9" * 5000, "def f(x):", "a.b",
           "0x1p99999", "2**20000", "<<", "return", "lambda:", "not", "import x", "\x85", "~", "%", "()", "None"]  # fmt: skip  # noqa: E501


def mutated(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(5):
            case 0:
                del tokens[i : i + rng.choice((1, 1, 30))]
            case 1:
                tokens[i] = rng.choice(tokens)
            case 2:
                tokens.insert(i, rng.choice(STRANGE))
            case 3:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case 4:
                tokens[i:i] = tokens[j : j + 30]
    return "".join(tokens)


def test_whatever_happens_to_a_file_is_reported_and_never_a_crash(project: Project) -> None:
    rng = random.Random(20240607)
    for name in ("max", "min", "mul"):
        (project.root / f"spec/instructions/{name}.yaml").unlink()
    originals = {p: (project.root / p).read_text("utf-8") for p in (ADD, TYPES, MODIFIERS)}
    wrong = 0
    for _ in range(250):
        path, text = rng.choice(list(originals.items()))
        project.write(path, mutated(text, rng))
        try:
            reading = read_all(project.root)
            errors = list(reading.diagnostics)
            if reading.spec is not None:
                errors += check(reading.spec)[1]
            wrong += bool(errors)
            assert all(str(e).startswith("spec/") for e in errors)
        except PtxspecError:
            wrong += 1
        project.write(path, text)
    assert wrong > 100


def test_a_file_that_would_be_ignored_is_an_error(project: Project) -> None:
    project.write("spec/instructions/sub.yml", "opcode: sub\n")
    result = project.run("validate")
    assert result.code == 1
    assert result.err.startswith("spec/instructions/sub.yml:1:1: error: this file would be ignored")
    assert "rename it to sub.yaml" in result.err


@pytest.mark.parametrize(
    ("old", "new", "message", "help"),
    [
        (
            "add{.rnd}.f64 ",
            "add{.rn}{.rz}.f64 ",
            "'add.rn.rz.f64' has two rounding directions",
            "write `.{one,other}` where one of several is meant",
        ),
        (
            "add{.rn}.{bf16,bf16x2}              d, a, b",
            "add{.rn}.{bf16,bf16x2}              p, a, b",
            "'add.bf16x2': a predicate is the result of one lane",
            "write d for a result of .bf16x2",
        ),
        (
            "{for: .f32x2,             ptx: 8.6, target: sm_100,",
            "{for: .f32x2, within: sm_100.., ptx: 8.6, target: sm_120,",
            "'target' and 'within' do not go together",
            "a range of targets has its own PTX versions",
        ),
        (
            "{for: .f32x2,             ptx: 8.6,",
            "{for: .f32x2,             ptx: 8.6, until: 7.0,",
            "add.f32x2 (2 operands) can never be taken: it needs sm_100 and PTX 8.6, and ends with PTX 7.0",
            "mend the rules that match it",
        ),
        (
            "- [1.5, -1.5, +0.0]",
            "- [1.5, -1.5, false]",
            "the result is a number, not 'false', in add.f32",
            "narrow the table with `for:`",
        ),
    ],
)
def test_what_cannot_be_meant_is_an_error(project: Project, old: str, new: str, message: str, help: str) -> None:
    project.edit("spec/instructions/add.yaml", old, new)
    result = project.run("validate")
    assert result.code == 1
    assert message in result.err and help in result.err


def test_code_that_no_variant_uses_is_checked(project: Project) -> None:
    project.edit(
        "spec/modifiers.yaml",
        "\nimplied:",
        "\n  spare: {summary: Nobody has it., section: 9.7.3, result: d = zap}\n\nimplied:",
    )
    project.edit(
        "spec/types.yaml",
        "  unchanged:\n",
        "  unused: {summary: No type., section: 9.7.3, code: d = zup}\n  unchanged:\n",
    )
    result = project.run("validate")
    assert result.code == 1
    assert "unknown name 'zap'" in result.err and "unknown name 'zup'" in result.err


def test_a_name_of_the_language_is_not_given_away(project: Project) -> None:
    project.edit("spec/modifiers.yaml", "\nimplied:", "\n  target: {summary: A clash., section: 9.7.3}\n\nimplied:")
    result = project.run("validate")
    assert result.code == 1
    assert "'target' has a meaning in the semantics language" in result.err


def test_evidence_for_another_specification_is_not_shown_as_proof(project: Project) -> None:
    assert project.run("generate").code == 0
    ledger = (project.root / "generated/manual/ledger.md").read_text("utf-8")
    assert "was recorded for another state of the specification" in ledger
    assert "| `add.f64` | 2 | sm_13, PTX 1.0 | sm_10, PTX 1.0 |" in ledger
    assert "abs.f64" not in ledger
