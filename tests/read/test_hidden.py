"""Characters that nobody sees in a specification: control characters, those that turn the direction of writing, those
that have no width."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import ADD
from ptxspec.diagnostics import Diagnostic, Mark

SUMMARY = "summary: Add two values."
# As they stand in a file, and as an escape within double quotes.
HIDDEN = {
    "NUL": ("\0", r"\0"),
    "a bell": ("\a", r"\a"),
    "an escape": ("\033", r"\e"),
    "delete": ("\x7f", r"\x7f"),
    "C1": ("\x9b", r"\x9b"),
    "a soft hyphen": ("\xad", r"\xad"),
    "zero width": ("\u200b", r"\u200b"),
    "right to left": ("\u202e", r"\u202e"),
    "an isolate": ("\u2066", r"\u2066"),
    "a mark of order": ("\ufeff", r"\ufeff"),
    "a tag": ("\U000e0041", r"\U000e0041"),
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.sampled(4)
def test_a_hidden_character_is_an_error_at_its_place(project: Project, name: str) -> None:
    character, escape = HIDDEN[name]
    said = f": error: the character U+{ord(character):04X} cannot stand in it"
    for text, place in (
        (f"summary: Sum{character} of two values.", "3:13"),
        (f"{SUMMARY} # {character}", "3:28"),
        (f'summary: "Sum{escape} of two values."', "3:10"),
    ):
        project.edit(ADD, SUMMARY, text)
        result = project.run("validate")
        head, shown, *_ = result.err.splitlines()
        assert result.code == 1 and head == f"{ADD}:{place}{said}"
        # The terminal is not given it either.
        assert shown.isprintable() and result.err.endswith("\n1 error\n")
        project.edit(ADD, text, SUMMARY)


def test_it_is_found_in_keys_and_in_names(project: Project) -> None:
    project.edit(ADD, SUMMARY, f'{SUMMARY}\n"no\\u202etes": []')
    assert f"{ADD}:4:1: error: the character U+202E cannot stand in it" in project.run("validate").err


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb.yaml", r"a\nb.yaml"), ("a\033[31m.yaml", r"a\x1b[31m.yaml"), ("a\u202e.yaml", r"a\u202e.yaml"),
        ("\nadd.yaml", r"\nadd.yaml"), ("add.yaml\n", r"add.yaml\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("folder", ["instructions", "units"])
@pytest.mark.sampled(4)
def test_a_hidden_character_in_the_name_of_a_file(project: Project, folder: str, name: str, shown: str) -> None:
    (project.root / "spec" / folder / name).write_text("x: y\n")
    result = project.run("validate")
    said = "1:1: error: the name of this file has a character that is not seen"
    assert result.code == 1 and f"spec/{folder}/{shown}:{said}" in result.err.splitlines()
    assert result.err.replace("\n", "").isprintable()


def test_an_example_of_ptx_is_held_to_the_same(project: Project) -> None:
    """It is shown in the manual, and its name stands in a comment of what is generated."""
    example = project.root / "spec/examples/exp2.ptx"
    text = example.read_text("utf-8")
    example.write_text(text.replace("\n", "\n// \u202e\n", 1), "utf-8")
    said = "spec/examples/exp2.ptx:2:4: error: the character U+202E cannot stand in it"
    assert said in project.run("generate").err
    example.write_text(text, "utf-8")
    (project.root / "spec/examples/a\n#.ptx").write_text(text, "utf-8")
    result = project.run("generate")
    assert result.code == 2 and r"spec/examples/a\n#.ptx:1:1: error: the name of this file has a" in result.err


def test_a_complaint_shows_nothing_that_a_terminal_would_obey() -> None:
    said = str(Diagnostic("a\nb\033.yaml", Mark(1, 2), "'\033[2J' is unknown", "did you mean 'x\u202e'?", "a\033\tb"))
    assert said.splitlines() == [
        r"a\nb\x1b.yaml:1:2: error: '\x1b[2J' is unknown", "    a  b", "     ^", r"    help: did you mean 'x\u202e'?"
    ]  # fmt: skip
