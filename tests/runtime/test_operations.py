"""The emulator's arithmetic against MPFR, bit for bit, in every direction and on every path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.arithmetic_package import load
from helpers.grids import pairs, ragged, small, special, triples, uniform
from helpers.rounding import (
    BINARY_OPERATIONS,
    E5M2,
    FORMATS,
    RANDOM,
    assert_same,
    each_flush,
    each_format,
    each_mode,
    fields,
    operations,
    pair_operands,
    seeded,
    thinned,
    triple_operands,
)
from helpers.sizes import each_size
from numpy.typing import NDArray
from oracles.mpfr import decode, mpfr_apply

wide = load("wide")

pytestmark = [
    pytest.mark.usefixtures("quiet"),
    pytest.mark.inputs("runtime:arithmetic", "runtime:comparison", "runtime:encoding", "runtime:selection"),
]


def check(name: str, operands: list[NDArray[Any]], f: Any, mode: str, ftz: bool) -> None:
    expected = mpfr_apply(name, operands, fields(f), mode, ftz, nan=f.canonical_nan)
    before = [operand.copy() for operand in operands]
    actual = getattr(operations, name)(*operands, f, mode, ftz)
    for operand, kept in zip(operands, before, strict=True):
        assert np.array_equal(operand, kept), "an operand was changed in place"
    assert_same(actual, expected, *operands)


@pytest.mark.sampled(32)
@each_size
@each_format
@each_mode
@each_flush
@pytest.mark.parametrize("name", BINARY_OPERATIONS)
def test_binary_operations(name: str, f: Any, mode: str, ftz: bool, whole: bool) -> None:
    for operands in (pairs(special(*fields(f))), pair_operands(f, name, mode, ftz)):
        check(name, thinned(operands, whole, f.name, name, mode, ftz), f, mode, ftz)


@pytest.mark.sampled(40)
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


@pytest.mark.sampled(16)
@each_format
@pytest.mark.parametrize("name", ["maximum", "minimum", "maximumNumber", "minimumNumber"])
def test_operands_flushed_by_the_choice(name: str, f: Any) -> None:
    operands = [np.concatenate(x) for x in zip(pairs(special(*fields(f))), pair_operands(f, name), strict=True)]
    before = [np.where(operations.isSubnormal(x, f), x & f.sign_mask, x) for x in operands]
    choice = getattr(operations, name)
    assert_same(choice(*operands, f, True), choice(*before, f), *operands)


@each_size
@each_format
@each_mode
@each_flush
def test_square_root(f: Any, mode: str, ftz: bool, whole: bool) -> None:
    rng = seeded(f.name, mode, ftz)
    if f.width == 16:
        some = [np.arange(1 << 16, dtype=np.uint16)]
    else:
        some = [special(*fields(f)), uniform(rng, RANDOM, *fields(f)), ragged(rng, RANDOM, *fields(f))]
        # Squares of numbers of half the precision are exact; their neighbours nearly so.
        root = rng.integers(1, 1 << (f.precision // 2), RANDOM).astype(np.float64)
        square = (root * root).astype(f.native).view(f.unsigned)
        some += [square, square - f.unsigned.type(1), square + f.unsigned.type(1)]
    check("squareRoot", thinned([np.concatenate(some)], whole, f.name, mode, ftz), f, mode, ftz)


@pytest.mark.sampled(10)
@each_size
@each_format
@each_mode
@each_flush
def test_fused_multiply_add(f: Any, mode: str, ftz: bool, whole: bool) -> None:
    for operands in (triples(small(*fields(f))), triple_operands(f, mode, ftz)):
        check("fusedMultiplyAdd", thinned(operands, whole, f.name, mode, ftz), f, mode, ftz)


@pytest.mark.sampled(36)
@each_size
@each_mode
@each_flush
@pytest.mark.parametrize("source", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("f", [*FORMATS, E5M2], ids=lambda f: f.name)
def test_convert(source: Any, f: Any, mode: str, ftz: bool, whole: bool) -> None:
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
    (x,) = thinned([np.concatenate(some)], whole, source.name, f.name, mode, ftz)
    expected = mpfr_apply("convert", [x], fields(f), mode, ftz, source_fields=fields(source), nan=f.canonical_nan)
    assert_same(operations.convert(x, source, f, mode, ftz), expected, x)


@pytest.mark.sampled(32)
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
def test_many_random_operands(name: str, f: Any, mode: str, ftz: bool) -> None:
    """A million meets the variants that compute so, in emit/test_emulator.py."""
    part = (1 << 18) // 3 + 1
    operands = (triple_operands if name == "fusedMultiplyAdd" else pair_operands)(f, "many", name, mode, count=part)
    check(name, operands[:1] if name == "squareRoot" else operands, f, mode, ftz)
