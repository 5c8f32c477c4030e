"""Operations on operands of several formats in NumPy, against exact ones: any formats, directions and flushes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from helpers.arithmetic_package import load
from helpers.grids import special
from helpers.repository import specification
from helpers.rounding import seeded
from ptxspec.model import ROUNDINGS, Format, float_in
from ptxspec.semantics.exact import evaluate as exact
from ptxspec.semantics.program import Apply, Const

binary = load("binary")
declared = load("declared")
mixed = load("mixed")

OPERATIONS = {"addition": 2, "subtraction": 2, "multiplication": 2, "fusedMultiplyAdd": 3}
NAMES = ("f16", "bf16", "f32", "e4m3", "e5m2", "e3m2", "e2m1", "ue8m0")
RESULTS = ("f32", "f16", "bf16", "e4m3", "e5m2", "e2m3")


def format_of(name: str) -> Format:
    found = specification().formats[name]
    assert isinstance(found, Format)
    return found


def in_numpy(f: Format) -> Any:
    """The format as the emulator has it."""
    if f.is_ieee:
        return binary.Format(f.name, f.exponent_bits, f.fraction_bits, f.canonical_nan)
    return declared.Declared(**{name: getattr(f, name) for name in declared.Declared.__dataclass_fields__})


def encodings(f: Format) -> list[int]:
    return list(range(1 << f.width)) if f.width <= 8 else special(f.exponent_bits, f.fraction_bits).tolist()


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_of_several_formats(name: str, result: str) -> None:
    f, count = format_of(result), OPERATIONS[name]
    chosen = list(itertools.product(NAMES, repeat=count))
    for formats in seeded(name, result).permutation(chosen)[:4].tolist():
        sources = [format_of(s) for s in formats]
        columns = [seeded(name, result, i).choice(encodings(s), 60) for i, s in enumerate(sources)]
        given = [x.astype(in_numpy(s).unsigned) for x, s in zip(columns, sources, strict=True)]
        for mode, ftz in itertools.product(ROUNDINGS, (False, True)):
            want = []
            for row in zip(*(x.tolist() for x in given), strict=True):
                operands = tuple(Const(float_in(s), x) for s, x in zip(sources, row, strict=True))
                want.append(exact.evaluate(Apply(float_in(f), name, operands, f, mode, ftz), {}))
            with np.errstate(all="ignore"):
                kinds = tuple(map(in_numpy, sources))
                got = getattr(mixed, name)(*given, kinds, in_numpy(f), mode, ftz)
            assert got.dtype == in_numpy(f).unsigned
            assert got.tolist() == want, (formats, mode, ftz)
