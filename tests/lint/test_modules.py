"""Headers, statements and semicolons: what lint takes for a module and its parts is what ptxas takes for them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ptxspec
import pytest
from helpers.judged_lines import is_refused
from helpers.linting import (
    NEWEST,
    errors_by_line,
    written,
)
from ptxspec import Database


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (".version 99.9\n.target sm_90\n", "unknown-ptx"),
        (".version 7.9\n.target sm_80\n", "unknown-ptx"),
        (".version 9.5\n.target sm_999\n", "unknown-target"),
        (".version 1.0\n.target sm_12\n", "target-unknown"),
        (".version 7.0\n.target sm_90a\n", "target-unknown"),
        (".version 8.0\n.target sm_80\n", ""),
        (".version 8.0\n.target sm_80, texmode_independent\n", ""),
        (".version 8.0\n.target compute_80\n", ""),
        (".version 08.00 .target sm_80 .address_size 64\n", ""),
        (".version 8.0.1\n.target sm_80\n", "unknown-ptx"),
        (".version 8.\n.target sm_80\n", "unknown-ptx"),
        (".version\n8.0\n.target sm_80\n", "syntax"),
        (".version 8.0.target sm_80\n", ""),
        (".version 8.0\n.target sm_80, foo\n", "unknown-target"),
        (".version 8.0\n.target texmode_independent, sm_80\n", "unknown-target"),
        (".version 8.0\n.target /* one; */ sm_80 // two\n, texmode_unified\n", ""),
        (".version 8.0\n.target sm_080\n", ""),
        (".version 8.0\n.target sm_0090A\n", ""),
        (".version 8.0\r.target sm_80\r", ""),
        ('# 1 "a.cu" 2\n.version 8.0\n.target sm_80\n', ""),
        (".target sm_80\n.version 8.0\n", "syntax"),
        (".version 8.0\n.address_size 64\n", "syntax"),
        (".version 8.0\n.target sm_80\n.version 8.0\n", "syntax"),
        (".version 8.0\n.TARGET sm_80\n", "syntax"),
        (".version 8.0\n.target sm_80;\n", "syntax"),
        (".version 8.0\n.target sm_80,\n", "syntax"),
    ],
)
def test_headers_are_judged_as_ptxas_judges_them(
    db: Database, ptxas: Path, tmp_path: Path, header: str, code: str
) -> None:
    text = header + ".entry k() {\n.reg .f32 %f<4>;\nadd.f32 %f0, %f1, %f2;\nret;\n}\n"
    assert refused(ptxas, tmp_path, text) == bool(code)
    assert [f.code for f in db.lint(text)][:1] == ([code] if code else [])


def refused(ptxas: Path, folder: Path, text: str) -> bool:
    """Return whether ptxas refuses a module, for whatever reason."""
    (folder / "a.ptx").write_bytes(text.encode())
    command = [str(ptxas), "-arch=compute_120", str(folder / "a.ptx"), "-o", str(folder / "a.o")]
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_of_several_targets_the_last_one_counts(db: Database, ptxas: Path, tmp_path: Path) -> None:
    for targets, code in (("sm_80, sm_90", ""), ("sm_90, sm_80", "target-too-old")):
        text = f".version 8.0\n.target {targets}\n.entry k() {{ .reg .b16 h; add.bf16 h, h, h; ret; }}\n"
        assert refused(ptxas, tmp_path, text) == bool(code)
        assert [f.code for f in db.lint(text)] == ([code] if code else [])


def test_after_a_header_that_is_wrong_the_rest_is_judged_all_the_same(db: Database) -> None:
    text = ".version 99.9\n.target sm_999\nadd.f32 %f0, %f1, %f2;\nmax.NaN.f64 %d0, %d1, %d2;\n"
    assert [(f.line, f.code) for f in db.lint(text)] == [
        (1, "unknown-ptx"),
        (2, "unknown-target"),
        (4, "illegal-modifier"),
    ]


def test_options_take_the_place_of_the_header(db: Database) -> None:
    text = ".version 7.0\n.target sm_75\nmax.NaN.f32 %f0, %f1, %f2;\n"
    assert [f.code for f in db.lint(text)] == ["target-too-old"]
    assert db.lint(text, target="sm_80") == []
    assert [f.code for f in db.lint(text, target="sm_75", ptx="6.5")] == ["target-too-old"]
    assert [(f.line, f.code) for f in db.lint(text, target="sm_90")] == [(1, "target-unknown")]
    with pytest.raises(ptxspec.PtxspecError, match="sm_999"):
        db.lint(text, target="sm_999")


@pytest.mark.exhaustive
def test_without_header_and_options_what_exists_anywhere_passes(db: Database) -> None:
    # A second result of another type is not left out.
    some = [(v, v.second not in (None, v.result)) for v in db.variants if v.manual]
    found = db.lint("".join(written(db, v.spelling, v.operands, second) + "\n" for v, second in some))
    assert {f.variant for f in found} == {v.spelling for v in db.variants if v.manual and v.hazards}
    assert {f.code for f in found} == {"hazard"}
    assert [f.code for f in db.lint("add.f16.f64 %d0, %d1, %d2;")] == ["illegal-type"]


def test_a_fatal_error_does_not_hide_the_lines_behind_it(db: Database) -> None:
    lines = ["add.f32 _, %f1, %f2;", "`", "add.f32 %f0, %f1 %f2;", "max.NaN.f64 %d0, %d1, %d2;"]
    assert sorted(errors_by_line(db, lines, NEWEST)) == [0, 1, 2, 3]


# Statements


BODY = (
    ".version 8.0\n.target sm_90\n.entry k() {\n.reg .f32 f, g, %f<4>; .reg .b32 r; .reg .b64 b; .reg .pred p, q;\n"
    "LAST:\n@\n}\n"
)


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "statements",
    [
        # Wherever the semicolon stands
        "add.f32 f, f, f\n;", "add.f32 f\n,\nf\n,\nf\n;\n", "add.f32 f, f, f // one;\n/* two; */ ;",
        # A semicolon ends one statement
        "add.f32 f, f, f;;", "{ add.f32 f, f, f; };", "{ ; }", ";", "{ }", "L: { add.f32 f, f, f; }", "add.f32 f, f, f",
        ".loc 1 2 3;", ".reg .f32 t;;", ".reg .f32 t", ".pragma \"nounroll\"",
        "mov.f32 f, g\nadd.f32 f, f, f;", "mov.f32 f, g add.f32 f, f, f;", ".reg .f32 t\nadd.f32 f, f, f;",
        "add.f32 f, f, f\nret;", "add.f32 f, f, f\n@p bra LAST;", "add.f32 f, f, f\nL: ret;", "mov.f32 f g;",
        "add.f32 f, f, f\n.reg .f32 t;", "add.f32 f, f, f\n{ ret; }", "mov.b64 b, {r, r}\nadd.f32 f, f, f;",
        "add .f32 f, f, f;", "add. f32 f, f, f;", "mov.u32 r, %tid .x;", "mov.u64 b, (.u64)\n5;", "ret\n\n;",
        ".reg\n.f32\nt\n,\nu\n;", ".shared .align 4 .b8 t[4][2];", "setp.lt.f32 p | q, f, f;",
        "t: .branchtargets LAST, L;\nL: ret;", "u: .callprototype (.param .b32 _) _ (.param .b32 _) ;",
        # Predicates
        "@!p add.f32 f, f, f;", "@ ! p\nadd.f32 f, f, f;", "@p/**/add.f32 f, f, f;", "L: M: @p ret;",
        "@p { add.f32 f, f, f; }", "@p ;", "@p", "@p@q add.f32 f, f, f;", "@p: add.f32 f, f, f;", "@1 add.f32 f, f, f;",
        "@_ add.f32 f, f, f;", "@!!p add.f32 f, f, f;", "@(p) add.f32 f, f, f;", "@p L: add.f32 f, f, f;",
        # Lines for the preprocessor
        "# comment", "add.f32 f, f, f; # comment", "#define X", '#1 "a"', "# 1 \"a\" 2", '#line 1 "a"', "# 1 a", "# 1",
        'add.f32 f, f, # 1 "a"\nf;',
        # Names and characters
        "ADD.f32 f, f, f;", ".REG .f32 t;", "add.f32\u00a0f, f, f;", "add.f32\vf, f, f;", "add.f32\ff, f, f;",
        "// \u00e9\n/* \u00e9 */", '.pragma "\u00e9";', "\ufeffadd.f32 f, f, f;", "\x1a", "*/ add.f32 f, f, f;", "/",
        "1 add.f32 f, f, f;", "%1 add.f32 f, f, f;", "p add.f32 f, f, f;", ": add.f32 f, f, f;",
        # A carriage return is a space, so that a comment goes on behind it
        "add.f32 f, f, f; // one\radd.foo.f32 f, f;", "// one\r\nadd.foo.f32 f, f;", "add.f32\rf, f,\rf;",
        "@p\radd.f32 f, f, f;",
        '# 1 "a"\radd.f32 f, f, f;', "#define X\radd.f32 f, f, f;", "add.f32 f, f, f\rret;",
        # No line goes on behind a backslash, but one is passed over before an opcode, also behind a predicate
        ".re\\\ng .f32 t;", "ad\\\nd.f32 f, f, f;", "add.f\\\n32 f, f, f;", "add\\\n.f32 f, f, f;",
        "add.f32\\\n f, f, f;",
        "add.f32 f\\\n, f, f;", "add.f32 f, f, f \\\n;", "re\\\nt;", "L\\\nM: ret;", "L\\\n: ret;", ".reg .f\\\n32 t;",
        ".reg .f32 t\\\nu;", ".reg\\\n.f32 t;", ".loc 1 \\\n2 3", "// one\\\nadd.foo.f32 f, f;",
        "ld.param\\\n.f32 f, [g];",
        "bra LAST\\\n;", ".shared .b8 t[4]\\\n;", '.pragma "noun\\\nroll";', '.pragma "noun\\nroll";',
        "\\\nadd.f32 f, f, f;",
        "add.f32 f, f, f;\\\n ret;", "ret;\\", "\\ ret; \\ ret;", "\\\\ ret;", "\\ \\ ret;", "\\ @p ret;", "\\ L: ret;",
        "L: \\\nret;", "\\;", "\\{ ret; }", "{ \\\n}", "\\.reg .f32 t;", "\\ // one\n ret;", "\\ /* one */ ret;",
        "@p\\\n add.f32 f, f, f;", "@p \\\nadd.f32 f, f, f;", "@!p\\ret;", "@p\\ add.f32 f, f, f;",
        "@p\\\r\n add.f32 f, f, f;",
        "@\\\np ret;", "@!\\\np ret;", "@p \\ \\ ret;", "@p\\\n@q ret;", "@p \\\n{ ret; }", "@p /* one */ \\\n ret;",
        # Braces
        "{", "}", "{ { add.f32 f, f, f; }", "{ add.f32 f, f, f; } }", "add.f32 f, f, f};",
    ],
)  # fmt: skip
def test_statements_are_told_apart_as_by_ptxas(db: Database, ptxas: Path, tmp_path: Path, statements: str) -> None:
    text = BODY.replace("@", statements, 1)
    assert bool(db.lint(text)) == refused(ptxas, tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        ".global .align 4 .b8 x[2] = { 1, /* ; */ 2 } , y[2] = {3,4} ;", ".global .f32 x", ".global .f32 x;;", ";",
        ".extern .shared .align 16 .b8 x[];", ".global .attribute(.managed) .align 4 .u32 x;", ".func f();;",
        # A prototype needs no semicolon.
        ".func f (.reg .f32 a)\n.global .f32 x; .func g() { .reg .f32 t; ld.global.f32 t, [x]; ret; }",
        ".visible .func (.param .f32 r) f (.param .f32 a)\n.extern .func g (.param .b32 a) .noreturn\n.const .u32 x;",
        ".func f (.reg .f32 a) // (\n" * 99 + ".const .u32 x[4]; .func g() { .reg .b32 t; ld.const.u32 t, [x]; ret; }",
        ".func f (.reg .f32 a)\n.func g() { .reg .f32 t; add.f32 t, a, a; ret; }",
        ".func (.reg .f32 r) f (.reg .f32 a)\n{ ret; }", ".func f() { ret; };", "}", "{",
        ".section .debug_str\n{\na:\n.b8 65,66 // ; }\n.b8 0\nb: .b32 a+4\n}", ".section .debug_str { .b8 1 };",
    ],
)  # fmt: skip
def test_modules_are_read_as_by_ptxas(db: Database, ptxas: Path, tmp_path: Path, text: str) -> None:
    text = f".version 8.0\n.target sm_90\n{text}\n.entry k() {{ ret; }}\n"
    assert bool(db.lint(text)) == refused(ptxas, tmp_path, text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("add.f32 f, f, g\nmul.f32 f, f, g;", (1, 16)),
        ("add.f32 f, f, g // one\n\n  ret;", (1, 16)),
        ("mov.f32 f, g  mul.f32 f, f, g;", (1, 13)),
        (".reg .f32 t\nmul.f32 f, f, g;", (1, 12)),
        ("{ add.f32 f, f, g }", (1, 18)),
        ("add.f32 f, f, g ", (1, 16)),
    ],
)
def test_a_missing_semicolon_is_shown_where_it_belongs(db: Database, text: str, place: tuple[int, int]) -> None:
    assert [(f.line, f.column, f.message) for f in db.lint(text)] == [(*place, "a semicolon is missing here")]


def test_behind_a_missing_semicolon_the_next_statement_is_judged(db: Database) -> None:
    text = "mov.f32 f, g\nadd.foo.f32 f, f, f;\n.reg .f32 t\nadd.foo.f32 f, f, f\nadd.foo.f32 f, f, f;\n"
    found = [(f.line, f.code) for f in db.lint(text)]
    assert found == [(1, "syntax"), (2, "unknown-modifier"), (3, "syntax"), (4, "unknown-modifier"),
                     (5, "unknown-modifier")]  # fmt: skip


DECLARATIONS = (
    ".reg .{} t;", ".reg .align 4 .{} t;", ".shared .{} t;", ".global .align 16 .{} t[4];", ".const .{} t;",
    ".local .{} t;",
)  # fmt: skip


def declaring(what: str) -> str:
    """A module with a declaration, where it may stand."""
    inside, outside = ("", f"{what}\n") if what.startswith((".global", ".const")) else (what, "")
    return f".version 9.5\n.target sm_120a\n{outside}.entry k() {{\n{inside}\nret;\n}}\n"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_registers_and_variables_have_the_types_that_ptxas_gives_them(
    db: Database, ptxas: Path, tmp_path: Path, declaration: str
) -> None:
    # Of textures and predicates there are either variables or registers.
    types = {*db.types, *db.other_types, "b128"} - {"pred", "texref", "samplerref", "surfref"}
    texts = {t: declaring(declaration.format(t)) for t in sorted(types)}
    taken = [t for t, text in texts.items() if not is_refused(ptxas, tmp_path / "a.ptx", text)]
    assert [t for t, text in texts.items() if not db.lint(text)] == taken and len(taken) == 17


@pytest.mark.parametrize(
    ("what", "place", "help"),
    [
        (".reg .bf16 t;", ".bf16", "write .b16"),
        (".reg .bf16x2 t<4>, u;", ".bf16x2", "write .b32"),
        (".reg .v2 .bf16 t;", ".bf16", "write .b16"),
        (".reg .f32x2 t;", ".f32x2", "write .b64"),
        (".reg .e4m3x4 t;", ".e4m3x4", "write .b32"),
        (".reg .tf32 t;", ".tf32", "write .b32"),
        (".reg .i32 t;", ".i32", "write .s32"),
        (".reg .float t;", ".float", "write .f32"),
        (".reg .B32 t;", ".B32", "write .b32"),
        (".reg .v8 .b32 t;", ".v8", "vectors are .v2 and .v4"),
        (".reg .foo t;", ".foo", "types are .f16 .b16"),
        (".reg .b256 t;", ".b256", "types are .f16 .b16"),
        (".global .align 4 .bf16 t[2] = { 1, 2 };", ".bf16", "write .b16"),
        (".shared .bf16 t;", ".bf16", "write .b16"),
    ],
)
def test_a_type_that_nothing_has_is_told_where_it_is_declared(
    db: Database, ptxas: Path, tmp_path: Path, what: str, place: str, help: str
) -> None:
    text = declaring(what)
    (found,) = db.lint(text)
    assert (found.code, found.source[found.at : found.at + found.length]) == ("unknown-type", place)
    assert found.help.startswith(help) and is_refused(ptxas, tmp_path / "a.ptx", text)


def test_what_is_declared_with_a_type_that_nothing_has_is_told_once(db: Database) -> None:
    text = declaring(".reg .bf16 %b<3>; add.rn.bf16 %b0, %b1, %b2; mov.b16 %b0, %b1; add.f32 %b0, %b1, %b2;")
    assert [f.code for f in db.lint(text)] == ["unknown-type", "illegal-register"]
    (found,) = db.lint('asm("{ .reg .bf16 t; add.rn.bf16 t, %0, %0; }" :: "h"(a));', language="c++")
    assert found.help == "write .b16"
    assert db.lint('asm(".reg .b" BITS " t; { .reg ." TYPE " u; }");', language="c++") == []
