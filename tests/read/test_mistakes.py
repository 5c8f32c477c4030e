"""A mistake in the specification is reported by its place, with what belongs there."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import ADD, MAX, MODIFIERS, TARGETS, TYPES, expect_error

# Each: the file, what is replaced, by what (« stands before the mistake), a part of the message, a part of the help.
MISTAKES = {
    "broken YAML": (ADD, "ptx: 8.6, target: sm_100,", "ptx: 8.6, target sm_100: «:,", "not valid YAML", ""),
    "a tab indents": (ADD, "  - title: Infinities", "«\t- title: Infinities", "not valid YAML", ""),
    "a key twice": (ADD, "semantics: |", "«summary: Again.\nsemantics: |", "duplicate key 'summary'", "line 3"),
    "an unknown key": (ADD, "corner_cases:", "«corner_case:", "unknown key 'corner_case'", "'corner_cases'"),
    "a list for text": (ADD, "summary: Sum of two values.", "summary: «[Sum]", "expected text, this is a list", ""),
    "text for a mapping": (
        ADD,
        "  - {section: 9.7.3.3, anchor: floating-point-instructions-add}",
        "  - «add",
        "expected a mapping, this is text",
        "",
    ),
    "true for text": (ADD, "observed: ptxas 13.5.37", "observed: «true", "expected text, this is true or false", ""),
    "no section number": (
        ADD,
        "section: 9.7.4.1, anchor",
        "section: «nine, anchor",
        "'nine' is not what belongs here",
        "9.7.3.12",
    ),
    "an unknown type": (ADD, "add{.rnd}.f64 ", "add{.rnd}«.f46 ", "unknown modifier or type '.f46'", "'.f64'"),
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
    "an unknown target": (ADD, "target: sm_53,", "target: «sm_54,", "unknown target 'sm_54'", "'sm_53'"),
    "an unknown PTX version": (ADD, "ptx: 4.2,", "ptx: «4.9,", "unknown PTX version '4.9'", "did you mean"),
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
    "a note for no variant": (ADD, "  - for: .f32x2\n", "  - for: «.abs\n", "no variant of add matches '.abs'", ""),
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
        "{has: .abs, operands: «0}",
        "'0' is not what belongs here",
        "1 to 9",
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
    "an empty choice": (ADD, "- add{.rnd}.f64 ", "- add«.{rn,}.f64 ", "an empty name in a choice", ""),
    "a stray character": (ADD, "- add{.rnd}.f64 ", "- add{.rnd}«:f64 ", "a spelling is made of", ""),
    "operands out of order": (
        ADD,
        ".f64                       d, a, b",
        ".f64                       d, «b, a",
        "the source operands are a, then b, then c",
        "",
    ),
    "four operands": (
        ADD,
        ".f64                       d, a, b",
        ".f64                       d, a, b, c, «d",
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
    "a spelling without a type": (ADD, "- add{.rnd}.f64 ", "- «add.rn ", "'add.rn' has no type", ""),
    "a type in the middle": (ADD, "- add{.rnd}.f64 ", "- «add.f64.rn ", "must end with its types", ""),
    "a modifier twice": (ADD, "- add{.rnd}.f64 ", "- «add.sat.sat.f64 ", "has a modifier twice", ""),
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
    "a row of another NaN": (ADD, "[NaN, +normal, 0x7fff]", "«[NaN, +normal, 0x7e00]", "is NaN 0x7fff, not 0x7e00", ""),
    "bits of another width": (
        ADD,
        "[0x7ff0000000000001, 1.0,",
        "«[0x7ff00001, 1.0,",
        "'0x7ff00001' has 32 bits, f64 has 64",
        "for:",
    ),
    "a number that is not exact": (ADD, "[0.5, 0.25, 0.75]", "«[0.1, 0.25, 0.75]", "'0.1' is not exact in f32", ""),
    "a longer row": (ADD, "[+inf, 0.5, 1.0]", "«[+inf, 0.5, 1.0, 1.0]", "as many cells as its first one", ""),
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
        "'true' is a truth value, not a f32 float",
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
    "an unknown rounding": (MODIFIERS, "roundTowardZero", "«roundTowardsZero", "not allowed here", "'roundTowardZero'"),
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
    if path != MAX:
        (project.root / MAX).unlink()
    project.edit(path, old, new)
    at = project.place(path, "«")
    project.edit(path, "«", "")
    expect_error(project, project.run("validate"), at, message, help)
