"""The time that a block of statements takes in C, against the sum of what its statements take one by one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from statistics import median

import numpy as np
import ptxemu
import pytest
from ptxemu.signature import type_named
from timing import in_turn

SIZE = 1 << 20
OPCODES = ("add", "and", "cvt", "fma", "lop3", "max", "mul", "or", "shl", "shr")
BLOCKS = {
    "unpack eight numbers of 4 bits": [
        "lop3.b32 d0, a, 0x000f000f, 0x64006400, 0xea;",
        "lop3.b32 d1, a, 0x00f000f0, 0x64006400, 0xea;",
        "shr.u32 t, a, 8;",
        "lop3.b32 d2, t, 0x000f000f, 0x64006400, 0xea;",
        "lop3.b32 d3, t, 0x00f000f0, 0x64006400, 0xea;",
    ],
    "fma, max and mul": ["fma.rn.f32 t, a, b, c;", "max.f32 u, t, 0f00000000;", "mul.f32 d, u, a;"],
    "four operations of integers": [
        "and.b32 t, a, 0xff;", "shl.b32 u, t, 8;", "or.b32 v, u, b;", "add.u32 d, v, a;",
    ],
    "to e4m3 and back": ["cvt.rn.satfinite.e4m3x2.f32 t, a, b;", "cvt.rn.f16x2.e4m3x2 d, t;"],
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_of_statements(
    name: str, around: Callable[..., None], in_c: Callable[..., AbstractContextManager[None]]
) -> None:
    rng = np.random.default_rng(0)

    def called(text: str) -> Callable[[], object]:
        f = ptxemu.function(text)
        # Numbers of an ordinary size where they are floats.
        numbers = [rng.integers(0x3F800000, 0x40800000, SIZE, np.uint32) for _ in f.inputs]
        given = [x.astype(type_named(f.types[name]).bits) for x, name in zip(numbers, f.inputs, strict=True)]
        made = f(*given)
        out = tuple(map(np.empty_like, made if isinstance(made, tuple) else (made,)))
        return lambda: f(*given, out=out if len(out) > 1 else out[0])

    with in_c(*OPCODES):
        block, *alone = in_turn(called(" ".join(BLOCKS[name])), *map(called, BLOCKS[name]), rounds=9)
    taken, together = median(block), sum(map(median, alone))
    what = f"a block, {name}, of {SIZE} elements, accelerated"
    around(what, f"{taken * 1e3:.2f} ms", "", "its statements one by one", taken / together, "1")
