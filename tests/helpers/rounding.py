"""Formats, directions, operands and comparisons for the tests of the emulator's arithmetic."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles.mpfr import ROUNDING

from helpers import arithmetic_package
from helpers.arithmetic_package import load
from helpers.grids import near, near_triples, ragged, uniform

binary = load("binary")
operations = arithmetic_package.operations()

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


def fields(f: Any) -> tuple[int, int]:
    return f.exponent_bits, f.fraction_bits


def seeded(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def thinned(operands: list[NDArray[Any]], whole: bool, *key: object) -> list[NDArray[Any]]:
    """All of them, or a sixteenth, which is another one for each key."""
    size = operands[0].size
    chosen = slice(None) if whole else seeded(*key).choice(size, size // 16, replace=False)
    return [operand[chosen] for operand in operands]


def assert_same(actual: NDArray[Any], expected: NDArray[Any], *operands: NDArray[Any]) -> None:
    """Bit for bit, and by the types; the message shows the first few that differ."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    wrong = np.flatnonzero(actual != expected)
    rows = [
        f"{[hex(int(operand[i])) for operand in operands]} -> {int(actual[i]):#x}, expected {int(expected[i]):#x}"
        for i in wrong[:5]
    ]
    assert not wrong.size, f"{wrong.size} of {actual.size} differ: " + "; ".join(rows)


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
