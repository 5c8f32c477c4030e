"""Operands as people write them: Python's numbers where they are exact, and what to write for all that is refused."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import ptxemu
import pytest
from helpers.properties import given, strategies as st
from ptxemu.signature import type_named

F32 = np.float32([1.5, -0.0])
U32 = F32.view(np.uint32)
F16 = np.float16([1, 2])
MASKED = np.ma.masked_array(F32, mask=[False, True])


@pytest.mark.parametrize(
    ("spelling", "operands", "expected"),
    [
        ("add.f16", (1.5, 1), np.float16(2.5)),
        ("add.f32", (1.5, math.inf), np.float32(np.inf)),
        ("add.f64", (0.1, 0.2), np.float64(0.1) + np.float64(0.2)),
        ("add.bf16", (1.5, 1), ml_dtypes.bfloat16(2.5)),
        ("mul.f32", (2**24, -1), np.float32(-(2**24))),
        ("neg.f32", (0.0,), np.float32(-0.0)),
        ("fma.rn.f32.bf16", (1.5, 2, 0.25), np.float32(3.25)),
        ("cvt.rn.f32.s32", (-7,), np.float32(-7)),
        ("cvt.rn.f32.u32", (2**32 - 1,), np.float32(2**32)),
        ("and.b32", (0xFFFF0000, 0x00FFFF00), np.uint32(0x00FF0000)),
        ("selp.f32", (1, 2.0, True), np.float32(1)),
        ("slct.f32.s32", (1, 2, -1), np.float32(2)),
    ],
)
def test_numbers_of_python_are_taken_where_they_are_exact(
    spelling: str, operands: tuple[Any, ...], expected: np.generic
) -> None:
    result = ptxemu.execute(spelling, *operands)
    assert type(result) is type(expected) and result.tobytes() == expected.tobytes()


def test_a_number_beside_arrays_is_broadcast_and_comes_as_they_do() -> None:
    result = ptxemu.execute("add.f32", F32, 0.5)
    assert result.dtype == np.float32 and result.tolist() == [2, 0.5]
    swapped = ptxemu.execute("add.f32", 0.5, F32.astype(">f4"))
    assert swapped.tobytes() == result.tobytes()
    bits = ptxemu.execute("slct.f32.s32", F32, F32, -1)
    assert bits.tobytes() == F32.tobytes()
    of_bits = ptxemu.execute("and.b32", U32, 0x7FFFFFFF)
    assert of_bits.tolist() == [0x3FC00000, 0]


def test_a_function_takes_numbers_too() -> None:
    f = ptxemu.function("mul.f32 t, a, a;  @p fma.rn.f32 t, b, b, t;")
    assert f(3, True, b=4.0) == 25 and f(3, np.bool_(False), 4) == 9
    assert [t.after.view(np.float32) for t in f.trace(3, True, 4)] == [9, 25]
    with pytest.raises(ptxemu.OperandError, match=r"operand p is 1; expected bool for \.pred; write True$"):
        f(3, 1, 4)


@given(st.floats(allow_nan=False), st.sampled_from(["f16", "bf16", "f32", "f64"]))
def test_a_float_is_taken_as_itself_or_not_at_all(x: float, type_: str) -> None:
    try:
        result = ptxemu.execute(f"neg.{type_}", ptxemu.execute(f"neg.{type_}", x))
    except ptxemu.OperandError:
        native = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}[type_]
        with np.errstate(all="ignore"):
            assert float(native(x)) != x
    else:
        assert float(result) == x and math.copysign(1, float(result)) == math.copysign(1, x)


REFUSED = [
    # A number that the format does not have, with the dtype that rounds it and what comes of that.
    ("add.f16", (0.1, 1), "a is 0.1, which .f16 does not have; write np.float16(0.1), which is 0.0999755859375"),
    ("add.bf16", (1.001, 1), "a is 1.001, which .bf16 does not have; write ml_dtypes.bfloat16(1.001), which is 1.0"),
    ("add.f32", (F32, 0.1), "b is 0.1, which .f32 does not have; write np.float32(0.1), which is 0.10000000149011612"),
    ("add.f32", (1e300, 1), "a is 1e+300, which is beyond .f32"),
    # An integer that may be meant as bits.
    (
        "add.f32",
        (0x3F800000, 1),
        "a is 1065353216, a number or bits; "
        "write np.float32(1065353216) for the number, np.uint32(0x3f800000) for the bits",
    ),
    (
        "add.f16",
        (1, 0x3C00),
        "b is 15360, a number or bits; write np.float16(15360) for the number, np.uint16(0x3c00) for the bits",
    ),
    ("add.f32", (U32, 1), "b is 1 beside bits; write np.uint32(0x3f800000) for the bits of the number 1.0"),
    ("add.f32", (10**5000, 1), "a is an int of 16610 bits; write np.float32 of it, if .f32 has it"),
    # Bits, integers, predicates.
    (
        "and.b32",
        (1.5, 1),
        "a is 1.5, and .b32 takes bits; write np.float32(1.5).view(np.uint32) for the bits of a float",
    ),
    ("and.b32", (1, -1), "b is -1; .b32 is from 0 to 4294967295; write np.uint32(0xffffffff) for its bits"),
    ("and.b32", (F32, U32), "a is float32; expected uint32 (bits) for .b32; write a.view(np.uint32)"),
    ("slct.f32.s32", (1, 2, 1.5), "c is 1.5, and .s32 takes an integer, which has no fraction"),
    ("slct.f32.s32", (1, 2, 2.0), "c is 2.0, and .s32 takes an integer; write 2"),
    (
        "slct.f32.s32",
        (1, 2, 2**31),
        "c is 2147483648; .s32 is from -2147483648 to 2147483647; write np.uint32(0x80000000) for bits",
    ),
    (
        "slct.f32.s32",
        (1, 2, np.int64(1)),
        "c is int64; expected int32 or uint32 (bits) for .s32; write c.astype(np.int32)",
    ),
    ("selp.f32", (1, 2, 1), "c is 1; expected bool for .pred; write True"),
    ("selp.f32", (1, 2, 2.5), "c is 2.5; expected bool for .pred"),
    ("selp.f32", (1, 2, np.uint8(1)), "c is uint8; expected bool for .pred; write c != 0"),
    ("add.f32", (True, 1), "a is True; expected float32 or uint32 (bits) for .f32; write 1"),
    # Registers of several lanes.
    (
        "add.f16x2",
        (1, 1),
        "a is 1; expected uint32 (the bits of 2 lanes) for .f16x2; write np.uint32, with lane 0 in the lowest bits",
    ),
    (
        "neg.f16x2",
        (F16,),
        "a is float16; expected uint32 (the bits of 2 lanes) for .f16x2; "
        "write a.view(np.uint32), which packs 2 neighbours",
    ),
    (
        "cvt.rn.f16x2.e4m3x2",
        (F32,),
        "a is float32; expected uint16 (the bits of 2 lanes) for .e4m3x2; "
        "write a.astype(ml_dtypes.float8_e4m3fn).view(np.uint16), which packs 2 neighbours",
    ),
    # Arrays of another type.
    (
        "add.f32",
        (F32, F32.astype(float)),
        "b is float64; expected float32 or uint32 (bits) for .f32; write b.astype(np.float32)",
    ),
    (
        "add.f32",
        (U32.view(np.int32), F32),
        "a is int32; expected float32 or uint32 (bits) for .f32; "
        "write a.astype(np.float32) for numbers, a.view(np.uint32) for bits",
    ),
    (
        "add.f32",
        (F32, F16.astype(ml_dtypes.bfloat16)),
        "b is bfloat16; expected float32 or uint32 (bits) for .f32; write b.astype(np.float32)",
    ),
    (
        "add.f32",
        (np.array([1, Fraction(1, 2)]), F32),
        "a is object; expected float32 or uint32 (bits) for .f32; write a.astype(np.float32)",
    ),
    ("add.f32", (F32, np.array(["1"])), "b is <U1; expected float32 or uint32 (bits) for .f32"),
    (
        "add.f32",
        (U32, F32),
        "a is uint32, operand b is float32; all must be of one representation; "
        "write a.view(np.float32), or all as bits",
    ),
    # What is no array.
    (
        "add.f32",
        ([1.0], F32),
        "a is a list; expected a NumPy array or scalar of float32 or uint32 (bits) for .f32; "
        "write np.array(a, np.float32)",
    ),
    (
        "add.f32",
        (F32, Fraction(1, 2)),
        "b is a Fraction; expected a NumPy array or scalar of float32 or uint32 (bits) for .f32; write np.float32(b)",
    ),
    (
        "add.f32",
        (F32, Decimal(1)),
        "b is a Decimal; expected a NumPy array or scalar of float32 or uint32 (bits) for .f32; write np.float32(b)",
    ),
    (
        "add.f32",
        (F32, memoryview(b"1234")),
        "b is a memoryview; expected a NumPy array or scalar of float32 or uint32 (bits) for .f32",
    ),
    ("add.f32", (None, F32), "a is a NoneType; expected a NumPy array or scalar of float32 or uint32 (bits) for .f32"),
    # A mask is not lost without a word.
    (
        "add.f32",
        (MASKED, 1.0),
        "a is a masked array, whose mask would be lost; write .filled(VALUE), or .data to compute what is masked, too",
    ),
]


@pytest.mark.parametrize(("spelling", "operands", "message"), REFUSED, ids=[m[:40] for _, _, m in REFUSED])
def test_what_is_refused_is_told_what_to_write(spelling: str, operands: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ptxemu.OperandError) as raised:
        ptxemu.execute(spelling, *operands)
    assert str(raised.value) == f"{spelling} ({counted(len(operands))}): operand {message}"


def counted(n: int) -> str:
    return f"{n} operand{'s' * (n != 1)}"


WRITTEN = [(s, x, m, w[1]) for s, x, m in REFUSED if (w := re.search(r"write (\w\S*\)|\w != 0|\d+|True)", m))]


@pytest.mark.parametrize(("spelling", "operands", "message", "written"), WRITTEN, ids=[w for *_, w in WRITTEN])
def test_what_is_told_to_write_is_taken(spelling: str, operands: tuple[Any, ...], message: str, written: str) -> None:
    names = {"np": np, "ml_dtypes": ml_dtypes, **dict(zip("abc", operands, strict=False))}
    ptxemu.execute(
        spelling, *(eval(written, names) if message.startswith(n) else x for n, x in zip("abc", operands, strict=False))
    )


@pytest.mark.parametrize("shape", [(), (1,), (2,), (1, 2)])
def test_a_mask_is_seen_where_plain_arrays_came_before(shape: tuple[int, ...]) -> None:
    plain = np.ones(shape, np.float32)
    assert ptxemu.execute("neg.f32", plain).shape == shape
    with pytest.raises(ptxemu.OperandError, match="operand a is a masked array"):
        ptxemu.execute("neg.f32", np.ma.masked_array(plain, True))


def test_out_may_have_no_mask_either() -> None:
    with pytest.raises(ptxemu.OperandError, match="out is a masked array, whose mask would be lost"):
        ptxemu.execute("add.f32", F32, F32, out=MASKED.copy())
    # Other classes of arrays lose nothing.
    assert type(ptxemu.execute("add.f32", F32.view(np.recarray), F32)) is np.ndarray


def test_without_ml_dtypes_a_number_of_bfloat16_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(type_named("bf16").__dict__, "native", None)
    message = "write the bits, as np.uint16, or install ml_dtypes and write ml_dtypes.bfloat16(1.5)"
    with pytest.raises(ptxemu.OperandError, match=re.escape(message)):
        ptxemu.execute("add.bf16", 1.5, 1)
