"""The requirements that follow from rules of the manual and of the assembler together."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.project import Project, copied
from ptxspec.specification import read

MUL = "spec/instructions/mul.yaml"
SYNTAX = "  - mul{.rnd}{.ftz}{.sat}.f32                                 d, a, b\n"
MANUAL = '  - {for: ".{e5m2x4,e4m3x4}", on: {sm_100a: 9.4, sm_103a: 9.4}, section: 9.7.6.3}\n'


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(copied(tmp_path / "project", ("mul",)), capsys)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("spelling", "rule", "needs"),
    [
        # The assembler's rule for .ftz.f32 is about all of these, and the one for .sym about some of them.
        ("mul.ftz.sym.f32", "{for: .sym, ptx: 9.4, target: sm_120, section: 9.7}", ("9.4", "sm_120")),
        ("mul.rz.ftz.sym.f32", "{for: .sym, ptx: 9.4, target: sm_120, section: 9.7}", ("9.4", "sm_120")),
        ("mul.sym.f32", "{for: .sym, ptx: 9.4, target: sm_120, section: 9.7}", ("9.4", "sm_120")),
        # One axis has nothing to do with the other.
        ("mul.ftz.sym.f32", "{for: .sym, target: sm_120, section: 9.7}", ("1.4", "sm_120")),
        # Of several patterns the one that matches counts.
        ("mul.ftz.sym.f32", "{for: [.f64, .sym], ptx: 9.4, section: 9.7}", ("9.4", "sm_10")),
        ("mul.ftz.sym.f32", "{for: [.sym, .ftz], ptx: 9.4, section: 9.7}", ("9.4", "sm_10")),
        ("mul.ftz.f32", "{for: [.sym, .ftz.f32], ptx: 9.4, section: 9.7}", ("1.4", "sm_10")),
        # The same and more: the assembler's own word on it stands in the place of the manual's.
        ("mul.ftz.f32", "{for: .f32, ptx: 9.4, section: 9.7}", ("1.4", "sm_10")),
        ("mul.ftz.f32", "{for: .ftz.f32, ptx: 9.4, section: 9.7}", ("1.4", "sm_10")),
        ("mul.rn.f64", "{for: .sym, target: sm_120, section: 9.7}", ("1.0", "sm_10")),
        ("mul.rm.f64", "{for: .sym, target: sm_120, section: 9.7}", ("1.0", "sm_13")),
    ],
)
def test_the_assembler_replaces_what_it_is_about_and_no_more(
    project: Project, spelling: str, rule: str, needs: tuple[str, str]
) -> None:
    project.edit("spec/modifiers.yaml", "modifiers:\n", "modifiers:\n  sym: {summary: Made up.}\n")
    project.edit(MUL, SYNTAX, SYNTAX.replace("{.sat}", "{.sat}{.sym}"))
    project.edit(MUL, MANUAL, f"{MANUAL}  - {rule}\n")
    variants = read(project.root).instructions["mul"].variants
    (requires,) = {v.requires for v in variants if v.spelling == spelling}
    assert (requires.ptx, requires.target) == needs


def test_a_range_that_two_patterns_match_is_one_limit(project: Project) -> None:
    rule = "{for: [.ftz, .sat], within: sm_120.., until: 9.0, section: 9.7}"
    project.edit(MUL, MANUAL, f"{MANUAL}  - {rule}\n")
    (v,) = (v for v in read(project.root).instructions["mul"].variants if v.spelling == "mul.ftz.sat.f32")
    assert [(w.first, w.until) for w in v.requires.within] == [("sm_120", "9.0")]
