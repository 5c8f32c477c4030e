"""A hazard states what shows it; one that the semantics does not make a hazard is a mistake."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import ADD, expect_error


def declare(project: Project, rest: str) -> None:
    """A hazard of add, which `rest` goes on about."""
    start = "\nhazards:\n  - text: The machine code does something else.\n    "
    project.edit(ADD, "\nnotes:\n", f"{start}{rest}\n\nnotes:\n")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("rest", "message", "help"),
    [
        ("shown_by: {drops: .ftz, «add: .sat}", "unknown key 'add'", "'adds'"),
        ("shown_by: «{drops: .ftz, lacks: [RELU]}", "these keys do not go together", "{holds, lacks}"),
        ("shown_by: «{}", "too few entries", "{drops, adds}, {holds, lacks}, {folds} or {unknown}"),
        ("shown_by: {drops: «.fzt}", "unknown modifier or type '.fzt'", "'.ftz'"),
        ("for: .f64\n    shown_by: {«drops: .ftz}", "add.f64 has no .ftz", "narrow the entry with `for:`"),
        (
            "for: add.rz.f64\n    «shown_by: {drops: .rz, adds: .sat}",
            "add.rz.f64 without .rz and with .sat is no variant",
            "name the variant whose machine code it has by `drops:` and `adds:`",
        ),
        ("shown_by: {folds: [«1.0, 0x0]}", "'1.0' is not what belongs here", "0x7f800001"),
        ("within: «sm_90..sm_80\n    shown_by: {unknown: true}", "sm_90 comes after sm_80", "the older target"),
        ("on: {«sm_90f: 9.0}\n    shown_by: {unknown: true}", "there is no sm_90f", "write sm_90 or sm_90a"),
    ],
)
def test_what_is_said_of_a_hazard_must_be_there(project: Project, rest: str, message: str, help: str) -> None:
    declare(project, rest)
    at = project.place(ADD, "«")
    project.edit(ADD, "«", "")
    expect_error(project, project.run("validate"), at, message, help)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (
            "for: add.rn.f32\n    shown_by: {drops: .rn}",
            "the semantics of add.rn.f32 (2 operands) and add.f32 (2 operands) are the same: this is no hazard",
        ),
        (
            "for: add.rn.f32\n    shown_by: {folds: [0x3f800000, 0x3f800000, 0x40000000]}",
            "the semantics of add.rn.f32 (2 operands) gives 0x40000000, too: this is no hazard",
        ),
        (
            "for: add.rn.f32\n    shown_by: {folds: [0x3f800000, 0x40000000]}",
            "add.rn.f32 (2 operands) has 2 operands, and `folds` 1 before the result",
        ),
    ],
)
def test_what_the_semantics_gives_too_is_no_hazard(project: Project, rest: str, message: str) -> None:
    declare(project, f"«{rest}")
    line = project.place(ADD, "«").split(":")[1]
    project.edit(ADD, "«", "")
    result = project.run("validate")
    assert result.code == 1 and f"{ADD}:{int(line) - 1}:5: error: {message}\n" in result.err


@pytest.mark.exhaustive
def test_a_hazard_may_hold_on_few_targets(project: Project) -> None:
    declare(project, "for: add.rz.f64\n    on: {sm_100f: 8.8}\n    shown_by: {drops: .rz}")
    assert project.run("generate").code == 0

    def asked(*options: str) -> str:
        return project.run("query", "add.rz.f64", *options).out

    assert asked("--target", "sm_103a").startswith("yes, but: add.rz.f64 (2 operands) on sm_103a is a hazard\n")
    for elsewhere in (("--target", "sm_90"), ("--target", "sm_100a", "--ptx", "8.6")):
        assert asked(*elsewhere).startswith("yes: ") and "hazard" not in asked(*elsewhere)
    assert "  hazard    On sm_100a, sm_100f, sm_103a, " in asked()
    # It is advised where it does what it says.
    advised = [project.run("query", "add.rz.f46", "--target", t).out for t in ("sm_90", "sm_100a")]
    assert ["add.rz.f64" in text for text in advised] == [True, False]
