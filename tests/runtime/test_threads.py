"""Kernels of PTX on arrays: parameters, memory, special registers, guards; and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from ptxemu.assembler import SPECIAL_REGISTERS
from ptxemu.catalog.special import SpecialRegister

U32, F32 = np.uint32, np.float32


def module(body: str, parameters: str = ".param .u64 p, .param .u64 q, .param .u32 n", more: str = "") -> str:
    """A kernel k of one dimension: %i is the thread, %p and %q point at its words of four bytes."""
    return f"""
.version 9.5
.target sm_100
.address_size 64
{more}
.visible .entry k({parameters})
{{
    .reg .pred %c<4>;
    .reg .b16 %h<9>;
    .reg .b32 %r<9>, %i, %n;
    .reg .f32 %f<9>;
    .reg .b64 %d<9>, %p, %q;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.s32 %i, %r0, %r1, %r2;
    ld.param.u64 %d0, [p];
    cvta.to.global.u64 %d0, %d0;
    ld.param.u64 %d1, [q];
    cvta.to.global.u64 %d1, %d1;
    mul.wide.u32 %d2, %i, 4;
    add.s64 %p, %d0, %d2;
    add.s64 %q, %d1, %d2;
    ld.param.u32 %n, [n];
    setp.ge.u32 %c0, %i, %n;
    @%c0 bra END;
{body}
END:
    ret;
}}
"""


def ran(body: str, a: Any, size: int | None = None, dtype: Any = U32, block: int = 32) -> np.ndarray[Any, Any]:
    """Run the kernel, and return what it writes."""
    d = np.zeros(len(a) if size is None else size, dtype)
    kernel = ptxemu.kernel(module(body))
    kernel(-(-len(a) // block), block, a, d, len(a))
    return d


# What it computes


def test_a_thread_is_an_element() -> None:
    a = np.arange(100, dtype=F32)
    d = ran("ld.global.f32 %f0, [%p]; mul.f32 %f1, %f0, %f0; st.global.f32 [%q], %f1;", a, dtype=F32)
    assert (d == a * a).all()


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ("ld.global.u32 %r3, [%p];", 0x8899AABB),
        ("ld.global.nc.L1::no_allocate.L2::128B.b32 %r3, [%p];", 0x8899AABB),
        ("ld.relaxed.gpu.global.u32 %r3, [%p];", 0x8899AABB),
        ("ld.u8 %r3, [%p+1];", 0xAA),
        ("griddepcontrol.wait; prefetch.global.L2 [%p]; @%c0 prefetchu.L1 [%p]; ld.u8 %r3, [%p];", 0xBB),
        ("add.s64 %d3, %p, 8; ld.u8 %r3, [%d3 + -(4 + 4) + 0x1];", 0xAA),
        ("ld.global.s8 %r3, [%p+3];", 0xFFFFFF88),
        ("ld.global.u16 %r3, [%p+2];", 0x8899),
        ("ld.global.s16 %r3, [%p];", 0xFFFFAABB),
        ("ld.global.s8 %h0, [%p+3]; cvt.u32.u16 %r3, %h0;", 0xFF88),
        ("ld.global.v2.u16 {%h0, %h1}, [%p]; mov.b32 %r3, {%h1, %h0};", 0xAABB8899),
        ("ld.global.v2.u16 {_, %h1}, [%p]; cvt.u32.u16 %r3, %h1;", 0x8899),
    ],
)
def test_loads_are_of_many_widths(load: str, expected: int) -> None:
    d = ran(f"{load} st.global.u32 [%q], %r3;", U32([0x8899AABB]))
    assert d.tolist() == [expected]


def test_stores_are_of_many_widths() -> None:
    a = U32([0x11223344, 0x55667788])
    assert ran("ld.global.u32 %r3, [%p]; st.global.u8 [%q+1], %r3;", a).tolist() == [0x4400, 0x8800]
    assert ran("st.global.wt.u16 [%q+2], 7;", a).tolist() == [0x70000, 0x70000]
    body = "ld.global.u32 %r3, [%p]; shl.b32 %r4, %i, 3; cvt.u64.u32 %d3, %r4; add.s64 %d3, %d1, %d3; "
    body += "st.global.v2.b32 [%d3], {%r3, %i};"
    assert ran(body, a, 4).tolist() == [0x11223344, 0, 0x55667788, 1]


def test_vectors_are_loaded_and_stored() -> None:
    body = ".reg .v2 .b32 %v, %w; mul.wide.u32 %d3, %i, 8; add.s64 %d4, %d0, %d3; add.s64 %d5, %d1, %d3;"
    body += "ld.global.v2.b32 %v, [%d4]; mov.b32 %w.x, %v.y; mov.b32 %w.y, %v.r; st.global.v2.b32 [%d5], %w;"
    a, d = np.arange(10, dtype=U32), np.zeros(10, U32)
    ptxemu.kernel(module(body))(1, 32, a, d, 5)
    assert d.tolist() == [1, 0, 3, 2, 5, 4, 7, 6, 9, 8]


def test_what_a_guard_leaves_out_is_neither_read_nor_written() -> None:
    a = U32([5, 0, 7, 0])
    body = """
        ld.global.u32 %r3, [%p];
        setp.eq.u32 %c1, %r3, 0;
        mov.u32 %r4, 9;
        mov.u64 %d3, %p;
        @%c1 mov.u64 %d3, 0;
        @!%c1 ld.global.u32 %r4, [%d3];
        @!%c1 st.global.u32 [%q], %r4;
        @%c1 bra ZERO;
        bra END;
    ZERO:
        st.global.u32 [%q], 77;
    """
    assert ran(body, a).tolist() == [5, 77, 7, 77]


def test_threads_return_alone() -> None:
    body = "ld.global.u32 %r3, [%p]; setp.eq.u32 %c1, %r3, 0; @%c1 ret; st.global.u32 [%q], 1;"
    assert ran(body, U32([0, 3, 0])).tolist() == [0, 1, 0]


def test_parameters_are_numbers_structures_and_arrays() -> None:
    text = """
    .version 8.5
    .target sm_90
    .entry k(.param .align 8 .b8 s[24], .param .f32 x, .param .s16 h, .param .u64 d)
    {
        .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .b32 %r<4>;
        ld.param.u64 %d0, [s];
        ld.param.v2.f32 {%f0, %f1}, [s+8];
        ld.param.f32 %f2, [x];
        ld.param.s16 %r0, [h];
        ld.param.u64 %d1, [d];
        ld.global.u32 %r1, [%d0];
        st.global.f32 [%d1], %f0;
        st.global.f32 [%d1+4], %f1;
        st.global.f32 [%d1+8], %f2;
        st.global.u32 [%d1+12], %r0;
        st.global.u32 [%d1+16], %r1;
        ret;
    }"""
    kernel = ptxemu.kernel(text)
    assert kernel.parameters == ("s", "x", "h", "d") and kernel.target == "sm_90"
    structure = (U32([42]), F32(1.5), F32(2.5), np.uint8(1))
    for x, h in ((3, -2), (F32(3), np.int16(-2)), (3.0, 0xFFFE)):
        d = np.zeros(5, U32)
        kernel(1, 1, structure, x, h, d)
        assert d[:3].view(F32).tolist() == [1.5, 2.5, 3] and d[3:].tolist() == [0xFFFFFFFE, 42]
    with pytest.raises(ptxemu.AddressError, match="0x10 is not an address in any array"):
        kernel(1, 1, np.uint64(16).tobytes() + bytes(16), 1, 1, np.zeros(5, U32))


def test_special_registers_are_those_of_a_launch() -> None:
    names = ["tid", "ntid", "ctaid", "nctaid"]
    reads = [f"%{n}.{axis}" for axis in "xyz" for n in names] + ["%laneid", "%warpid", "%lanemask_lt"]
    body = "".join(f"mov.u32 %r0, {r}; st.global.u32 [%d+{4 * i}], %r0;\n" for i, r in enumerate(reads))
    threads = 2 * 3 * 5 * 4 * 3 * 2
    text = f"""
    .version 8.5
    .target sm_90
    .entry k(.param .u64 p)
    {{
        .reg .b64 %d, %o; .reg .b32 %r<9>;
        mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
        ld.param.u64 %d, [p]; mul.wide.u32 %o, %r1, {4 * len(reads)}; add.s64 %d, %d, %o;
        {body}
        ret;
    }}"""
    found = np.zeros((threads, len(reads)), U32)
    ptxemu.kernel(text)((2, 3, 5), (4, 3, 2), found)
    grid, block = np.indices((5, 3, 2, 2, 3, 4)).reshape(6, -1)[:3], np.indices((5, 3, 2, 2, 3, 4)).reshape(6, -1)[3:]
    for axis in range(3):
        tid, ntid, ctaid, nctaid = found[:, 4 * axis : 4 * axis + 4].T
        assert (tid == block[2 - axis]).all() and (ctaid == grid[2 - axis]).all()
        assert set(ntid) == {(4, 3, 2)[axis]} and set(nctaid) == {(2, 3, 5)[axis]}
    inside = np.arange(threads) % 24
    assert (found[:, 12] == inside % 32).all() and not found[:, 13].any()
    assert (found[:, 14] == (1 << inside % 32) - 1).all()


def test_of_all_special_registers_those_of_a_launch_have_a_value() -> None:
    def has_value(name: str, r: SpecialRegister) -> bool:
        bits, register = (64, "%d0") if r.bits == (64,) else (32, "%r0")
        read = f"mov.b{bits} {register}, {name}{'.x' * r.fields};"
        if r.bits == (1,):
            read = f"mov.pred %c0, {name}; selp.b32 %r0, 1, 0, %c0;"
        try:
            ptxemu.kernel(module(f"{read} st.global.b{bits} [%q], {register};", more=""))(
                1, 1, U32([0]), U32([0, 0]), 1
            )
        except ValueError as e:
            assert f"reads {name}" in str(e)
            return False
        return True

    assert {name for r in SPECIAL_REGISTERS for name in r.names if has_value(name, r)} == {
        "%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%nwarpid",
        "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge",
    }  # fmt: skip


def test_a_register_that_a_target_lacks_is_refused() -> None:
    text = ".version 8.0\n.target sm_80\n.entry k() { .reg .b32 %r<2>; mov.u32 %r0, %clusterid.x; ret; }"
    with pytest.raises(ptxemu.StatementError, match=r"%clusterid\.x requires sm_90, PTX 7\.8"):
        ptxemu.kernel(text)


def test_many_threads_run_in_parts() -> None:
    a = np.arange(300_000, dtype=U32)
    assert (ran("ld.global.u32 %r3, [%p]; add.u32 %r3, %r3, %i; st.global.u32 [%q], %r3;", a) == 2 * a).all()


def test_a_module_has_several_kernels_and_a_path(tmp_path: Path) -> None:
    other = ".visible .entry other() { ret; }\n.func f() { bar.sync 0; ret; }"
    path = tmp_path / "a.ptx"
    path.write_text(module("st.global.u32 [%q], 5; // } \n", more=other))
    for source in (path, str(path), path.read_text()):
        d = np.zeros(1, U32)
        ptxemu.kernel(source, "k")(1, 1, d, d, 1)
        assert d.tolist() == [5]
    for name, message in ((None, "there are 2 kernels; name one"), ("l", "there is no kernel l; the module has")):
        with pytest.raises(ValueError, match=message):
            ptxemu.kernel(path, name)
    with pytest.raises(FileNotFoundError):
        ptxemu.kernel(tmp_path / "b.ptx")
    with pytest.raises(TypeError, match="a module must be a string or a path"):
        ptxemu.kernel(5)  # type: ignore[arg-type]


TABLES = """
.const .align 4 .b8 halves[16] = {0, 0, 0, 63, 0, 0, 128, 63, 0, 0, 192, 63, 0, 0, 0, 64};
.visible .global .align 4 .f32 singles[4] = {0f3F800000, 2.5, -3.0};
.global .align 1 .b8 text[4] = {104, 255, -1};
.global .align 8 .u64 pointer = generic(singles);
.const .align 8 .u64 structure[2] = {8589934593, generic(text)};
.global .align 4 .s32 alone = -7;
.global .align 4 .b8 zeros[8];
.extern .const .align 4 .b8 elsewhere[4];
.global .u32 first, second;
.const .u32 few[2] = {1, 2, 3};
.const .u32 word[2] = {none};
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mov.u64 %d3, halves; add.s64 %d3, %d3, %d2; ld.const.u32 %r3, [%d3];", [0x3F000000, 0x3F800000, 0x3FC00000]),
        ("mov.u64 %d3, singles; add.s64 %d3, %d3, %d2; ld.u32 %r3, [%d3];", [0x3F800000, 0x40200000, 0xC0400000]),
        ("ld.global.u32 %r3, [singles+12];", [0, 0, 0]),
        ("ld.global.u16 %r3, [text+2];", [0xFF, 0xFF, 0xFF]),
        ("ld.global.u64 %d3, [pointer]; cvta.to.global.u64 %d3, %d3; ld.global.u32 %r3, [%d3+4];", [0x40200000] * 3),
        ("ld.const.u64 %d3, [structure+8]; ld.u8 %r3, [%d3];", [104] * 3),
        ("ld.const.v2.u32 {%r3, %r4}, [structure]; shl.b32 %r4, %r4, 4; or.b32 %r3, %r3, %r4;", [0x21] * 3),
        ("mov.u64 %d3, alone; cvta.global.u64 %d3, %d3; ld.u32 %r3, [%d3];", [0xFFFFFFF9] * 3),
        ("mov.u64 %d3, halves; cvta.const.u64 %d3, %d3; ld.u32 %r3, [%d3+4];", [0x3F000000 + (1 << 23)] * 3),
        ("cvta.global.u64 %d3, alone; ld.u32 %r3, [%d3];", [0xFFFFFFF9] * 3),
        ("mov.u64 %d3, halves+4; ld.const.u32 %r3, [%d3 + 4];", [0x3FC00000] * 3),
        ("ld.volatile.global.u32 %r3, [zeros+4];", [0] * 3),
    ],
)
def test_tables_of_a_module_are_read(body: str, expected: list[int]) -> None:
    d = np.zeros(3, U32)
    ptxemu.kernel(module(f"{body} st.global.u32 [%q], %r3;", more=TABLES))(1, 32, d, d, 3)
    assert d.tolist() == expected


def test_a_table_has_an_end_and_is_not_written() -> None:
    d = np.zeros(3, U32)
    outside = module("mov.u64 %d3, zeros; add.s64 %d3, %d3, %d2; ld.global.u32 %r3, [%d3];", more=TABLES)
    with pytest.raises(ptxemu.AddressError, match=r"thread \(2, 0, 0\) .*: byte 8 of zeros is out of range: it has 8"):
        ptxemu.kernel(outside)(1, 32, d, d, 3)
    with pytest.raises(ValueError, match=r"st\.global\.u32 .* writes into zeros, which is read-only"):
        ptxemu.kernel(module("st.global.u32 [zeros], %i;", more=TABLES))(1, 32, d, d, 3)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ld.const.u32 %r3, [elsewhere];", "elsewhere has its values in another module"),
        ("ld.global.u32 %r3, [first];", "the declaration of first is not supported"),
        ("ld.const.u32 %r3, [few];", "the number of elements of few does not fit its values"),
        ("ld.const.u32 %r3, [word];", "the declaration of none is not supported"),
        ("mov.u32 %r3, zeros;", "zeros is an address, which has 64 bits"),
        ("add.s64 %d3, zeros, 4;", "zeros is a variable, which cannot be read here"),
        ("mov.u64 %d3, %d2+4;", "%d2+4 is an address; add with a separate instruction"),
        ("ld.global.u32 %r3, [halves];", "halves is in const memory, which this statement does not access"),
        ("ld.u32 %r3, [halves];", "halves is in const memory, which this statement does not access"),
        ("cvta.to.global.u64 %d3, alone;", "alone is a variable register; cvta.to.global.u64 takes .b64"),
        ("ld.global.u32 %r3, [%p-4];", "write [register], [register+4] or [register+-4]"),
        (".reg .f64 %a; mov.b64 %a, %p; ld.u32 %r3, [%a];", "an address requires 64 bits that are not a float"),
        ("st.const.u32 [halves], %i;", "constant memory cannot be written"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(body: str, message: str) -> None:
    with pytest.raises(ptxemu.StatementError) as e:
        ptxemu.kernel(module(body, more=TABLES))
    (refused,) = (r for r in e.value.refused if message in r.message)
    assert refused.source.strip() in (body, *TABLES.strip().splitlines())


DEPOT = """
    .local .align 8 .b8 depot[24];
    .reg .b64 %SP, %SPL;
    mov.u64 %SPL, depot;
    cvta.local.u64 %SP, %SPL;
    st.local.v2.u32 [%SPL], {%i, 7};
    st.u32 [%SP+8], %r2;
"""


def test_each_thread_has_memory_of_its_own() -> None:
    body = "and.b32 %r3, %i, 1; shl.b32 %r3, %r3, 3; cvt.u64.u32 %d3, %r3; add.s64 %d3, %SPL, %d3;"
    i = np.arange(70_000)
    d = ran(f"{DEPOT} {body} ld.local.u32 %r4, [%d3]; st.global.u32 [%q], %r4;", i.astype(U32), block=100)
    assert (d == np.where(i % 2, i % 100, i)).all()


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ("ld.local.u32 %r3, [depot+24];", "byte 24 of depot is out of range: it has 24"),
        ("ld.local.v2.u64 {%d3, %d4}, [depot+16];", "byte 16 of depot is out of range: it has 24"),
        ("ld.local.u64 %d3, [depot+4];", "byte 4 of depot is not aligned for 8 bytes"),
        ("ld.local.u32 %r3, [depot+-4];", "is not an address in any array"),
    ],
)
def test_memory_of_a_thread_has_an_end(load: str, message: str) -> None:
    with pytest.raises(ptxemu.AddressError, match=rf"thread \(0, 0, 0\) .*{re.escape(message)}"):
        ran(f"{DEPOT} {load}", U32([1, 2]))


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        (".local .b8 depot[8]; .local .b8 depot[8];", "depot is declared twice"),
        (".local .b8 depot[n];", "depot requires a size"),
        (".local .b8 depot[1000000];", "a thread has up to 524288 bytes"),
        (".local .v4 .b32 depot;", "this declaration is not supported"),
    ],
)
def test_memory_of_a_thread_is_declared_plainly(declaration: str, message: str) -> None:
    with pytest.raises(ptxemu.StatementError, match=message):
        ptxemu.kernel(module(declaration))


# What is wrong


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("LOOP: add.u32 %r3, %i, 1; bra LOOP;", "loops are not supported"),
        ("bar.sync 0;", "threads do not wait for each other here"),
        (".shared .b32 s[4];", ".shared is not supported"),
        ("ld.shared.u32 %r3, [%p];", "shared memory is not supported"),
        ("discard.global.L2 [%p], 128;", "only ld and st access memory here"),
        ("@%x prefetch.global.L1 [%p];", "%x"),
        ("call f, ();", "calls of functions are not supported"),
        ("atom.global.add.u32 %r3, [%p], 1;", "only ld and st access memory here"),
        ("ld.global.u32 %r3, [table];", "table is neither a register"),
        ("ld.global.u32 %r3, [%r0];", "an address requires 64 bits"),
        ("ld.global.u64 %r3, [%p];", "%r3 is a .b32 register; ld.global.u64 takes .b64"),
        ("ld.global.v2.u32 %r3, [%p];", "fills 2 registers, not 1"),
        ("st.global.v4.u32 [%p], {%r0, %r1};", "takes 4 registers, not 2"),
        ("ld.param.u32 %r3, [m];", "m is not a parameter"),
        ("ld.param.u64 %d3, [n];", "n has 4 bytes"),
        ("st.global.u32 [%q], %r5;", "r5 is read before it is written"),
        ("@%c1 st.global.u32 [%q], 1;", "c1 is read before it is written"),
        ("mov.u32 %x, 1;", "%x"),
        ("add.f32 %f0, %f1;", "add.f32"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_runs(body: str, message: str) -> None:
    with pytest.raises(ptxemu.StatementError) as e:
        ptxemu.kernel(module(body))
    (refused, *_) = e.value.refused
    assert message in refused.message and refused.source.strip() == body, refused


def test_an_address_outside_is_told_with_its_thread() -> None:
    kernel = ptxemu.kernel(module("ld.global.u32 %r3, [%p];\nst.global.v2.u32 [%q], {%r3, %r3};"))
    a, d = np.zeros(70, U32), np.zeros(80, U32)
    with pytest.raises(
        ptxemu.AddressError, match=r"28: st.global.v2.u32 .*: thread \(1, 0, 0\) of block \(0, 0, 0\): "
    ):
        kernel(3, 32, a, d, 70)
    with pytest.raises(
        ptxemu.AddressError, match=r"27: ld.global.u32 .*: thread \(6, 0, 0\) of block \(2, 0, 0\): byte 280 of p"
    ):
        kernel(3, 32, a, d, 80)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 1, U32([1]), U32([1]), 1), ValueError, "a grid must have at least 1"),
        ((1, 1025, U32([1]), U32([1]), 1), ValueError, "a block must have at least 1"),
        ((1, (32, 33), U32([1]), U32([1]), 1), ValueError, "at most 1024 threads, not 1056"),
        ((1.5, 1, U32([1]), U32([1]), 1), TypeError, "a grid must be a number or up to three"),
        ((1, 1, U32([1]), U32([1])), ptxemu.OperandError, "k takes 3 arguments, not 2"),
        (
            (1, 1, U32([1]), U32([1]), 1.5),
            ptxemu.OperandError,
            "n is a .u32 parameter of 4 bytes, which cannot be a float",
        ),
        ((1, 1, U32([1]), U32([1]), 1 << 32), ptxemu.OperandError, "for which 4294967296 is out of range"),
        ((1, 1, U32([1]), U32([1]), np.uint64(1)), ptxemu.OperandError, "but 8 were given"),
        ((1, 1, U32([1, 2, 3])[::2], U32([1]), 1), ValueError, "np.ascontiguousarray copies it"),
    ],
)
def test_arguments_must_fit(arguments: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ptxemu.kernel(module("st.global.u32 [%q], 1;"))(*arguments)


def test_a_kernel_writes_into_no_array_that_is_read_only() -> None:
    d = U32([1])
    d.flags.writeable = False
    with pytest.raises(ValueError, match="which is read-only"):
        ptxemu.kernel(module("st.global.u32 [%q], 1;"))(1, 1, U32([1]), d, 1)


def test_a_register_that_holds_no_value_here_is_told() -> None:
    kernel = ptxemu.kernel(module("mov.u32 %r3, %smid; st.global.u32 [%q], %r3;"))
    with pytest.raises(ValueError, match="k reads %smid, which has no value here"):
        kernel(1, 1, U32([1]), U32([1]), 1)
