"""Small files that would make much work: they are refused before they do."""

from __future__ import annotations

import pytest
from helpers.project import Project

HEAD = """\
# yaml-language-server: $schema=../schema/instruction.schema.json
opcode: zz
summary: Nothing.
syntax:
  - zz{.rnd}{.ftz}.f32  d, a, b
  - zz{.rnd}.f64        d, a, b
requires:
  - {ptx: 9.5, target: sm_120}
semantics: |
"""
FILE = "spec/instructions/zz.yaml"


def helpers(count: int, first: str, others: str, result: str) -> str:
    """Each helper calls the one before twice."""
    lines = [f"  def h0(x):\n    return {first}\n"]
    lines += [f"  def h{i}(x):\n    return {others.format(f'h{i - 1}')}\n" for i in range(1, count)]
    return "".join(lines) + f"  d = {result.format(f'h{count - 1}(a)')}\n"


ROWS = "  d = a + b\ncorner_cases:\n  - title: Infinities\n    rows:\n"
# What a file says, where it is refused, and with what.
LARGE = {
    "helpers that double what they pass on": (
        helpers(30, "x", "{0}({0}(x))", "{0}"), "", "more than 5000 values in zz"
    ),
    "helpers that double bits": (
        helpers(30, "bits(x)", "{0}(x) | {0}(x)", "float_of({0})"), "", "more than 5000 values in zz"
    ),
    "helpers that double steps": (helpers(30, "x + x", "{0}({0}(x))", "{0}"), ":13:15", "more than 500 steps in zz"),
    "lines without end": (
        "".join(f"  x{i} = a + b\n" for i in range(600)) + "  d = a\n", ":510:3", "more than 500 steps in zz"
    ),
    "rows without end": (
        ROWS + "      - [NaN, NaN, NaN]\n" * 8_000, "", "with this row, there are more than 50000 cases",
    ),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", LARGE)
def test_what_grows_without_end_is_one_error(project: Project, name: str) -> None:
    text, place, message = LARGE[name]
    project.write(FILE, HEAD + text)
    result = project.run("validate")
    first, *more = result.err.splitlines()
    assert result.code == 1 and more[-1] == "1 error"
    assert first.startswith(f"{FILE}{place}") and f": error: {message}" in first


def test_all_variants_of_an_opcode_together_have_a_bound(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them may be small."""
    project.write(FILE, HEAD + "  x = a + b\n  d = x + b\n")
    monkeypatch.setattr("ptxspec.semantics.compile._MAX_STEPS", 5)
    result = project.run("validate")
    assert f"{FILE}:10:3: error: more than 5 steps in the variants of an opcode" in result.err
    project.write(FILE, HEAD + "  y = a + b\n  d = y + b\n")
    monkeypatch.undo()
    assert project.run("validate").code == 0
