"""PTX in programs: in whatever place inline assembly has, in strings that no asm() takes, and in blocks of Markdown."""

from __future__ import annotations

import json
import sys
from pathlib import Path, PurePath
from random import Random

import pytest
from ptxspec import Database
from ptxspec.__main__ import main
from ptxspec.lint.languages import trees
from ptxspec.lint.linter import Linter, language, texts

RUST = r"""
// asm!("add.foo.f32 {0}, {1}, {2};")
fn f<'a>(x: f32, name: &'a str) -> f32 { let quote = '"'; let raw = r#"add.foo.f32 takes "two";"#;
  asm!("add.one.f32 {0}, {1}, {2};", out(reg32) r, in(reg32) x, in(reg32) x);
  core::arch::asm!(
      "{{",
      ".reg .f32 t;", // a comment
      r"add.two.f32 t, {x}, {x};",
      "mov.f32 {d}, t",    /* the semicolon is missing */
      "}}", d = out(reg32) d, x = in(reg32) x, options(nostack));
  asm!("mov {}, {}", out(reg) y, in(reg) x); asm!("addl {0}, {1}; add.s {0}, {1}, {2}");
}
const MODULE: &str = r#"
.version 8.0
.target sm_80
.entry k() { .reg .f32 a; add.three.f32 a, a, a; add.f32 a, b, a; }
"#;
"""
JULIA = r'''
# @asmcall("add.foo.f32 \$0, \$1, \$2;", "=f,f,f")
"""Documentation: add.foo.f32 takes two; see there."""
f(x) = @asmcall("add.one.f32 \$0, \$1, \$2;", "=f,f,f", Float32, Tuple{Float32,Float32}, x', 'x')
g(x, rnd) = @asmcall("add.$rnd.f32 \$0, \$1, \$2;" * "add.f32 \$0, \$1, \$3;", "=f,f,f", Float32, Tuple{Float32}, x)
h(x) = Base.llvmcall("""
    %r = call float asm sideeffect "add.two.f32 \$0, \$1, \$2;", "=f,f,f"(float %0, float %0)
    ret float %r""", Float32, Tuple{Float32}, x)
#= @asmcall("add.foo.f32") =#
m = ".version 8.0\n" * raw"""
.target sm_80
add.three.f32 %f0, %f1, %f2;
"""
'''
MLIR = r"""
// CHECK: llvm.inline_asm "add.foo.f32 $0, $1, $2;", "=f,f,f"
%0 = llvm.inline_asm has_side_effects asm_dialect = att "add.one.f32 $0, $1, $2;\0Amul.f32 $0, $1, $3;", "=f,f,f" %a, %b
%1 = nvvm.inline_ptx "{ .reg .f32 t; add.two.f32 t, {$r0}, {$r1}; mov.f32 {$w0}, t; }" ro(%a, %b : f32, f32) -> f32
%2 = llvm.inline_asm "syscall", "={rax},0" %n : (i64) -> i64
  ; asm "add.foo.f32 $0, $1, $2;"
  %r = tail call float asm sideeffect "add.three.f32 $0, $1, $1;", "=f,f,~{memory}"(float %x)
"""
MARKDOWN = r"""
add.foo.f32 %f0, %f1, %f2; is no instruction.

    add.foo.f32 %f0, %f1, %f2;

```
$ ptxas a.ptx
add.foo.f32 %f0, %f1, %f2;
```
```ptx
add.one.f32 %f0, %f1, %f2;  // and so on
...
```
```ptx
add{.rnd}{.ftz}.f32 d, a, b;
add.foo.f32 d, a, b;
```
   ~~~~ cuda title="a.cu"
   asm("add.two.f32 %0, %1, %2;" : "=f"(a) : "f"(b), "f"(c));
   ```
   ~~~~
> ```python
> tl.inline_asm_elementwise("add.three.f32 $0, $1, $2;", "=f,f,f", [a])
> ```
"""


CSHARP = r'''
// CudaAsm.Emit("add.foo.f32 %0, %1, %2;");
class A {
  void F() {
    CudaAsm.Emit("add.one.f32 %0, %1, %2;", Output.Of(ref x), y, y);
    var s = $"{I(x)} add.two.f32 %f1, %f2, %f{i};\n" + @"mul.f32 %f1, %f2, %f3; // ""it""";
    throw new Error("add.foo.f32 %0, %1, %2;");
  }
  const string Module = """
    .version 8.0
    .target sm_80
    add.three.f32 %f1, %f1, %f1;
    """;
}
'''
JAVASCRIPT = r"""
// "add.foo.f32 %f0, %f1, %f2;"
const a = "add.one.f32 %f0, %f1, %f2;", b = `add.two.f32 %f${i}, %f1, ` + '%f2;';
const c = `__global__ void k() { asm("add.three.f32 %0, %1, %2;" : "=f"(a) : "f"(b), "f"(c)); }`;
throw new Error("add.foo.f32 %f0, %f1, %f2;");
"""


@pytest.mark.parametrize(
    ("name", "text", "others"),
    [
        ("a.cs", CSHARP, []),
        ("a.js", JAVASCRIPT, []),
        ("a.rs", RUST, ["syntax", "undeclared-register"]),
        ("a.jl", JULIA, ["undeclared-register"]),
        ("a.mlir", MLIR, ["undeclared-register"]),
        ("a.ll", MLIR, ["undeclared-register"]),
        ("a.md", MARKDOWN, []),
    ],
)
def test_programs_are_searched_for_ptx(db: Database, name: str, text: str, others: list[str]) -> None:
    found = list(Linter(db).lint(text, name, language(PurePath(name))))
    numbers = ("one", "two", "three")
    places = [text.index(f".{n}.f32") for n in numbers]
    expected = [(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) for at in places]
    modifiers = [f for f in found if f.code == "unknown-modifier"]
    assert [(f.line, f.column) for f in modifiers] == expected
    assert [f.message.split(";")[0] for f in modifiers] == [f"add.f32 has no .{n}" for n in numbers]
    assert [f.code for f in found if f.code != "unknown-modifier"] == others


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ["a.rs", "a.jl", "a.mlir", "a.md"])
@pytest.mark.parametrize("unit", ['asm!("', 'r#"', '"', "#=", "/*", "```ptx\n", "asm ", "'", '"""', "\\"])
def test_programs_of_any_shape_are_read(db: Database, name: str, unit: str) -> None:
    text = unit * (20_000 // len(unit)) + ".f32"
    for _ in Linter(db).lint(text, name, language(PurePath(name))):
        pass


@pytest.mark.parametrize(
    ("language", "text"),
    [
        # Behind other arguments, in brackets, by name, joined, of what is called by an attribute
        ("python", 'llvm.inline_asm(T.f32(), [x, y], "add.bad.f32 $0, $1, $2;", "=f,f,f", has_side_effects=True)'),
        ("python", 'llvm.inline_asm(\n  T,\n  [x],\n  (\n    "add.bad.f32 "\n    "$0, $1, $2;"\n  ),\n  "=f,f,f",\n)'),
        ("python", 'inline_asm_elementwise(args=[x, y], constraints="=f,f,f", asm="add.bad.f32 $0, $1, $2;")'),
        ("python", 'inline_asm(dedent("""add.bad.f32 $0, $1, $2;""").strip(), "=f,f,f", [x, y])'),
        ("julia", '@asmcall "add.bad.f32 \\$0, \\$1, \\$2;" "=f,f,f" Float32'),
        # The bodies of macros, and what follows them
        ("c++", '#define A(x, t) asm("add.bad.f32 %0, %1, %2; // " #t : "=f"(x) : "f"(y), "f"(z)); \\\n  f();\n'),
        ("c++", '#define A "add.f32 %0, %1, %2;"\nvoid f() { asm("add.bad.f32 %0, %1, 1.0;" : "=f"(x) : "f"(y)); }'),
        # Macros where no grammar expects them
        ("c++", 'void f() { asm("add.bad.f32 %0, " B(1, "x") ", %2;" : "=f"(x) : "f"(y), "f"(z)); }'),
        ("c++", 'auto&& r = x;\nUNROLL_ALL\nfor (;;) { asm("add.bad.f32 %0, %1, %2;" : "=f"(x) : "f"(y), "f"(z)); }'),
        ("c++", 'template <class A,, int> { NV_IF_TARGET(X, (asm("add.bad.f32 %0, %1, 1.0;" : "=f"(x) : "f"(y));)) }'),
    ],
)  # fmt: skip
def test_inline_assembly_is_found_in_whatever_place_it_has(db: Database, language: str, text: str) -> None:
    (found,) = db.lint(text, language=language)
    assert found.code == "unknown-modifier"
    assert (found.line, found.column) == (
        text.count("\n", 0, at := text.index(".bad")) + 1,
        at - text.rfind("\n", 0, at),
    )


def test_what_no_program_is_read_of_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.cu").write_text('asm("add.f32 %0, %1, %2;");\n' + "// what is long\n" * (1 << 19))
    (tmp_path / "a.cu").write_text('asm("add.bad.f32 %0, %1, %2;" : "=f"(x) : "f"(y), "f"(z));\n')
    assert main(["lint", "--isolated", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.err == f"ptxspec: {tmp_path}/long.cu: longer than 8 MB, the limit for a program\n"
    assert said.out.count("add.f32 has no .bad") == 1


def test_a_grammar_that_is_not_installed_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_julia", None)
    trees._parser.cache_clear()
    for name in ("a.jl", "b.jl"):
        (tmp_path / name).write_text('@asmcall("add.bad.f32 \\$0, \\$1, \\$2;", "=f,f,f")\n')
    (tmp_path / "a.cu").write_text('asm("add.bad.f32 %0, %1, %2;" : "=f"(x) : "f"(y), "f"(z));\n')
    assert main(["lint", "--isolated", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.err == (
        "ptxspec: such programs require tree-sitter-julia, which is not installed; install it with "
        "`pip install tree-sitter-julia`\n"
    )
    assert said.out.count("add.f32 has no .bad") == 1


@pytest.mark.parametrize(
    "text",
    [
        'const std::string code = R"(\n  {\n  .reg .b32 a;\n  add.bad.f32 a, $0, $1;\n  })";',
        'const std::string code = "{ \\n"\n  ".reg .b32 a; \\n"\n  "add.bad.f32 a, $0, $1; \\n"\n  "}";',
        'R"***(\n.func (.param .b32 r) f(.param .b32 a)\n{\n.reg .f32 %f<3>;\nadd.bad.f32 %f1, %f2, %f1;\n}\n)***"',
        'sprintf(line, "add.bad.f32 %%f%d, %%f%d, %%f%d;", d, a, b);',
        'fmt::format("add.bad.f32 {}, {}, {};", d, a, b);',
    ],
)
def test_strings_of_cpp_that_are_plainly_ptx_are_judged(db: Database, text: str) -> None:
    assert [f.code for f in db.lint(text, language="c++")] == ["unknown-modifier"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        # Prose, with words where operands would stand
        ("python", '"testp.finite.f32 emits a predicate; no TODO"'),
        ("python", 'raise ValueError("add.bad.f32 rounds, truncates; see there")'),
        ("c++", 'error("max.bad.f32 wants two, or three; see there");'),
        # What documents a module, a class or a function
        ("python", '"""About\n\nadd.bad.f32 %f0, %f1, %f2;\n"""\nimport a'),
        ("python", '# License\n\nr"""About\nadd.bad.f32 %f0, %f1, %f2;\n"""\n'),
        ("python", 'class A(B):  # A\n    """Like\n    add.bad.f32 %f0, %f1, %f2;\n    """\n'),
        ("python", 'def f(\n    a,\n) -> int:\n    """Like\n    add.bad.f32 %f0, %f1, %f2;\n    """\n'),
        # A command that is given PTX
        ("python", "a = \"ptxspec compare add.bf16 'mov.b16 %one, 0x3f80; fma.rn.bf16 %d, %a, %one, %b;'\""),
        # Other programs in a string, of which the end is none of the statement's
        ("python", "\"asm='bar.warp.sync 0xffffffff; mov.u32 $0, $1;', \""),
        ("python", "\"\"\"f(\n    x, asm='''\n        add.f32 $0, $1, $2;\n        ''',\n)\"\"\""),
        # Statements that are filled in
        ("python", 'asm = """\n{\n.reg .b32 M;\nmov.b32 M, __MCG__;\n__I1__\n__I0__\nadd.f32 $0, $1, $2;\n}"""'),
        ("c++", 'R"(asm volatile("{ .reg .pred p; @!p {store_shared}; add.f32 %0, %1, %2; }");)"'),
        (
            "python",
            'inline_asm(f"{{ .reg .b32 a; mov.b32 a, $0; {MMA} {{a,$1}}, {{a}}; {MMA} {{a,$1}}; }}", "=r,r", [])',
        ),
        # The operands of nvvm.inline_ptx
        (
            "python",
            'nvvm.inline_ptx("add.f32 {$w0}, {$r0}, {$r1}; mov.b64 {{$w0}, {$rw1}}, {$r2};", read_only_args=[a])',
        ),
        ("python", 'f"sub.bf16x2 {{$w0}}, {{$r0}}, {{$r1}};"'),
    ],
)
def test_what_only_looks_like_ptx_is_left_alone(db: Database, language: str, text: str) -> None:
    assert db.lint(text, language=language) == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", 'assert h.asm["ptx"].count("add.f32") == 2'),
        ("python", 'at = ptx_asm.find("add.f32 ") - kernel.asm["ptx"].rindex("mul.bad.f32")'),
        ("python", 'assert "add.f32" in h.asm["ptx"] and re.search("mul.f32", h.asm["ptx"])'),
        ("python", 'x = h.asm["ptx"].replace("add.f32", "mul.f32").count("add.f32")'),
        ("c++", 'CHECK(asm_text.find("add.f32") != npos && asm_text->find_first_of("mul.f32"));'),
        ("rust", 'assert!(asm.contains("add.f32"));'),
        ("javascript", 'if (asm.includes("add.f32") || asm.indexOf("mul.f32") > 0) {}'),
        ("c#", 'if (asm.Contains("add.f32") || asm.StartsWith("mul.f32")) {}'),
    ],
)
def test_what_is_searched_for_in_a_compiled_kernel_is_not_compiled(db: Database, language: str, text: str) -> None:
    # A word that makes any statement in the program likely to be PTX.
    assert [f.message for f in Linter(db).lint(f"{text}\nCUDA", "f", language)] == []


def test_the_end_of_a_line_in_a_string_within_a_string_ends_none(db: Database) -> None:
    """In a Python string that is not raw, \\n is the end of a line even within the strings of a program in it."""
    statement = 'asm("add.f32 %0, %1, %2;\\n" "mul.bad.f32 %0, %1, %2;\\n" : "=f"(a) : "f"(b), "f"(c));'
    for prefix in ("", "r"):
        (found,) = db.lint(f'x = {prefix}"""\n{statement} printf("%d\\n", a);\n"""', language="python")
        assert (found.line, found.column) == (2, statement.index(".bad") + 1)


def test_operands_of_nvvm_are_named_as_they_are_written(db: Database) -> None:
    (found,) = db.lint('nvvm.inline_ptx("add.f32 {$w0}, {$r0}, {$r1}, {$r2};")', language="python")
    assert found.code == "operand-count"


def test_constraints_of_which_more_may_follow_are_not_known(db: Database) -> None:
    assert db.lint('inline_asm("add.f32 $0, $1, $2;", "=f," "f,f", [])', language="python") == []
    assert db.lint('inline_asm("add.f32 $0, $1, $2;", "=f," + rest, [])', language="python") == []
    (found,) = db.lint('inline_asm("add.f32 $0, $1, $2;", "=f,f", [])', language="python")
    assert found.code == "undeclared-register"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("mlir", '%r = call float asm "{}", "=f,f,f"(float %x, float %y)'),
        ("julia", '@asmcall("{}", "=f,f,f", Float32, Tuple{Float32,Float32}, x, y)'),
    ],
)
def test_operands_of_llvm_may_stand_in_braces(db: Database, language: str, text: str) -> None:
    asm = "L${:uid}: add.f32 ${0}, ${1:r}, $2; add.f32 ${0}, ${1}, ${3}, 1.0;"
    asm = asm.replace("$", r"\$") if language == "julia" else asm
    (count,) = db.lint(text.replace("{}", asm), language=language)
    assert count.code == "operand-count"
    (beyond,) = db.lint(text.replace("{}", asm.removesuffix(", 1.0;") + ";"), language=language)
    assert (beyond.code, beyond.message) == ("undeclared-register", "the asm statement has no operand $3")
    assert beyond.column == text.index("{}") + asm.index("{3}") - (language == "julia")


WRONG = "add.foo.f32 %f1, %f2, %f3;\n"
RIGHT = "add.f32 %f1, %f2, %f3;\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # In a quote, which also ends it
        (f"> ```ptx\n> add.f32 %f1,\n>    %f2, %f3;\n> {WRONG}> ```\n{WRONG}", [4]),
        (f"> > ```ptx\n> > add.f32 %f1,\n>>  %f2, %f3;\n> > {WRONG}> > ```\n> {WRONG}", [4]),
        (f"> ```ptx\n> {WRONG}\n{WRONG}\n```ptx\n{WRONG}```\n", [2, 7]),
        # In a list
        *(
            (f"{mark} ```ptx\n   {RIGHT}   ```\n{WRONG}\n```ptx\n{WRONG}```\n", [7])
            for mark in ("-", "*", "+", "1.", "23)")
        ),
        (f"> - ```ptx\n>   add.f32 %f1,\n>   %f2, %f3;\n>   ```\n> {WRONG}\n```ptx\n{WRONG}```\n", [8]),
        # What ends a block has no words, and may be longer
        (f"```sh\n```ptx\n{WRONG}```\n```ptx\n{WRONG}````  \n{WRONG}", [6]),
    ],
)
def test_blocks_of_markdown_stand_in_quotes_and_lists(db: Database, text: str, lines: list[int]) -> None:
    found = list(Linter(db).lint(text, "a.md", "markdown"))
    assert [(f.line, f.code) for f in found] == [(line, "unknown-modifier") for line in lines]
    assert all(f.source[f.at :].startswith(".foo") and f.column == f.at + 1 for f in found)


DOCUMENTATION = [
    ("python", "def q():\n    '@'\n"),
    ("python", 'def q(): """@"""\n'),
    ("python", 'class A: "@"  # A\n'),
    ("python", 'def q():\n    # why\n\n    """@"""\n    return 1\n'),
    ("python", 'def q() -> Callable[[int],\n        str]:\n    """@"""\n'),
    ("python", '"@"\nimport a\n'),
    ("python", 'raise ValueError("@ has too few operands")'),
    ("python", 'raise a.Error(\n    f"@ {a}"\n)'),
    ("c++", 'throw std::runtime_error("@ has too few operands");'),
    ("c++", 'throw a::Error<int>{\n    std::string("@") + b};'),
    ("c++", 'if (!a) std::cerr << "@ failed" << b;'),
    ("c++", 'LOG(ERROR) << "@ failed"; spdlog::warn("@"); logger->info( "@"); fprintf(stderr, "@");'),
    ("julia", '"""\n@\n"""\nf(x) = 1\n'),
    ("julia", 'g(x) = 2\n\n  "@"\n  struct A end\n'),
    ("julia", '@doc raw"""\n@\n""" f'),
    ("rust", '/* /* */ "@" */ fn a() {}'),
    ("rust", '/* /* /***/ */ / * "@" */ fn a() {}'),
]
NO_DOCUMENTATION = [
    ("python", 'def q():\n    x = """@"""\n'),
    ("python", 'a = {"x":\n    "@"\n}\n'),
    ("python", 'a = {"x":\n    "@",\n}\n'),
    ("python", 'def q(x="@"): pass\n'),
    ("python", 'def q(): return "@"\n'),
    ("python", 'f(lambda:\n    "@"\n    .format())\n'),
    ("c++", 'void f() throw() { emit("@"); }'),
    ("c++", 'throw Error(1); emit("@");'),
    ("c++", 'code << "@";'),
    ("c++", 'kernels.log.push_back("@");'),
    ("c++", 'logger->add("@");'),
    ("c++", 'catalog.add("@");'),
    ("c++", 'fprintf(file, "@");'),
    ("c++", 'throw std::runtime_error(compiled(asm("@")));'),
    ("julia", 'x =\n"""\n@\n"""\nf(x) = 1\n'),
    ("julia", 'function f()\n    """\n    @\n    """\nend\n'),
    ("julia", 'f(\n    "@",\n    x)\n'),
    ("julia", 'f(x) = "@"\n'),
    ("rust", '/* /* */ */ const A: &str = "@";'),
]


@pytest.mark.parametrize(("language", "text"), DOCUMENTATION)
def test_documentation_is_left_alone(db: Database, language: str, text: str) -> None:
    assert db.lint(text.replace("@", WRONG.strip()).replace(f"{WRONG.strip()}doc", "@doc"), language=language) == []


@pytest.mark.parametrize("text", ["throw Kernel(@);", "std::cerr << @;", "fprintf(stderr, @);", "logger.info(@);"])
def test_a_module_is_judged_wherever_it_is_written_to(db: Database, text: str) -> None:
    module = f'R"(.version 8.0\n.target sm_80\n.entry k() {{\n{WRONG}}}\n)"'
    assert [f.line for f in db.lint(text.replace("@", module), language="c++")] == [4]


@pytest.mark.parametrize(("language", "text"), NO_DOCUMENTATION)
def test_what_stands_like_documentation_is_judged(db: Database, language: str, text: str) -> None:
    assert [f.code for f in db.lint(text.replace("@", WRONG.strip()), language=language)] == ["unknown-modifier"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('asm!(concat!("add.", "foo.f32 {y}, {x}, {x};"), y = out(reg32) y);', ["foo"]),
        ('asm!(concat!["add.", "foo.f32 {y}, {x}, {x};",] , "add.bad.f32 {y}, {x}, {x};");', ["foo", "bad"]),
        ('asm!("{{", concat!("add.foo.f32 {y},", " {x}, {x};\\nmul.bad.f32 {y}, {x}, {x};"), "}}");', ["foo", "bad"]),
        ('asm!(concat!("add.", stringify!($rounding), ".f32 {y}, {x}, {x};"));', []),
        ('asm!(concat!("add.", 1, ".f32 {y}, {x}, {x};"));', []),
    ],
)
def test_strings_of_rust_are_joined(db: Database, text: str, names: list[str]) -> None:
    found = list(Linter(db).lint(text, "a.rs", "rust"))
    assert [f.code for f in found] == ["unknown-modifier"] * len(names)
    assert [f.message.partition(" has no .")[2].partition(";")[0] for f in found] == names


def test_what_is_misspelt_is_told_in_blocks_that_are_called_ptx(db: Database) -> None:
    (found,) = db.lint("```ptx\nfmaf.f32 %f1, %f2, %f3, %f4;\n```\n", language="markdown")
    assert (found.code, found.help) == ("unknown-opcode", "did you mean 'fma'?")
    assert db.lint("```ptx\nfmaf computes;\nvfma.f32 q0, q1, q2;\nd = fmaf(a, b, c);\n```\n", language="markdown") == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("```\n.version 8.0\n.target sm_80\n.entry k() {\nadd.foo.f32 %f1, %f2, %f3;\n}\n```\n", [5]),
        ("```\n{\n  .reg .f32 a; // it\n  add.foo.f32 a, a, a;\n}\n```\n", [4]),
        ("```\nadd.foo.f32 %f1, %f2, %f3;\nmov.b32 %r1,\n  %r2;\n```\n", [2]),
        ("```\nadd.foo.f32 d, a, b;\n...\n```\n", []),
        ("```\nadd{.rnd}.foo.f32 d, a, b;\n```\n", []),
        ("```\n$ cat a.ptx\nadd.foo.f32 d, a, b;\n```\n", []),
        ("```\nadd.foo.f32 takes two;\n```\n", []),
    ],
)
def test_a_block_of_markdown_without_a_language_is_judged_where_it_is_plainly_ptx(
    db: Database, text: str, lines: list[int]
) -> None:
    assert [f.line for f in db.lint(text, language="markdown")] == lines


def test_the_cells_of_notebooks_are_programs(db: Database) -> None:
    python = [
        "%pip install x\n",
        "# ptxspec: ignore[modifier-order]\n",
        'inline_asm(\n "add.bad.f32 $0, $1, $2;", "=f,f,f")',
    ]
    cuda = '%%cuda\n__global__ void k() {\n asm("add.bad.f32 %0, %1, %2;" : "=f"(a) : "f"(b), "f"(c));\n}\n'
    cells = [
        {"cell_type": "markdown", "source": ["add.bad.f32 %f1, %f2, %f3;"]},
        {"cell_type": "code", "metadata": {}, "source": python},
        {"cell_type": "code", "outputs": [{"text": "asm"}], "source": cuda},
        {"cell_type": "raw", "source": "asm('add.bad.f32 %0, %1, %2;')"},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    found = list(Linter(db).lint(text, "a.ipynb", "notebook"))
    assert [f.code for f in found] == ["unknown-modifier"] * 2
    lines = text.split("\n")
    assert all(lines[f.line - 1][f.column - 1 :].startswith(".bad.f32") for f in found)
    assert "$0" in lines[found[0].line - 1] and "%0" in lines[found[1].line - 1]
    ignored = db.lint(text.replace("modifier-order", "unknown-modifier"), language="notebook")
    assert [f.line for f in ignored] == [found[1].line]
    assert list(db.lint('{"cells": [{"cell_type": "code", "source": ["asm(', language="notebook")) == []


CALLS = {
    "python": 'emit("{}", 1)\nk.emit_at(1, x, "{}")\n',
    "c++": 'void f() {{ k->emit("{}", 1); ns::emit_at<int>(1, x, "{}"); }}',
    "c#": 'class A {{ void F() {{ K.emit("{}", 1); emit_at(1, x, "{}"); }} }}',
    "javascript": 'emit("{}", 1); k.emit_at(1, x, "{}");',
    "julia": 'emit("{}", 1)\nemit_at(1, x, "{}")\n',
    "rust": 'fn f() {{ emit("{}", 1); k::emit_at(1, x, "{}"); }}',
}


@pytest.mark.parametrize("language", CALLS)
def test_calls_of_a_projects_own_take_ptx(db: Database, language: str) -> None:
    """A text that is passed to them is PTX, however short it is, and whole."""
    text = CALLS[language].replace("{}", "add.bad.f32 x, y, z")
    calls = (("emit", 0), ("emit_at", 3))

    def found(*calls: tuple[str, int]) -> list[str]:
        return [f.code for f in Linter(db).lint_texts(texts(text, "f", language, calls), text, "f")]

    assert found() == []
    assert found(*calls) == ["unknown-modifier", "syntax"] * 2
    assert found(("emit_at", 2)) == []


def test_the_configuration_names_calls_and_endings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ptxspec.toml").write_text(
        '[lint]\ncalls = ["emit:2"]\nendings = {".cu.in" = "c++", ".k" = "python"}\n'
    )
    (tmp_path / "a.cu.in").write_text('void f() { emit(1, "add.bad.f32 x, y, z;"); }')
    (tmp_path / "b.k").write_text('emit(1, "add.bad.f32 x, y, z;")\n')
    (tmp_path / "c.mlir.in").write_text('llvm.inline_asm "add.bad.f32 $0, $1, $2;", "=f,f,f"\n')
    (tmp_path / "d.in").write_text('emit(1, "add.bad.f32 x, y, z;")\n')
    assert main(["lint", "."]) == 1
    out = capsys.readouterr().out
    assert [f"{name}:" in out for name in ("a.cu.in", "b.k", "c.mlir.in", "d.in")] == [True, True, True, False]
    for line, said in (
        ('calls = ["a.b"]', "'a.b' is not the name of a function"),
        ('endings = {"k" = "python"}', "'k' is not a suffix"),
        ('endings = {".k" = "pyton"}', "unknown language 'pyton'"),
    ):
        (tmp_path / "ptxspec.toml").write_text(f"[lint]\n{line}\n")
        assert main(["lint", "."]) == 2
        assert said in capsys.readouterr().err


BUILT = {
    "python": "def f(n):\n  s = '@0'\n  for i in n:\n    s += f'add.bad.f32 x, {i}, x;'\n  s += '@1'\n",
    "c++": 'void f() { std::string s = "@0"; s += "add.bad.f32 x, " + a + ", x;"; s += "@1"; }',
    "julia": 'function f()\n  s = "@0"\n  s *= "add.bad.f32 x, $a, x;"\n  s *= "@1"\nend\n',
    "javascript": 'function f() { let s = "@0"; s += `add.bad.f32 x, ${a}, x;`; s += "@1"; }',
}


@pytest.mark.parametrize("language", BUILT)
def test_strings_that_statements_build_know_what_was_declared(db: Database, language: str) -> None:
    text = BUILT[language].replace("@1", "mul.f64 x, x, x; }")
    found = db.lint(text.replace("@0", "{ .reg .f32 x; "), language=language)
    assert [f.code for f in found] == ["unknown-modifier", "illegal-register"]
    found = db.lint(text.replace("@0", "{ .reg .f64 x; "), language=language)
    assert [f.code for f in found] == ["unknown-modifier"]


def test_a_string_with_two_results_is_seen(db: Database) -> None:
    (found,) = db.lint('asm += """\nsetp.bad.f32 p0|p1, a, b;\n"""', language="python")
    assert found.code == "missing-modifier"


# What an editor asks again


@pytest.mark.parametrize("seed", range(5))
def test_a_changed_program_is_read_as_a_new_one(seed: int) -> None:
    draw = Random(seed)
    pieces = [
        "f(a, b);",
        "\n",
        "if (a) {",
        "}",
        'asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));',
        "/*",
        "*/",
        "é",
        '"',
    ]
    text = "void g() {\n" + 'asm("abs.f32 %0, %1;" : "=f"(y) : "f"(x));\n' * 20 + "}\n"
    for _ in range(60):
        start = draw.randrange(len(text))
        changed = text[:start] + draw.choice(pieces) * draw.randrange(2) + text[start + draw.randrange(4) :]
        tree = str(trees.parse("tree_sitter_cuda", changed).root)
        # Of a program with errors nothing is taken.
        trees.parse("tree_sitter_cuda", "((" + changed)
        assert tree == str(trees.parse("tree_sitter_cuda", changed).root)
        text = changed if draw.random() < 0.5 else text
        trees.parse("tree_sitter_cuda", text)
