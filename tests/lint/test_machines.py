"""Assembly of other machines in programs: nothing is said of it. Where something says that it is PTX, what is wrong
with it is told."""

from __future__ import annotations

import pytest
from ptxspec import Database

OTHERS = {
    "RISC-V": [
        "fcvt.ps.f16 f15, f15", "fcvt.ps.f16 %0, %1", "fcvt.ps.f16 %0, %1;", "fcvt.f16.ps %0, %1\\n",
        "fadd.d fa0, fa1, fa2", "fadd.s %0, %1, %2", "fmin.d %0, %1, %2", "fcvt.w.s %0, %1", "fcvt.s.w %0, %1",
        "flw f15, 0(a0)\\n\\tfcvt.ps.f16 f15, f15\\n\\tfsw f15, 0(a1)", "fadd.f16 f1, f2, f3; fcvt.ps.f16 f4, f1;",
        "fadd.pi.f32 f0, f1, f2",
    ],
    "ARM": [
        "fadd.f16 v0, v1, v2", "fmul.f32 v0, v1, v2", "fmul v0.4s, v1.4s, v2.4s", "vadd.f32 q0, q1, q2",
        "vcvt.f32.s32 s0, s0", "vmul.f32 %q0, %q1, %q2", "fabs.f32 v0, v1", "fsqrt.f32 v0, v1", "fmax.f16 h0, h1, h2;",
        "add.w r0, r1, r2", "fmadd.f32 s0, s1, s2, s3", "fsub.f64 d0, d1, d2 ; fdiv.f64 d0, d0, d3",
        "fadds s0, s1, s2",
    ],
    "x86": [
        "addss %xmm0, %xmm1", "addss %%xmm0, %%xmm1", "movl %0, %1", "cvtsi2ss %0, %1",
        "vfmadd213ps %zmm0, %zmm1, %zmm2",
    ],
    "PowerPC": ["fadd. %0, %1, %2", "fmadds 1, 2, 3, 4", "add. 3, 4, 5", "xvadddp %x0, %x1, %x2"],
    "MIPS": ["abs.s $f0, $f1", "add.s $f0, $f1, $f2", "neg.d $f0, $f2", "mul.ps $f0, $f2, $f4", "cvt.s.w $f0, $f1"],
    "Hexagon": ["%0 = sfadd(%1, %2)", "r0 = add(r1, r2)", "v0.qf32 = vadd(v1.sf, v2.sf)"],
    "LoongArch": [
        "fadd.s $f0, $f1, $f2", "fadd.d %0, %1, %2", "fcvt.s.d $f0, $f1", "ftint.w.s $f0, $f1",
        "xvfadd.s $xr0, $xr1, $xr2",
    ],
    "WebAssembly": ["f32.add", "local.get 0\\nlocal.get 1\\nf32.add\\n", "i32.const 1", "f32.convert_i32_s"],
    "AMD": ["v_add_f32 v0, v1, v2", "v_cvt_f32_f16 %0, %1", "s_mov_b32 s0, 1"],
    "others": ["mov.s32 r0, r1", "max.f32 f0, f1, f2", "sqrt.f32 s0, s1", "add.u32 r0, r1, r2", "fdiv.f64 f0, f1, f2"],
}  # fmt: skip
EVERY = [pytest.param(s, id=f"{machine}: {s}") for machine, some in OTHERS.items() for s in some]


@pytest.mark.sampled(15)
@pytest.mark.parametrize("statement", EVERY)
def test_nothing_is_said_of_another_machines_assembly(db: Database, statement: str) -> None:
    operands = [
        "",
        ' : "=f"(d) : "f"(a), "f"(b), "f"(c)',
        ' : "=w"(d) : "w"(a), "w"(b), "w"(c)',
        ' : "=r"(d) : "r"(a), "r"(b), "r"(c) : "memory"',
    ]
    for o in operands:
        for program in (
            f'asm("{statement}"{o});',
            f'static inline float f(float a) {{ __asm__ volatile ("{statement}"{o}); }}',
        ):
            for name in ("a.c", "a.cpp", "a.h", "a.hpp", "a.inc"):
                assert db.lint(program, language="c++", file=name) == []
    assert db.lint(f'unsafe {{ asm!("{statement}", options(nostack)); }}', language="rust") == []
    assert db.lint(f'#[cfg(target_arch = "riscv64")]\nglobal_asm!("{statement}");', language="rust") == []
    assert db.lint(f'call void asm sideeffect "{statement}", ""()', language="mlir") == []
    escaped = statement.replace("$", "\\$")
    assert (
        db.lint(f'Base.llvmcall("""call void asm sideeffect "{escaped}", ""()""", Cvoid, Tuple{{}})', language="julia")
        == []
    )


@pytest.mark.parametrize(
    "statement", ["fcvt.ps.f16 f15, f15;", "fmul.f32 v0, v1, v2;", "v_add_f32 v0, v1, v2;", "vadd.f32 s0, s1, s2;"]
)
def test_nothing_is_said_of_it_beside_cuda_either(db: Database, statement: str) -> None:
    """A program may have a path for another machine beside that for CUDA. Its registers are bare names."""
    program = f'#include <cuda_runtime.h>\nvoid f() {{ asm volatile("{statement}"); }}'
    assert db.lint(program, language="c++", file="a.cpp") == []


@pytest.mark.parametrize(
    "program",
    [
        # Constraints that are those of the types
        'asm("fadd.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));',
        'asm("fadd.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));',
        'asm("addd.bf16 %0, %1, %2;" : "=h"(d) : "h"(a), "h"(b));',
        # Another statement
        'asm("mul.f32 %0, %1, %2; fadd.f32 %0, %1, %2;" ARGUMENTS);',
        'asm("{ .reg .f32 t; fadd.f32 t, %1, %2; }" ARGUMENTS);',
        'asm("ld.global.f32 %0, [%1]; fadd.f32 %0, %0, %2;" ARGUMENTS);',
        'asm("fadd.f32 %0, %1, %2\\n mul.f32 %0, %1, %2;" ARGUMENTS);',
        # The program
        '#if __CUDA_ARCH__ >= 800\nasm("fadd.f32 %0, %1, %2;" ARGUMENTS);\n#endif',
        '__device__ float f(float a) { asm("fadd.f32 %0, %1, %2;" ARGUMENTS); }',
        '#include <cuda_fp16.h>\n#define ADD asm("fadd.f32 %0, %1, %2;" ARGUMENTS)',
        'R"(.version 8.0\n.target sm_80\n.entry k() { fadd.f32 %f0, %f1, %f2; })"',
    ],
)
def test_what_is_misspelt_is_told_where_something_says_that_it_is_ptx(db: Database, program: str) -> None:
    for name in ("a.cpp", "a.h", "a.cuh"):
        (found, *_) = [f for f in db.lint(program, language="c++", file=name) if f.code == "unknown-opcode"]
        assert found.help.startswith("did you mean 'add'?")


def test_files_of_cuda_have_no_other_assembly(db: Database) -> None:
    program = 'asm("fadd.f32 a, b, c");'
    assert db.lint(program, language="c++", file="a.h") == []
    assert [f.code for f in db.lint(program, language="c++", file="a.cu")] == ["unknown-opcode"]


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("c++", 'asm("add.foo.f32 a, b, c;");'),
        ("c++", 'asm("add.foo.f32 %0, %1, %2");'),
        ("c++", 'asm("add.foo.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));'),
        ("c++", 'asm("add.fp32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));'),
        ("rust", 'asm!("add.foo.f32 {0}, {1}, {2};");'),
        ("rust", 'asm!("fadd.f32 {0}, {1}, {2};", out(reg32) d, in(reg32) a, in(reg32) b);'),
        ("python", 'tl.inline_asm_elementwise("fadd.f32 $0, $1, $2;", "=f,f,f", [a])'),
        ("python", 'tl.inline_asm_elementwise(asm="fadd.f32 $0, $1, $2;", constraints=c, args=[a])'),
        ("mlir", '%0 = llvm.inline_asm "fadd.f32 $0, $1, $2;", "=f,f,f" %a, %b'),
        ("mlir", '%0 = nvvm.inline_ptx "fadd.f32 {$w0}, {$r0}, {$r1};" ro(%a, %b : f32, f32) -> f32'),
        ("julia", '@asmcall("fadd.f32 \\$0, \\$1, \\$2;", "=f,f,f", Float32, Tuple{Float32,Float32}, x, y)'),
    ],
)
def test_errors_in_ptx_are_told_in_every_language(db: Database, language: str, program: str) -> None:
    assert db.lint(program, language=language) != []


@pytest.mark.parametrize("statement", ["fadd.f16 v0, v1, v2", "fmul.f32 v0, v1, v2", "fcvt.ps.f16 %0, %1"])
def test_a_header_for_several_machines_may_have_the_assembly_of_each(db: Database, statement: str) -> None:
    program = f"""
    #if defined(__CUDA_ARCH__)
    asm("add.foo.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    #else
    asm("{statement}" : "=f"(d) : "f"(a));
    #endif
    """
    assert [(f.line, f.code) for f in db.lint(program, language="c++", file="a.h")] == [(3, "unknown-modifier")]
