"""An entry of `folding` shows what constants are folded to: its rule gives that, and the semantics something else."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.project import Project
from helpers.validating import ADD, expect_error
from ptxspec.check.folding import contradictions
from ptxspec.model import Spec
from ptxspec.semantics.compile import Compiler

START = "\nfolding:\n  - text: Something else comes out.\n    "


def declare(project: Project, rest: str) -> None:
    """State what add is folded to, in the words of `rest`, in the place of what the file says."""
    text = (project.root / ADD).read_text("utf-8")
    start = text.index("\nfolding:\n")
    end = text.index("\ncorner_cases:\n")
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
            "the semantics of add.rn.f32 (2 operands) gives 0x3f800000, too: this entry describes no difference",
        ),
        (
            "for: add.rn.f32\n    semantics: d = a\n    shown: [[0x3f800000, 0x40000000]]",
            "add.rn.f32 (2 operands) has 2 operands, and a row of `shown` 1 before the result",
        ),
        (
            "for: add.rn.f32\n    semantics: d = a\n    shown: [[0x13f800000, 0x40000000, 0x3f800000]]",
            "0x13f800000 does not fit a of add.rn.f32 (2 operands), which has 32 bits",
        ),
    ],
)
def test_what_is_shown_is_what_the_rule_gives_and_the_semantics_does_not(
    project: Project, rest: str, message: str
) -> None:
    declare(project, rest)
    result = project.run("validate")
    assert result.code == 1 and f": error: {message}\n" in result.err


@pytest.mark.parametrize(
    ("spelling", "row"),
    [
        ("cvt.rn.f16x2.f32", (0x7F800001, 0x0, 0x0)),  # two registers of one lane each
        ("cvt.rn.f16x2.e4m3x2", (0x0, 0x0)),
        ("cvt.rs.f16x2.f32", (0x0, 0x0, 0x0, 0x0)),  # lanes that share the bits of a register
    ],
)
def test_a_row_is_of_registers_that_stand_for_themselves(spec: Spec, spelling: str, row: tuple[int, ...]) -> None:
    own = spec.instructions["cvt"]
    v = next(v for v in own.variants if v.spelling == spelling)
    selector: Any = SimpleNamespace(matches=lambda other: other is v)
    entry = replace(own.folding[0], selector=selector, shown=(row,))
    program = Compiler(spec).program(own, v, None)
    (found,) = contradictions(spec, replace(own, folding=(entry,)), {v: program})
    several = "are in several registers" in found.message
    assert several == (len({v.lanes, *(o.type.lanes for o in (v.result, *v.sources))}) > 1)


@pytest.mark.exhaustive
def test_show_tells_what_constants_are_folded_to(project: Project) -> None:
    declare(project, "for: add.rn.f32\n    semantics: d = a\n    shown: [[0x3f800000, 0x40000000, 0x3f800000]]")
    assert project.run("generate").code == 0
    told = "constant folding gives other results: Something else comes out. 0x3f800000, 0x40000000 give 0x3f800000"
    assert told in project.run("show", "add.rn.f32").out
    assert "constant folding gives other results" not in project.run("show", "add.rz.f32").out
