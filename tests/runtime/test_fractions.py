"""The emulator's arithmetic against exact fractions, in every format and direction; and what does not round."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.arithmetic_package import load
from helpers.grids import pairs, ragged, small, special, triples
from helpers.rounding import (
    BF16,
    BINARY_OPERATIONS,
    E11M4,
    F16,
    F32,
    F64,
    FORMATS,
    OTHERS,
    assert_same,
    binary,
    each_flush,
    each_format,
    fields,
    operations,
    pair_operands,
    seeded,
    thinned,
    triple_operands,
)
from helpers.sizes import each_size
from oracles.fractions import fraction_apply, fraction_round
from oracles.mpfr import decode

comparison = load("comparison")

pytestmark = [
    pytest.mark.usefixtures("quiet"),
    pytest.mark.inputs("runtime:arithmetic", "runtime:comparison", "runtime:encoding", "runtime:selection"),
]


@pytest.mark.sampled(16)
@each_format
@pytest.mark.parametrize("name", ["maximum", "minimum", "maximumNumber", "minimumNumber"])
def test_a_choice_beside_one_number(name: str, f: Any) -> None:
    x = special(*fields(f))
    choice = getattr(operations, name)
    for pattern in x:
        y = np.array(pattern)
        for daz in (False, True):
            assert_same(choice(x, y, f, daz), choice(x, np.full_like(x, y), f, daz), x, np.full_like(x, y))


@pytest.mark.sampled(24)
@each_size
@each_flush
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
@pytest.mark.parametrize("f", [*FORMATS, *OTHERS], ids=lambda f: f.name)
def test_against_fractions(f: Any, mode: str, ftz: bool, whole: bool) -> None:
    count = 150 if whole else 20
    for name in ("addition", "multiplication", "division", "fusedMultiplyAdd", "squareRoot"):
        if name == "fusedMultiplyAdd":
            operands = triple_operands(f, name, mode, count=count)
            grid = triples(small(*fields(f)))
        else:
            operands = pair_operands(f, name, mode, count=count)
            grid = pairs(special(*fields(f)))
        chosen = seeded(f.name, name, mode).integers(0, grid[0].size, 2 * count)
        operands = [np.concatenate([a, b[chosen]]) for a, b in zip(operands, grid, strict=True)]
        if name == "squareRoot":
            operands = operands[:1]
        finite = np.logical_and.reduce([operations.isFinite(operand, f) for operand in operands])
        operands = [operand[finite] for operand in operands]
        rows = zip(*(decode(operand, *fields(f)).tolist() for operand in operands), strict=True)
        expected = [fraction_apply(name, row, f, mode, ftz) for row in rows]
        known = np.array([result is not None for result in expected])
        due = np.array([result for result in expected if result is not None], f.unsigned)
        operands = [operand[known] for operand in operands]
        actual = getattr(operations, name)(*operands, f, mode, ftz)
        assert_same(actual, due, *operands)


@pytest.mark.sampled(24)
@each_size
@each_flush
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
@pytest.mark.parametrize("source", [*FORMATS, *OTHERS], ids=lambda f: f.name)
def test_convert_against_fractions(source: Any, mode: str, ftz: bool, whole: bool) -> None:
    x = np.concatenate([special(*fields(source)), ragged(seeded(source.name, mode), 100, *fields(source))])
    (x,) = thinned([x], whole, source.name, mode, ftz)
    x = x[operations.isFinite(x, source)]
    exact = [Fraction(value) for value in decode(x, *fields(source)).tolist()]
    negative = operations.isSignMinus(x, source).tolist()
    for f in (*FORMATS, *OTHERS):
        expected = [fraction_round(e, n, f, mode, ftz) for e, n in zip(exact, negative, strict=True)]
        actual = operations.convert(x, source, f, mode, ftz)
        assert_same(actual, np.array(expected, f.unsigned), x)


# Operations that do not round


@pytest.mark.parametrize("f", [*FORMATS, *OTHERS], ids=lambda f: f.name)
def test_signs_and_classes(f: Any) -> None:
    x = special(*fields(f))
    one = 1 << f.fraction_bits
    for bits, lane in zip(x.tolist(), x, strict=True):
        size, negative = bits % (1 << (f.width - 1)), bits >> (f.width - 1)
        infinity = int(f.infinity)
        expected = {
            "isNaN": size > infinity,
            "isSignaling": infinity < size < infinity + one // 2,
            "isInfinite": size == infinity,
            "isFinite": size < infinity,
            "isZero": size == 0,
            "isSubnormal": 0 < size < one,
            "isNormal": one <= size < infinity,
            "isSignMinus": bool(negative),
        }
        for name, truth in expected.items():
            result = getattr(operations, name)(lane, f)
            assert result.dtype == np.bool_ and bool(result) == truth, (name, hex(bits))
        assert operations.magnitude(lane, f) == size
        assert operations.negate(lane, f) == bits ^ 1 << (f.width - 1)
        assert operations.quieten(lane, f) == bits | one // 2
    y, z = pairs(x)
    assert_same(operations.copySign(y, z, f), (y & f.magnitude_mask) | (z & f.sign_mask), y, z)
    assert operations.select(x == 0, x, x).dtype == f.unsigned


@pytest.mark.parametrize("f", [*FORMATS, *OTHERS], ids=lambda f: f.name)
def test_minimum_maximum_and_comparisons(f: Any) -> None:
    x, y = pairs(special(*fields(f)))
    a, b = decode(x, *fields(f)), decode(y, *fields(f))
    x_nan, y_nan = np.isnan(a), np.isnan(b)
    x_lower = (a < b) | ((a == b) & np.signbit(a))
    for name, first in (("minimum", np.where(x_lower, x, y)), ("maximum", np.where(x_lower, y, x))):
        assert_same(getattr(operations, name)(x, y, f), np.where(x_nan | y_nan, f.nan, first), x, y)
        number = np.where(x_nan & y_nan, f.nan, np.where(x_nan, y, np.where(y_nan, x, first)))
        assert_same(getattr(operations, name + "Number")(x, y, f), number, x, y)
    holds = {1: a < b, 2: a == b, 4: a > b, 8: x_nan | y_nan}
    for relation in range(1, 15):
        expected = np.logical_or.reduce([holds[i] for i in holds if relation & i])
        assert_same(comparison.compare(x, y, relation, f), expected, x, y)


# Single facts


@pytest.mark.parametrize(
    ("name", "operands", "mode", "ftz", "expected"),
    [
        ("multiplication", [0x3F000000, 0x00FFFFFF], "roundTiesToEven", True, 0),
        ("multiplication", [0x3F000000, 0x00FFFFFF], "roundTiesToEven", False, 0x00800000),
        ("multiplication", [0x00800001, 0x3F7FFFFE], "roundTiesToEven", True, 0x00800000),
        ("addition", [0x3F800000, 0xBF800000], "roundTowardNegative", False, 0x80000000),
        ("addition", [0x00000000, 0x80000000], "roundTowardNegative", False, 0x80000000),
        ("addition", [0x00000000, 0x00000000], "roundTowardNegative", False, 0),
        ("subtraction", [0x3F800000, 0x3F800000], "roundTowardPositive", False, 0),
        ("fusedMultiplyAdd", [0x3F800000, 0x3F800000, 0xBF800000], "roundTowardNegative", False, 0x80000000),
        ("fusedMultiplyAdd", [0x00000001, 0x80000001, 0x00000000], "roundTiesToEven", False, 0x80000000),
        ("fusedMultiplyAdd", [0x00000001, 0x80000001, 0x80000000], "roundTowardPositive", False, 0x80000000),
        ("addition", [0x7F7FFFFF, 0x7F7FFFFF], "roundTowardZero", False, 0x7F7FFFFF),
        ("multiplication", [0x7F800000, 0x00000000], "roundTiesToEven", False, 0x7FFFFFFF),
        ("division", [0xBF800000, 0x00000000], "roundTowardZero", False, 0xFF800000),
        ("squareRoot", [0x80000000], "roundTowardNegative", False, 0x80000000),
    ],
)
def test_known_results(name: str, operands: list[int], mode: str, ftz: bool, expected: int) -> None:
    arrays = [np.array([bits], np.uint32) for bits in operands]
    assert_same(getattr(operations, name)(*arrays, F32, mode, ftz), np.array([expected], np.uint32), *arrays)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("f", [F16, F32, F64, E11M4], ids=lambda f: f.name)
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
def test_scalars_broadcasting_and_strides(f: Any, mode: str) -> None:
    x = special(*fields(f))[:-4]
    one = f.unsigned.type(f.bias << f.fraction_bits)
    for name in BINARY_OPERATIONS:
        operation = getattr(operations, name)
        table = operation(x[:, None], x, f, mode, False)
        assert table.shape == (x.size, x.size)
        assert_same(table[3], operation(np.full_like(x, x[3]), x, f, mode, False), x)
        scalar = operation(x[5], one, f, mode, False)
        assert np.shape(scalar) == () and scalar.dtype == f.unsigned and scalar == table[5][list(x).index(one)]
        assert_same(
            operation(x[::3], x[::-3][: x[::3].size], f, mode, True),
            operation(x[::3].copy(), x[::-3][: x[::3].size].copy(), f, mode, True),
            x[::3],
        )
    table = operations.fusedMultiplyAdd(x[:, None], one, x, f, mode, False)
    assert_same(table.ravel(), operations.addition(x[:, None], x, f, mode, False).ravel())
    empty = np.zeros(0, f.unsigned)
    assert operations.fusedMultiplyAdd(empty, empty, empty, f, mode, True).shape == (0,)
    assert operations.division(empty, empty, f, mode, True).shape == (0,)
    assert operations.maximum(one, x, f).shape == x.shape and operations.maximum(one, one, f) == one


def test_formats() -> None:
    assert binary.Format("f32", 8, 23, 0x7FFFFFFF) == F32 and len({F16, BF16, F32, F64}) == 4
    assert (F16.emin, F16.emax, F16.precision, F16.width) == (-14, 15, 11, 16)
    with pytest.raises(ValueError, match="wide"):
        binary.Format("odd", 5, 9, 0)
    with pytest.raises(ValueError, match="exponent"):
        binary.Format("deep", 15, 48, 0)
