"""Tests of the variants that a row of corner cases is about."""

from __future__ import annotations

from helpers.project import Project
from helpers.repository import specification
from helpers.validating import MODIFIERS

SPEC = specification()

INFINITIES = {"+inf -normal +inf", "+inf -inf NaN"}
SATURATED = {"+inf 0.5 1.0", "-1.0 0.5 +0.0", "NaN 1.0 +0.0"}
SUBNORMAL = "+minSubnormal +minSubnormal +subnormal"


def rows(spelling: str) -> set[str]:
    """Return the rows about a variant, with a space between their cells."""
    instruction = SPEC.instructions[spelling.partition(".")[0]]
    variant = next(v for v in instruction.variants if v.spelling == spelling and v.operands == 2)
    found = (row for t in instruction.corner_tables_of(variant) for row in t.rows_of(variant))
    return {" ".join(x.text for x in (*row.operands, *row.results)) for row in found}


def test_a_row_is_not_about_variants_with_a_modifier_that_changes_its_result() -> None:
    assert rows("add.f32") >= INFINITIES
    assert INFINITIES.isdisjoint(rows("add.sat.f32"))


def test_a_row_is_not_about_variants_with_a_modifier_that_changes_an_operand() -> None:
    assert SUBNORMAL in rows("add.f32")
    assert SUBNORMAL not in rows("add.ftz.f32")
    assert "NaN -normal b" in rows("max.f32")
    assert "NaN -normal b" not in rows("max.NaN.f32")


def test_the_nan_of_an_overflow_is_changed_and_that_of_a_nan_is_not() -> None:
    overflow, nan = {"32.0 +maxNormal NaN", "+inf 1.0 NaN"}, {"NaN 1.0 0x7f"}
    assert rows("add.e4m3x4.e5m2x4") >= overflow | nan
    assert overflow.isdisjoint(rows("add.satfinite.e4m3x4.e5m2x4"))
    assert rows("add.satfinite.e4m3x4.e5m2x4") >= nan


def test_a_row_that_no_modifier_changes_is_about_all() -> None:
    assert all("+0.0 -0.0 +0.0" in rows(v) for v in ("add.f32", "add.sat.f32", "add.ftz.f32", "add.rn.ftz.sat.f16"))


def test_a_table_that_names_a_modifier_is_about_what_it_changes() -> None:
    assert rows("add.sat.f32") >= SATURATED


def test_a_modifier_that_changes_more_than_it_says_contradicts_a_row(project: Project) -> None:
    project.edit(MODIFIERS, "    changes: {results: [NaN, negative, above one]}\n", "")
    result = project.run("validate")
    assert result.code == 1
    assert "the semantics contradicts this row: add.sat.f32 of" in result.err
