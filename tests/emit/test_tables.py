"""Results that NumPy reads in tables are those that it would compute."""

from __future__ import annotations

from functools import cache

import numpy as np
import ptxemu
from helpers.repository import checked
from helpers.sizes import each_size, spread
from ptxspec.emit.lowering import shared
from ptxspec.emit.tables import split
from ptxspec.model import Variant
from ptxspec.rewrite.rewriting import for_arrays


@cache
def read() -> dict[str, list[Variant]]:
    """Variants by what their ends are read by."""
    found: dict[str, list[Variant]] = {}
    for c in checked().values():
        by_key = {v.key: v for v in c.instruction.variants}
        for one in shared(c).values():
            _, tail = split(for_arrays(one.program))
            if tail is not None:
                found.setdefault(tail.decorator, []).append(by_key[next(iter(one.targets))])
    return found


def test_conversions_to_narrow_formats_and_from_16_bits_are_read() -> None:
    spellings = {how: {v.spelling for v in some} for how, some in read().items()}
    assert "cvt.rn.satfinite.e4m3x2.f32" in spellings["halved"]
    assert "cvt.rn.satfinite.relu.e2m1x2.f32" in spellings["halved"]
    assert {"cvt.f32.f16", "cvt.rni.s32.f16", "cvt.rn.f16x2.e4m3x2"} <= spellings["tabulated"]
    assert "fma.satfinite.e5m2x4.e4m3x4.e2m1x4" in spellings["quartered"]
    assert {"mul.e4m3x4.e5m2x4.e4m3x4", "add.e4m3x4.e4m3x4"} <= spellings["tabulated"]
    # Ten bits of fraction want more than a half, and integers more than seven.
    assert not {"cvt.rn.f16.f32", "cvt.rni.s8.f32"} & spellings["halved"]


@each_size
def test_a_half_decides_as_the_whole_does(whole: bool) -> None:
    """Operands near every number that a half can be, between two of them, and any."""
    rng = np.random.default_rng(5)
    near = (np.arange(1 << 16, dtype=np.uint32) << np.uint32(16))[:: 1 if whole else 37]
    every = np.concatenate([near + np.uint32(d & 0xFFFFFFFF) for d in (-1, 0, 1, 0x7FFF, 0x8000, 0x8001)])
    every = np.concatenate([every, rng.integers(0, 1 << 32, 1 << 13, np.uint32)])
    some = [v for v in read()["halved"] if {s.type.name for s in v.sources} == {"f32"}]
    for v in some if whole else spread(some, 12):
        kernel = ptxemu.compile(v.spelling, v.operands)
        operands = [np.roll(every, i) for i in range(v.operands)]
        # A few at a time are computed.
        few = [kernel(*(x[i : i + 1000] for x in operands)) for i in range(0, every.size, 1000)]
        np.testing.assert_array_equal(kernel(*operands), np.concatenate(few), err_msg=v.spelling)


@each_size
def test_a_quarter_decides_as_the_whole_does(whole: bool) -> None:
    some = read()["quartered"]
    registers = np.random.default_rng(6).integers(0, 1 << 32, (3, 1 << (16 if whole else 12)), np.uint32)
    for v in some if whole else spread(some, 6):
        kernel = ptxemu.compile(v.spelling, v.operands)
        operands = [x.astype(f"u{s.type.width // 8}") for x, s in zip(registers, v.sources, strict=True)]
        # A few at a time are computed.
        few = [kernel(*(x[i : i + 1000] for x in operands)) for i in range(0, registers.shape[1], 1000)]
        np.testing.assert_array_equal(kernel(*operands), np.concatenate(few), err_msg=v.spelling)
