"""An entry of `folding` shows what constants are folded to: its rule gives that, and the semantics something else."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import ADD, expect_error

START = "\nfolding:\n  - text: Something else comes out.\n    "


def declare(project: Project, rest: str) -> None:
    """What add is folded to, in the words of `rest`, in the place of what the file says."""
    text = (project.root / ADD).read_text("utf-8")
    start = text.index("\nfolding:\n")
    end = text.index("\njudged:\n")
    project.edit(ADD, text[start:end], f"{START}{rest}\n")


@pytest.mark.parametrize(
    ("rest", "message", "help"),
    [
        ("nan: «unchangd\n    shown: [[0x0, 0x0, 0x0]]", "unknown NaN rule 'unchangd'", "'unchanged'"),
        ("nan: unchanged\n    shown: [[«1.0, 0x0]]", "'1.0' is not what belongs here", "0x7f800001"),
    ],
)
def test_what_is_said_of_folding_must_be_there(project: Project, rest: str, message: str, help: str) -> None:
    declare(project, rest)
    at = project.place(ADD, "«")
    project.edit(ADD, "«", "")
    expect_error(project, project.run("validate"), at, message, help)


def test_an_entry_has_a_rule(project: Project) -> None:
    declare(project, "shown: [[0x0, 0x0, 0x0]]")
    result = project.run("validate")
    assert result.code == 1 and ":5: error: one of 'semantics' or 'nan' is missing\n" in result.err


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (
            "for: add.rn.f32\n    semantics: d = a\n    shown: [[0x3f800000, 0x3f800000, 0x40000000]]",
            "the rule gives 0x3f800000 for add.rn.f32 (2 operands), and `shown` says 0x40000000",
        ),
        (
            "for: add.rn.f32\n    semantics: d = a\n    shown: [[0x3f800000, 0x00000000, 0x3f800000]]",
            "the semantics of add.rn.f32 (2 operands) gives 0x3f800000 too: there is nothing to say",
        ),
        (
            "for: add.rn.f32\n    semantics: d = a\n    shown: [[0x3f800000, 0x40000000]]",
            "add.rn.f32 (2 operands) has 2 operands, and a row of `shown` 1 before the result",
        ),
    ],
)
def test_what_is_shown_is_what_the_rule_gives_and_the_semantics_does_not(
    project: Project, rest: str, message: str
) -> None:
    declare(project, rest)
    result = project.run("validate")
    assert result.code == 1 and f": error: {message}\n" in result.err


def test_show_tells_what_constants_are_folded_to(project: Project) -> None:
    declare(project, "for: add.rn.f32\n    semantics: d = a\n    shown: [[0x3f800000, 0x40000000, 0x3f800000]]")
    assert project.run("generate").code == 0
    told = "constants are folded to something else: Something else comes out. 0x3f800000, 0x40000000 give 0x3f800000"
    assert told in project.run("show", "add.rn.f32").out
    assert "folded to something else" not in project.run("show", "add.rz.f32").out
