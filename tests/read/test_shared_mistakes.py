"""A mistake in a file that all others rest on is reported by its place, with what belongs there."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import MODIFIERS, TARGETS, TYPES, Mistake, expect_mistake

MISTAKES: dict[str, Mistake] = {
    "an unknown format": (
        TYPES,
        "{format: f64,  lanes: 1",
        "{format: «f46,  lanes: 1",
        "unknown format 'f46'",
        "'f64'",
    ),
    "an unknown NaN rule of a type": (
        TYPES,
        "nan: payload,",
        "nan: «payloads,",
        "unknown NaN rule 'payloads'",
        "'payload'",
    ),
    "a NaN that is none": (
        TYPES,
        "fraction_bits: 52, canonical_nan: 0xfff8000000000000",
        "fraction_bits: 52, canonical_nan: «0xfff0000000000000",
        "is not a quiet NaN of f64",
        "",
    ),
    "a format that no register holds": (
        TYPES,
        "f64:  {exponent_bits: 11, fraction_bits: 52, canonical_nan: 0xfff8000000000000}",
        "f64:  {exponent_bits: 11, fraction_bits: 52, canonical_nan: 0xfff8000000000000}\n  «f17:  {exponent_bits: 6, fraction_bits: 10, canonical_nan: 0xffff}",  # noqa: E501
        "f17 has 17 bits",
        "",
    ),
    "a modifier with a function's name": (
        MODIFIERS,
        "\n  NaN:\n",
        "\n  «magnitude:\n    summary: A clash.\n    section: 9.7\n  NaN:\n",
        "'magnitude' is the name of a function",
        "",
    ),
    "an unknown rounding": (
        MODIFIERS,
        "9.7.3.3\n    round: {mode: roundTowardZero",
        "9.7.3.3\n    round: {mode: «roundTowardsZero",
        "not allowed here",
        "'roundTowardZero'",
    ),
    "a group of an unknown modifier": (
        MODIFIERS,
        "dir: [l, r]",
        "dir: [l, r, «rnn]",
        "unknown modifier 'rnn'",
        "'rn'",
    ),
    "an unknown target of a family": (
        TARGETS,
        "[sm_101, sm_110]",
        "[sm_101, «sm_111]",
        "unknown target 'sm_111'",
        "did you mean 'sm_11",
    ),
    "a family of a target without an f kind": (
        TARGETS,
        "[sm_101, sm_110]",
        "[«sm_90, sm_101, sm_110]",
        "sm_90 has no family-specific target",
        "a family is of targets that have one",
    ),
    "a target in two families": (
        TARGETS,
        "[sm_101, sm_110]",
        "[sm_101, sm_110, «sm_103]",
        "sm_103 is in another family already",
        "",
    ),
    "an a kind in a family": (
        TARGETS,
        "[sm_101, sm_110]",
        "[sm_101, «sm_110a]",
        "'sm_110a' is not what belongs here",
        "as in sm_100",
    ),
    "an unknown target of nvcc": (TARGETS, "nvcc: [sm_75,", "nvcc: [«sm_74,", "unknown target 'sm_74'", "'sm_7"),
    "a product of an unknown target": (
        TARGETS,
        "{target: sm_37, source: cuda-gpus-2025, names: [Tesla K80]}",
        "{target: «sm_38, source: cuda-gpus-2025, names: [Tesla K80]}",
        "unknown target 'sm_38'",
        "did you mean 'sm_3",
    ),
    "a product twice": (
        TARGETS,
        "names: [Tesla K80]",
        "names: [Tesla K80, «Tesla K80]",
        "Tesla K80 is listed twice for sm_37",
        "",
    ),
    "an unknown source": (
        TARGETS,
        "names: [Hopper], targets: [sm_90], source: shimoni",
        "names: [Hopper], targets: [sm_90], source: «shimony",
        "unknown source 'shimony'",
        "did you mean 'shimoni'",
    ),
    "a target of two architectures": (
        TARGETS,
        "names: [Hopper], targets: [sm_90]",
        "names: [Hopper], targets: [sm_90, «sm_89]",
        "sm_89 is Ada Lovelace already",
        "",
    ),
    "what nvcc compiles for and is gone": (
        TARGETS,
        "{cuda: 13.0, targets: [sm_101], source: thor}",
        "{cuda: 13.0, targets: [sm_101, «sm_110], source: thor}",
        "nvcc compiles for sm_110",
        "it is not gone",
    ),
    "a word of names that is no pattern": (TARGETS, '"SXM[0-9]?"', '«"SXM[0-9?"', "not a pattern: unterminated", ""),
    "a driver without a source": (
        TARGETS,
        "{version: 9.0, cuda: 13.0, linux: 580.65.06, source: release-notes}",
        "{version: 9.0, cuda: 13.0, «linux: 580.65.06}",
        "'linux' needs 'source' beside it",
        "",
    ),
    "a target twice": (
        TARGETS,
        "- {name: sm_82,    ptx: 6.2, unlisted: true}",
        "- {name: «sm_80,    ptx: 7.1}",
        "sm_80 is listed twice",
        "",
    ),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_where_it_is(project: Project, name: str) -> None:
    expect_mistake(project, MISTAKES[name])
