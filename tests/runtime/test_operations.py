"""The emulator's arithmetic against MPFR, and against exact fractions where MPFR has no such format or direction."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import copysign, isqrt
from typing import Any

import numpy as np
import pytest
from helpers import arithmetic_package
from helpers.arithmetic_package import PATHS, load, taking
from helpers.grids import near, near_triples, pairs, ragged, small, special, triples, uniform
from numpy.typing import NDArray
from oracles.mpfr import ROUNDING, decode, mpfr_apply

binary = load("binary")
environment = load("environment")
operations = arithmetic_package.operations()
wide = load("wide")

F16 = binary.Format("f16", 5, 10, 0x7FFF)
BF16 = binary.Format("bf16", 8, 7, 0x7FFF)
F32 = binary.Format("f32", 8, 23, 0x7FFFFFFF)
F64 = binary.Format("f64", 11, 52, 0xFFF8000000000000)
FORMATS = (F16, BF16, F32, F64)
# Formats that PTX does not compute in: each takes another way through the code.
E5M2 = binary.Format("e5m2", 5, 2, 0x7F)
E4M11 = binary.Format("e4m11", 4, 11, 0x7FFF)
E7M8 = binary.Format("e7m8", 7, 8, 0x7FFF)
E10M21 = binary.Format("e10m21", 10, 21, 0x7FFFFFFF)
E11M4 = binary.Format("e11m4", 11, 4, 0x7FFF)
OTHERS = (E5M2, E4M11, E7M8, E10M21, E11M4)

MODES = tuple(ROUNDING)
BINARY_OPERATIONS = ("addition", "subtraction", "multiplication", "division")
RANDOM = 2_500

each_format = pytest.mark.parametrize("f", FORMATS, ids=lambda f: f.name)
each_mode = pytest.mark.parametrize("mode", MODES)
each_flush = pytest.mark.parametrize("ftz", [False, True], ids=["", "ftz"])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> Iterator[None]:
    with taking(request.param, environment):
        yield


# Everything is tested on all paths: one after the other, or, where the judge takes longer, against one judgement.
each_path = pytest.mark.usefixtures("path")


def fields(f: Any) -> tuple[int, int]:
    return f.exponent_bits, f.fraction_bits


def seeded(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def assert_same(actual: NDArray[Any], expected: NDArray[Any], *operands: NDArray[Any]) -> None:
    """Bit for bit, and by the types; the message shows the first few that differ."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    wrong = np.flatnonzero(actual != expected)
    rows = [
        f"{[hex(int(operand[i])) for operand in operands]} -> {int(actual[i]):#x}, expected {int(expected[i]):#x}"
        for i in wrong[:5]
    ]
    assert not wrong.size, f"{wrong.size} of {actual.size} differ: " + "; ".join(rows)


def on_each_path(compute: Callable[..., NDArray[Any]], *arguments: Any) -> Iterator[NDArray[Any]]:
    for path in PATHS:
        with taking(path, environment):
            yield compute(*arguments)


def check(name: str, operands: list[NDArray[Any]], f: Any, mode: str, ftz: bool) -> None:
    expected = mpfr_apply(name, operands, fields(f), mode, ftz, nan=f.canonical_nan)
    before = [operand.copy() for operand in operands]
    for actual in on_each_path(getattr(operations, name), *operands, f, mode, ftz):
        for operand, kept in zip(operands, before, strict=True):
            assert np.array_equal(operand, kept), "an operand was changed in place"
        assert_same(actual, expected, *operands)


def pair_operands(f: Any, *key: object, count: int = RANDOM) -> list[NDArray[Any]]:
    rng = seeded(f.name, *key)
    columns = [
        [uniform(rng, count, *fields(f)), uniform(rng, count, *fields(f))],
        [ragged(rng, count, *fields(f)), ragged(rng, count, *fields(f))],
        near(rng, count, *fields(f)),
    ]
    return [np.concatenate(parts) for parts in zip(*columns, strict=True)]


def triple_operands(f: Any, *key: object, count: int = RANDOM) -> list[NDArray[Any]]:
    rng = seeded(f.name, *key)
    columns = [[uniform(rng, count, *fields(f)) for _ in range(3)], near_triples(rng, 2 * count, *fields(f))]
    return [np.concatenate(parts) for parts in zip(*columns, strict=True)]


@each_format
@each_mode
@each_flush
@pytest.mark.parametrize("name", BINARY_OPERATIONS)
def test_binary_operations(name: str, f: Any, mode: str, ftz: bool) -> None:
    check(name, pairs(special(*fields(f))), f, mode, ftz)
    check(name, pair_operands(f, name, mode, ftz), f, mode, ftz)


@each_path
@each_format
@each_mode
@pytest.mark.parametrize("name", [*BINARY_OPERATIONS, "squareRoot", "fusedMultiplyAdd"])
def test_operands_flushed_by_the_operation(name: str, f: Any, mode: str) -> None:
    if name == "fusedMultiplyAdd":
        operands = [np.concatenate(x) for x in zip(triples(small(*fields(f))), triple_operands(f, mode), strict=True)]
    else:
        operands = [np.concatenate(x) for x in zip(pairs(special(*fields(f))), pair_operands(f, mode), strict=True)]
        operands = operands[: 1 if name == "squareRoot" else 2]
    operation = getattr(operations, name)
    before = [np.where(operations.isSubnormal(x, f), x & f.sign_mask, x) for x in operands]
    for ftz in (False, True):
        assert_same(operation(*operands, f, mode, ftz, True), operation(*before, f, mode, ftz), *operands)


@each_path
@each_format
@pytest.mark.parametrize("name", ["maximum", "minimum", "maximumNumber", "minimumNumber"])
def test_operands_flushed_by_the_choice(name: str, f: Any) -> None:
    operands = [np.concatenate(x) for x in zip(pairs(special(*fields(f))), pair_operands(f, name), strict=True)]
    before = [np.where(operations.isSubnormal(x, f), x & f.sign_mask, x) for x in operands]
    choice = getattr(operations, name)
    assert_same(choice(*operands, f, True), choice(*before, f), *operands)


@each_path
@each_format
@pytest.mark.parametrize("name", ["maximum", "minimum", "maximumNumber", "minimumNumber"])
def test_a_choice_beside_one_number(name: str, f: Any) -> None:
    x = special(*fields(f))
    choice = getattr(operations, name)
    for pattern in x:
        y = np.array(pattern)
        for daz in (False, True):
            assert_same(choice(x, y, f, daz), choice(x, np.full_like(x, y), f, daz), x, np.full_like(x, y))


@each_format
@each_mode
@each_flush
def test_square_root(f: Any, mode: str, ftz: bool) -> None:
    rng = seeded(f.name, mode, ftz)
    if f.width == 16:
        check("squareRoot", [np.arange(1 << 16, dtype=np.uint16)], f, mode, ftz)
    else:
        some = [special(*fields(f)), uniform(rng, RANDOM, *fields(f)), ragged(rng, RANDOM, *fields(f))]
        # Squares of numbers of half the precision are exact; their neighbours nearly so.
        root = rng.integers(1, 1 << (f.precision // 2), RANDOM).astype(np.float64)
        square = (root * root).astype(f.native).view(f.unsigned)
        some += [square, square - f.unsigned.type(1), square + f.unsigned.type(1)]
        check("squareRoot", [np.concatenate(some)], f, mode, ftz)


@each_format
@each_mode
@each_flush
def test_fused_multiply_add(f: Any, mode: str, ftz: bool) -> None:
    check("fusedMultiplyAdd", triples(small(*fields(f))), f, mode, ftz)
    check("fusedMultiplyAdd", triple_operands(f, mode, ftz), f, mode, ftz)


@each_mode
@each_flush
@pytest.mark.parametrize("source", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("f", [*FORMATS, E5M2], ids=lambda f: f.name)
def test_convert(source: Any, f: Any, mode: str, ftz: bool) -> None:
    rng = seeded(source.name, f.name, mode, ftz)
    some = [special(*fields(source)), uniform(rng, RANDOM, *fields(source)), ragged(rng, RANDOM, *fields(source))]
    if source.width == 16:
        some = [np.arange(1 << 16, dtype=np.uint16)[:: 1 if f.width == 16 else 7]]
    elif f.width < source.width:
        # The target's numbers, ties and their neighbours in the source.
        target = uniform(rng, RANDOM, *fields(f))
        value = decode(target, *fields(f))
        after = decode(target + target.dtype.type(1), *fields(f))
        for point in (value, (value + after) / 2):
            exact = point.astype(source.native).view(source.unsigned)
            some += [exact - source.unsigned.type(1), exact, exact + source.unsigned.type(1)]
    x = np.concatenate(some)
    expected = mpfr_apply("convert", [x], fields(f), mode, ftz, source_fields=fields(source), nan=f.canonical_nan)
    for actual in on_each_path(operations.convert, x, source, f, mode, ftz):
        assert_same(actual, expected, x)


@each_path
@each_format
@each_mode
@each_flush
def test_integers_agree(f: Any, mode: str, ftz: bool) -> None:
    """The integer path stands alone in every format, also where `operations` takes a quicker one."""
    for name in BINARY_OPERATIONS:
        if name != "subtraction":
            operands = pair_operands(f, "integers", name, count=RANDOM // 3)
            actual = getattr(wide, name)(*operands, f, mode, ftz)
            assert_same(actual, getattr(operations, name)(*operands, f, mode, ftz), *operands)
    operands = triple_operands(f, "integers", count=RANDOM // 3)
    actual = wide.fusedMultiplyAdd(*operands, f, mode, ftz)
    assert_same(actual, operations.fusedMultiplyAdd(*operands, f, mode, ftz), *operands)
    x = operands[0]
    assert_same(wide.squareRoot(x, f, mode, ftz), operations.squareRoot(x, f, mode, ftz), x)


# A second judge: exact fractions, any format, any direction


def fraction_round(exact: Fraction, negative: bool, f: Any, mode: str, ftz: bool) -> int:
    """Round an exact value (zero has the sign `negative`) by the definition of each direction."""
    size = abs(exact)
    sign: int = negative << (f.width - 1)

    def integer(scaled: Fraction) -> int:
        floor = int(scaled)
        rest = scaled - floor
        up = {
            "roundTiesToEven": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1),
            "roundTiesToAway": rest >= Fraction(1, 2),
            "roundTowardZero": False,
            "roundTowardNegative": negative and rest > 0,
            "roundTowardPositive": not negative and rest > 0,
        }[mode]
        return floor + up

    if not size:
        return sign
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    if ftz:
        unit = Fraction(2) ** (exponent - f.fraction_bits)
        if integer(size / unit) * unit < Fraction(2) ** f.emin:
            return sign
    exponent = max(exponent, f.emin)
    count = integer(size / Fraction(2) ** (exponent - f.fraction_bits))
    bits: int = ((exponent - f.emin) << f.fraction_bits) + count
    if bits >= int(f.infinity):
        inward = mode == "roundTowardZero" or mode == ("roundTowardPositive" if negative else "roundTowardNegative")
        bits = int(f.largest) if inward else int(f.infinity)
    return sign | bits


def fraction_apply(name: str, operands: tuple[float, ...], f: Any, mode: str, ftz: bool) -> int | None:
    """The bits of one result from finite operands; None where an exception decides."""
    values = [Fraction(operand) for operand in operands]
    signs = [copysign(1.0, operand) < 0 for operand in operands]
    if name == "squareRoot":
        if values[0] < 0:
            return None
        if not values[0]:
            return fraction_round(values[0], signs[0], f, mode, ftz)
        # Hundreds of bits and a sticky one are as good as all.
        scale = 1 << 1400
        scaled = values[0] * scale * scale
        floor = isqrt(scaled.numerator // scaled.denominator)
        exact = floor * floor == scaled
        return fraction_round(Fraction(2 * floor + (not exact), 2 * scale), False, f, mode, ftz)
    if name == "division":
        if not values[1]:
            return None
        return fraction_round(values[0] / values[1], signs[0] ^ signs[1], f, mode, ftz)
    if name == "multiplication":
        return fraction_round(values[0] * values[1], signs[0] ^ signs[1], f, mode, ftz)
    if name == "fusedMultiplyAdd":
        values, signs = [values[0] * values[1], values[2]], [signs[0] ^ signs[1], signs[2]]
    total = values[0] + values[1]
    zero = signs[0] if signs[0] == signs[1] else mode == "roundTowardNegative"
    return fraction_round(total, total < 0 if total else zero, f, mode, ftz)


@each_flush
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
@pytest.mark.parametrize("f", [*FORMATS, *OTHERS], ids=lambda f: f.name)
def test_against_fractions(f: Any, mode: str, ftz: bool) -> None:
    count = 150
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
        for actual in on_each_path(getattr(operations, name), *operands, f, mode, ftz):
            assert_same(actual, due, *operands)


@each_flush
@pytest.mark.parametrize("mode", binary.DIRECTIONS)
@pytest.mark.parametrize("source", [*FORMATS, *OTHERS], ids=lambda f: f.name)
def test_convert_against_fractions(source: Any, mode: str, ftz: bool) -> None:
    x = np.concatenate([special(*fields(source)), ragged(seeded(source.name, mode), 100, *fields(source))])
    x = x[operations.isFinite(x, source)]
    exact = [Fraction(value) for value in decode(x, *fields(source)).tolist()]
    negative = operations.isSignMinus(x, source).tolist()
    for f in (*FORMATS, *OTHERS):
        expected = [fraction_round(e, n, f, mode, ftz) for e, n in zip(exact, negative, strict=True)]
        for actual in on_each_path(operations.convert, x, source, f, mode, ftz):
            assert_same(actual, np.array(expected, f.unsigned), x)


# Operations that do not round


@each_path
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


@each_path
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
    for name, expected in (
        ("compareEqual", a == b),
        ("compareNotEqual", a != b),
        ("compareLess", a < b),
        ("compareLessEqual", a <= b),
        ("compareGreater", a > b),
        ("compareGreaterEqual", a >= b),
    ):
        assert_same(getattr(operations, name)(x, y, f), expected, x, y)


# Single facts


@each_path
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


@each_path
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


# Everything, or a million operands each


@pytest.mark.exhaustive
@each_mode
@each_flush
def test_every_pair_of_eight_bits(mode: str, ftz: bool) -> None:
    every = pairs(np.arange(256, dtype=np.uint8))
    for name in BINARY_OPERATIONS:
        check(name, every, E5M2, mode, ftz)


@pytest.mark.exhaustive
@each_format
@each_mode
@each_flush
@pytest.mark.parametrize("name", [*BINARY_OPERATIONS, "fusedMultiplyAdd", "squareRoot"])
def test_million(name: str, f: Any, mode: str, ftz: bool) -> None:
    part = (1 << 20) // 3 + 1
    operands = (triple_operands if name == "fusedMultiplyAdd" else pair_operands)(f, "million", name, mode, count=part)
    check(name, operands[:1] if name == "squareRoot" else operands, f, mode, ftz)
