"""Reports of mistakes: each is reported once, all of them, in order, and nothing is generated from them."""

from __future__ import annotations

import re
import shutil

import pytest
from helpers import ROOT
from helpers.project import Project
from helpers.validating import ADD, MAX, MODIFIERS, MUL, TARGETS, TYPES, expect_error

WORDS = "spec/words.yaml"
LLVM = "spec/llvm.yaml"
MESSAGES = "spec/messages.yaml"


def test_a_missing_key_is_reported_where_the_mapping_begins(project: Project) -> None:
    project.edit(ADD, "summary: Add two values.\n", "")
    expect_error(project, project.run("validate"), f"{ADD}:2:1", "missing key 'summary'", "opcode, summary, syntax")


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
    shutil.copy(ROOT / MUL, project.root / MUL)
    project.edit(ADD, "add{.rnd}.f64 ", "add{.rnd}.f46 ")
    project.edit(ADD, "target: sm_53,", "target: sm_54,")
    project.edit(MAX, "section: 9.7.3.12, anchor", "section: x, anchor")
    project.edit(MUL, "d = multiplication(a, b, type)", "d = multiplication(a, e, type)")
    project.write("spec/instructions/min.yaml", "opcode: [min\n")
    project.write("spec/observed/speed.yaml", "command: none\n")
    result = project.run("validate")
    assert result.code == 1
    places = [
        project.place(ADD, ".f46"),
        project.place(ADD, "sm_54"),
        project.place(MAX, "x, anchor"),
        "spec/instructions/min.yaml:",
        project.place(MUL, "e, type)"),
        "spec/observed/speed.yaml:1:1",
    ]
    for place in places:
        assert f"{place}" in result.err
    heads = [line for line in result.err.splitlines() if ": error: " in line]
    # Columns point at the parts, and files and lines come in order.
    assert [h.split(":")[0] for h in heads] == sorted(h.split(":")[0] for h in heads)


@pytest.mark.exhaustive
def test_nothing_is_generated_from_a_specification_with_errors(project: Project) -> None:
    assert project.run("generate").code == 0
    before = {p: p.read_bytes() for p in (project.root / "generated").rglob("*") if p.is_file()}
    project.edit(MAX, "return maximum(x, y)", "return minimum(x, y)")
    result = project.run("generate")
    assert result.code == 1 and "contradicts" in result.err
    assert {p: p.read_bytes() for p in (project.root / "generated").rglob("*") if p.is_file()} == before
    assert [p.name for p in project.root.iterdir() if p.name.startswith(".")] == []


def test_positions_in_a_literal_block_count_characters(project: Project) -> None:
    text = "      # größer als – ∞\n\n      s = a + b  # ½\n      d = s + e  # é\n"
    project.edit(ADD, "  elif isInteger(type):\n      d = a + b\n", f"  elif isInteger(type):\n{text}")
    expect_error(project, project.run("validate"), project.place(ADD, "e  # é"), "unknown name 'e'")


@pytest.mark.exhaustive
def test_validate_reports_on_the_paths_it_is_given(project: Project) -> None:
    shutil.copy(ROOT / MUL, project.root / MUL)
    project.edit(ADD, "target: sm_53,", "target: sm_54,")
    project.edit(MAX, "section: 9.7.3.12, anchor", "section: x, anchor")
    assert project.run("validate", project.root / ADD).err.endswith("\n1 error\n")
    assert project.run("validate", project.root / "spec").err.endswith("\n2 errors\n")
    assert project.run("validate", project.root / ADD, project.root).err.endswith("\n2 errors\n")
    for paths, said in (
        ([MUL], "1 file: 1 opcode, 467 variants, no errors\n"),
        ([TYPES], "1 file: 0 opcodes, 0 variants, no errors\n"),
        ([MUL, TYPES, "spec/instructions/../types.yaml"], "2 files: 1 opcode, 467 variants, no errors\n"),
    ):
        assert project.run("validate", *(project.root / p for p in paths)).out == said


@pytest.mark.parametrize("path", ["nowhere", "templates", "spec/schema", "../other/spec/types.yaml", ".."])
def test_a_path_that_is_not_validated_is_misuse(project: Project, path: str) -> None:
    shutil.copytree(project.root / "spec", project.root / "../other/spec")
    result = project.run("validate", project.root / TYPES, project.root / path)
    assert result.code == 2 and result.out == ""
    said = "no such file" if path == "nowhere" else f"is not part of the specification in {project.root}"
    assert said in result.err


SHORT_TEXT_OF_MUCH = {
    "choices": "- add" + ".{" + ",".join(["rn", "rz"] * 200) + "}" * 1 + ".{f32,f64}" * 300 + "  d, a, b",
    "options": "- add" + "{.rn}" * 60 + ".f32  d, a, b",
    "empty options": "- add" + "{}" * 60 + ".f32  d, a, b",
    "braces": "- add" + "{" * 5000 + "}" * 5000 + ".f32  d, a, b",
    "names": "- add" + ".rn" * 30_000 + ".f32  d, a, b",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SHORT_TEXT_OF_MUCH)
def test_a_line_that_stands_for_too_much_is_refused_at_once(project: Project, name: str) -> None:
    project.edit(ADD, "  - add{.rnd}.f64                                   d, a, b", f"  {SHORT_TEXT_OF_MUCH[name]}")
    result = project.run("validate")
    assert result.code == 1
    assert "spellings" in result.err or "names in one spelling" in result.err


@pytest.mark.exhaustive
def test_evidence_of_what_changed_is_not_shown_as_proof(project: Project) -> None:
    project.bring("spec/observed/evidence.yaml")
    project.edit(ADD, "ptx: 7.8, target: sm_90", "ptx: 8.0, target: sm_90")
    assert project.run("generate").code == 0
    differences, add, max = (
        (project.root / f"generated/manual/{name}.md").read_text("utf-8") for name in ("differences", "add", "max")
    )
    assert "These instructions changed since: add. " in differences
    assert "checked these variants before they or their requirements changed" in add
    assert "checked these variants" not in max
    (line,) = [line for line in differences.splitlines() if "`add{.{rn,rz}}.f64`" in line]
    assert line.endswith(" | 2 | sm_13, PTX 1.0 | sm_10, PTX 1.0 |")
    assert "abs.f64" not in differences


@pytest.mark.parametrize(
    ("meaning", "message", "help"),
    [
        (".bf61", "unknown modifier or type '.bf61'", "did you mean '.bf16'?"),
        ("max.rn", "no max has .rn", ""),
        ("Max", "'Max' is not what belongs here", "an opcode, with modifiers or without, as in mul or testp.finite"),
    ],
)
def test_an_everyday_word_means_what_is_there(project: Project, meaning: str, message: str, help: str) -> None:
    project.write(WORDS, f"words:\n  clamp: [max, {meaning}]\n")
    expect_error(project, project.run("validate"), project.place(WORDS, meaning), message, help)


def test_the_group_of_an_instruction_is_one_that_has_a_title(project: Project) -> None:
    project.edit(ADD, "group: arithmetic\n", "group: arithmetik\n")
    place = project.place(ADD, "arithmetik")
    expect_error(project, project.run("validate"), place, "unknown group 'arithmetik'", "arithmetic")


@pytest.mark.exhaustive
def test_an_everyday_word_may_mean_an_opcode_that_a_specification_lacks(project: Project) -> None:
    project.write(WORDS, "words:\n  fused: [fma]\n  biggest: [max, nobody]\n")
    assert project.run("validate").code == 0
    assert project.run("generate").code == 0
    data = (project.root / "generated/manual/search.data.js").read_text("utf-8")
    assert '"words":{\n"biggest":["max"]\n}' in data


@pytest.mark.parametrize(
    ("row", "message", "help"),
    [
        ("message: 'a (b message', change: mend the message", "not a pattern: missing )", ""),
        ("message: 'a (?P<name>b)', change: 'mend the {nam}'", "unknown part of the message 'nam'", "'name'"),
        ("message: 'a (?P<name>b)', change: 'mend the {nam'", "not a text with parts: expected '}'", "in braces"),
        ("message: 'no part of it', says: {size: {1: one}}, change: mend the message", "unknown part of", "'size'"),
        ("message: 'no answer at all'", "one of 'change' or 'computed' is missing", ""),
        ("message: 'some message', computed: anything", "'anything' is not allowed here", "known: version"),
    ],
)
def test_a_tools_message_has_an_answer(project: Project, row: str, message: str, help: str) -> None:
    project.write(MESSAGES, f"messages:\n  - {{tool: nvcc, {row}}}\n")
    found = project.run("validate")
    assert found.code == 1 and message in found.err and help in found.err
    assert found.err.startswith(f"{MESSAGES}:2:")


def test_a_line_of_names_stands_for_no_more_than_a_reader_would_list(project: Project) -> None:
    notation = "llvm.a" + "{b,c}" * 40
    project.write(
        LLVM,
        "source: {title: some page, url: 'https://example.com'}\n"
        f"types: {{f: float}}\nnames:\n  T(T):\n    - {notation}.f\n",
    )
    found = project.run("validate")
    assert found.code == 1
    assert found.err.startswith(f"{LLVM}:5:7: error: this stands for more than 4096 names")


@pytest.mark.parametrize(
    ("types", "semantics", "error"),
    [
        (".b32", "d = a", ".sat changes results that are numbers of a floating-point format, and bfoo.sat.b32"),
        (".b32", "d = ~a if sat else a", ""),
        (".f32", "d = a", ""),
        (
            ".b32.f32",
            "d = bits(a)",
            ".sat changes results that are numbers of a floating-point format, and bfoo.sat.b32.f32",
        ),
    ],
)
def test_a_modifier_of_numbers_does_something_or_is_read(
    project: Project, types: str, semantics: str, error: str
) -> None:
    head = f"opcode: bfoo\nsummary: Made up.\nsyntax:\n  - bfoo{{.sat}}{types}  d, a\nrequires:\n  - ptx: 1.0\n"
    project.write("spec/instructions/bfoo.yaml", f"{head}semantics: |\n  {semantics}\n")
    result = project.run("validate")
    assert result.code == (1 if error else 0) and error in result.err, result.err
