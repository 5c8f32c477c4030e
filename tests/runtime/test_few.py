"""What is looked up for few elements is what is computed of many: at every end of a result, and so everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from helpers.arithmetic_package import load
from numpy.testing import assert_array_equal

binary, comparison, few, narrowing, encoding = map(load, ("binary", "comparison", "few", "narrowing", "encoding"))
Format = binary.Format
FORMATS = [
    Format("f16", 5, 10, 0x7FFF), Format("bf16", 8, 7, 0x7FFF), Format("e3m4", 3, 4, 0x7F),
    Format("e4m11", 4, 11, 0x7FFF), Format("e7m8", 7, 8, 0x7FFF),
]  # fmt: skip

pytestmark = pytest.mark.usefixtures("quiet")
formats = pytest.mark.parametrize("f", FORMATS, ids=lambda f: f.name)


@contextmanager
def looked_up(up_to: int) -> Iterator[None]:
    before, few.FEW = few.FEW, up_to
    try:
        yield
    finally:
        few.FEW = before


def both(function: Any, *arguments: Any) -> tuple[Any, Any]:
    """What is looked up, and what is computed."""
    found = []
    for up_to in (1 << 30, 0):
        with looked_up(up_to):
            found.append(function(*arguments))
    return found[0], found[1]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@formats
def test_a_value_is_rounded_alike_on_both_sides_of_every_end(f: Any, dtype: type, mode: str, ftz: bool) -> None:
    ends, _ = few._ends(f, np.dtype(dtype), mode, ftz)
    assert (ends[1:] > ends[:-1]).all()
    one = ends.dtype.type(1)
    value = np.concatenate([ends - one, ends, ends + one, [0, ~ends.dtype.type(0)]]).view(dtype)
    assert_array_equal(*both(narrowing.narrow, value, f, mode, ftz))


@pytest.mark.parametrize("daz", [False, True])
@pytest.mark.parametrize("name", ["maximum", "minimum", "maximumNumber", "minimumNumber"])
@formats
def test_minimum_and_maximum_choose_alike(f: Any, name: str, daz: bool) -> None:
    infinity, least = int(f.infinity), int(f.smallest_normal)
    edges = [0, 1, least - 1, least, infinity - 1, infinity, infinity + 1, int(f.magnitude_mask), infinity // 2]
    some = np.array([e | s for e in edges for s in (0, int(f.sign_mask))], f.unsigned)
    every = np.arange(1 << f.width).astype(f.unsigned)[:: 1 if f.width == 8 else 7]
    x, y = (np.concatenate([np.repeat(every, some.size), np.tile(some, every.size)]) for _ in range(2))
    y = np.concatenate([np.tile(some, every.size), np.repeat(every, some.size)])
    choose = getattr(comparison, name)
    assert_array_equal(*both(choose, x, y, f, daz))
    for constant in some[:6]:
        found, due = both(choose, every, np.array(constant), f, daz)
        assert found.dtype == due.dtype and found.shape == due.shape
        assert_array_equal(found, due)


@formats
def test_subnormal_numbers_are_flushed_and_numbers_widened_alike(f: Any) -> None:
    every = np.arange(1 << f.width).astype(f.unsigned)
    assert_array_equal(*both(encoding.flushed, every, f))
    for daz in (False, True):
        found, due = both(narrowing.widen, every, f, np.dtype(np.float64), daz)
        assert_array_equal(found.view(np.uint64)[~np.isnan(due)], due.view(np.uint64)[~np.isnan(due)])
        assert_array_equal(np.isnan(found), np.isnan(due))
