"""Sums of products of few bits, which NumPy reads by the product: the same as they are computed, of every pair."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from ptxemu import Kernel, tables

pytestmark = pytest.mark.inputs("emulator", "codegen/ptxspec/semantics")

WIDTHS = {"e4m3x4": 8, "e5m2x4": 8, "e2m3x4": 6, "e3m2x4": 6, "e2m1x4": 4, "e2m1p4x4": 4, "ue8m0x4": 8}
SPELLINGS = [v.spelling for v in ptxemu.variants() if v.spelling.startswith("fma.") and "x4" in v.spelling]
# So many third operands of each pair of factors.
THIRD = 16


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_is_read_is_what_is_computed(spelling: str) -> None:
    kernel: Kernel = ptxemu.compile(spelling)
    a, b, c = (WIDTHS[t] for t in spelling.split(".")[-len(set(kernel._signature.registers)) :])
    pairs = np.repeat(np.arange(1 << (a + b), dtype=np.uint32), THIRD)
    x, y = (pairs >> b).astype(np.uint8), (pairs & ((1 << b) - 1)).astype(np.uint8)
    z = np.random.default_rng(14).integers(0, 1 << c, x.size, np.uint8)
    times = max(1, (1 << 16) // x.size)
    columns = [np.tile(column, times) for column in (x, y, z)]
    with np.errstate(all="ignore"):
        assert np.array_equal(kernel._choice[0](*columns), kernel._choice[0].__wrapped__(*columns))
    assert tables.are_kept(kernel._choice[0].__wrapped__)
