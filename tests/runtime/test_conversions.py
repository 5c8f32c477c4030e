"""Conversions between scalar types, to tf32 and to pairs, against MPFR, ptxas's folding, and their definitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import ptxemu
import pytest
from helpers.groups import assert_equal
from helpers.judging import Judged
from helpers.sizes import spread
from oracles import conversions

pytestmark = pytest.mark.inputs("emulator:cvt")

SPELLINGS = sorted(
    conversions.spellings(),
    # What MPFR computes once stands together.
    key=lambda s: (s.rpartition(".")[2], conversions.conversion(s).direction, s.split(".")[-2], s),
)


def check(spelling: str, size: int) -> None:
    x = conversions.operands(spelling, size)
    want = conversions.expected(spelling, x)
    kernel = ptxemu.compile(spelling)
    if kernel.operands == 1:
        # Results are integers, or floats where no operand is bits of one.
        assert_equal(spelling, [x], kernel(x).view(want.dtype), want)
        return
    # The first source is the upper half of the result; the second one holds something else.
    other = np.roll(x, 1)
    pair = kernel(x, other)
    assert_equal(spelling, [x], (pair >> np.uint32(16)).astype(want.dtype), want)
    assert_equal(spelling, [other], pair.astype(want.dtype), np.roll(want, 1))


def test_every_form_is_here() -> None:
    """As many as ptxas takes: float to integer, integer to float, integers, floats, tf32, pairs."""
    assert len(SPELLINGS) == 288 + 288 + 102 + 144 + 10 + 16


def some() -> Iterator[str]:
    """Of each pair of types a spelling in each direction."""
    by_types = itertools.groupby(SPELLINGS, key=lambda s: s.split(".")[::-1][:2])
    for i, (_, group) in enumerate(by_types):
        yield from spread(list(group)[i % 3 :], 1)


@pytest.mark.parametrize("spelling", list(dict.fromkeys(some())))
def test_some_conversions(spelling: str) -> None:
    check(spelling, 400)


@pytest.mark.exhaustive
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_conversion(spelling: str, judged: Judged) -> None:
    """All operands of 8 and 16 bits, a quarter of a million of the others."""
    check(spelling, 1 << 18)
    judged(conversions.judge_of(spelling), [(spelling, 2 if conversions.conversion(spelling).is_pair else 1)])
