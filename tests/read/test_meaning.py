"""A specification that is well formed and means nothing, or two things at once, is an error."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import MODIFIERS, TYPES, expect_error

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
            "add{.rn}.{bf16,bf16x2}                          d, a, b",
            "add{.rn}.{bf16,bf16x2}                          p, a, b",
            "'add.bf16x2': p has 1 lane, other operands have 2",
            "p0|p1 is a predicate for each of two lanes",
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
