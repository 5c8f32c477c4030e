"""PTX in programs: in what nvcc writes, in the inline assembly of C++, and in strings of Python."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from helpers.kernels import OF_FORMS, OF_INSTRUCTIONS
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.lint.linter import Linter
from ptxspec.ptx.complaints import ERROR

pytestmark = pytest.mark.inputs(
    "requirements",
    "spec/assembler.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/ptx",
    "codegen/ptxspec/query",
    "codegen/ptxspec/proving/ptxas",
)


# What compilers write


@pytest.mark.sampled(0)
@each_size
@pytest.mark.parametrize("architecture", [80, 90, 120])
def test_what_nvcc_writes_has_no_errors(
    db: Database, nvcc: Path, tmp_path: Path, architecture: int, whole: bool
) -> None:
    instructions = 0
    sources = OF_INSTRUCTIONS[:: 1 if architecture == 120 else 6]
    for source in sources if whole else [p for p in OF_INSTRUCTIONS if p.stem == "max"]:
        output = tmp_path / f"{source.stem}.ptx"
        command = [nvcc, "-ptx", f"-arch=sm_{architecture}", "-I", source.parent, source, "-o", output]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        text = output.read_text()
        instructions += len(re.findall(rf"^\s*{source.stem}\.", text, re.MULTILINE))
        assert [f for f in db.lint(text) if f.severity == ERROR] == []
        # Below its floor everything that is new is refused.
        refused = any(f.code in ("target-too-old", "target-specific") for f in db.lint(text, target="sm_10", ptx="9.5"))
        here = db.available(f"sm_{architecture}", "9.5", opcode=source.stem)
        assert refused == any(not db.takes(v, "sm_10", "9.5") for v in here)
    assert instructions > 10


@each_size
def test_the_generated_kernels_have_no_errors(db: Database, whole: bool) -> None:
    for source in (*OF_INSTRUCTIONS, *OF_FORMS) if whole else (*spread(OF_INSTRUCTIONS, 4), *OF_FORMS):
        assert [f for f in db.lint(source.read_text(), language="c++") if f.severity == ERROR] == []


# Programs

CPP = r"""
// asm("add.foo.f32 %0, %1, %2;");
const char *note = "add.foo.f32", quote = '"', *raw = R"(add.foo.f32 takes two operands;)";
void f() {
  asm("add.one.f32 %0, %1, %2;" : "=f"(a) : "f"(b), "f"(b));
  asm volatile("{\n\t"
      ".reg .f32 t;\n\t"   // a comment "quoted"
      "add.two.f32 t, %1, %2;\n\t"
      "@%p mov.f32 %0, t;\n\t"
      "}\n" : "=f"(a));
  __asm__ __volatile__ (R"ptx(
      // add.foo.f32 %0, %1, %2;
      add.three.f32 %%r1, %1, 1.0;
  )ptx" : "=d"(a));
  asm("add" ROUND ".f32 %0;" :: );
  asm("add.f32 " OPERANDS ";" :: );
  asm("add.four.f32 " OPERANDS(1, (2)) ";" :: );
  asm("add.f32 %0, %1, %2;\tadd.\
five.f32 %0, %1, %2;");
  asm("addl %eax, %ebx\n\tadd x0, x1, #4\n\tmul.s $f1, $f2, $f3\n\tadd.w r0, r1, r2");
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(a) : "f"(0f));
  cuModuleLoadData(&m, ".version 7.0\n.target sm_75\n"
                       "max.NaN.f32 %f0, %f1, %f2;\n");
#define MACRO(x) asm( \
    "add.six.f32 %0, %1, %2;" \
    "add" #x ".f32 %0;" : "=f"(a))
}
"""

PYTHON = r'''
"""add.foo.f32 does not exist."""
def f(a, rnd):
    # "add.foo.f32 %0, %1, %2;"
    tl.inline_asm_elementwise("add.one.f32 $0, $1, $2;", "=f,f,f", [a])
    tl.inline_asm_elementwise(asm="""
        {
            .reg .f32 t;
            add.two.f32 t, $1, $2;
            mov.f32 $0, t;
        }
        """, constraints="=f,f")
    x = f"add.{rnd}.f32 $0; add.three.f32 {a}, $1, $2; {{ add.four.f32 $0, $1, $2; }}"
    y = ("mul.f32 $0, $1, $2;\n"  # a comment
         'add.five.f32 $0, $1, $2;')
    z = "add.f32 {0}, {1}, {2}; add.six.f32 {}, {}, {};".format(1, 2, 3)
    k = cupy.RawKernel(r"""extern "C" __global__ void k() { asm("add.seven.f32 %0, %1, %2;"); }""", "k")
    m = b".version 7.0\n.target sm_70\nmax.NaN.f32 %f0, %f1, %f2;\n"
    w = "add.%s %%f0, %%f1, %%f2;" % t
'''
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven")


@pytest.mark.parametrize(("language", "text", "count"), [("c++", CPP, 6), ("python", PYTHON, 7)])
def test_programs_are_searched_for_ptx(db: Database, language: str, text: str, count: int) -> None:
    found = list(Linter(db).lint(text, "file", language))
    modifiers = [f for f in found if f.code == "unknown-modifier"]
    lines = text.splitlines()
    # A spelling may go on in the next line, behind a backslash.
    places = [re.search(rf"\.(?:\\\n)?{name}\.", text) for name in NUMBERS[:count]]
    expected = [(text.count("\n", 0, m.start()) + 1, m.start() - text.rfind("\n", 0, m.start())) for m in places if m]
    assert [(f.line, f.column) for f in modifiers] == expected
    assert [re.findall(r"has no \.(\w+)", f.message) for f in modifiers] == [[name] for name in NUMBERS[:count]]
    others = [(f.line, f.code) for f in found if f.code != "unknown-modifier"]
    module = next(i for i, s in enumerate(lines, 1) if "max.NaN.f32" in s)
    assert others == [(module, "target-too-old")]


OPERANDS_OF_ASM = ' : "=f"(a) : "f"(b), "f"(c));'


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('asm("add.f32 %0, %1, %2"', 24),
        ('asm("{add.f32 %0, %1, %2}"', 25),
        ('asm("add.f32 %0, %1, %2;" "mul.f32 %0, %1, %2"', 46),
        ('asm("add.f32 %0, %1, %2\\n" "mul.f32 %0, %0, %1;"', 24),
        ('asm("add.f32 %0, %1, %2\\nret;"', 24),
        ('asm("mov.f32 %0, %1\\nadd.f32 %0, %1, %2;"', 20),
        ('asm("add.f32 %0, %1, %2;;"', 25),
        ('asm("add.f32 %0, %1, %2; # a comment"', 26),
        ('asm("ADD.f32 %0, %1, %2;"', 6),
        ('asm("add.f32\u00a0%0, %1, %2;"', 13),
        ('asm("add.f32 %0, %1, 1e-400;"', 22),
        ('asm("L%=: add.bad.f32 %0, %1, %2;"', 14),
        ('asm("$L_%=: add.bad.f32 %0, %1, %2;"', 16),
        ('asm("add.f32 %0, %1, %2\\n;"', 0),
        ('asm("L%=: add.f32 %0, %1, %2; // the end"', 0),
        ('asm("# 1 \\"f\\"\\nadd.f32 %0, %1, %2;"', 0),
        ('asm("// nothing"', 0),
    ],
)
def test_inline_assembly_is_refused_as_by_nvcc(
    nvcc: Path, db: Database, tmp_path: Path, text: str, column: int
) -> None:
    source, line = tmp_path / "a.cu", text + OPERANDS_OF_ASM
    source.write_text(f"__global__ void k(float *p, float b, float c) {{\nfloat a;\n{line}\n*p = a;\n}}\n")
    command = [str(nvcc), "-arch=sm_90", "-cubin", str(source), "-o", str(tmp_path / "a.cubin")]
    assert (subprocess.run(command, capture_output=True, check=False).returncode != 0) == bool(column)
    assert [f.column for f in db.lint(line, language="c++")] == ([column] if column else [])


@pytest.mark.parametrize(
    "text",
    [
        # Operands with names, which Clang and GCC take
        'asm("add.f32 %[d], %[a], %[b]; @%[p] add.f32 %[d], %[a], 1.0;" : [d] "=f"(d));',
        # Macros and branches, of which nothing is known
        'asm("add.f32 %0, %1" TAIL); asm("add" X ".f32 %0, %1, %2;"); asm("add.f32 %0, %1, %" #n ";");',
        'asm("add.f32 %0, %1"\n#ifdef X\n", %2;"\n#else\n", %3;"\n#endif\n:);',
        'asm("add"\n#ifdef X\n".rn"\n#else\n".rz"\n#endif\n".f32 %0, %1, %2;");',
        # Text for the constraint C, which may stand anywhere
        'asm("mma.sync.aligned.m8n8k%2.row.col.s32.%3.%3.s32 {%0, %1}, {%4}, {%5}, {%0, %1};" : "+r"(d), "+r"(e)'
        ' : "n"(K), "C"(TYPE), "r"(a), "r"(b));',
        'asm("%2.f32 %0, %0, %1; @%3 %2.f32 %0, %0, %1; add.f32 %0, %0, %1;" : "+f"(d) : "f"(a), "C"(OP), "b"(p));',
        # Placeholders of a function of the program's own
        'fmt("st.local.$B arr_$u[%r3], $V;\\n@$v ld.global.$b $v, [$v_src];\\nadd.u32 %r3, %r3, 1;\\n", v);',
        'fmt(".local .align $a .$B arr_$u[$u];\\nmad.wide.u32 %rd0, %r2, $a, %rd0;\\n$s [%rd3], {%op1, %op2};\\n", v);',
        'fmt("add.f32 %f1, %f1, %f1;\\n$s.$s %q0_$u, %q0_$u, %q1;\\n@%valid $s.$s %q0_$u, %q0_$u, %q1;\\n", op);',
        # Another machine's
        'asm("1: lock; rep movsb # copy\\n;;\\tjmp 1b"); asm("vadd.f32 q0, q1, q2\\nvmul.f32 q0, q1, q2");',
        'asm("ADD.W r0, r1, r2\\n@ comment"); asm("mov eax ebx");',
    ],
)
def test_inline_assembly_that_other_compilers_take_passes(db: Database, text: str) -> None:
    assert db.lint(text, language="c++") == []


@pytest.mark.parametrize(
    "text",
    [
        'asm volatile(\n#if __CUDA_ARCH__ >= 900\n"add.bad.f32 %0, %1, %2;"\n#endif\n: "=f"(a));',
        'asm(PREFIX "add.bad.f32 %0, %1, %2;");',
        'const char *s = R"(__global__ void k() { asm("add.bad.f32 %0, %1, %2;" : "=f"(a)); })";',
        'const char *s = "asm(\\"add.bad.f32 %0, %1, %2;\\");";',
        'const char *s = R"(.version 8.0\n.target sm_90\n// begin inline asm\nadd.bad.f32 %f0, %f1, %f2;)";',
    ],
)
def test_ptx_is_found_in_cpp(db: Database, text: str) -> None:
    assert [f.code for f in db.lint(text, language="c++")] == ["unknown-modifier"]


@pytest.mark.parametrize(
    "text",
    [
        'X = """\n.version 8.0\n.target sm_90\n// begin inline asm\nadd.bad.f32 a, b, c;\n"""',
        'tl.inline_asm_elementwise("""\n// reference: inline asm\nadd.bad.f32 $0, $1, $2;\n""", "=f,f,f")',
        'f"@p{i} add.bad.f32 $0, $1, $2;"',
        'f"""\n  {setup}\n  add.bad.f32 $0, $1, $2;\n"""',
        'f"{setup} add.bad.f32 $0, $1, $2;"',
        'f"L_{i}: add.bad.f32 $0, $1, $2;"',
        '"/* fast */ add.bad.f32 $0, $1, $2;"',
        '"lbl: add.bad.f32 $0, $1, $2;"',
        '"add.bad.f32 %%f%d, %%f%d, %%f%d;" % (1, 2, 3)',
        '"add.bad.f32 $0, %s;" % ", ".join(operands)',
        'jinja2.Template("add.bad.f32 {{ d }}, {{ a }}, {{ b }};")',
    ],
)
def test_ptx_is_found_in_python(db: Database, text: str) -> None:
    assert [f.code for f in db.lint(text, language="python")] == ["unknown-modifier"]


@pytest.mark.parametrize(
    "text",
    [
        '"fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;" % (1, 2, 3, 4)',
        'TEMPLATE = "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;"',
        '"add.f32 $%d, $%d, $%d;" % (1, 2, 3)',
        '"add.f32 %(d)s, %(a)s, %(b)s;" % names',
        '("add.rn%sf32 %s0, %s1, %s2;"\n "add.f32 a, b, c;") % names',
        '"fma.rn.f32 $0, %s;" % ", ".join(operands)',
        'jinja2.Template("fma.rn.f32 {{ d }}, {{ a }}, {{ b }}, {{ c }};")',
        'jinja2.Template("add{% if x %}.rn{% else %}.rz{% endif %}.f32 {{ d }}, {{ a }}, {{ b }}; {# end #}")',
        'string.Template("add.f32 ${d}, $a, $b;")',
        '"mov.b64 {{%0, %1}}, %2; {{ add.f32 {0}, {1}, {2}; }}".format(1, 2, 3)',
        'f".version {v}\\n.target sm_{cc}\\n.entry {name}() {{ add.f32 a, b, c; }}"',
        '"mul.f32 a, b, c; add.f32 " + d + ", $1, $2; add.f32 $0, $1, $2;"',
        '";\\n".join(["add.f32 a, b, c", "mul.f32 a, b, c; mul.f32 a, b, c"])',
        'inline_asm_elementwise("add.f32 $0, " + x, "=f,f,f")',
        'inline_asm_elementwise("setp.gt.f32 p, $1, $2; @p bra L_${:uid}; add.f32 $0, $1, $2; L_${:uid}:", "=f,f,f")',
        'run_asm("mov eax, ebx\\nadd eax, 1; # one")',
        '"""Adds, it is said; as in\n\n    add.f32 a, b, c;\n    add.f32 a, b, c;\n\nand in `mul`; see there."""',
    ],
)
def test_python_that_is_filled_in_later_passes(db: Database, text: str) -> None:
    assert [f.message for f in db.lint(text, language="python")] == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", '"""add.s64 %rd6, %rd5, %OFF%; add.bad.f32 %f1, %f2, %f3;""".replace("%OFF%", str(offset))'),
        ("python", 'f"add.s64 {{a}}, b, @OFF@; add.bad.f32 %f1, %f2, {a};".replace("@OFF@", "1").strip()'),
        ("python", '"add.TYPE $0, $1, #N#; add.bad.f32 $0, $1, $1;".replace("TYPE", t).replace("#N#", n)'),
        # A text of signs is no placeholder.
        ("python", '"mul.f32 %f1, %f2, %f2; add.bad.f32 %f1, %f2, %f3;".replace(";", ";\\n").replace("%", "%%")'),
        ("c#", 'var x = "add.s64 %rd6, %rd5, %OFF%; add.bad.f32 %f1, %f2, %f3;".Replace("%OFF%", offset);'),
        ("javascript", 'x = `add.s64 %rd6, %rd5, %OFF%; add.bad.f32 %f1, %f2, %f3;`.replaceAll("%OFF%", offset);'),
    ],
)
def test_what_a_program_replaces_in_a_string_is_filled_in(db: Database, language: str, text: str) -> None:
    (found,) = db.lint(text, language=language)
    assert (found.code, found.column) == ("unknown-modifier", text.index(".bad") + 1)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('tl.inline_asm_elementwise("add.f32 $0, $1, $2", "=f,f,f")', 46),
        ('tl.inline_asm_elementwise(\tasm="{add.f32 $0, $1, $2}", args=[a])', 52),
        ('f(1, asm=("add.f32 $0, $1, $2;" "mul.f32 $0, $1, $2"))', 52),
        ('x = "add.f32 $0, $1, $2\\nmul.f32 $0, $1, $2;"', 24),
        ('inline_asm("ld.global.$T $0, [$1]\\nmul.f32 $0, $2, $2;", "=f,l,f")', 34),
    ],
)
def test_semicolons_are_missed_in_python_too(db: Database, text: str, column: int) -> None:
    found = [(f.column, f.message) for f in db.lint(text, language="python")]
    assert found == [(column, "a semicolon is missing here")]


def test_inline_assembly_is_judged_by_the_options(db: Database) -> None:
    text = 'asm("add.bf16 %0, %1, %2;");'
    assert db.lint(text, language="c++") == []
    (found,) = db.lint(text, target="sm_80", ptx="7.0", language="c++")
    assert found.code == "target-too-old" and "requires PTX 7.8" in found.also[0]
    assert [f.code for f in db.lint(text, target="8.0", language="c++")] == ["target-too-old"]


# What is found only in an argument, with the text as it stands.
ARGUMENT = "add.foo.f32 %0, %1, %2"
WHOLE_MODULE = f".version 7.0\n.target sm_75\n{ARGUMENT};\n"
PLACES = {
    "an argument": ("python", f'x = 1\ninline(  asm = ( rb"{ARGUMENT}"), c=1)\n', 2),
    "a function": ("python", f"my_asm (\n  ptx =\n ('{ARGUMENT}'))\nx = 1\n", 2),
    "a raw string": ("python", f'y = rf"""\n{WHOLE_MODULE}{ARGUMENT}\\n"""\nz = 1\n', 2),
    "a string over lines": ("python", f'y = ".version 7.0 \\\n.target sm_75 \\\n{ARGUMENT};"\n', 1),
    "what is filled in": ("python", f'f(asm=("{ARGUMENT} %2r;"  )\n  % y)\n', 1),
    "an error": ("python", f'raise ValueError("{ARGUMENT};")\nasm("")\n', 0),
    "a docstring": ("python", f'# asm\n\n# it\n"""{ARGUMENT};"""\nx = 1\n', 0),
    "of a function": ("python", f'x = 1\ndef f(asm):\n    # it\n    """{ARGUMENT};"""\n', 0),
    "a statement": ("c++", f'int x;\nasm /* it */ volatile ( "{ARGUMENT}" : "=f"(r) : "f"(x), "f"(y));\n', 2),
    "strings": ("c++", f'auto x = u8"{ARGUMENT[:7]}" /* it */\n LR"({ARGUMENT[7:]};)";\n', 1),
    "a macro": ("rust", f'fn f() {{}}\nglobal_asm!( r##"{ARGUMENT}"##);\n', 2),
    "a macro of Julia's": ("julia", f'x = 1\n@asmcall( """{ARGUMENT}""", "=f,f,f", Float32)\n', 2),
    "no docstring": ("julia", f'y =\n  raw"""{WHOLE_MODULE}"""\nx = 1\n', 1),
    "a call": ("mlir", f'%0 = llvm.inline_asm has_side_effects "{ARGUMENT}\\0A", "=f,f,f" %a, %b\n', 2),
}


@pytest.mark.parametrize("name", PLACES)
def test_strings_are_found_in_what_is_written_around_them(db: Database, name: str) -> None:
    language, text, count = PLACES[name]
    assert len([*Linter(db).lint(text, "f", language)]) == count
