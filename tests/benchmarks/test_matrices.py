"""The time that a tile of matrices takes, of many in one call: with NumPy alone and in C."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from statistics import median

import numpy as np
import ptxemu
import pytest
from helpers import extension
from helpers.matrices import installed, operands
from timing import in_turn

# So many matrices of A by as many of B.
SIDE = 40
FORMS = [
    ("m16n8k16.f32.f16", "A100"), ("m16n8k16.f32.f16", "H100"), ("m16n8k8.f32.tf32", "H100"),
    ("m16n8k32.f32.e4m3", "L40S"), ("m16n8k32.f32.e4m3", "H100"), ("m16n8k16.f64", "H100"),
    ("m16n8k64.f32.e2m1.kind::mxf4.block_scale", "sm_120a"), ("m16n8k32.s32.s8", "H100"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "target"), FORMS)
def test_a_tile_of_many(
    form: str, target: str, around: Callable[..., None], in_c: Callable[..., AbstractContextManager[None]]
) -> None:
    f = ptxemu.fragments(form).form
    matrices, scales = operands(np.random.default_rng(0), f, "near", (SIDE, 1), (SIDE,))

    def run() -> None:
        ptxemu.mma(form, *matrices, target=target, **scales)

    def in_numpy() -> None:
        with installed(extension.installed(None)):
            run()

    with installed(in_c("matrices")):
        numpy, c = in_turn(in_numpy, run, rounds=5, clock=time.process_time)
    of_each = [median(times) / SIDE**2 * 1e6 for times in (numpy, c)]
    what = f"a tile of {form} on {target}, of {SIDE**2} in a call"
    around(what, f"{of_each[0]:.1f} µs")
    around(f"{what}, in C", f"{of_each[1]:.1f} µs", "20 µs", "NumPy alone", of_each[1] / of_each[0])
