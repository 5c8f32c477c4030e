"""Kernels on 2**20 random bit patterns, against numpy.add on as many float32 numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import ptxemu
import pytest

SIZE = 1 << 20
SPELLINGS = [
    "add.f32", "add.rz.f32", "mul.rm.f32", "add.ftz.f32", "mul.rn.ftz.sat.f32", "div.rn.f32", "div.rz.f32",
    "sqrt.rn.f32", "max.f32", "max.NaN.xorsign.abs.f32", "abs.f32", "fma.rn.f32", "fma.rz.f32", "add.f64",
    "add.rz.f64", "mul.rz.f64", "div.rp.f64", "fma.rn.f64", "add.f16", "fma.rn.f16", "max.f16", "add.bf16",
    "fma.rn.bf16", "fma.rn.f16x2", "rcp.approx.f32", "ex2.approx.ftz.f32", "lg2.approx.f32", "sin.approx.f32",
    "tanh.approx.f32",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_kernel(spelling: str, compare: Callable[..., None]) -> None:
    kernel = ptxemu.compile(spelling)
    rng = np.random.default_rng(1)
    operands = [rng.integers(0, (1 << 64) - 1, SIZE, np.uint64).astype(kernel._bits) for _ in range(kernel.operands)]
    out = np.empty_like(operands[0])
    x, y, z = (rng.standard_normal(SIZE).astype(np.float32) for _ in range(3))
    compare(spelling, lambda: kernel(*operands, out=out), "numpy.add", lambda: np.add(x, y, out=z))
