"""`ptxspec lint` on the constraints of inline assembly: they are types, as what nvcc makes of them has."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.judged_lines import lines_in_error, lines_refused, typical
from oracles.nvcc import compiled
from ptxspec import Database
from ptxspec.lint.linter import Linter
from ptxspec.proving.ptxas.asking import find_ptxas

pytestmark = pytest.mark.inputs(
    "requirements",
    "spec/assembler.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/ptx",
    "codegen/ptxspec/query",
    "codegen/ptxspec/proving/ptxas",
)

LETTERS = {"h": "unsigned short", "r": "unsigned", "l": "unsigned long long", "f": "float", "d": "double"}


def compilers() -> list[str]:
    found = find_ptxas()
    beside = [found.with_name("nvcc")] if found else []
    on_path = shutil.which("nvcc")
    both = [str(p) for p in beside if p.exists()] + ([on_path] if on_path else [])
    return both if shutil.which("g++") else []


@pytest.mark.exhaustive
@pytest.mark.sampled(1)
@pytest.mark.parametrize("nvcc", compilers() or [""])
def test_constraints_are_judged_as_ptxas_judges_what_nvcc_makes_of_them(
    db: Database, ptxas: Path, tmp_path: Path, nvcc: str
) -> None:
    if not nvcc:
        pytest.skip("no nvcc, or no host compiler for it")
    statements = []
    for v in typical(db, ("sm_100", "8.6")):
        right = [_letter(db, t) for t in (v.result, *(s.type for s in v.sources for _ in range(s.registers)))]
        if "" in right or any(s.braced for s in v.sources):
            continue
        for place, letter in itertools.product(range(1 + v.operands), LETTERS):
            letters = [letter if i == place else right[i] for i in range(1 + v.operands)]
            out, *sources = (f'"{"=" if i == 0 else ""}{c}"(v{c})' for i, c in enumerate(letters))
            numbers = ", ".join(f"%{i}" for i in range(1 + v.operands))
            statements.append(f'asm volatile("{v.spelling} {numbers};" : {out} : {", ".join(sources)});')
    assert len(statements) > 200
    variables = "".join(f"{t} v{c} = *({t}*)p;" for c, t in LETTERS.items())
    source = tmp_path / "a.cu"
    source.write_text(f"__global__ void k(void* p) {{ {variables}\n" + "\n".join(statements) + "\n}\n")
    module = tmp_path / "a.ptx"
    # It asks its own ptxas, and so fails, but writes the file.
    subprocess.run([nvcc, "-ptx", "-arch=sm_100", str(source), "-o", str(module)], check=False, capture_output=True)
    lines = module.read_text().splitlines()
    starts = [i + 2 for i, line in enumerate(lines) if "begin inline asm" in line]
    assert len(starts) == len(statements)
    refused = lines_refused(ptxas, module, module.read_text())
    expected = {i + 2 for i, line in enumerate(starts) if line in refused}
    assert len(expected) > 100
    assert lines_in_error(db, source.read_text(), "c++") == expected
    assert lines_in_error(db, module.read_text()) == refused


def _letter(db: Database, type_: str) -> str:
    """A constraint for operands of a type; none of predicates and of 8 bits."""
    taken = db.data["assembler"]["registers"][type_]
    return next((c for c, r in (("h", "b16"), ("r", "b32"), ("l", "b64")) if r in taken), "")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('asm("add.f32 %0,%1,%2;" : "=d"(x) : "f"(a), "f"(b));', ["illegal-register"]),
        ('asm("add.f32 %0,%1,%2;" : "=f"(x) : "f"(a), "f"(b));', []),
        ('asm("add.f32 %0,%1,%2;" : "=r"(x) : "f"(a), "r"(b));', []),
        ('asm("add.f32 %0,%0,%1;" : "+f"(x) : "d"(a));', ["illegal-register"]),
        ('asm("add.f32 %0,%0,%1;" : "+d"(x) : "f"(a));', ["illegal-register", "illegal-register"]),
        ('asm("add.f32 %0,%1,%2;" : "=&f"(x) : "0"(a), "f"(b));', []),
        ('asm("add.f32 %0,%1,%2;" : "=d"(x) : "0"(a), "f"(b));', ["illegal-register", "illegal-register"]),
        ('asm("add.f32 %0,%1,%2;" : "=f"(x) : "f"(a), "n"(3));', ["illegal-immediate"]),
        ('asm volatile("add.f32 %0,%1,%2;" : [out] "=f"(x[f(")", \')\')]) : "f"(a) /* ) */, "l"(b) : "memory");',
         ["illegal-register"]),
        ('asm("{ .reg .f64 t; add.f64 t,%0,%0; add.f32 t,%1,%1; }" :: "d"(a), "f"(b));', ["illegal-register"]),
        ('asm("{ .reg .f64 %%t; add.f64 %%t,%0,%0; add.f32 %%t,%1,%1; }" :: "d"(a), "f"(b));', ["illegal-register"]),
        ('asm("{ .reg .pred p; testp.finite.f32 p,%1; testp.finite.f32 %0,%1; }" : "=f"(a) : "f"(b));',
         ["illegal-register"]),
        ('asm("add.f32 %0,%%laneid,%1;" : "=f"(x) : "f"(a));', ["illegal-operand"]),
        ('asm("add.f32 %0,%1,%2;" : "=f"(x) : "f"(a));', ["undeclared-register"]),
        ('asm("add.f32 %0,%1,%7;" : "=f"(x) : "f"(a));', ["undeclared-register"]),
        # nvcc pastes the digits.
        *((f'asm("mov.b32 %0,{e};" : "=r"(x) : "r"(a), "n"(3), "i"(4));', []) for e in (
            "%2*4", "(%2)", "~%2", "%2+%3", "32-%2", "0x%2", "-%3", "-(%2+1)", "8/(%2-1)", "%1+%2*4", "WARP_SZ-%2")),
        ('asm("mov.b32 %0,%1*4;" : "=r"(x) : "r"(a), "n"(3));', ["syntax"]),
        ('asm("mov.b32 %0,%1+%1;" : "=r"(x) : "r"(a), "n"(3));', ["syntax"]),
        ('asm("mov.b32 %0,%7*4;" : "=r"(x) : "r"(a), "n"(3));', ["undeclared-register"]),
        ('asm("mov.b32 %0,%2*4;" : "=r"(x) : IN(a));', []),
        ('asm("add.f32 %0,%1,%2.x;" : "=f"(x) : "f"(a), "f"(b));', ["illegal-operand"]),
        ('asm("sub.s32 %0,%1,%2.b0;" : "=r"(x) : "r"(a), "r"(b));', ["illegal-operand"]),
        ('asm("add.f32 %0,%1,%2.5;" : "=f"(x) : "f"(a), "n"(1));', []),
        # Not known: macros, other names, what is read and written besides, operands where there are none.
        ('asm("add.f32 %0,%1,%2;" : OUT(x) : "d"(a), "d"(b));', []),
        ('asm("add.f32 %0,%1,%2;" : "=f"(x) : "f"(a), IN(b));', []),
        ('asm("add.f32 %0,%1,%2;" : "=" F (x) : "d"(a), "d"(b));', []),
        ('asm("add.f32 %0,%1,%2;" ARGUMENTS);', []),
        ('asm("add.f32 %0,%1,t;" : "=f"(x) : "f"(a));', []),
        ('asm("add.f32 %0,%1,%2;" : "+f"(x) : "f"(a));', []),
        ('asm("add.f32 %0,%1,%2;");', []),
        ('asm("add.f32 %0,%1,%2;" : "=rm"(x) : "X"(a), "f"(b));', []),
        ('asm("add.f32 %0,%1,%2;" : "=d"(x) : "d"(a), "d"(b)', []),
    ],
)  # fmt: skip
def test_the_constraints_of_inline_assembly_are_types(db: Database, text: str, codes: list[str]) -> None:
    assert [f.code for f in Linter(db).lint(text, "f", "c++")] == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('tl.inline_asm_elementwise("add.f32 $0, $1, $2;", "=f,f,f", [a])', []),
        ('tl.inline_asm_elementwise("add.f32 $0, $1, $2;", "=f,f,d", [a])', ["illegal-register"]),
        ('tl.inline_asm_elementwise(asm="add.f16x2 $0, $1, $2;",\n   constraints="=r,r,l,~{memory}")',
         ["illegal-register"]),
        ('tl.inline_asm_elementwise("add.f32 $0, $1, $2;", constraints=c)', []),
        ('tl.inline_asm_elementwise("mov.b32 $0, ($1);", "=r,n", [a])', []),
        ('tl.inline_asm_elementwise("mov.b32 $0, ($1);", "=r,r", [a])', ["syntax"]),
        ('tl.inline_asm_elementwise("add.f32 $0, $1, $2;", ("=f,f"), [a])', []),
        ('f("add.f32 $0, $1, $2;", "some text")', []),
        ('["add.f32 $0, $1, $2;", "d", "d"]', []),
        ('f"{{ {declarations} add.f32 t, $1, $2; }}"', []),
        ('m = f".version 8.0\\n.target sm_80\\n.entry k() {{ {decl} add.f32 a, b, c; }}"', []),
        ('m = ".version 8.0\\n.target sm_80\\n.entry k() { .reg .f64 a; add.f32 a, a, c; }"',
         ["illegal-register", "illegal-register", "undeclared-register"]),
    ],
)  # fmt: skip
def test_the_constraints_of_triton_are_types(db: Database, text: str, codes: list[str]) -> None:
    assert [f.code for f in Linter(db).lint(text, "f", "python")] == codes


@pytest.mark.parametrize(
    ("language", "text", "messages"),
    [
        ("mlir", 'llvm.inline_asm "@$0 add.f32 %f1, %f1, %f1;", "b" %b : (i1) -> !llvm.void', []),
        ("mlir", 'llvm.inline_asm "@$1 add.f32 $0, $2, $2;", "=f,b,0" %b, %a : (i1, f32) -> f32', []),
        ("mlir", 'llvm.inline_asm "setp.lt.f32 $0, $1, $1;", "=b,f" %a : (f32) -> i1', []),
        ("mlir", 'llvm.inline_asm "@$1 add.f32 $0, $2, $2;", "=f,r,0" %b, %a : (i32, f32) -> f32',
         ["$1 is not a predicate"]),
        ("mlir", 'llvm.inline_asm "add.f32 $0, $1, $2;", "=f,f,b" %a, %b : (f32, i1) -> f32',
         ["$2 is a .pred register; add.f32 takes .f32 or .b32 here"]),
        ("mlir", '%c = call float asm "@$1 add.f32 $0, $2, $2;", "=f,b,0"(i1 %b, float %a)', []),
        ("python", 'llvm.inline_asm(T.f32(), [b, a], "@$1 add.f32 $0, $2, $2;", "=f,b,0")', []),
        ("julia", '@asmcall("@\\$1 add.f32 \\$0, \\$2, \\$2;", "=f,b,0", Float32, Tuple{Bool, Float32}, p, a)', []),
    ],
)  # fmt: skip
def test_llvm_has_a_constraint_for_predicates(db: Database, language: str, text: str, messages: list[str]) -> None:
    """LLVM's manual lists b among the constraints of NVPTX: a register of one bit."""
    assert [f.message for f in Linter(db).lint(text, "f", language)] == messages


OF_BOOL = """\
__global__ void k(bool *p, float *f, unsigned *u) {
  bool b = p[0]; float x = f[0]; unsigned r = u[0];
  asm volatile("setp.lt.f32 %0, %1, %1;" : "=b"(b) : "f"(x));
  asm volatile("selp.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(f[1]), "b"(b));
  asm volatile("@!%1 add.f32 %0, %0, %0;" : "+f"(x) : "b"(b));
  asm volatile("mov.pred %0, %1;" : "=b"(b) : "b"(p[1]));
  asm volatile("@%1 mov.b32 %0, %2;" : "+r"(r) : "b"(b), "b"(p[1]));
  asm volatile("mov.b32 %0, %1;" : "=b"(b) : "r"(r));
  asm volatile("add.f32 %0, %0, %1;" : "+f"(x) : "b"(b));
  p[0] = b; f[0] = x; u[0] = r;
}
"""


def test_nvcc_takes_that_constraint_for_a_bool(db: Database, ptxas: Path, nvcc: Path, tmp_path: Path) -> None:
    module = compiled(nvcc, tmp_path, OF_BOOL, "sm_80").splitlines()
    asm = [line for line, text in enumerate(OF_BOOL.splitlines(), 1) if "asm" in text]
    made = [i + 1 for i, text in enumerate(module, 1) if "begin inline asm" in text]
    refused = lines_refused(ptxas, tmp_path / "a.ptx", "\n".join(module))
    expected = {line for line, i in zip(asm, made, strict=True) if i in refused}
    assert lines_in_error(db, OF_BOOL, "c++") == expected
    assert len(expected) == 3


SCALED = "{ cvt.rs.satfinite.e4m3x4.f32 %0, {%1, %2, %3, @; }"


@pytest.mark.parametrize(
    ("text", "constraints", "helps"),
    [
        # A scale of 64 bits stands among the sources, or where the random bits do, which are the operand behind it.
        (SCALED.replace("@", "%4}, %5"), "=r f f f l r", [""]),
        (SCALED.replace("@", "%4}, %5"), "=r f f f f l r", [""]),
        (SCALED.replace("@", "%4}, %5"), "=r f f f f l", [""]),
        (SCALED.replace("@", "%1}, %4"), "=r f f f l r", [""]),
        (SCALED.replace("@", "%4}, %4"), "=r f f f l r", ["", ""]),
        (SCALED.replace("@", "%4}, %5"), "=r f f f f d", [""]),
        (SCALED.replace("@", "%3}, %4"), "=r f f f d", [""]),
        # A float for one, and bits for the other
        (SCALED.replace("@", "%4}, %4"), "=r f f f d", ["", ""]),
        ("cvt.rs.f16x2.f32 %0, %1, %2, %3;", "=r f f d", [""]),
        # Another operand fits, and is not used: it may be what was meant.
        ("add.f64 %0, %1, %2;", "=d f d d", [""]),
        ("add.f64 %0, %1, %2;", "=d f d f", ['write "d"']),
        ("add.f64 %0, %1, %2;", "=d f d r", ['write "d"']),
        ("add.f32 %0, %1, %2;", "=f d f r", [""]),
        # So does what stands in another's place.
        ("add.f32.f16 %0, %1, %2;", "=f d d", ['write "h"', 'write "f"']),
        ("slct.f64.s32 %0, %1, %2, %3;", "=d d f d", ["", ""]),
        # Another statement takes it as it is.
        ("mul.f32 %0, %1, %1; add.f64 %2, %2, %1;", "=f f +d", [""]),
        ("add.f64 %0, %1, %1;", "=d f", ['write "d"', 'write "d"']),
        # Either of two constraints would do, and what is no number may be anything.
        ("and.b32 %0, %1, %2;", "=r r d", [""]),
        ("add.f64 %0, %1, %2;", "=d r d", [""]),
        ("add.rn.bf16 %0, %1, %2;", "=h r h", [""]),
    ],
)
def test_a_constraint_is_told_where_no_other_mend_is_possible(
    db: Database, text: str, constraints: str, helps: list[str]
) -> None:
    """Every operand with a wrong constraint is reported, whether or not another constraint is proposed."""
    letters = constraints.split()
    results = [c for c in letters if c[0] in "=+"]
    sources = [c for c in letters if c[0] not in "=+"]
    listed = " : ".join(", ".join(f'"{c}"(v)' for c in some) for some in (results, sources))
    if "+d" in letters:  # results come first
        text = text.replace("%1", "%x").replace("%2", "%1").replace("%x", "%2")
    found = list(Linter(db).lint(f'asm("{text}" : {listed});', "a.cu", "c++"))
    assert [(f.code, f.help) for f in found if f.code != "hazard"] == [("illegal-register", h) for h in helps]
    assert all(" has the constraint " in f.message and " takes ." in f.message for f in found)


def test_no_constraint_is_told_where_the_list_of_operands_is_too_short(db: Database) -> None:
    """The scale of 64 bits is the fourth operand, and what is missing may stand before it or behind it."""
    for letter in "ld":
        operands = f'"=r"(d) : "f"(a), "f"(b), "f"(c), "{letter}"(scale)'
        text = f'asm("{SCALED.replace("@", "%4}, %5")}" : {operands});'
        found = list(Linter(db).lint(text, "a.cu", "c++"))
        assert [f.code for f in found] == ["illegal-register", "undeclared-register"]
        assert found[0].help == "" and "write" not in found[1].help
