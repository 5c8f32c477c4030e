"""A mistake in the file of an instruction, or in one that all rest on, is reported by its place, with what is right."""

from __future__ import annotations

import re
import shutil

import pytest
from helpers import ROOT
from helpers.project import Project
from helpers.validating import ADD, MAX, MODIFIERS, TARGETS, TYPES, Mistake, expect_error, expect_mistake

KEYS = "corner_cases:"
SEMANTICS = re.findall(r"semantics: \|\n(?:(?:  .*)?\n)+?(?=\n?\w)", (ROOT / ADD).read_text("utf-8"))[0]

# In the file of an instruction.
OWN: dict[str, Mistake] = {
    "broken YAML": (ADD, "  ptx: 8.6, target: sm_100,", "  ptx: 8.6, target sm_100: «:,", "not valid YAML", ""),
    "a tab indents": (ADD, "  - title: Infinities\n", "«\t- title: Infinities\n", "not valid YAML", ""),
    "a key twice": (ADD, "\nsemantics: |", "\n«summary: Again.\nsemantics: |", "duplicate key 'summary'", "line 3"),
    "an unknown key": (ADD, "corner_cases:", "«corner_case:", "unknown key 'corner_case'", "'corner_cases'"),
    "a list for text": (ADD, "summary: Add two values.", "summary: «[Add]", "expected text, this is a list", ""),
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
    "an unknown type": (ADD, "add{.rnd}.f64 ", "add{.rnd}«.f644 ", "unknown modifier or type '.f644'", "'.f64'"),
    "an unknown modifier": (
        ADD,
        "add{.rnd}{.ftz}.f32x2",
        "add{.rnd}{«.fzt}.f32x2",
        "unknown modifier or type '.fzt'",
        "'.ftz'",
    ),
    "an unknown modifier in a selector": (
        ADD,
        "{has: .ftz, lacks: .rm, types: 1}",
        "{has: .ftz, lacks: «.rmm, types: 1}",
        "unknown modifier or type '.rmm'",
        "'.rm'",
    ),
    "nothing to unpack": (
        ADD,
        "\nsemantics: |",
        "\n«unpacks: {section: 9.7.10.4}\nsemantics: |",
        "no statement has a vector as its only source",
        "as in d, {a0, a1}",
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
        "one of 'ptx' or 'target' or 'until' or 'on' is missing",
        "",
    ),
    "a target that none is among few": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {«sm_102a: 9.0}, section: 9.7.3.3}",
        "unknown target 'sm_102a'",
        "did you mean 'sm_10",
    ),
    "a name that is no target among few": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {«H100: 9.0}, section: 9.7.3.3}",
        "'H100' cannot be a name here",
        "sm_90a",
    ),
    "a family of a target that has none": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {«sm_90f: 9.0}, section: 9.7.3.3}",
        "there is no sm_90f: sm_90 has no family-specific target",
        "write sm_90 or sm_90a",
    ),
    "few targets that are none": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: «{}, section: 9.7.3.3}",
        "too few entries",
        "{sm_100a: 8.6, sm_100f: 8.8}",
    ),
    "an unknown PTX version of few": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {sm_100a: «8.9}, section: 9.7.3.3}",
        "unknown PTX version '8.9'",
        "did you mean",
    ),
    "a PTX version older than its target": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {sm_100f: «8.6}, section: 9.7.3.3}",
        "PTX 8.6 does not know sm_100f",
        "it came with PTX 8.8",
    ),
    "few targets and the oldest one": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {sm_100a: 8.6}, target: «sm_100a, section: 9.7.3.3}",
        "'target' and 'on' do not go together",
        "a PTX version for each target",
    ),
    "few targets and a PTX version for all": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {sm_100a: 8.6}, ptx: «8.6, section: 9.7.3.3}",
        "'ptx' and 'on' do not go together",
        "a PTX version for each target",
    ),
    "few targets and a range of them": (
        ADD,
        "{for: .f64,                         target: sm_13,  section: 9.7.3.3}",
        "{for: .f64, on: {sm_100a: 8.6}, within: «sm_100.., section: 9.7.3.3}",
        "'within' and 'on' do not go together",
        "a PTX version for each target",
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
        "  - for: {has: .f32x2, types: 1}\n",
        "  - for: «.abs\n",
        "no variant of add matches '.abs'",
        "",
    ),
    "a table for no variant": (
        ADD,
        "for: {has: .rz, types: 1}",
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
        "add{.rnd}.f64                                   d, a, b",
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
        ".f64                                   d, a, b",
        ".f64                                   d, «b, a",
        "the source operands are a, then b, then c",
        "",
    ),
    "four operands": (
        ADD,
        ".f64                                   d, a, b",
        ".f64                                   d, a, b, c, «d",
        "the source operands are a, then b, then c",
        "",
    ),
    "an unknown result": (
        ADD,
        ".f64                                   d, a, b",
        ".f64                                   «r, a, b",
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
    "a row of another NaN": (
        ADD,
        "- [-inf, +inf, 0x7fff]\n      - [NaN, +normal, 0x7fff]",
        "- [-inf, +inf, 0x7fff]\n      - «[NaN, +normal, 0x7e00]",
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
        SEMANTICS,
        'semantics: «"d = a\n  + b"\n',
        "one line or a literal block",
        "`|`",
    ),
    "a group that is none": (ADD, KEYS, f"comparisons: [«cmpp]\n{KEYS}", "unknown group 'cmpp'", "'cmp'"),
    "no comparison": (
        ADD,
        KEYS,
        f"«comparisons: [cmp]\n{KEYS}",
        "(2 operands) does not have exactly one modifier of cmp",
        "name all groups of comparisons",
    ),
    "a variant that is none": (
        ADD,
        KEYS,
        f"try: {{variant: «add.rn.f33}}\n{KEYS}",
        "unknown variant 'add.rn.f33'",
        "'add.rn.f32'",
    ),
    "an operand that is none": (
        ADD,
        KEYS,
        f"try: {{variant: add.rn.f32, «operands: {{a: 1, c: 2}}}}\n{KEYS}",
        "the operands of add.rn.f32 are a, b",
        "give each of them a value",
    ),
}
# In a file that all others rest on.
SHARED: dict[str, Mistake] = {
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
        "9.7.3.3\n    round: {mode: roundTowardZero",
        "9.7.3.3\n    round: {mode: «roundTowardsZero",
        "not allowed here",
        "'roundTowardZero'",
    ),
    "a group of an unknown modifier": (
        MODIFIERS,
        "dir: [l, r]",
        "dir: [l, r, «rnn]",
        "unknown modifier 'rnn'",
        "'rn'",
    ),
    "an unknown target of a family": (
        TARGETS,
        "[sm_101, sm_110]",
        "[sm_101, «sm_111]",
        "unknown target 'sm_111'",
        "did you mean 'sm_11",
    ),
    "a family of a target without a family-specific one": (
        TARGETS,
        "[sm_101, sm_110]",
        "[«sm_90, sm_101, sm_110]",
        "sm_90 has no family-specific target",
        "a family is of targets that have one",
    ),
    "a target in two families": (
        TARGETS,
        "[sm_101, sm_110]",
        "[sm_101, sm_110, «sm_103]",
        "sm_103 is in another family already",
        "",
    ),
    "an architecture-specific target in a family": (
        TARGETS,
        "[sm_101, sm_110]",
        "[sm_101, «sm_110a]",
        "'sm_110a' is not what belongs here",
        "as in sm_100",
    ),
    "an unknown target of nvcc": (TARGETS, "nvcc: [sm_75,", "nvcc: [«sm_74,", "unknown target 'sm_74'", "'sm_7"),
    "a product of an unknown target": (
        TARGETS,
        "{target: sm_37, source: cuda-gpus-2025, names: [Tesla K80]}",
        "{target: «sm_38, source: cuda-gpus-2025, names: [Tesla K80]}",
        "unknown target 'sm_38'",
        "did you mean 'sm_3",
    ),
    "a product twice": (
        TARGETS,
        "names: [Tesla K80]",
        "names: [Tesla K80, «Tesla K80]",
        "Tesla K80 is listed twice for sm_37",
        "",
    ),
    "an unknown source": (
        TARGETS,
        "names: [Hopper], targets: [sm_90], source: shimoni",
        "names: [Hopper], targets: [sm_90], source: «shimony",
        "unknown source 'shimony'",
        "did you mean 'shimoni'",
    ),
    "a target of two architectures": (
        TARGETS,
        "names: [Hopper], targets: [sm_90]",
        "names: [Hopper], targets: [sm_90, «sm_89]",
        "sm_89 is Ada Lovelace already",
        "",
    ),
    "what nvcc compiles for and is gone": (
        TARGETS,
        "{cuda: 13.0, targets: [sm_101], source: thor}",
        "{cuda: 13.0, targets: [sm_101, «sm_110], source: thor}",
        "nvcc compiles for sm_110",
        "it is not gone",
    ),
    "a word of names that is no pattern": (TARGETS, '"SXM[0-9]?"', '«"SXM[0-9?"', "not a pattern: unterminated", ""),
    "a driver without a source": (
        TARGETS,
        "{version: 9.0, cuda: 13.0, linux: 580.65.06, source: release-notes}",
        "{version: 9.0, cuda: 13.0, «linux: 580.65.06}",
        "'linux' needs 'source' beside it",
        "",
    ),
    "a target twice": (
        TARGETS,
        "- {name: sm_82,    ptx: 6.2, unlisted: true}",
        "- {name: «sm_80,    ptx: 7.1}",
        "sm_80 is listed twice",
        "",
    ),
    "a target of a modifier": (MODIFIERS, "sm_10..sm_13", "sm_10..«sm_1", "unknown target 'sm_1'", ""),
    "a name in a stage": (MODIFIERS, "x = copySign(0, x) if", "x = copySign(0, «y) if", "unknown name 'y'", ""),
    "a unit": ("spec/units.yaml", "  COS:\n", "  «cos:\n", "'cos' cannot be a name here", ""),
    "an unknown PTX version of a target": (
        TARGETS,
        "sm_107,   ptx: 9.4",
        "sm_107,   ptx: «9.9",
        "unknown PTX version '9.9'",
        "",
    ),
}
MISTAKES = OWN | SHARED


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_where_it_is(project: Project, name: str) -> None:
    expect_mistake(project, MISTAKES[name])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SHARED)
def test_a_mistake_in_a_file_that_others_need_is_not_reported_again_where_they_need_it(
    project: Project, name: str
) -> None:
    shutil.copytree(ROOT / "spec/instructions", project.root / "spec/instructions", dirs_exist_ok=True)
    path, old, new, message, _ = SHARED[name]
    project.edit(path, old, new)
    at = project.place(path, "«")
    project.edit(path, "«", "")
    expect_error(project, project.run("validate"), at, message)
    # Nor is a file right that was not held against what it needs.
    expect_error(project, project.run("validate", project.root / MAX), at, message)
