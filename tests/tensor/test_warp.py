"""Which lane holds what: each element once, as CUTLASS and the manual have it."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from ptxemu import tensor
from ptxemu.tensor_cores import ELEMENTS, FORMS

DENSE = [f for f in FORMS if not f.is_sparse and f.computes]
MATRICES = "dabc"


def test_each_element_is_in_one_place() -> None:
    assert len(DENSE) > 300
    for f in DENSE:
        found = ptxemu.fragments(f.spelling)
        for x in (getattr(found, m) for m in MATRICES):
            places = [x.where(r, c) for r in range(x.size[0]) for c in range(x.size[1])]
            assert {len(p) for p in places} == {x.products}, f.spelling
            every = {p for places_of_one in places for p in places_of_one}
            assert len(every) == x.products * x.size[0] * x.size[1], f.spelling


def test_lanes_have_as_many_registers_as_statements() -> None:
    for f in DENSE:
        found = ptxemu.fragments(f.spelling)
        assert tuple(getattr(found, m).registers for m in MATRICES) == f.registers, f.spelling


@pytest.mark.parametrize("f", DENSE[:: len(DENSE) // 60], ids=str)
def test_what_is_packed_is_unpacked(f: object) -> None:
    found, rng = ptxemu.fragments(str(f)), np.random.default_rng(5)
    for x in (getattr(found, m) for m in MATRICES):
        size = (3, x.products, *x.size) if x.products > 1 else (3, *x.size)
        codes = {"e2m1": 4, "e3m2": 6, "e2m3": 6}.get(x.type, ELEMENTS[x.type].bits)
        matrix = tensor.elements_of(rng.integers(0, 2**codes - 1, size, np.uint64, endpoint=True), x.type)
        registers = x.pack(matrix)
        assert registers.shape == (3, 32, x.registers) and registers.dtype.kind == "u"
        assert x.unpack(registers).tobytes() == np.ascontiguousarray(matrix).tobytes()


# From CUTLASS, include/cute/atom/mma_traits_sm80.hpp: the lane, the register, and the lowest bit there.
@pytest.mark.parametrize(
    ("form", "matrix", "element", "place"),
    [
        ("m16n8k16.f32.f16", "a", (3, 5), (14, 0, 16)),
        ("m16n8k16.f32.f16", "a", (11, 5), (14, 1, 16)),
        ("m16n8k16.f32.f16", "a", (3, 13), (14, 2, 16)),
        ("m16n8k16.f32.f16", "b", (5, 3), (14, 0, 16)),
        ("m16n8k16.f32.f16", "b", (13, 3), (14, 1, 16)),
        ("m16n8k16.f32.f16", "c", (11, 5), (14, 3, 0)),
        ("m16n8k8.f32.tf32", "a", (9, 6), (6, 3, 0)),
        ("m16n8k32.s32.s8", "a", (0, 17), (0, 2, 8)),
        ("m8n8k4.f64", "a", (6, 3), (27, 0, 0)),
        ("m16n8k256.s32.b1.b1.s32.and.popc", "a", (8, 131), (0, 3, 3)),
    ],
)
def test_elements_are_where_cutlass_has_them(
    form: str, matrix: str, element: tuple[int, int], place: tuple[int, int, int]
) -> None:
    x = getattr(ptxemu.fragments(form), matrix)
    assert x.where(*element) == (place,)
    lane, register, _ = place
    per = x.rows.shape[1] // x.registers
    assert element in x.held(lane)[register * per : (register + 1) * per]


def test_four_products_are_of_other_lanes() -> None:
    x = ptxemu.fragments("m8n8k4.f32.f16").c
    assert x.products == 4 and [lane for lane, _, _ in x.where(0, 0)] == [0, 4, 8, 12]
    assert [lane for lane, _, _ in x.where(7, 7)] == [19, 23, 27, 31]


def test_ldmatrix_loads_what_mma_takes() -> None:
    """The four 8x8 parts of A, those below each other first; and B's of a matrix that is stored by columns."""
    f = ptxemu.fragments("m16n8k16.f32.f16")
    a = np.random.default_rng(1).standard_normal((16, 16)).astype(np.float16)
    parts = np.stack([a[r : r + 8, c : c + 8] for c in (0, 8) for r in (0, 8)])
    assert np.array_equal(ptxemu.ldmatrix(parts), f.a.pack(a))
    b = a[:, :8]
    assert np.array_equal(ptxemu.ldmatrix(b.reshape(2, 8, 8), trans=True), f.b.pack(b))
    assert np.array_equal(ptxemu.ldmatrix(np.stack([b[:8].T, b[8:].T])), f.b.pack(b))
    with pytest.raises(ptxemu.OperandError, match="1, 2 or 4 matrices"):
        ptxemu.ldmatrix(np.zeros((3, 8, 8), np.float16))


def test_registers_go_in_and_come_out() -> None:
    f, rng = ptxemu.fragments("m16n8k16.f32.bf16"), np.random.default_rng(2)
    a, b = (rng.integers(0x3F00, 0x4000, s, np.uint16) for s in ((5, 16, 16), (5, 16, 8)))
    c = rng.standard_normal((5, 16, 8)).astype(np.float32)
    d = f.mma(f.a.pack(a), f.b.pack(b), f.c.pack(c), target="A100")
    assert d.shape == (5, 32, 4) and np.array_equal(f.d.unpack(d), ptxemu.mma(f.form.spelling, a, b, c, target="A100"))


def test_registers_of_blocks_have_scales_beside_them() -> None:
    form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
    f, rng = ptxemu.fragments(form), np.random.default_rng(3)
    a, b = (rng.integers(0, 16, s).astype(np.uint8) for s in ((16, 64), (64, 8)))
    c = np.zeros((16, 8), np.float32)
    scales = {"scale_a": np.full((16, 2), 128, np.uint8), "scale_b": np.full((2, 8), 127, np.uint8)}
    d = f.mma(f.a.pack(a), f.b.pack(b), f.c.pack(c), target="sm_120a", **scales)
    assert f.a.registers == 4 and np.array_equal(f.d.unpack(d), ptxemu.mma(form, a, b, c, target="sm_120a", **scales))


def test_wrong_shapes_are_told() -> None:
    f = ptxemu.fragments("m16n8k16.f32.f16")
    with pytest.raises(ptxemu.OperandError, match=r"A has the shape \(16, 16\), and this has \(8, 16\)"):
        f.a.pack(np.zeros((8, 16), np.float16))
    with pytest.raises(ptxemu.OperandError, match="A has 32 lanes of 4 registers"):
        f.a.unpack(np.zeros((32, 2), np.uint32))
    with pytest.raises(ptxemu.OperandError, match="registers of A are uint32"):
        f.a.unpack(np.zeros((32, 4), np.uint16))
    with pytest.raises(IndexError, match="no element 16, 0"):
        f.a.where(16, 0)
    with pytest.raises(ValueError, match="not known here"):
        ptxemu.fragments("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
