"""ptxspec.functions: the inline assembly of a program, run on arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import ptxemu
import ptxspec
import pytest

KERNEL = """\
// asm("add.f32 %0, %1, %1;" : "=f"(d) : "f"(a)); is no statement here.
__device__ int least(int a, int b) {
    int d;
    asm volatile("{\\n\\t"
        ".reg .pred p;\\n\\t"
        "setp.lt.s32 p, %1, %2;\\n\\t"
        "selp.s32 %0, %1, %2, p;\\n\\t"
        "}" : "=r"(d) : "r"(a), "r"(b));
    return d;
}
#define LOAD(d, p) asm("ld.global.u32 %0, [%1];" \\
                       : "=r"(d) : "l"(p))
__device__ float two(float a) {
    asm("mul.f32 %0, %0, 0f40000000;\\n"
        "add.u32 %0, %0;" : "+f"(a));
    asm(CODE "add.f32 %0, %0, %0;" : "+f"(a));
    return a;
}
"""


@pytest.fixture
def blocks(tmp_path: Path) -> list[ptxspec.Block]:
    (tmp_path / "kernel.cu").write_text(KERNEL)
    return ptxspec.functions(tmp_path / "kernel.cu")


def test_each_block_stands_in_its_place(blocks: list[ptxspec.Block]) -> None:
    assert [(b.line, b.column) for b in blocks] == [(4, 5), (11, 20), (14, 5), (16, 5)]


def test_a_block_is_a_function_of_arrays(blocks: list[ptxspec.Block]) -> None:
    least = blocks[0].function
    assert least is not None and not blocks[0].lacks
    assert (least.inputs, least.results) == (("a", "b"), ("d",))
    assert least(np.int32([-3, 5]), np.int32(2)).tolist() == [-3, 2]


def test_what_a_block_lacks_is_told_where_it_stands_in_the_file(blocks: list[ptxspec.Block]) -> None:
    (load,), (operands,), (filled,) = (b.lacks for b in blocks[1:])
    assert (load.line, load.column) == (11, 25) and "there is no memory here" in load.message
    assert (operands.line, operands.column) == (15, 10) and operands.message.startswith("add.u32")
    assert (filled.line, filled.column, filled.message) == (16, 9, "what the program fills in here is not known")
    assert all(b.function is None for b in blocks[1:])


def test_a_target_is_that_of_all_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text('void f() { asm("add.bf16 %0, %1, %1;" : "=h"(d) : "h"(a)); }\n')
    (block,) = ptxspec.functions(tmp_path / "a.cu", "H100")
    assert block.function is not None and block.function.target == "sm_90"
    (block,) = ptxspec.functions(tmp_path / "a.cu", "sm_80")
    assert block.function is None and "sm_80 is older" in block.lacks[0].message
    with pytest.raises(ptxemu.UnknownTargetError, match="unknown target 'sm_91'"):
        ptxspec.functions(tmp_path / "a.cu", "sm_91")


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("a.py", 'x = tl.inline_asm_elementwise("max.s32 $0, $1, $2;", "=r,r,r", [a, b], dtype=tl.int32)\n'),
        ("a.py", 'x = tl.inline_asm_elementwise(asm="""\n  max.s32 $0, $1, $2;\n""", constraints="=r,r,r")\n'),
        ("a.jl", 'f(a, b) = @asmcall("max.s32 \\$0, \\$1, \\$2;", "=r,r,r", Int32, Tuple{Int32, Int32}, a, b)\n'),
        ("a.ll", '%3 = call i32 asm "max.s32 $0, $1, $2;", "=r,r,r"(i32 %1, i32 %2)\n'),
        ("a.mlir", '%0 = llvm.inline_asm "max.s32 $0, $1, $2;", "=r,r,r" %a, %b : (i32, i32) -> i32\n'),
    ],
)
def test_programs_are_of_several_languages(tmp_path: Path, name: str, program: str) -> None:
    (tmp_path / name).write_text(program)
    (block,) = ptxspec.functions(tmp_path / name)
    assert block.function is not None, block
    assert block.function(np.int32(-3), np.int32(2)) == 2


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    for name, message in (
        ("a.txt", "inline assembly is read from files with these suffixes"),
        ("a.cu", "No such file"),
    ):
        with pytest.raises(ptxspec.PtxspecError, match=message):
            ptxspec.functions(tmp_path / name)


SHARED = """\
__device__ unsigned reduced(unsigned a, unsigned m) {
    asm("{");
    asm(".reg.pred %least; .reg .b32 t;");
    asm("setp.lt.u32 %least, %0, %1;" :: "r"(a), "r"(m));
    asm("sub.u32 t, %0, %1;" :: "r"(a), "r"(m));
    asm("@!%least mov.b32 %0, t;" : "+r"(a));
    asm("}");
    asm("@%least mov.b32 %0, %1;" : "+r"(a) : "r"(m));
    return a;
}
"""


def test_statements_share_what_one_declares_in_braces_that_it_leaves_open(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text(SHARED)
    _, _, compared, less, moved, _, behind = ptxspec.functions(tmp_path / "kernel.cu")
    assert compared.function and less.function and moved.function
    assert (compared.function.inputs, compared.function.results) == (("a", "m"), ("least",))
    assert (less.function.inputs, less.function.results) == (("a", "m"), ("t",))
    assert (moved.function.inputs, moved.function.results) == (("a", "least", "t"), ("a",))
    a, m = np.uint32([3, 9, 7]), np.uint32(7)
    assert moved.function(a, compared.function(a, m), less.function(a, m)).tolist() == [3, 2, 0]
    assert [x.message for x in behind.lacks] == ["%least is neither an operand nor declared; declare it with .reg"]


RUST = """\
unsafe fn f(a: u32, b: u32, mut c: f32) {
    asm!("add.u32 {d}, {a}, {b};", d = out(reg32) d, a = in(reg32) a, b = in(reg32) b);
    asm!("{{", ".reg .pred p;", "setp.ne.u32 p, {1}, 0;", "selp.u32 {0}, 1, 2, p;", "}}",
         lateout(reg32) d, in(reg32) a, options(pure, nomem));
    asm!("fma.rn.f32 {0}, {0}, {1}, {y};", inout(reg32) c, in(reg32) b, y = in(reg32) b);
    asm!("mul.wide.u32 {w}, {a}, {k};", k = const 7, w = out(reg64) w, a = in(reg32) a);
    asm!("bogus.u32 {d}, {a};", d = out(reg32) d, a = in(reg32) a);
}
"""


def test_operands_of_rust_are_numbered_as_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text(RUST)
    found = ptxspec.functions(tmp_path / "a.rs")
    add, choose, fused, wide, wrong = (b.function for b in found)
    assert add and choose and fused and wide and wrong is None
    assert (add.inputs, add.results) == (("_1", "_2"), ("_0",)) and add(np.uint32(3), np.uint32(4)) == 7
    assert choose(np.uint32([0, 5])).tolist() == [2, 1]
    assert fused.inputs == ("_0", "_1", "_2") and fused(np.float32(3), np.float32(4), np.float32(5)) == 17
    assert (wide.inputs, wide.results) == (("_2", "_0"), ("_1",)) and wide(np.uint32(2**31), np.uint32(7)) == 7 << 31
    assert [(x.line, x.column) for x in found[-1].lacks] == [(7, 11)]
