"""Results looked up for few elements are those computed of many: at every end of a result, and so everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from helpers.arithmetic_package import load
from numpy.testing import assert_array_equal

binary, comparison, few, narrowing, encoding = map(load, ("binary", "comparison", "few", "narrowing", "encoding"))
arithmetic, conversion, integers, tables = map(load, ("arithmetic", "conversion", "integers", "tables"))
Format = binary.Format
FORMATS = [
    Format("f16", 5, 10, 0x7FFF), Format("bf16", 8, 7, 0x7FFF), Format("e3m4", 3, 4, 0x7F),
    Format("e4m11", 4, 11, 0x7FFF), Format("e7m8", 7, 8, 0x7FFF),
]  # fmt: skip

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.inputs("emulator")]
formats = pytest.mark.parametrize("f", FORMATS, ids=lambda f: f.name)


@contextmanager
def looked_up(up_to: int) -> Iterator[None]:
    before, few.FEW = few.FEW, up_to
    try:
        yield
    finally:
        few.FEW = before


def both(function: Any, *arguments: Any) -> tuple[Any, Any]:
    """Return a result as it is looked up, and as it is computed."""
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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
@formats
def test_sums_of_products_are_rounded_alike(f: Any, mode: str, ftz: bool) -> None:
    rng, one = np.random.default_rng(7), f.bias << f.fraction_bits
    # Numbers next to powers of two make products in the middle of two numbers, and some are far from the others.
    powers = np.arange(0, int(f.infinity), int(f.smallest_normal))
    edges = np.concatenate(
        [powers, powers + 1, powers[1:] - 1, powers + int(f.quiet_mask), [one + 3, f.infinity, f.nan]]
    )
    x, y, z = rng.choice(edges, (3, 20_000)) | rng.choice([0, int(f.sign_mask)], (3, 20_000))
    x[:5000], y[:5000], z[:5000] = rng.integers(0, 1 << f.width, (3, 5000))
    operands = [a.astype(f.unsigned) for a in (x, y, z)]
    assert_array_equal(*both(arithmetic.fusedMultiplyAdd, *operands, f, mode, ftz, ftz))
    assert_array_equal(*both(arithmetic.addition, *operands[:2], f, mode, ftz, ftz))


@pytest.mark.parametrize("daz", [False, True])
@pytest.mark.parametrize("most", [False, True], ids=["to one", "to the NaN"])
@formats
def test_numbers_are_clamped_and_compared_alike(f: Any, most: bool, daz: bool) -> None:
    every = np.arange(1 << f.width).astype(f.unsigned)
    other = np.random.default_rng(3).permutation(every)
    other[::5] = every[::5]
    high = f.nan if most else f.unsigned.type(f.bias << f.fraction_bits)
    assert_array_equal(*both(comparison.clamped, every, high, f))
    for name in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LessGreater"):
        assert_array_equal(*both(getattr(comparison, f"compare{name}"), every, other, f, daz))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
@pytest.mark.parametrize("f", FORMATS[:2], ids=lambda f: f.name)
def test_long_integers_are_rounded_alike(f: Any, mode: str, signed: bool) -> None:
    rng = np.random.default_rng(5)
    ends = np.array([(1 << n) + k << m for n in range(13) for k in (-1, 0, 1) for m in range(52)], np.uint64)
    many = rng.integers(0, 1 << 64, 4000, np.uint64) >> rng.integers(0, 64, 4000, np.uint64)
    numbers = np.concatenate([ends, ends + np.uint64(1), ends - np.uint64(1), many, ~many, ~ends])
    source = integers.FixedPoint("x64", 64, signed, 0)
    assert_array_equal(*both(conversion.convert, numbers, source, f, mode, False))


def test_what_is_asked_for_often_is_read_in_a_table_while_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_tables", {})
    monkeypatch.setattr(tables, "_asked", {})
    computed = []

    @tables.tabulated(16)
    def following(x: Any) -> Any:
        computed.append(x.size)
        return x + np.uint16(1)

    for _ in range(2):
        computed.clear()
        for _ in range(2 * tables._OFTEN):
            assert following(np.array([7], np.uint16)) == 8
        assert computed == [1] * tables._OFTEN + [1 << 16]
        # The tables of other functions take the place of the oldest.
        for other in range(tables._KEPT):
            tables.kept(other, lambda: 0)
