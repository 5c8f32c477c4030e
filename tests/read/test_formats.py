"""Formats that say what is special about them: what a declaration means, and what it cannot be."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.project import Project
from helpers.validating import TYPES, expect_error
from ptxspec.model import FixedPoint, Format
from ptxspec.specification import read

BEFORE = "\n# These rules run on the result"

DECLARED: dict[str, dict[str, Any]] = {
    "{exponent_bits: 4, fraction_bits: 3, infinity: none, nan: [0x7f, 0xff], canonical_nan: 0x7f, overflow: nan}": {
        "width": 8, "bias": 7, "emax": 8, "emin": -6, "largest": 0x7E, "first_nan": 0x7F, "is_ieee": False,
    },
    "{exponent_bits: 5, fraction_bits: 2, canonical_nan: 0x7f}": {
        "width": 8, "emax": 15, "largest": 0x7B, "infinity": 0x7C, "is_ieee": True, "container": 8,
    },
    "{exponent_bits: 2, fraction_bits: 1, infinity: none, nan: none, invalid: 0x7, overflow: largest}": {
        "width": 4, "container": 4, "largest": 7, "emax": 2, "nans": 0, "canonical_nan": 7,
    },
    "{exponent_bits: 2, fraction_bits: 3, infinity: none, nan: none, invalid: 0x1f, overflow: largest, container: 8}": {
        "width": 6, "container": 8, "largest": 0x1F,
    },
    "{exponent_bits: 8, fraction_bits: 0, sign: none, zero: none, infinity: none, nan: [0xff], canonical_nan: 0xff, overflow: largest}": {  # noqa: E501
        "width": 8, "bias": 127, "emin": -127, "emax": 127, "largest": 0xFE, "sign_bit": 0, "has_subnormals": False,
    },
    "{exponent_bits: 8, fraction_bits: 10, canonical_nan: 0x3ffff, container: 32, align: upper}": {
        "width": 19, "container": 32, "shift": 13, "is_ieee": False,
    },
    "{integer: signed, bits: 8, point: 6}": {"width": 8, "least": -128, "largest": 127, "point": 6},
    "{integer: unsigned, bits: 16}": {"width": 16, "least": 0, "largest": 65535, "point": 0},
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", DECLARED)
def test_a_format_is_what_it_says(project: Project, text: str) -> None:
    project.edit(TYPES, BEFORE, f"\n  tiny: {text}\n{BEFORE}")
    tiny = read(project.root).formats["tiny"]
    assert isinstance(tiny, FixedPoint if "integer" in text else Format)
    assert {name: getattr(tiny, name) for name in DECLARED[text]} == DECLARED[text]


# Each: the declaration with « before the mistake, a part of the message, a part of the help.
MISTAKES = {
    "no word of NaNs": (
        "«tiny: {exponent_bits: 4, fraction_bits: 3, infinity: none, canonical_nan: 0x7f, overflow: nan}",
        "tiny has no infinity: which encodings are NaNs?", "nan: none",
    ),
    "a NaN that is a number": (
        "tiny: {exponent_bits: 4, fraction_bits: 3, infinity: none, nan: [0x7f, «0x40], canonical_nan: 0x7f, overflow: nan}",  # noqa: E501
        "0x40 is a number of tiny", "largest magnitudes",
    ),
    "a NaN of one sign": (
        "tiny: {exponent_bits: 4, fraction_bits: 3, infinity: none, nan: «[0x7f], canonical_nan: 0x7f, overflow: nan}",
        "its sign alone differs", "",
    ),
    "a canonical NaN that is a number": (
        "tiny: {exponent_bits: 5, fraction_bits: 2, canonical_nan: «0x7b}", "0x7b is not a quiet NaN of tiny", "",
    ),
    "a NaN for what has none": (
        "«tiny: {exponent_bits: 2, fraction_bits: 1, infinity: none, nan: none, overflow: largest}",
        "missing key 'invalid'", "",
    ),
    "no word of overflow": (
        "«tiny: {exponent_bits: 4, fraction_bits: 3, infinity: none, nan: [0x7f, 0xff], canonical_nan: 0x7f}",
        "says nothing of what a number too large becomes", "overflow: nan or largest",
    ),
    "an infinity that is not there": (
        "tiny: {exponent_bits: 4, fraction_bits: 3, infinity: none, nan: [0x7f, 0xff], canonical_nan: 0x7f, overflow: «infinity}",  # noqa: E501
        "'infinity'", "nan or largest",
    ),
    "a container too small": (
        "tiny: {exponent_bits: 5, fraction_bits: 10, canonical_nan: 0x7fff, container: «8}",
        "tiny has 16 bits, which 8 cannot hold", "",
    ),
    "no register": (
        "«tiny: {exponent_bits: 6, fraction_bits: 10, canonical_nan: 0xffff}", "tiny has 17 bits", "container: 32",
    ),
    "a point beyond the bits": ("tiny: {integer: signed, bits: 8, point: «9}", "9 cannot stand behind the point", ""),
    "an integer with a fraction": (
        "tiny: {integer: signed, bits: 8, «fraction_bits: 3}", "tiny is an integer, which has none", "",
    ),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_declaration_is_reported_where_it_is(project: Project, name: str) -> None:
    marked, message, help = MISTAKES[name]
    project.edit(TYPES, BEFORE, f"\n  {marked}\n{BEFORE}")
    at = project.place(TYPES, "«")
    project.edit(TYPES, "«", "")
    expect_error(project, project.run("validate"), at, message, help)


TYPE = "{format: f16, lanes: 1, nan: canonical, constraint: h, registers: .b16, summary: a type}"
WRONG_TYPES = {
    "a format nobody knows": (TYPE.replace("f16,", "«f15,"), "unknown format 'f15'", "'f16'"),
    "no NaN rule": (TYPE.replace(" nan: canonical,", ""), "missing key 'nan'", ""),
    "lanes too narrow": (TYPE.replace("lanes: 1", "lanes: 4, lane_bits: «8"), "a lane of kind has 8 bits", ""),
    "lanes that fill no register": (TYPE.replace("lanes: 1", "lanes: 2, lane_bits: 32"), "", ""),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_a_wrong_type_is_reported(project: Project, name: str) -> None:
    marked, message, help = WRONG_TYPES[name]
    project.edit(TYPES, "\ntypes:\n", f"\ntypes:\n  kind: {marked.replace('«', '')}\n")
    result = project.run("validate")
    assert (result.code == 1) == bool(message), result
    assert message in result.err and help in result.err


def test_a_predicate_has_no_format(project: Project) -> None:
    pred = read(project.root).types["pred"]
    assert (pred.kind.sort, pred.lanes, pred.nan) == ("bool", 1, None)
