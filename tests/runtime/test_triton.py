"""Tests of inline assembly in Triton's interpreter, which hands it elements packed into registers, and gets such."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from numpy.typing import DTypeLike
from ptxemu.triton import install, run

U8, U16, U32, S8, S32, F16, F32 = np.uint8, np.uint16, np.uint32, np.int8, np.int32, np.float16, np.float32


def ran(asm: str, constraints: str, arrays: list[np.ndarray], *dtypes: DTypeLike, pack: int = 1) -> list[np.ndarray]:
    return run(asm, constraints, arrays, [np.dtype(d) for d in dtypes], pack)


def test_elements_of_four_bytes_have_registers_of_their_own() -> None:
    a, b = F32([[1, 2], [3, 4]]), F32([10])
    (found,) = ran("add.f32 $0, $1, $2;", "=f,f,f", [a, b], F32)
    assert found.dtype == F32 and found.tolist() == [[11, 12], [13, 14]]
    (found,) = ran("add.f32 $0, $2, $4; add.f32 $1, $3, $5;", "=r,=r,r,r,r,r", [a, b], F32, pack=2)
    assert found.tolist() == [[11, 12], [13, 14]]


def test_narrower_elements_stand_together_the_first_lowest() -> None:
    a = np.arange(8, dtype=U8)
    (found,) = ran("shl.b32 $0, $1, 8;", "=r,r", [a], U8, pack=4)
    assert found.tolist() == [0, 0, 1, 2, 0, 4, 5, 6]
    x = F16([1, 2, 3, 4])
    (found,) = ran("add.f16x2 $0, $1, $1;", "=r,r", [x], F16, pack=2)
    assert found.dtype == F16 and found.tolist() == [2, 4, 6, 8]
    (found,) = ran("add.f16x2 $0, $2, $2; add.f16x2 $1, $3, $3;", "=r,=r,r,r", [x], F16, pack=4)
    assert found.tolist() == [2, 4, 6, 8]
    (found,) = ran("add.f16 $0, $1, $1;", "=h,h", [x], F16)
    assert found.tolist() == [2, 4, 6, 8]


def test_results_are_of_several_types() -> None:
    asm = "{.reg .b8 t<2>; mov.b16 {t0, t1}, $4; cvt.rn.f32.u8 $0, t0; cvt.rn.f32.u8 $1, t1; cvt.u32.u8 $2, t0; "
    asm += "cvt.u32.u8 $3, t1;}"
    one, other = ran(asm, "=f,=f,=r,=r,h", [np.arange(6, dtype=U8)], F32, S32, pack=2)
    assert one.tolist() == other.tolist() == list(range(6)) and (one.dtype, other.dtype) == (F32, S32)


def test_an_element_alone_in_a_wider_register_is_its_low_bits() -> None:
    (found,) = ran("add.u32 $0, $1, 1;", "=r,r", [U8([255, 7])], U8)
    assert found.tolist() == [0, 8]
    (found,) = ran("add.u32 $0, $1, 1;", "=r,r", [U16([65535, 7])], S32)
    assert found.tolist() == [65536, 8]


def test_a_last_lane_is_filled_up() -> None:
    (found,) = ran("not.b32 $0, $1;", "=r,r", [U8([1, 2, 3, 4, 5])], S8, pack=4)
    assert found.tolist() == [-2, -3, -4, -5, -6]
    (found,) = ran("not.b32 $0, $1;", "=r,r", [np.array(U8(1))], U8, pack=4)
    assert found.shape == () and found == 254


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 inputs come in registers of their own, and '=f,f' has 1"):
        ran("add.f32 $0, $1, $1;", "=f,f", [F32([1]), F32([2])], F32)
    with pytest.raises(ptxemu.StatementError, match="there is no memory here"):
        ran("ld.global.f32 $0, [$1];", "=f,l", [np.array([1], np.uint64)], F32)
    with pytest.raises(ptxemu.UnknownTargetError, match="unknown target 'sm_91'"):
        install("sm_91")
