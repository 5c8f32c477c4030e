"""The elementary functions of both back ends against MPFR, and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np
import pytest
from helpers.arithmetic_package import load
from helpers.grids import ragged, special, uniform
from helpers.rounding import (
    BF16,
    E5M2,
    E10M21,
    E11M4,
    F16,
    F32,
    F64,
    FORMATS,
    MODES,
    assert_same,
    each_flush,
    each_format,
    each_mode,
    fields,
    seeded,
    thinned,
)
from helpers.sizes import each_size
from numpy.typing import NDArray
from oracles.mpfr import context, decode, encode, flushed, from_floats
from ptxspec import model
from ptxspec.semantics.exact.evaluate import FUNCTIONS
from ptxspec.semantics.program import Apply

elementary = load("elementary")
intervals = load("intervals")
NAMES = ("exp2", "log2", "sin", "cos", "tanh", "rSqrt")
Bits = NDArray[Any]

pytestmark = [
    pytest.mark.usefixtures("quiet"),
    pytest.mark.inputs(
        "runtime:arithmetic", "runtime:comparison", "runtime:encoding", "runtime:selection", "runtime:elementary"
    ),
]
each_name = pytest.mark.parametrize("name", NAMES)


def judge(name: str, x: Bits, f: Any, mode: str, ftz: bool) -> Bits:
    """The correctly rounded results, as MPFR has them.

    gmpy2 computes into the context's precision and exponents at once and rounds a subnormal result from MPFR's ternary
    value, so that nothing is rounded twice.
    """
    function: Callable[[Any], Any] = getattr(gmpy2, {"rSqrt": "rec_sqrt"}.get(name, name))
    operands = from_floats(decode(x, *fields(f)))
    with gmpy2.context(context(*fields(f), mode)):
        values = np.array(list(map(float, map(function, operands))), np.float64)
    if name == "rSqrt":
        # MPFR's of -0 is +infinity, the standard's has the sign.
        values = np.where(x == f.sign_mask, -np.inf, values)
    if ftz:
        values = flushed(values, lambda x: list(map(function, x)), [operands], fields(f), mode)
    return encode(values, *fields(f), f.canonical_nan)


def check(name: str, x: Bits, f: Any, mode: str, ftz: bool) -> None:
    before = x.copy()
    actual = getattr(elementary, name)(x, f, mode, ftz)
    assert np.array_equal(before, x)
    assert_same(actual, judge(name, x, f, mode, ftz), x)


def exactly(name: str, x: Bits, f: Any, mode: str, ftz: bool) -> Bits:
    form = model.ieee(f.name, f.exponent_bits, f.fraction_bits, f.canonical_nan)
    t = Apply(model.float_in(form), name, (), form, mode, ftz)
    return np.array([FUNCTIONS[name](t, bits) for bits in x.tolist()], f.unsigned)


def patterns(value: NDArray[np.float64], f: Any) -> Bits:
    """The numbers of the format next to some values, and the neighbours of those."""
    exponent = np.frexp(value)[1]
    exponent = np.maximum(exponent, f.emin + 1) - f.precision
    cut = np.ldexp(np.trunc(np.ldexp(value, -exponent)), exponent)
    largest = float(decode(np.array(f.largest), *fields(f)))
    bits = encode(cut[np.isfinite(cut) & (np.abs(cut) <= largest)], *fields(f))
    bits = bits[(bits & f.magnitude_mask) > 0]
    one = f.unsigned.type(1)
    return np.concatenate([bits - one, bits, bits + one])


def hard(name: str, f: Any) -> Bits:
    """Operands of exact results, of results at the edges of the range and next to 1, or where something cancels."""
    some: list[NDArray[np.float64]] = []
    powers = np.ldexp(1.0, np.arange(max(f.emin - f.precision, -1073), f.emax + 1))
    signed = np.concatenate([powers, -powers])
    if name == "exp2":
        edges = np.array([f.emax, f.emax + 1, f.emin, f.emin - f.fraction_bits, f.emin - f.precision], np.float64)
        some = [edges, np.arange(-70, 70) / 2, signed]
    elif name == "log2":
        some = [powers, powers * 1.5, 1 + powers[powers < 0.5], 1 - powers[powers < 0.5]]
    elif name in ("sin", "cos"):
        turns = np.concatenate([np.arange(1, 60), np.unique(np.geomspace(60, 1e15, 60).round())])
        some = [turns * (np.pi / 2), -turns[::7] * (np.pi / 4), signed, powers * (np.pi / 2)]
    elif name == "tanh":
        some = [signed, np.linspace(2, 24, 90), -np.linspace(2, 24, 12)]
    else:
        some = [powers, powers * 3, powers * 9, powers * 2.25]
    return np.unique(np.concatenate([patterns(value, f) for value in some] + [special(*fields(f))]))


def random(f: Any, count: int, *key: object) -> Bits:
    """Two thirds over all patterns, one third of sizes between 2**-16 and 2**8, where most functions do most."""
    rng = seeded(f.name, *key)
    third = count // 3
    wide = [uniform(rng, third, *fields(f)), ragged(rng, third, *fields(f))]
    field = rng.integers(max(f.bias - 16, 1), f.bias + 8, count - 2 * third).astype(np.uint64)
    middle = uniform(rng, count - 2 * third, *fields(f)).astype(np.uint64)
    middle &= ~np.uint64(((1 << f.exponent_bits) - 1) << f.fraction_bits)
    middle |= field << np.uint64(f.fraction_bits)
    return np.concatenate([*wide, middle.astype(f.unsigned)])


# Against MPFR


@pytest.mark.sampled(40)
@each_size
@each_name
@each_format
@each_mode
@each_flush
def test_hard(name: str, f: Any, mode: str, ftz: bool, whole: bool) -> None:
    x = hard(name, f)
    if f.width == 64 and ftz:
        x = x[::3]
    (x,) = thinned([x], whole, name, f.name, mode, ftz)
    check(name, x, f, mode, ftz)


@pytest.mark.sampled(16)
@each_name
@each_mode
@pytest.mark.parametrize("f", [F16, BF16], ids=lambda f: f.name)
def test_16_bits(name: str, f: Any, mode: str) -> None:
    check(name, np.arange(MODES.index(mode), 1 << 16, 13).astype(np.uint16), f, mode, False)


@pytest.mark.sampled(16)
@each_size
@each_name
@each_mode
def test_random_f32(name: str, mode: str, whole: bool) -> None:
    (x,) = thinned([random(F32, 1 << 16, name, mode)], whole, name, mode)
    check(name, x, F32, mode, False)


@pytest.mark.sampled(16)
@each_name
@each_mode
def test_operands_flushed_by_the_function(name: str, mode: str) -> None:
    for f in FORMATS:
        x = np.concatenate([special(*fields(f)), random(f, 60, name)])
        before = np.where((x & f.magnitude_mask) < f.smallest_normal, x & f.sign_mask, x)
        function = getattr(elementary, name)
        assert_same(function(x, f, mode, True, True), function(before, f, mode, True), x)


@each_name
@each_mode
def test_random_f64(name: str, mode: str) -> None:
    check(name, random(F64, 500, name, mode), F64, mode, False)


def check_another_format(name: str, f: Any, mode: str) -> None:
    check(name, random(f, 300, name, mode), f, mode, mode == "roundTowardPositive")


# A table of few bits, and a format of 32 bits without a cast.
@pytest.mark.sampled(16)
@each_name
@each_mode
@pytest.mark.parametrize("f", [E5M2, E10M21], ids=lambda f: f.name)
def test_other_formats(name: str, f: Any, mode: str) -> None:
    check_another_format(name, f, mode)


# Each makes a table by integers alone.
@pytest.mark.sampled(3)
@each_name
@each_mode
def test_a_format_without_a_carrier(name: str, mode: str) -> None:
    check_another_format(name, E11M4, mode)


@pytest.mark.sampled(32)
@each_name
@each_mode
@each_flush
@each_format
def test_exact_back_end(name: str, f: Any, mode: str, ftz: bool) -> None:
    x = hard(name, f)
    x = np.concatenate(
        [special(*fields(f))[::4], seeded(name, f.name, mode, ftz).choice(x, 40), random(f, 40, ftz, mode)]
    )
    assert_same(exactly(name, x, f, mode, ftz), judge(name, x, f, mode, ftz), x)


# Against each other


@each_name
@each_format
def test_back_ends_agree(name: str, f: Any) -> None:
    """Through the integers alone too, which decide few lanes of the narrower formats."""
    for mode in MODES:
        x = np.concatenate([random(f, 30, name, "agree", mode), special(*fields(f))[::11]])
        expected = exactly(name, x, f, mode, True)
        assert_same(getattr(elementary, name)(x, f, mode, True), expected, x)
        assert_same(elementary.one_by_one(name, x, f, mode, True), expected, x)


@each_name
@each_mode
def test_integers_agree(name: str, mode: str) -> None:
    for f in (BF16, F32):
        x = random(f, 900, name, "integers", mode)
        assert_same(elementary.one_by_one(name, x, f, mode, False), getattr(elementary, name)(x, f, mode, False), x)


@each_name
@each_format
def test_ties_to_away(name: str, f: Any) -> None:
    """No result but the exact ones is a tie, and those are numbers: both directions to nearest agree."""
    x = np.concatenate([random(f, 200, name, "away"), special(*fields(f))])
    nearest, away = (getattr(elementary, name)(x, f, mode, False) for mode in ("roundTiesToEven", "roundTiesToAway"))
    tie = np.zeros(x.shape, np.bool_)
    if name == "exp2":
        # Half of the least subnormal is the one that both decide.
        tie = decode(x, *fields(f)) == f.emin - f.precision
    assert_same(away[~tie], nearest[~tie], x[~tie])


# Single facts


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("exp2", [0x00000000, 0x80000000, 0xFF800000, 0x7F800000], [0x3F800000, 0x3F800000, 0, 0x7F800000]),
        ("exp2", [0x7FC00001, 0x43000000, 0xC3160000], [0x7FFFFFFF, 0x7F800000, 0]),
        ("log2", [0x00000000, 0x80000000, 0x3F800000, 0x7F800000], [0xFF800000, 0xFF800000, 0, 0x7F800000]),
        ("log2", [0xBF800000, 0xFF800000, 0x80000001, 0x00000001], [0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0xC3150000]),
        ("sin", [0x00000000, 0x80000000, 0x7F800000, 0xFF800000], [0, 0x80000000, 0x7FFFFFFF, 0x7FFFFFFF]),
        ("cos", [0x00000000, 0x80000000, 0x7F800000, 0xFF800000], [0x3F800000, 0x3F800000, 0x7FFFFFFF, 0x7FFFFFFF]),
        ("tanh", [0x00000000, 0x80000000, 0x7F800000, 0xFF800000], [0, 0x80000000, 0x3F800000, 0xBF800000]),
        ("rSqrt", [0x00000000, 0x80000000, 0x7F800000, 0xFF800000], [0x7F800000, 0xFF800000, 0, 0x7FFFFFFF]),
        ("rSqrt", [0xBF800000, 0x40800000, 0x7FA00000], [0x7FFFFFFF, 0x3F000000, 0x7FFFFFFF]),
    ],
)
def test_special_cases(name: str, x: list[int], expected: list[int]) -> None:
    operands, results = np.array(x, np.uint32), np.array(expected, np.uint32)
    for ftz in (False, True):
        assert_same(getattr(elementary, name)(operands, F32, "roundTiesToEven", ftz), results, operands)
        assert_same(exactly(name, operands, F32, "roundTiesToEven", ftz), results, operands)


@each_name
@each_format
def test_scalars_shapes_and_strides(name: str, f: Any) -> None:
    function = getattr(elementary, name)
    x = special(*fields(f))[:40]
    flat = function(x, f, "roundTowardNegative", False)
    table = function(x.reshape(5, 8).T, f, "roundTowardNegative", False)
    assert table.shape == (8, 5) and np.array_equal(table, flat.reshape(5, 8).T)
    assert_same(function(x[::-3], f, "roundTowardNegative", False), flat[::-3], x)
    scalar = function(x[7], f, "roundTowardNegative", False)
    assert np.shape(scalar) == () and scalar.dtype == f.unsigned and scalar == flat[7]
    assert function(x[:0], f, "roundTowardZero", True).shape == (0,)
    # What a table gives out is the caller's own.
    flat[:] = 0
    assert np.array_equal(function(x, f, "roundTowardNegative", False).reshape(5, 8).T, table)


def float_operands() -> NDArray[np.float64]:
    """Binary32 numbers, and more of every exponent, with those that multiples of a quarter turn come nearest to."""
    rng = seeded("floats")
    powers = np.ldexp(rng.integers(1 << 23, 1 << 24, (12, 275)).astype(np.float64), np.arange(-171, 104)).ravel()
    a = np.concatenate([decode(np.concatenate([random(F32, 3000, "floats"), hard("sin", F32)]), *fields(F32)), powers])
    return a[np.isfinite(a) & (a != 0)]


@each_name
def test_approximations_keep_well_within_the_margin(name: str) -> None:
    """The exact result lies in the middle half of its interval: the margin is not a close thing on this machine."""
    a = float_operands()
    if name == "exp2":
        a = a[(np.abs(a) >= 2.0**-30) & (np.abs(a) < 256)]
    elif name in ("log2", "rSqrt"):
        a = np.abs(a)
    ends = intervals.FLOAT[name](a)
    function = getattr(gmpy2, {"rSqrt": "rec_sqrt"}.get(name, name))
    with gmpy2.context(precision=600):
        for operand, *both in zip(a.tolist(), *(end.tolist() for end in ends), strict=True):
            low, high = map(gmpy2.mpfr, sorted(both))
            true = function(gmpy2.mpfr(operand))
            # What such a result never reaches stands in for the end beyond it.
            limit = {"cos": 1, "sin": abs(operand), "tanh": min(abs(operand), 1)}.get(name, np.inf)
            quarter = (high - low) / 4
            if abs(true) < limit * (1 - 2.0**-45):
                assert low + quarter < true < high - quarter or low == true == high, (name, operand)
            else:
                assert min(abs(low), abs(high)) < abs(true), (name, operand)


# Whole input spaces and many operands each


@pytest.mark.exhaustive
@each_name
@each_mode
@each_flush
@pytest.mark.parametrize("f", [F16, BF16], ids=lambda f: f.name)
def test_all_16_bits(name: str, f: Any, mode: str, ftz: bool) -> None:
    check(name, np.arange(1 << 16, dtype=np.uint32).astype(np.uint16), f, mode, ftz)


@pytest.mark.exhaustive
@each_name
@each_mode
@each_flush
def test_many_f32(name: str, mode: str, ftz: bool) -> None:
    check(name, random(F32, 1 << 18, name, mode, ftz, "many"), F32, mode, ftz)


@pytest.mark.exhaustive
@each_name
@each_mode
def test_many_f64(name: str, mode: str) -> None:
    check(name, random(F64, 1 << 14, name, mode, "many"), F64, mode, True)
