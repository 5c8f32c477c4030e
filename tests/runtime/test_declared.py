"""Formats that are not like IEEE 754's: NumPy's functions for them, and conversions of any kind, against exact ones."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.arithmetic_package import load
from helpers.declared_formats import FORMATS, USUAL, like
from helpers.grids import special
from helpers.sizes import each_size, spread
from ptxspec.model import BOOL, ROUNDINGS, FixedPoint, Format, float_in, number_in
from ptxspec.semantics.exact import evaluate as exact
from ptxspec.semantics.exact.rounding import round_to
from ptxspec.semantics.functions import TABLE
from ptxspec.semantics.program import Apply, Const

pytestmark = pytest.mark.inputs(
    "runtime:arithmetic", "runtime:comparison", "runtime:encoding", "runtime:selection", "runtime:conversion"
)

binary = load("binary")
conversion = load("conversion")
declared = load("declared")
integers = load("integers")

Number = Format | FixedPoint


NINETEEN = like("nineteen", (8, 10), 127, 1023, 0x3FFFF, "infinity")
WHOLE = [
    FixedPoint(f"{'su'[not signed]}{width}_{point}", width, signed, point)
    for width, signed, point in (
        (4, False, 0), (8, True, 0), (8, False, 0), (8, True, 6), (16, True, 0), (32, True, 0), (32, False, 0),
        (64, True, 0), (64, False, 0), (64, True, 20),
    )
]  # fmt: skip
ROUNDED = {name: len(f.operands) for name, f in TABLE.items() if f.rounds and f.clause == "5.4.1"}
EXACT = [name for name, f in TABLE.items() if f.clause in ("5.5.1", "5.7.2", "6.2.1", "9.6")]


def in_numpy(f: Number) -> Any:
    """The format as the emulator has it."""
    if isinstance(f, FixedPoint):
        return integers.FixedPoint(f.name, f.width, f.signed, f.point)
    if f.is_ieee:
        return binary.Format(f.name, f.exponent_bits, f.fraction_bits, f.canonical_nan)
    return declared.Declared(**{name: getattr(f, name) for name in declared.Declared.__dataclass_fields__})


def makes_sense(name: str, f: Format) -> bool:
    return TABLE[name].needs in ("", "sign" if f.signed else "")


def rows(f: Format, count: int) -> list[tuple[int, ...]]:
    if f.width * count <= 8:
        return list(itertools.product(range(1 << f.width), repeat=count))
    found = np.random.default_rng(f.width).integers(0, 1 << f.width, (600, count))
    return [tuple(row) for row in found.tolist()]


def check(got: Any, want: Sequence[int], given: Sequence[Any], *what: object) -> None:
    wrong = [(x, g, w) for x, g, w in zip(given, got.tolist(), want, strict=True) if g != w]
    assert not wrong, (*what, len(wrong), wrong[:5])


@pytest.mark.sampled(16)
@pytest.mark.parametrize("f", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("name", ROUNDED)
def test_operations_that_round(f: Format, name: str) -> None:
    if not makes_sense(name, f):
        return
    given = rows(f, ROUNDED[name])
    columns = [np.array(c, in_numpy(f).unsigned) for c in zip(*given, strict=True)]
    for mode, ftz in itertools.product(ROUNDINGS, (False, True)):
        apply = Apply(float_in(f), name, (), f, mode, ftz)
        want = [exact.FUNCTIONS[name](apply, *row) for row in given]
        with np.errstate(all="ignore"):
            got = getattr(declared, name)(*columns, in_numpy(f), mode, ftz)
        assert got.dtype == in_numpy(f).unsigned
        check(got, want, given, mode, ftz)


@pytest.mark.parametrize("f", FORMATS, ids=lambda f: f.name)
def test_operations_that_do_not(f: Format) -> None:
    for name in EXACT:
        if not makes_sense(name, f):
            continue
        count = len(TABLE[name].parameters)
        given = rows(f, count)
        columns = [np.array(c, in_numpy(f).unsigned) for c in zip(*given, strict=True)]
        kind = BOOL if TABLE[name].result == "bool" else float_in(f)
        want = []
        for row in given:
            operands = tuple(Const(float_in(f), x) for x in row)
            want.append(exact.evaluate(Apply(kind, name, operands, f), {}))
        with np.errstate(all="ignore"):
            check(getattr(declared, name)(*columns, in_numpy(f)), want, given, name)


def encodings(f: Number) -> list[int]:
    """All of few bits; else those at ends and halves, and any others."""
    if f.width <= 8:
        return list(range(1 << f.width))
    rng = np.random.default_rng(f.width)
    any_ = [int(rng.integers(0, 1 << 64, dtype=np.uint64)) >> int(rng.integers(64 - f.width, 64)) for _ in range(50)]
    if isinstance(f, FixedPoint):
        edges = {1 << i for i in range(f.width)} | {3 << i for i in range(f.width - 1)}
        return [(x + d) % (1 << f.width) for x in sorted(edges) for d in (-1, 0, 1)] + any_
    halves = [Fraction(2**i + d, 2) for i in (0, 1, 2, 3, 8, 9, 16, 17, 32, 33, 64, 65) for d in (-1, 0, 1)]
    found = [round_to(s * x, f, "roundTowardZero", False) for x in halves for s in (-1, 1)] + any_
    return found + (special(f.exponent_bits, f.fraction_bits).tolist() if f.is_ieee else [])


EVERY = (*FORMATS, *USUAL, NINETEEN, *WHOLE)
SOME = spread(list(itertools.product(EVERY, repeat=2)), 100)


@each_size
@pytest.mark.parametrize("f", EVERY, ids=lambda f: f.name)
def test_conversions(f: Number, whole: bool) -> None:
    for source in EVERY if whole else [s for s, to in SOME if to is f]:
        given = encodings(source)
        x = np.array(given, in_numpy(source).unsigned)
        for mode, ftz in itertools.product(ROUNDINGS, (False, True) if isinstance(f, Format) else (False,)):
            operand = Const(number_in(source), 0)
            apply = Apply(number_in(f), "convert", (operand,), f if isinstance(f, Format) else None, mode, ftz)
            want = [exact.FUNCTIONS["convert"](apply, x) for x in given]
            with np.errstate(all="ignore"):
                got = conversion.convert(x, in_numpy(source), in_numpy(f), mode, ftz)
            assert got.dtype == in_numpy(f).unsigned
            check(got, want, given, source.name, mode, ftz)


@pytest.mark.parametrize("f", WHOLE, ids=lambda f: f.name)
def test_integers_are_compared_by_value(f: FixedPoint) -> None:
    given = [(x, y) for x in encodings(f)[::3] for y in encodings(f)[1::5]]
    x, y = (np.array(c, in_numpy(f).unsigned) for c in zip(*given, strict=True))
    values = [(f.value(x), f.value(y)) for x, y in given]
    for relation, holds in ((1, operator.lt), (2, operator.eq), (3, operator.le), (4, operator.gt), (5, operator.ne)):
        check(integers.compareIntegers(x, y, relation, in_numpy(f)), [holds(a, b) for a, b in values], given)
