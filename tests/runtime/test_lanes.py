"""Lanes of packed types: pack, unpack, and registers that came as signed integers."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import ptxemu
import pytest
from ptxemu.index import TYPES
from ptxemu.signature import type_named

PACKED = [name for name, about in TYPES.items() if about[2] > 1]


@pytest.mark.parametrize("name", PACKED)
def test_what_is_unpacked_is_packed_again(name: str) -> None:
    t = type_named(name)
    bytes_ = np.random.default_rng(1).integers(0, 256, (3, 4, t.bits.itemsize), np.uint8)
    registers = bytes_.view(t.bits)[..., 0]
    lanes = ptxemu.unpack(registers, f".{name}")
    assert lanes.shape == (3, 4, t.lanes)
    every = ptxemu.pack(np.full(t.lanes, (1 << t.width) - 1, t.lane), name)
    again = ptxemu.pack(lanes, name)
    assert again.dtype == t.bits and (again == registers & every).all()
    # What a kernel reads of lane 0 has the lowest bits.
    codes = lanes.view(t.lane)
    assert (codes[..., 0] == (registers >> t.bits.type(t.shift)) & t.bits.type((1 << t.width) - 1)).all()


def test_lanes_of_numbers() -> None:
    assert ptxemu.pack(np.float16([1, 2]), "f16x2") == 0x40003C00
    assert ptxemu.pack(np.array([1, 2], ml_dtypes.bfloat16), "bf16x2") == 0x40003F80
    assert ptxemu.pack(np.array([1, 2], ml_dtypes.float8_e4m3fn), "e4m3x2") == 0x4038
    assert ptxemu.pack(np.array([1, 2], ">f4"), "f32x2") == 0x40000000_3F800000
    halves = ptxemu.unpack(np.array([0x40003C00], ">u4"), "f16x2")
    assert halves.dtype == np.float16 and halves.tolist() == [[1.0, 2.0]]
    assert ptxemu.unpack(np.uint8(0x21), "e2m1x2").tolist() == [1, 2]
    sums = ptxemu.execute("add.f16x2", *(ptxemu.pack(np.float16(x), "f16x2") for x in ([[1, 2]], [[3, 4]])))
    assert ptxemu.unpack(sums, "f16x2").tolist() == [[4.0, 6.0]]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: ptxemu.pack([1.0], "f16x2"), ValueError, "the shape is (1,)"),
        (lambda: ptxemu.pack([1.0, 2.0], "f16x2"), TypeError, "are float64; .f16x2 takes float16 or uint16 (bits)"),
        (lambda: ptxemu.pack([1.0] * 3, "f16x2"), ValueError, "the last axis of lanes is of the 2 of .f16x2"),
        (lambda: ptxemu.pack(np.float16(1), "f16x2"), ValueError, "the shape is ()"),
        (lambda: ptxemu.pack(np.uint8([1, 16]), "e2m1x2"), ValueError, "a lane of .e2m1x2 has 4 bits; 0x10 has more"),
        (lambda: ptxemu.pack(1, "f32"), ValueError, ".f32 has one lane"),
        (lambda: ptxemu.pack(1, "f16x3"), ValueError, "unknown type 'f16x3'; did you mean 'f16x2'?"),
        (lambda: ptxemu.unpack(np.float32(1), "f16x2"), TypeError, "registers are float32; those of .f16x2 are uint32"),
        (lambda: ptxemu.unpack(1, None), ValueError, "unknown type None"),
    ],
)  # fmt: skip
def test_what_are_no_lanes(call: object, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        call()  # type: ignore[operator]


def test_signed_integers_are_bits_where_they_cannot_be_numbers() -> None:
    i32 = np.array([-1, 2], np.int32)
    both = ptxemu.execute("and.b32", i32, i32)
    assert both.dtype == np.int32 and both.tolist() == [-1, 2]
    assert ptxemu.execute("cvt.rn.f32.u32", i32).tolist() == [2.0**32, 2]
    assert ptxemu.execute("cvt.rn.f32.s32", i32).tolist() == [-1, 2]
    packed = np.array([0x3C003C00], np.int32)
    assert ptxemu.execute("add.f16x2", packed, packed).dtype == np.int32
    for mixed in ((i32, i32.view(np.uint32)), (i32.view(np.uint32), i32)):
        signed = "ab"[mixed[1] is i32]
        with pytest.raises(ptxemu.OperandError, match=rf"write {signed}.view\(np.uint32\), or all as bits"):
            ptxemu.execute("and.b32", *mixed)
    with pytest.raises(ptxemu.OperandError, match="for numbers"):
        ptxemu.execute("add.f32", i32, i32)


def test_a_kernel_says_what_it_takes_and_gives() -> None:
    kernel = ptxemu.compile("cvt.rn.f16x2.f32")
    assert (kernel.inputs, kernel.results) == (("a1", "a0"), ("d",))
    assert kernel.types == {"a1": "f32", "a0": "f32", "d": "f16x2"}
    assert ptxemu.compile("setp.lt.f16x2").results == ("p0", "p1")


def test_what_is_public_is_listed_and_nothing_else() -> None:
    assert dir(ptxemu) == sorted(ptxemu.__all__) and "pack" in dir(ptxemu)
    assert all(getattr(ptxemu, name) is not None for name in dir(ptxemu))
    assert len(repr(ptxemu.variants())) < 60
