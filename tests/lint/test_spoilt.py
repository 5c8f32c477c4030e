"""Statements that people misspell, in a module and in inline assembly: lint's verdict is ptxas's, and it says what was
meant. One complaint tells all that is wrong with a statement."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from helpers.linting import errors_by_line
from ptxspec import Database
from ptxspec.lint.linter import Linter
from ptxspec.lint.rendering import text as rendered
from ptxspec.ptx.complaints import ERROR

MODULE = """\
.version 9.5
.target sm_120a
.address_size 64
.global .b32 symbol;
.entry k() {
.reg .f32 a, b, c, d; .reg .f64 x, y; .reg .b32 r, s; .reg .b16 h; .reg .b64 w; .reg .pred p, q;
@
}
"""
# What is meant stands behind the statement; nothing where it is right.
STATEMENTS = [
    ("sqrt.f32 a, b;", "sqrt.approx.ftz.f32"),
    ("add.F32 a, b, c;", "add.f32"),
    ("add.fp32 a, b, c;", "add.f32"),
    ("add.float a, b, c;", "write .f32"),
    ("add.double x, x, y;", "write .f64"),
    ("fmaf.f32 a, b, c, d;", "fma"),
    ("fadd.f32 a, b, c;", "add"),
    ("sqrtf.approx.f32 a, b;", "sqrt"),
    ("mull.f32 a, b, c;", "mul"),
    ("vct.rn.f32.s32 a, r;", "cvt"),
    ("fsetp.ne.b32 p, r, s;", "setp"),
    ("add.S16x2 r, s, s;", "write add.s16x2"),
    ("mul.s32.lo r, s, s;", "begin with mul.lo"),
    ("mul .lo.s32 r, s, s;", "write mul.lo"),
    ("shf.wrap.l.b32 r, s, s, s;", "begin with shf.l"),
    ("exp2.approx.f32 a, b;", "ex2"),
    ("exp.approx.f32 a, b;", "PTX has no instruction for this function"),
    ("add.f32 a, b, symbol+4;", "load"),
    ("selp.f32 a, symbol+4, b, p;", "load"),
    ("and.pred p, q, symbol+4;", "load"),
    ("selp.b32 r, symbol+4, s, p;", ""),
    ("cvt.rn.f32.s32 a, symbol+4;", ""),
    ("and.b32 r, s, symbol+4;", ""),
    ("mov.u64 w, symbol+4;", ""),
    ("add.f32 a, b, c+4;", ""),
    ("add.f32 a+4, b, c;", "register"),
    ("add.f32 a, b, symbol-4;", "registers or constants"),
    ("mov.b64 w, {symbol+4, r};", "registers or constants"),
    ("and.b32 r, s, WARP_SZ+1;", ""),
    ("add.f32 a, b, WARP_SZ+1;", "1.0"),
    ("div .full.f32 a, b, c;", "div.full"),
    ("div/* */.full.f32 a, b, c;", "div.full"),
    ("div\n.full.f32 a, b, c;", "div.full"),
    ("div.full .f32 a, b, c;", ""),
    ("div .rn.f32 a, b, c;", ""),
    ("div/* */.rn/**/.f32 a, b, c;", ""),
    ("add..f32 a, b, c;", "remove the dot"),
    ("add.f32. a, b, c;", "remove the dot"),
    ("sub..s32 r, s, r;", "remove the dot"),
    ("add.i32 r, s, r;", "write .s32"),
    ("mul.lo.int32 r, s, r;", "write .s32"),
    ("max.uint32 r, s, r;", "write .u32"),
    ("add.sf32 a, b, c;", "write .f32"),
    ("add.u31 r, s, r;", "did you mean '.u32'?"),
    ("add.pred p, q, q;", ""),
    ("max.pred p, q, q;", ""),
    ("abs.pred p, q;", ""),
    ("cvt.rn.f32.pred a, q;", ""),
    ("mov.pred p, q;", ""),
    ("mov.v4.u32 {r, s, r, _}, %tid;", ""),
    ("mov.v2.f32 {a, b}, {c, d};", ""),
]  # fmt: skip
# In inline assembly these may be another machine's.
OF_OTHERS = [
    ("addf32 a, b, c;", "add.f32"),
    ("fmaf32 a, b, c, d;", "did you mean 'fma'?"),
    ("add.32 r, s, s;", "use a type that it has"),
    ("add.s3 r, s, s;", "write add.s32"),
]
REFUSED_WITHOUT_HELP = ("add.pred", "max.pred", "abs.pred", "cvt.rn.f32.pred")


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("statement", "meant"), [*STATEMENTS, *OF_OTHERS])
def test_what_is_misspelt_is_refused_as_by_ptxas_and_what_is_meant_is_said(
    db: Database, ptxas: Path, tmp_path: Path, statement: str, meant: str
) -> None:
    text = MODULE.replace("@", statement)
    (tmp_path / "a.ptx").write_text(text)
    command = [ptxas, "-arch=sm_120a", tmp_path / "a.ptx", "-o", tmp_path / "a.cubin"]
    refused = subprocess.run(command, capture_output=True, check=False).returncode != 0
    assert refused == (bool(meant) or statement.startswith(REFUSED_WITHOUT_HELP))
    found = [f for f in db.lint(text) if f.severity == ERROR]
    assert len(found) == refused
    assert all(meant in f.text for f in found)


LETTERS = dict(zip("abcdxyrshwpq", "ffffddrrhlrr", strict=True))


@pytest.mark.parametrize(("statement", "meant"), [s for s in STATEMENTS if "pred" not in s[0] and ", p;" not in s[0]])
def test_inline_assembly_is_judged_as_a_module_is(db: Database, statement: str, meant: str) -> None:
    names = [n for n in LETTERS if re.search(rf"[ {{]{n}\b", statement)]
    written = statement.replace("\n", "\\n")
    for i, n in enumerate(names):
        written = re.sub(rf"(?<=[ {{]){n}\b", f"%{i}", written)
    constraints = ", ".join(f'"{LETTERS[n]}"(v)' for n in names)
    found = db.lint(f'asm("{written}" :: {constraints});', language="c++")
    expected = db.lint(MODULE.replace("@", statement))
    # Only the module says for which target it is.
    codes = [[f.code.replace("ptx-", "target-") for f in fs if f.severity == ERROR] for fs in (found, expected)]
    assert codes[0] == codes[1]


@pytest.mark.parametrize(
    "text",
    [
        # Of other machines
        "vmul.f32 q0, q1, q2;", "fmul v0.4s, v1.4s, v2.4s;", "fmadd.s %0, %1, %2, %3;", "add.w r0, r1, r2;",
        "mul.s $f1, $f2, $f3;", "fadd.d %0, %1, %2;", "v_fma_f32 %0, %1, %2, %3;", "mov %1, %0;", "add.s %0, %1, %2;",
        "add. %0, %1, %2;", "fma.s3 %0, %1, %2, %3;", "add.64 %0, %1, %2;", "addf32 %0, %1, %2;",
        "fcvt.ps.f16 f15, f15", "fmul.f32 v0, v1, v2", "fadd.f16 v0, v1, v2\\nfmul.f32 v0, v1, v2", "fcvt.s.w f0, a0",
        "vadd.f16 s0, s1, s2", "vcvt.f32.s32 s0, s0", "fcvt.rn.f32.s32 v0, v1",
        # Perhaps a macro stands behind the dot
        "add.f32.%3 %0, %1, %2;", "add.f32.$T %0, %1, %2;",
        # Other instructions of PTX
        "vadd.s32.s32.s32 %0, %1, %2;", "mad24.lo.s32 %0, %1, %2, %3;", "ld.global.f32 %0, [%1];",
        "atom.add.f32 %0, [%1], %2;", "st.f32 [%0], %1;", "mad.lo.s32 %0, %1, %2, %3;",
        "shf.l.wrap.b32 %0, %1, %2, %3;",
    ],
)  # fmt: skip
def test_what_is_none_of_the_databases_is_no_misspelling(db: Database, text: str) -> None:
    assert db.lint(f'asm("{text}" : "=f"(a) : "f"(b), "f"(c), "f"(d));', language="c++") == []


def test_beside_what_is_plainly_ptx_syntax_and_operands_are_judged_of_other_instructions_too(db: Database) -> None:
    (found,) = db.lint('asm("setp.ne.b32 p, %0, %1\\nwgmma.fence.sync.aligned;" :: "r"(a), "r"(b));', language="c++")
    assert found.message == "a semicolon is missing here"
    (found,) = db.lint('asm("setp.ne.b32 p, %0, %3;" :: "r"(a), "r"(b));', language="c++")
    assert found.code == "undeclared-register"


def test_a_type_without_its_dot_or_a_letter_is_told_beside_what_is_plainly_ptx(db: Database) -> None:
    """Other machines have opcodes such as addf32, and names such as .s3."""

    def told(statement: str) -> list[tuple[str, str]]:
        texts = [statement, f"mul.f32 %0, %1, %2; {statement}", f"{{ .reg .f32 t; {statement} }}"]
        alone, *beside = ([(f.code, f.help) for f in db.lint(f'asm("{t}");', language="c++")] for t in texts)
        assert alone == [] and beside[0] == beside[1]
        return beside[0]

    assert told("addf32 %0, %1, %2;") == [("unknown-opcode", "did you mean 'add.f32'?")]
    assert told("add.s3 %0, %1, %2;") == [("unknown-type", "write add.s32")]
    # That may be .f32, .s32 or .u32.
    assert told("add.32 %0, %1, %2;") == [("unknown-type", "use a type that it has")]
    assert told("mwait1 %0, %1;") == told("add32 %0, %1, %2;") == []


@pytest.mark.parametrize(("target", "meant"), [("sm_75", "add"), ("sm_100", "add.f32x2")])
def test_what_is_meant_by_a_type_without_its_dot_is_named_where_it_exists(
    db: Database, target: str, meant: str
) -> None:
    (found,) = db.lint(f".version 8.8\n.target {target}\n.func f() {{ addf32x2 %rd1, %rd2, %rd3; }}")
    assert (found.code, found.help) == ("unknown-opcode", f"did you mean '{meant}'?")


def test_what_has_no_type_is_told_beside_what_is_plainly_ptx(db: Database) -> None:
    def codes(text: str) -> list[str]:
        return [f.code for f in db.lint(f'asm("{text}" : "=f"(a) : "f"(b), "f"(c));', language="c++")]

    assert codes("add %0, %1, %2;") == []
    assert codes("mul.f32 %0, %1, %2; add %0, %1, %2;") == ["missing-type"]
    assert codes("{ .reg .f32 t; ld.shared.f32 t, [%1]; add %0, t, t; }") == ["missing-type"]


@pytest.mark.parametrize("module", [".version 1.3\n.target sm_10\n", ".version 1.4\n.target sm_10\n", ""])
def test_inline_assembly_without_a_version_is_judged_as_the_newest(db: Database, module: str) -> None:
    """No compiler of today takes what ended with PTX 1.3. A module that names its version is judged by that."""
    refused = [f.code for f in db.lint(f'const char *m = R"({module}sqrt.f32 %f1, %f2;)";', language="c++")]
    assert refused == ([] if "1.3" in module else ["ptx-too-new"])
    assert db.lint('asm("sqrt.f32 %0, %1;");', ptx="1.3", language="c++") == []


def test_all_that_is_wrong_with_a_statement_is_one_complaint(db: Database) -> None:
    source = 'asm("add.rn.rz.sat.foo.f64 %0, %1, %2;" : "=d"(a) : "d"(b), "d"(c));'
    (found,) = db.lint(source, language="c++")
    assert [found.message, *found.also] == [
        "add.f64 cannot have both .rn and .rz",
        "add.f64 has no .sat; it has .rn, .rz, .rm, .rp",
        "add.f64 has no .foo; it has .rn, .rz, .rm, .rp",
    ]
    assert list(Linter(db).lint(source, "a.cu", "c++"))[1].message == found.also[0]


def test_a_complaint_has_five_lines_at_most_and_carets_below_each_place(db: Database) -> None:
    source = '  asm("add.f64 %0, %1, {%2}, 1;" : "=f"(a) : "f"(b), "f"(c));'.replace(", 1;", ";")
    lines = "".join(rendered(db.lint(source, language="c++"))).splitlines()
    assert lines == [
        '<text>:1:16: error: %0 has the constraint "f" (.f32 or .b32); add.f64 takes .f64 or .b64 here; likewise %1 '
        "[illegal-register]",
        f"    {source}",
        "                   ^^  ^^  ^^^^",
        "    also: a vector is not allowed here",
        '    help: write "d"; name one register',
    ]


def test_a_missing_semicolon_belongs_to_its_statement(db: Database) -> None:
    (found,) = db.lint("add.foo.f32 %f0, %f1, %f2\nmul.f32 %f0, %f1, %f2;")
    assert found.also == ("a semicolon is missing here",) and "end the statement with ;" in found.help


@pytest.mark.parametrize(
    "header",
    [
        ".version 99.9\n.target sm_90\n", ".version abc\n", ".version\n8.0\n.target sm_80\n", ".version 8,0\n",
        ".target sm_80\n.version 8.0\n", ".version 8.0\n.target sm_80\n.version 8.0\n", ".version 8.0\n.TARGET sm_80\n",
        ".Version 8.0\n.target sm_80\n", ".version 8.0;\n.target sm_80\n", ".version 3.0\n.target sm_90\n",
        "\ufeff.version 8.0\n.target sm_80\n", "=.version 8.0\n.target sm_80\n", ".version 8.0\n]\n.target sm_80\n",
    ],
)  # fmt: skip
def test_a_header_that_is_wrong_is_complained_of_once(db: Database, ptxas: Path, tmp_path: Path, header: str) -> None:
    text = f"{header}.entry k() {{\n.reg .b16 h; .reg .f32 a;\nfma.rn.bf16 h, h, h, h;\nadd.f32 a;\n}}\n"
    found = [f.line for f in db.lint(text)]
    line = header.count("\n") + 4
    assert len(found) == 2 and found[1] == line, "the header once, and what is wrong in any version"


def test_the_opcodes_of_other_sections_are_ptxas(db: Database, ptxas: Path, tmp_path: Path) -> None:
    """Opcodes of one word are taken by themselves; others are instructions with what follows, as wgmma.fence."""
    others = [opcode for opcode in db.other_opcodes if opcode not in db.data["matrices"]]
    assert not {*others} & {*db.opcodes}
    statements = [f"{opcode}.{opcode};" for opcode in others]
    assert errors_by_line(db, statements, ("sm_120a", "9.5")) == {}
