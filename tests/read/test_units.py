"""A model of a unit as a file, and what can be wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.project import Project, copied
from helpers.repository import specification
from helpers.unit_models import as_yaml, models
from ptxspec.model import Differences

MODEL = """\
unit: RCP
within: sm_90..sm_90a
fitted: {gpu: A GPU, driver: 12.8, results: 100}
argument: {kind: significand, bits: 14, odd: true}
result: {exponent: -1, point: 24, precision: 24}
special:
  +zero: 0x7f800000
  -zero: 0xff800000
  +infinity: 0x00000000
  -infinity: 0x80000000
  nan: 0x7fffffff
interpolator:
  words: [{bits: 25, point: 25}, {bits: 16, point: 16}, {bits: 10, point: 10}]
  squarer: {drop: 3, of: columns}
  bias: 0x1p-26
  segments: 2
  coefficients:
    - [33554431, -65535, 1023]
    - [22369621, -29127, 311]
"""
FILE = "spec/units/RCP-sm_90.yaml"
# What is written for what, where the complaint is, and what it says.
MISTAKES = {
    "an unknown unit": ("unit: RCP", "unit: «RPC", "unknown unit 'RPC'"),
    "an unknown target": ("sm_90..sm_90a", "sm_90..«sm_99", "unknown target 'sm_99'"),
    "a key": ("  bias:", "  «byas:", "unknown key 'byas'"),
    "rows too few": ("segments: 2", "segments: 4", "2 rows of coefficients; 1 x 4 segments need 4"),
    "a long word": ("[22369621", "[«99999999", "C0 = 99999999 does not fit into 25 bits"),
    "a short encoding": ("nan: 0x7fffffff", "nan: «0x7fff", "'0x7fff' has 16 bits, f32 has 32"),
    "a missing result": ("  nan: 0x7fffffff\n", "", "missing key 'nan'"),
    "a precision": ("precision: 24", "precision: «30", "whose precision is 24"),
    "too many bits": ("bits: 14", "bits: «24", "a fraction of f32 has 23 bits"),
    "another kind's key": ("odd: true", "«mirror: negate", "an argument of kind 'significand' has no 'mirror'"),
    "a missing mirror": ("kind: significand", "kind: turns", "missing key 'mirror' of an argument of kind 'turns'"),
    "no bias": ("0x1p-26", "«0.1", "'0.1' is not what belongs here"),
    "a sum of too many bits": ("{bits: 10, point: 10}", "{bits: 10, point: 40}", "the sum has more than 62 bits"),
    "a bias of too many bits": ("0x1p-26", "0x1p40", "the sum has more than 62 bits"),
    "neither of both": ("interpolator:", "«interpolators:", "unknown key 'interpolators'"),
}


@pytest.fixture
def made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(copied(tmp_path / "made_up", ("rcp",)), capsys)


def test_a_model_without_a_mistake(made_up: Project) -> None:
    made_up.write(FILE, MODEL)
    assert made_up.run("validate").code == 0


def test_a_table_of_differences_must_be_there_and_whole(made_up: Project) -> None:
    model = replace(models(specification())["table of significands"], unit="RSQ")
    table = model.core
    assert isinstance(table, Differences)
    made_up.write("spec/units/RSQ-sm_90.yaml", as_yaml(model))
    assert made_up.place("spec/units/RSQ-sm_90.yaml", table.name) in made_up.run("validate").err
    made_up.write(f"spec/units/{table.name}", table.text[:-20])
    broken = made_up.run("validate")
    assert broken.code == 1 and f"{table.name} cannot be read" in broken.err
    made_up.write(f"spec/units/{table.name}", table.text)
    assert made_up.run("validate").code == 0


@pytest.mark.sampled(6)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_model_has_its_place(made_up: Project, mistake: str) -> None:
    old, new, message = MISTAKES[mistake]
    assert MODEL.count(old) == 1
    marked = MODEL.replace(old, new)
    made_up.write(FILE, marked.replace("«", ""))
    result = made_up.run("validate")
    assert result.code == 1 and message in result.err
    line, column = 1, 1
    if "«" in marked:
        before = marked[: marked.index("«")]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        assert f"{FILE}:{line}:{column}: error: " in result.err
    else:
        assert f"{FILE}:" in result.err


def test_two_models_of_a_target_and_a_file_of_another_name_are_refused(made_up: Project) -> None:
    made_up.write(FILE, MODEL)
    made_up.write("spec/units/again.yaml", MODEL.replace("sm_90..sm_90a", "sm_80..sm_90"))
    assert "another file has RCP of sm_80 already" in made_up.run("validate").err or (
        "another file has RCP of sm_90 already" in made_up.run("validate").err
    )
    (made_up.root / "spec/units/again.yaml").rename(made_up.root / "spec/units/again.yml")
    assert "spec/units/again.yml:1:1: error: this file would be ignored" in made_up.run("validate").err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("unit(RCP, scaled)", "unit(RPC, scaled)", "unknown name 'RPC'"),
        ("d = reciprocal * scale", "d = unit(scale, reciprocal)", "the first argument is a unit"),
        ("unit(RCP, scaled)", "unit(RCP64H, scaled)", "expected a f64 float, this is a f32 float"),
        ("reciprocal = unit(RCP, scaled)\n      d = reciprocal * scale", "d = scaled", "this calls no unit"),
        ("      d = 1 / a\n", "      d = unit(RCP, a)\n", "a unit is called under `hardware:` only"),
        ("      scaled = a * scale\n", "", "unknown name 'scaled'"),
    ],
)  # fmt: skip
def test_resting_machine_code_is_checked(made_up: Project, old: str, new: str, message: str) -> None:
    made_up.edit("spec/instructions/rcp.yaml", old, new)
    result = made_up.run("validate")
    assert result.code == 1 and message in result.err and "spec/instructions/rcp.yaml:" in result.err
