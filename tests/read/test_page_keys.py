"""Mistakes in the keys of an instruction's file that decide what its page shows: `comparisons` and `try`."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import ADD, Mistake, expect_mistake

KEYS = "corner_cases:"
MISTAKES: dict[str, Mistake] = {
    "a group that is none": (ADD, KEYS, f"comparisons: [«cmpp]\n{KEYS}", "unknown group 'cmpp'", "'cmp'"),
    "no comparison": (
        ADD,
        KEYS,
        f"«comparisons: [cmp]\n{KEYS}",
        "(2 operands) does not have exactly one modifier of cmp",
        "name all groups of comparisons",
    ),
    "a variant that is none": (
        ADD,
        KEYS,
        f"try: {{variant: «add.rn.f33}}\n{KEYS}",
        "unknown variant 'add.rn.f33'",
        "'add.rn.f32'",
    ),
    "an operand that is none": (
        ADD,
        KEYS,
        f"try: {{variant: add.rn.f32, «operands: {{a: 1, c: 2}}}}\n{KEYS}",
        "the operands of add.rn.f32 are a, b",
        "give each of them a value",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_where_it_is(project: Project, name: str) -> None:
    expect_mistake(project, MISTAKES[name])
