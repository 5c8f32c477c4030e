"""Classes of operands, and boxes of them."""

from __future__ import annotations

import numpy as np
import pytest
from ptxspec.model import BOOL, Format, Kind, Spec, bits_of, number_in
from ptxspec.proving.compare.classes import cells, classes, count, cover
from ptxspec.proving.compare.differing import differences, distances
from ptxspec.proving.gpu.registers import unsigned

NAMES = ("f16", "bf16", "f32", "f64", "e4m3", "e5m2", "e2m1", "ue8m0")


def name_of(kind: Kind, x: int) -> str:
    s = classes(kind)
    place = int(s.of(np.array([x], unsigned(kind.storage)))[0])
    return next(n for n, row in zip(s.names, s.members, strict=True) if row[place])


@pytest.mark.parametrize("name", NAMES)
def test_every_encoding_is_of_the_class_that_the_format_says(spec: Spec, name: str) -> None:
    f = spec.formats[name]
    assert isinstance(f, Format)
    kind = number_in(f)
    step = max(1, (1 << f.width) // 5000)
    ends = [
        e for m in (0, 1, f.least_normal, f.largest, f.first_nan) for e in (m - 1, m, m + 1) if 0 <= e < f.magnitudes
    ]
    for x in [*range(0, 1 << f.width, step), *ends, *(f.sign_bit | e for e in ends)]:
        sign = "-" if x & f.sign_bit else "+"
        if f.is_nan(x):
            told = ("sNaN", "qNaN")[bool(x & f.quiet_bit)] if f.is_ieee else "NaN"
        elif f.is_infinite(x):
            told = f"{sign}inf"
        else:
            told = sign + ("0" if f.is_zero(x) else "subnormal" if f.is_subnormal(x) else "normal")
        assert name_of(kind, x) == (told if f.signed else told.removeprefix("+")), hex(x)


def test_what_is_no_float_has_classes_too(spec: Spec) -> None:
    assert [name_of(BOOL, x) for x in (0, 1)] == ["false", "true"]
    s32, u32 = (number_in(spec.formats[n]) for n in ("s32", "u32"))
    assert [name_of(s32, x) for x in (0, 5, 1 << 31, (1 << 32) - 1)] == ["0", "positive", "negative", "negative"]
    assert [name_of(u32, x) for x in (0, 5, 1 << 31)] == ["0", "positive", "positive"]
    assert name_of(bits_of(32), 7) == "any bits"


@pytest.mark.parametrize("name", ["s32", "u32", "e2m1", "f32"])
def test_any_is_every_class(spec: Spec, name: str) -> None:
    for s in (classes(number_in(spec.formats[name])), classes(BOOL), classes(bits_of(16))):
        assert s.members[-1].all() and s.members.sum(axis=1).tolist() == sorted(s.members.sum(axis=1))


def boxes(
    kinds: list[Kind], rows: list[tuple[int, ...]], tried: list[tuple[int, ...]], most: int = 6
) -> list[tuple[str, ...]]:
    found = []
    for some in (rows, [*rows, *tried]):
        columns = [np.array(c, unsigned(k.storage)) for k, c in zip(kinds, zip(*some, strict=True), strict=True)]
        found.append(np.bincount(cells(kinds, columns), minlength=count(kinds)) > 0)
    return [b.names for b in cover(kinds, *found, most)]


def test_boxes_say_no_more_than_what_differs(spec: Spec) -> None:
    f16 = number_in(spec.formats["f16"])
    nan, other = [0x7E00, 0xFE00, 0x7C01], [0, 0x8000, 1, 0x8001, 0x3C00, 0xBC00, 0x7C00, 0xFC00]
    every = [(x, y) for x in nan + other for y in nan + other]
    assert boxes([f16, f16], [(x, y) for x in nan for y in other], every) == [("NaN", "number")]
    assert boxes([f16, f16], [(0, 0x8000)], every) == [("+0", "-0")]
    assert boxes([f16, f16], [(x, y) for x, y in every if (x in nan) or (y in nan)], every) == [
        ("NaN", "any"),
        ("number", "NaN"),
    ]
    assert boxes([f16, f16], every, every) == [("any", "any")]
    finite = [x for x in other if x & 0x7FFF != 0x7C00]
    assert boxes([f16, f16], [(x, y) for x in finite for y in finite], every) == [("finite", "finite")]


def test_of_many_boxes_signs_are_left_away_and_then_all_else(spec: Spec) -> None:
    f16 = number_in(spec.formats["f16"])
    numbers = [0, 0x8000, 1, 0x8001, 0x3C00, 0xBC00]
    every = [(x, y) for x in numbers for y in numbers]
    odd = [(x, y) for x, y in every if (x >> 15) ^ (y >> 15)]
    assert boxes([f16, f16], odd, every) == [("+finite", "-finite"), ("-finite", "+finite")]
    assert boxes([f16, f16], odd, every, most=1) == [("finite", "finite")]
    corner = [(0, 1), (1, 0), (0x3C00, 0x3C00)]
    assert boxes([f16, f16], corner, every, most=2) == [("+finite", "+finite")]


def test_distances_are_steps_from_number_to_number(spec: Spec) -> None:
    f16, s32 = (number_in(spec.formats[n]) for n in ("f16", "s32"))
    a, b = np.array([0, 0x8001, 0x3C00, 0x03FF], np.uint16), np.array([0x8000, 1, 0x3BFF, 0x0400], np.uint16)
    assert distances(f16, a, b).tolist() == [0, 2, 1, 1]
    assert distances(s32, np.array([0xFFFFFFFF], np.uint32), np.array([1], np.uint32)).tolist() == [2]
    assert (
        len(
            {
                *differences(
                    f16,
                    np.array([0x7E00, 0x7E00, 0, 0, 0, 0x3C00], np.uint16),
                    np.array([0x7E01, 0, 0x8000, 1, 0x7C00, 0x4000], np.uint16),
                ).tolist()
            }
        )
        == 6
    )
