"""Tests of the places of elements in lanes: each has one, as CUTLASS and the manual have it."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from helpers.sparse import drawn, integers
from ptxemu import tensor
from ptxemu.tensor_cores import CHOICES, ELEMENTS, FORMS

DONE = [f for f in FORMS if f.computes]
# One form of each kind: what lanes give does not depend on the rest.
KINDS = {(f.shape, f.types[1], f.kind, f.is_sparse, f.scales): f for f in FORMS}.values()
SPARSE, SCALED = [f for f in KINDS if f.is_sparse], [f for f in KINDS if f.is_scaled]
MATRICES = "dabc"


@pytest.mark.exhaustive
def test_each_element_is_in_one_place() -> None:
    assert len(DONE) > 500
    for f in {(f.shape, f.types, f.orders, f.is_sparse, f.registers): f for f in DONE}.values():
        found = ptxemu.fragments(f.spelling)
        for x in (getattr(found, m) for m in MATRICES):
            places = [x.where(r, c) for r in range(x.size[0]) for c in range(x.size[1])]
            assert {len(p) for p in places} == {x.products}, f.spelling
            every = {p for places_of_one in places for p in places_of_one}
            assert len(every) == x.products * x.size[0] * x.size[1], f.spelling


def test_lanes_have_as_many_registers_as_statements() -> None:
    for f in DONE:
        found = ptxemu.fragments(f.spelling)
        assert tuple(getattr(found, m).registers for m in MATRICES) == f.registers, f.spelling


@pytest.mark.parametrize("f", DONE[:: len(DONE) // 80], ids=str)
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


def test_what_tells_a_place_is_in_one_register() -> None:
    """Of 4 bits neighbours stand together, and two bits tell the place of both."""
    for f in SPARSE:
        metadata, together = (
            ptxemu.fragments(f.spelling).metadata,
            2 if tensor.element_of(f, f.types[1]).bits == 4 else 1,
        )
        for selector in CHOICES.of(f)["selector"]:
            every = [metadata.where(*at, selector) for at in np.ndindex(metadata.size)]
            assert len(set(every)) * together == len(every), f.spelling
            assert all(register == 0 and bit % 2 == 0 and bit < 32 for ((_, register, bit),) in every)


def test_lanes_are_chosen_by_the_constants_that_ptxas_takes() -> None:
    """Each lane by one of them, but for lanes of metadata that all give it; and no other constant."""
    for f in (*SPARSE, *SCALED):
        found, choices = ptxemu.fragments(f.spelling), CHOICES.of(f)
        for name, part in (("selector", "metadata"), ("thread-id-a", "scale_a"), ("thread-id-b", "scale_b")):
            if name not in choices:
                with pytest.raises(ValueError, match=r"takes no (metadata|scales); "):
                    getattr(found, part)
                continue
            x, at = getattr(found, part), "selector" if part == "metadata" else "thread"
            every = [[x.where(*p, **{at: n})[0] for p in np.ndindex(x.size)] for n in choices[name]]
            assert part == "metadata" or all(len(set(places)) == len(places) for places in every)
            lanes = [{lane for lane, _, _ in places} for places in every]
            assert set().union(*lanes) == set(range(32)) and sum(map(len, lanes)) == 32, f.spelling
            with pytest.raises(ptxemu.OperandError, match=f"{name} must be one of 0"):
                x.where(0, 0, **{at: len(lanes)})


def test_metadata_that_is_packed_is_unpacked() -> None:
    rng = np.random.default_rng(6)
    for f in SPARSE:
        metadata = ptxemu.fragments(f.spelling).metadata
        _, places, _ = drawn(f, rng, np.ones(1))
        for selector in CHOICES.of(f)["selector"]:
            registers = metadata.pack(np.stack([places, places]), selector)
            assert registers.shape == (2, 32, 1) and registers.dtype == np.uint32
            assert np.array_equal(metadata.unpack(registers[1], selector), places), f.spelling


# From CUTLASS: mma_traits_sm120_sparse.hpp has a row of 8 groups in a lane, and reorder_meta of host_reorder.h has two
# rows of 4 groups of f16 and tf32. And from the manual's first example of sparse storage. The lane and the lowest bit.
@pytest.mark.parametrize(
    ("form", "element", "selector", "place"),
    [
        ("m16n8k64.sp::ordered_metadata.f32.e4m3", (3, 5), 0, (12, 10)),
        ("m16n8k64.sp::ordered_metadata.f32.e4m3", (11, 5), 0, (13, 10)),
        ("m16n8k64.sp::ordered_metadata.f32.e4m3", (3, 21), 0, (14, 10)),
        ("m16n8k64.sp::ordered_metadata.f32.e4m3", (11, 31), 0, (15, 30)),
        ("m16n8k32.sp.f32.f16", (3, 5), 0, (12, 10)),
        ("m16n8k32.sp.f32.f16", (11, 5), 0, (12, 26)),
        ("m16n8k32.sp.f32.f16", (3, 13), 0, (13, 10)),
        ("m16n8k32.sp.f32.f16", (3, 13), 1, (15, 10)),
        ("m16n8k16.sp.f32.tf32", (3, 1), 0, (12, 4)),
        ("m16n8k16.sp.f32.tf32", (11, 5), 1, (15, 20)),
        ("m16n8k16.sp.f32.f16", (0, 4), 0, (0, 8)),
        ("m16n8k16.sp.f32.f16", (8, 7), 0, (0, 30)),
        ("m16n8k16.sp.f32.f16", (8, 7), 3, (3, 30)),
    ],
)
def test_places_are_told_where_cutlass_and_the_manual_tell_them(
    form: str, element: tuple[int, int], selector: int, place: tuple[int, int]
) -> None:
    lane, bit = place
    assert ptxemu.fragments(form).metadata.where(*element, selector) == ((lane, 0, bit),)


def test_places_are_told_by_the_bits_that_the_manual_lists() -> None:
    """0b0100 and 0b1110 of tf32; of the others the number of the first in the lower bits, and of the second above."""
    for form, places, code in (
        ("m16n8k8.sp.f32.tf32", [0], 0b0100),
        ("m16n8k8.sp.f32.tf32", [1], 0b1110),
        ("m16n8k32.sp.s32.s8", [1, 3], 0b1101),
        ("m16n8k32.sp.s32.s8", [2, 0], 0b0010),
        ("m16n8k64.sp.s32.u4", [2, 3, 4, 5], 0b1001),
    ):
        metadata = ptxemu.fragments(form).metadata
        registers = metadata.pack(np.tile(places, (16, metadata.size[1] // len(places))))
        assert registers[0, 0] == code * 0x11111111
    for form, code in (("m16n8k8.sp.f32.tf32", 0b1001), ("m16n8k32.sp::ordered_metadata.s32.s8", 0b0001)):
        with pytest.raises(ptxemu.OperandError, match=f"metadata of row 0, group 0 is {code:#06b}; of"):
            ptxemu.fragments(form).metadata.unpack(np.full((32, 1), code * 0x11111111, np.uint32))


@pytest.mark.parametrize("form", ["m16n8k32.sp.s32.s8", "m16n8k64.sp::ordered_metadata.s32.s4", "m16n8k128.sp.s32.u4"])
def test_sparse_registers_give_the_product_of_the_whole_matrix(form: str) -> None:
    f, rng = ptxemu.fragments(form), np.random.default_rng(8)
    stored, places, whole = drawn(f.form, rng, integers(f.a.type))
    b, c = rng.choice(integers(f.b.type), f.b.size), rng.integers(-99, 100, f.c.size).astype(np.int32)
    matrices = ptxemu.mma(form, stored, b, c, target="A100", metadata=places)
    assert np.array_equal(matrices, whole.astype(np.int64) @ b.astype(np.int64) + c)
    for selector in CHOICES.of(f.form)["selector"]:
        given = {"metadata": f.metadata.pack(places, selector), "selector": selector}
        d = f.mma(f.a.pack(stored), f.b.pack(b), f.c.pack(c), target="A100", **given)
        assert np.array_equal(f.d.unpack(d), matrices)
    with pytest.raises(ptxemu.OperandError, match=r"requires metadata: an array"):
        f.mma(f.a.pack(stored), f.b.pack(b), f.c.pack(c), target="A100")
    with pytest.raises(
        ptxemu.OperandError, match=r"metadata must be a register of 32 bits in each of 32 lanes, \(32, 1\)"
    ):
        f.mma(f.a.pack(stored), f.b.pack(b), f.c.pack(c), target="A100", metadata=places)


def test_registers_of_blocks_have_scales_beside_them() -> None:
    """Scales of rows of A are in two lanes of each four, and of columns of B in one; their bytes are in order of K."""
    form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"
    f, rng = ptxemu.fragments(form), np.random.default_rng(3)
    a, b = (rng.integers(0, 16, s).astype(np.uint8) for s in (f.a.size, f.b.size))
    c = np.zeros((16, 8), np.float32)
    of_a, of_b = (rng.integers(120, 135, s).astype(np.uint8) for s in (f.scale_a.size, f.scale_b.size))
    matrices = ptxemu.mma(form, a, b, c, target="sm_120a", scale_a=of_a, scale_b=of_b)
    assert f.a.registers == 4 and f.scale_a.where(11, 1, 2, 1) == ((15, 0, 24),)
    assert f.scale_b.where(1, 5, 0, 2) == ((22, 0, 8),)
    for byte, thread in ((0, 0), (2, 1)):
        scales = {"scale_a": f.scale_a.pack(of_a, byte, thread), "scale_b": f.scale_b.pack(of_b, byte, thread)}
        ids = {"ids_a": (byte, thread), "ids_b": (byte, thread)}
        d = f.mma(f.a.pack(a), f.b.pack(b), f.c.pack(c), target="sm_120a", **scales, **ids)
        assert np.array_equal(f.d.unpack(d), matrices)
        # Other bytes and other lanes are nothing to it.
        assert not scales["scale_a"][[*range(2 - 2 * thread, 32, 4), *range(3 - 2 * thread, 32, 4)]].any()
    with pytest.raises(ptxemu.OperandError, match="byte-id-a must be one of 0, 2, not 1"):
        f.scale_a.pack(of_a, 1)
    with pytest.raises(ptxemu.OperandError, match="thread-id-a must be one of 0, 1, not 2"):
        f.scale_a.pack(of_a, 0, 2)
    with pytest.raises(ptxemu.OperandError, match=r"scale_b must have the shape \(2, 8\), not \(8, 2\)"):
        f.scale_b.pack(of_b.T)
    with pytest.raises(IndexError, match="scale_a has 16 rows of 2, and no element 0, 2"):
        f.scale_a.where(0, 2)


def test_wrong_shapes_are_told() -> None:
    f = ptxemu.fragments("m16n8k16.f32.f16")
    with pytest.raises(ptxemu.OperandError, match=r"A must have the shape \(16, 16\), not \(8, 16\)"):
        f.a.pack(np.zeros((8, 16), np.float16))
    with pytest.raises(ptxemu.OperandError, match="A has 32 lanes of 4 registers"):
        f.a.unpack(np.zeros((32, 2), np.uint32))
    with pytest.raises(ptxemu.OperandError, match="registers of A must be uint32"):
        f.a.unpack(np.zeros((32, 4), np.uint16))
    with pytest.raises(IndexError, match="no element 16, 0"):
        f.a.where(16, 0)
    with pytest.raises(ValueError, match="the lanes of its elements are not known"):
        ptxemu.fragments("m8n8k4.f32.bf16")
