"""`ptxspec lint` on registers: what ptxas says of every declared type, name and constraint in every place."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest
from helpers.judged_lines import HEADER, NEWEST, disagreements, is_refused, lines_in_error, lines_refused, typical
from helpers.linting import writer
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.lint.linter import Linter
from ptxspec.query.database import Variant

pytestmark = pytest.mark.inputs(
    "requirements",
    "spec/assembler.yaml",
    "spec/special_registers.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/ptx",
    "codegen/ptxspec/query",
    "codegen/ptxspec/proving/ptxas",
)

DECLARED = ".reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %b<8>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .pred %p<8>;"


def written(db: Database, v: Variant, place: int, name: str) -> str:
    operands = writer(db).operands(v)
    operands[place] = name
    return f"{v.spelling} {', '.join(operands)};"


def places(db: Database, v: Variant) -> range:
    """Return the places of operands, of which a vector is one."""
    return range(len(writer(db).operands(v)))


TYPES = ("b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "pred")
NEW_TYPES = ("f16x2", "b128")
VECTORS = ("v2 .f32", "v4 .f32", "v2 .b16", "v2 .f16", "v4 .b16", "v2 .b32", "v2 .f64", "v2 .b64")


@each_size
@pytest.mark.sampled(0)
@pytest.mark.parametrize("pair", [NEWEST, ("sm_90", "7.8"), ("sm_80", "7.0"), ("sm_53", "6.5"), ("sm_13", "1.4")])
def test_every_type_of_register_in_every_place_is_judged_as_ptxas_judges_it(
    db: Database, ptxas: Path, tmp_path: Path, pair: tuple[str, str], whole: bool
) -> None:
    types = (*TYPES, *(NEW_TYPES if pair == NEWEST else ()), *VECTORS)
    if pair[1] < "4":
        types = tuple(t for t in types if "f16" not in t)
    declarations = DECLARED + "".join(f" .reg .{t} x{i}, y{i}_<3>;" for i, t in enumerate(types))
    names = [f"{n}{i}{m}" for i, _ in enumerate(types) for n, m in (("x", ""), ("y", "_2"))]
    names += [f"x{i}.{c}" for i, t in enumerate(types) if t in VECTORS for c in "xy"]
    variants = db.available(*pair) if pair == NEWEST else typical(db, pair)
    # Of the vectors that mov takes nothing is known.
    variants = [v for v in variants if v.opcode != "mov"]
    if not whole:
        variants = spread(variants, 1_000)
    asked = [(v, i, n) for v in variants for i in places(db, v) for n in names]
    assert len(asked) > 500
    count = 30_000 if whole else 5_000
    some = [written(db, *a) for a in random.Random(3).sample(asked, min(len(asked), count))]
    assert disagreements(db, ptxas, tmp_path / "a.ptx", declarations, some, pair) == []


def test_mov_takes_no_register_of_another_width_and_no_float_for_an_integer(
    db: Database, ptxas: Path, tmp_path: Path
) -> None:
    types = (*TYPES, *NEW_TYPES)
    declarations = DECLARED + "".join(f" .reg .{t} x{i};" for i, t in enumerate(types))
    variants = [v for v in typical(db, NEWEST) if v.opcode == "mov"]
    asked = [written(db, v, i, f"x{n}") for v in variants for i in places(db, v) for n, _ in enumerate(types)]
    assert len(asked) == 12 * 2 * len(types)
    assert disagreements(db, ptxas, tmp_path / "a.ptx", declarations, asked) == []


# What reads special registers of 32 bits and more, or of 64.
READING = (
    "cvt.u64.u32 %b0, ", "cvt.sat.u8.s16 %y0, ", "cvt.s32.s8 %r0, ", "cvt.u32.u64 %r0, ", "cvt.sat.s16.s64 %h0, ",
)  # fmt: skip


@pytest.mark.sampled(0)
@each_size
def test_a_special_register_is_read_by_few_and_refused_by_all_others(
    db: Database, ptxas: Path, tmp_path: Path, whole: bool
) -> None:
    special = [*{r.text: name for name, r in db.special_registers.items()}.values()]
    reading = [f"{s}{n}{part};" for s in READING for n in special for part in ("", ".x", ".w", ".b0")]
    assert disagreements(db, ptxas, tmp_path / "a.ptx", DECLARED, reading) == []
    assert 100 < sum(map(bool, map(db.lint, reading))) < len(reading) - 100
    # mov reads all of them.
    others = [
        v
        for v in typical(db, NEWEST)
        if v.opcode != "mov" and not v.spelling.startswith(tuple(s.split()[0] for s in READING))
    ]
    some = [written(db, v, i, n) for v in others for i in places(db, v) for n in special]
    some += [f"add.f32 %f0, {n}.x, %f1;" for n in special if n != "WARP_SZ"]
    some = some if whole else spread(some, 800)
    assert disagreements(db, ptxas, tmp_path / "a.ptx", DECLARED, some) == []
    # No declaration is needed for that.
    assert {f.code for f in db.lint("\n".join(some))} == {"illegal-operand", "illegal-destination"}
    assert [f.line for f in db.lint("\n".join(some))] == list(range(1, len(some) + 1))


@pytest.mark.parametrize(
    "pair", ["sm_10 2.3", "sm_20 3.0", "sm_50 4.0", "sm_80 7.0", "sm_90 7.8", "sm_90 9.5", "sm_100 8.6"]
)
def test_a_register_is_missing_where_the_assembler_says_so(
    db: Database, ptxas: Path, tmp_path: Path, pair: str
) -> None:
    """As an operand, and a predicate as a guard."""
    target, ptx = pair.split()
    declarations = ".reg .b32 %r<8>; .reg .b64 %b<8>;"
    text = HEADER.format(target=target, ptx=ptx, declarations=declarations)
    for name, r in db.special_registers.items():
        bits, register = (64, "%b0") if r.bits == (64,) else (32, "%r0")
        read = f"mov.b{bits} {register}, {name}{'.x' * r.fields};"
        text += f"@{name} mov.b32 %r0, %r1;\n" if r.bits == (1,) else f"{read}\n"
    text += "}\n"
    assert lines_in_error(db, text) == lines_refused(ptxas, tmp_path / "a.ptx", text)
    assert {f.code for f in db.lint(text)} <= {"target-too-old", "ptx-too-old"}


# Expressions with names in them

EXPRESSIONS = """WARP_SZ-1; WARP_SZ*2; 2*WARP_SZ; (WARP_SZ); ~WARP_SZ; WARP_SZ+1+2; (.s64)WARP_SZ; WARP_SZ<1?2:3;
WARP_SZ %2; WARP_SZ+1.0; 3%WARP_SZ; WARP_SZ-%r3; 1-WARP_SZ; %r2+-8; %r2-8; %r2+(8)*2; %r2++8; %r2+~WARP_SZ; %r2+0x1g;
%r2+1.0; %r2+%r3; %r2+abc; 8+%r2; (%r2); ~%r2; 2*%r2; 0x%2; g-8; x+-8; (x+8)"""


def test_expressions_may_have_the_names_of_integers(db: Database, ptxas: Path, tmp_path: Path) -> None:
    """ptxas also adds an expression to a register."""
    statements = [f"mov.u32 %r1, {text.strip()};" for text in EXPRESSIONS.split(";")]
    wrong = []
    for s in statements:
        text = HEADER.format(target="sm_121a", ptx="9.5", declarations=f"{DECLARED} .reg .b32 x;") + f"{s}\n}}\n"
        if lines_in_error(db, text) != lines_refused(ptxas, tmp_path / "a.ptx", text):
            wrong.append(s)
    assert wrong == []


# Names. In each the last instruction is meant.

NAMED = [
    ".reg .f32 x; add.f32 x,x,x;",
    ".reg .f64 x; add.f32 x,x,x;",
    ".reg .f32 x, y , z; add.f32 x,y,z;",
    ".reg .f32 x, %y<3>, z; add.f32 x,%y2,z;",
    ".reg .f32 x, %y<3>, z; add.f32 x,%y3,z;",
    ".reg.f32 x; add.f32 x,x,x;",
    ".reg\t.f32\tx ; add.f32 x,x,x;",
    ".reg .f32 /* .f64 */ x // , y\n, z; add.f32 x,z,x;",
    ".reg .f32 /* .f64 */ x // , y\n, z; add.f32 x,y,x;",
    ".reg .f32 x<0x3>; add.f32 x2,x0,x1;",
    ".reg .f32 x<3 >; add.f32 x2,x3,x1;",
    ".reg .f32 x<9>; add.f32 x007,x8,x1;",
    f".reg .f32 x<9>; add.f32 x{'0' * 30}7,x8,x1;",
    f".reg .f32 x<9>; add.f32 x{'7' * 30},x8,x1;",
    ".reg .f32 x1<5>; add.f32 x10,x11,x12;",
    ".reg .f32 x<4>; add.f32 x,x1,x2;",
    ".reg .f32 x<8>, x8; add.f32 x7,x0,x8;",
    ".reg .align 8 .f32 x; add.f32 x,x,x;",
    ".reg .v4 .f32 x; add.f32 x.x,x.y,x.w;",
    ".reg .v4 .f32 x; add.f32 x.r,x.g,x.b;",
    ".reg .v4 .f32 x; add.f32 %f0,x,%f1;",
    ".reg.v2.f32 x; add.f32 x.x,x.y,%f1;",
    ".reg .v2 .f32 x<3>; add.f32 %f0,x2.x,x1.y;",
    ".reg .v4 .f32 x; add.f64 %d0,x.x,%d0;",
    ".reg .f32 x; add.f32 %f0,x.x,x;",
    ".reg .f32 x; add.f32 %f0,x.b0,x;",
    ".reg .f32 x; add.f32 %f0,x[0],x;",
    ".reg .f32 add; add.f32 add,add,add;",
    ".reg .f32 %clock; add.f32 %f0,%clock,%f1;",
    ".reg .f64 %clock; add.f32 %f0,%clock,%f1;",
    "{.reg .f64 x;} add.f64 x,x,x;",
    ".reg .f32 x; {.reg .f64 x; add.f64 x,x,x;}",
    ".reg .f32 x; {.reg .f64 x; add.f32 x,x,x;}",
    ".reg .f32 x; {.reg .f64 x; } add.f32 x,x,x;",
    ".reg .f32 x; {.reg .f64 x; {.reg .f16 x; add.f16 x,x,x;}}",
    ".reg .f32 x; {.reg .f64 x; {.reg .f16 y;} add.f64 x,x,x;}",
    ".reg .f32 x; {{}{ }} add.f32 x,x,x;",
    ".reg .f32 x<9>; {.reg .f64 x<3>; add.f32 %f0,x5,%f1;}",
    ".reg .f32 x<9>; {.reg .f64 x<3>; add.f32 %f0,x2,%f1;}",
    "add.f32 %f0,x,%f1;",
    "add.f32 x,%f0,%f1;",
    "add.f32 %F0,%f0,%f1;",
    "add.f32 %f0,pf,%f1;",
    "add.f32 %f0,pp,%f1;",
    "add.f32 %f0,g,%f1;",
    "add.f32 g,%f0,%f1;",
    "add.f32 %f0,k,%f1;",
    "add.f32 %f0,f,%f1;",
    "add.f32 f,%f0,%f1;",
    "add.f32 other,%f0,%f1;",
    "L: add.f32 %f0,L,%f1;",
    ".param .f32 q; add.f32 %f0,q,%f1;",
    ".local .f32 q; add.f32 %f0,q,%f1;",
    "add.f32 %f0,ra,%f1;",
    "@%p0 add.f32 %f0,%d0,%f1;",
    "testp.finite.f32 %p0,%f1;",
    "testp.finite.f32 %f0,%f1;",
    "testp.finite.f64 %p0,%f1;",
]
FUNCTION = """\
.version 9.5
.target sm_100a
.global .f32 g;
.extern .func (.param .b32 r) other (.param .b32 a);
.func (.reg .f32 ra) f (.reg .f64 rb, .reg .pred rc, .param .f32 pa)
{{
  .reg .f32 s;
  {inner}
  ret;
}}
.visible .entry k (.param .u64 pp, .param .f32 pf)
.maxntid 128, 1, 1
{{
  .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %b<8>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .pred %p<8>;
  {body}
  ret;
}}
"""
INNER = ["add.f32 ra,ra,s;", "add.f64 rb,rb,rb;", "add.f32 rb,ra,s;", "add.f32 s,pa,s;", "testp.finite.f32 rc,s;",
         "add.f32 rc,s,s;", "add.f32 %f0,s,s;", "add.f32 s,pf,s;"]  # fmt: skip


@pytest.mark.sampled(24)
@pytest.mark.parametrize(
    "text", [FUNCTION.format(inner="", body=b) for b in NAMED] + [FUNCTION.format(inner=i, body="") for i in INNER]
)
def test_names_mean_what_ptxas_takes_them_for(db: Database, ptxas: Path, tmp_path: Path, text: str) -> None:
    assert lines_in_error(db, text) == lines_refused(ptxas, tmp_path / "a.ptx", text)


def test_a_register_is_named_with_its_type_and_what_is_taken(db: Database) -> None:
    text = FUNCTION.format(inner="", body="add.f32 %f0, %d1, x;\n testp.finite.f32 %f0, %f1; add.f32 %f0, %clock, 1.0;")
    found = [(f.code, f.message, f.source[f.at : f.at + f.length]) for f in Linter(db).lint(text, "f")]
    assert found == [
        ("illegal-register", "%d1 is a .f64 register; add.f32 takes .f32 or .b32 here", "%d1"),
        ("undeclared-register", "x is not declared here", "x"),
        ("illegal-register", "%f0 is a .f32 register; testp.finite.f32 takes .pred here", "%f0"),
        ("illegal-operand", "%clock is a special register, which cannot be read here", "%clock"),
    ]


# Names that nothing declares, and those of what is no register: variables, functions, labels.
NAMES = """\
mov.u32 %r0, %tidx;  mov.u32 %r0, %tid.q;  mov.u32 %r0, %tidd.x;  mov.u32 %r0, %laneid.x;  mov.u32 %r0, nope;
mov.u32 nope, %r0;  mov.u32 %r0, nope+4;  mov.u32 %r0, nope[1];  mov.u64 %b0, nope.x;  mov.s64 %b0, %pp.x;
mov.b32 %r0, {%h0, %nope};  mov.b32 {%h0, %nope}, %r0;  mov.b64 %b0, {%r8, %r0};  and.b32 %r0, %r1, nope+4;
mov.v2.u32 {%r0, nope}, {1, 2};  mov.v2.f32 nope, v;  add.u64 %b0, %b1, nope;  mad.lo.s32 %r0, nope, %r1, %r2;
mov.u64 %b0, pp;  mov.u64 %b0, pp+8;  mov.u64 %b0, pp.x;  mov.u64 %b0, pp[2];  mov.u64 %b0, g;  mov.u64 %b0, g.x;
mov.u64 %b0, g[1];  mov.u64 %b0, ga;  mov.u64 %b0, ga+8;  mov.u64 %b0, ga[1];  mov.u64 %b0, ga[nope];
mov.u64 %b0, ga.x;  mov.u64 %b0, gb;  mov.u64 %b0, gc;  mov.u64 %b0, gd;  mov.u64 %b0, ge7;  mov.u64 %b0, ge8;
mov.u64 g, %b0;  mov.u64 %b0, gt;  mov.u64 %b0, k;  mov.u64 %b0, f.x;  mov.u64 %b0, f[1];  mov.u32 %r0, f+4;
and.b32 %r0, f, %r1;  and.b32 %r0, %r1, f+4;  mov.u64 %b0, e;  mov.u64 %b0, e+4;  mov.b64 %b0, {f, %r0};
mov.b64 %b0, {e, %r0};  mov.b64 %b0, {g, %r0};  mov.u64 %b0, LAST;  mov.u32 %r0, LAST+4;  mov.u64 %b0, LAST.x;
mov.b64 %b0, {LAST, %r0};  setp.eq.u32 %p0, %r0, LAST;  and.b32 %r0, LAST, %r1;  add.f32 LAST, %f0, %f1;
selp.b32 %r0, %r1, %r2, nope;  setp.lt.f32 %p0|nope, %f0, %f1;  ld.global.f32 %f0, [nope];
ld.global.f32 %f0, [nope+4];  ld.global.f32 %f0, [%bb1];  ld.global.f32 %f0, [%b8];  ld.global.f32 %f0, [%b7];
ld.global.f32 %f0, [%b0+nope];  ld.global.f32 nope, [%b0];  ld.global.v2.f32 {%f0, nope}, [%b0];
ld.param.u64 %b0, [ppp];  ld.param.u64 %b0, [pp];  ld.param.u64 %b0, [pp+nope];  ld.global.f32 %f0, [ga+4];
ld.global.f32 %f0, ga[1];  ld.global.f32 %f0, [f];  ld.b64 %b0, [LAST];  ld.global.u64 f, [%b0];
ld.global.u64 g, [%b0];  ld.global.u64 LAST, [%b0];  st.global.f32 [%b0], nope;  st.global.f32 [nope], %f0;
st.global.u64 [%b0], f;  st.global.u32 [%b0], LAST;  st.f32 [f], %f0;  atom.global.add.u32 %r0, [%b0], nope;
red.global.add.u32 [f], %r0;  prefetch.L1 [LAST];  prmt.b32 %r0, %r1, %r2, nope;  popc.b32 %r0, nope;
popc.b32 %r0, f;  popc.b32 %r0, LAST;  bar.sync nope;  shfl.sync.up.b32 %r0|%p0, %r1, nope, 0, -1;
vote.sync.any.pred %p0, LAST, -1;  nanosleep.u32 LAST;  cvta.to.global.u64 %b0, nope;  cvta.global.u64 %b0, g;
tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [nope, {%r0}];  bra NOPE;  bra LAST;  bra.uni LAST;  @%p0 bra LAST;  bra f;
bra k;  bra %r0;  bra g;  call nope;  call f;  call (%r0), nope, (%r1);  call %b0, (%r1), prototype;
brx.idx %r0, targets;  brx.idx %r0, nope;  { bra inner; inner: ret; }  @nope bra LAST;  @%p8 bra LAST;
@!nope mov.u32 %r0, %r1;  @%r0 bra LAST;  @!%r0 add.f32 %f0, %f1, %f2;  @v ret;  @%tid ret;  @g add.f32 %f0, %f1, %f2;
@f add.f32 %f0, %f1, %f2;  @LAST ret;  @%is_explicit_cluster ret;  @%p7 ret;  @!%p0 bra LAST;
{ .shared .b32 s; mov.u64 %b0, s; }  { .shared .b32 s; } mov.u64 %b0, s;
.local .b8 s[4], t; mov.u64 %b0, t;  { .param .b32 s; st.param.b32 [s+0], %r0; }  { .reg .b64 g; mov.u64 g, g; }
{ .param .b32 s; } st.param.b32 [s+0], %r0;"""
AROUND = """\
.version 9.5
.target sm_120a
.address_size 64
.global .b32 g, gb;
.global .align 16 .f32 ga[8] = {{ 1.0, /* , x; */ 2.0 }}, gc;
.const .u64 gd[2] = {{ ga, gc }};
.global .b32 ge<8>;
.global .texref gt;
.func f() {{ ret; }}
.entry e() {{ ret; }}
.entry k(.param .u64 .ptr .global .align 16 pp, .param .align 8 .b8 pa[16]) {{
.reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %b<8>; .reg .f32 %f<8>; .reg .pred %p<8>; .reg .v2 .f32 v;
prototype: .callprototype _ (.param .b32 _);
targets: .branchtargets LAST;
{statement}
LAST:
ret;
}}
"""


@pytest.mark.sampled(24)
@pytest.mark.parametrize("statement", re.split(r"  |\n", NAMES))
def test_names_are_known_in_every_instruction_as_by_ptxas(
    db: Database, ptxas: Path, tmp_path: Path, statement: str
) -> None:
    text = AROUND.format(statement=statement)
    assert len(lines_in_error(db, text)) == is_refused(ptxas, tmp_path / "a.ptx", text)


@pytest.mark.parametrize(
    ("statement", "code", "message", "place"),
    [
        ("ld.param.u64 %b0, [ppp+8];", "undeclared-register", "ppp is not declared here", "ppp"),
        ("mov.s64 %b0, %pp.x;", "undeclared-register", "%pp.x is not declared here", "%pp.x"),
        ("add.f32 %f0, %f1, ga;", "illegal-operand", "ga is a variable, which cannot be read here", "ga"),
        ("and.b32 %r0, %r1, f+4;", "illegal-operand", "f is a function, to which nothing can be added", "f"),
        ("ld.b64 %b0, [LAST];", "illegal-operand", "LAST is a label, which is not allowed here", "LAST"),
        ("ld.b64 %b0, [f];", "illegal-operand", "f is a function, not an address", "f"),
        ("bra f;", "illegal-operand", "f is not a label", "f"),
        ("@!%r0 ret;", "illegal-register", "%r0 is not a predicate", "%r0"),
        ("mov.f32 %f0, v.z;", "illegal-operand", "v.z is not an element of a vector", "v.z"),
    ],
)
def test_a_name_is_pointed_at_wherever_it_stands(
    db: Database, statement: str, code: str, message: str, place: str
) -> None:
    (found,) = db.lint(AROUND.format(statement=statement))
    assert (found.code, found.message) == (code, message)
    assert found.source[found.at : found.at + found.length] == place and found.help


# Addresses, and vectors within vectors. Of these ptxas says that it cannot parse - and .x behind a name, that it is
# "illegal to use" a register of .f32 "as address operand", and that a vector in braces is an "Illegal expression".
PLACES = """\
ld.global.u32 %r0, [%b0];  ld.global.u32 %r0, [%b0+4];  ld.global.u32 %r0, [%b0+-4];  ld.global.u32 %r0, [ %b0 + 8-4 ];
ld.global.u32 %r0, [%b0-4];  ld.global.u32 %r0, [ %b0 - 4 ];  ld.global.u32 %r0, [ga-4];  ld.param.u64 %b0, [pp-4];
ld.shared.u32 %r0, [v.x];  ld.global.u32 %r0, [w.y+4];  ld.global.u32 %r0, [%b0.x];  st.global.u32 [w.x], %r0;
ld.global.u32 %r0, [%tid.x];  ld.global.f32 %f0, [%f1];  ld.shared.f32 %f0, [%f1+4];  st.global.f32 [%d0], %f0;
ld.global.f32 %f0, [%p0];  ld.global.f32 %f0, [%h0];  ld.global.f32 %f0, [%hh];  ld.global.f32 %f0, [q];
ld.global.f32 %f0, [w];  ld.global.f32 %f0, [v];  atom.global.add.f32 %f0, [%d0], %f1;  prefetch.global.L1 [%d0];
cp.async.ca.shared.global [%r0], [%d0], 4;  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [gt, {%f4, %f5}];
tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [gt, v];  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [gt, {v, %f0}];
mov.v2.b64 w, {w, %b0};  mov.v2.b64 w, {w.x, %b0};  mov.b128 q, {w, %b0};  st.global.v2.f32 [%b0], {v, %f0};
st.global.v2.f32 [%b0], {v};  st.global.v2.f32 [%b0], v;  ld.global.v2.f32 {v, %f0}, [%b0];
st.global.v2.f32 [%b0], {v.x, v.y};  ld.global.v4.f32 {%f0, %f1, v}, [%b0];  ld.global.f32 %f0, [%b0+%f1];
ld.global.f32 %f0, [%b0+%b1];  ld.global.f32 %f0, [%b0 + %r0];
ld.global.f32 %f0, [%b0+WARP_SZ];  ld.global.f32 %f0, [ga+%r0];  ld.global.f32 %f0, [%b0+ga];"""
DECLARING = ".reg .f64 %d<8>; .reg .v2 .b64 w; .reg .f16 %hh; .reg .b128 q; "


@pytest.mark.sampled(24)
@pytest.mark.parametrize("statement", re.split(r"  |\n", PLACES))
def test_addresses_and_parts_of_vectors_are_those_that_ptxas_takes(
    db: Database, ptxas: Path, tmp_path: Path, statement: str
) -> None:
    text = AROUND.format(statement=DECLARING + statement)
    assert len(lines_in_error(db, text)) == is_refused(ptxas, tmp_path / "a.ptx", text)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ('asm("ld.global.u32 %0, [%1-4];" : "=r"(x) : "l"(p));', "syntax",
         "nothing can be subtracted from an address"),
        ('asm("{ .reg .v2 .b64 w; ld.global.u32 %0, [w.x]; }" : "=r"(x));', "syntax",
         "an address cannot be an element of a vector"),
        ('asm("{ .reg .f32 t; ld.global.f32 %0, [t+4]; }" : "=f"(x));', "illegal-register",
         "t is a .f32 register, which cannot be an address"),
        ('asm("{ .reg .v2 .b32 v; st.global.v2.b32 [%0], {v, %1}; }" :: "l"(p), "r"(x));', "illegal-operand",
         "v is a vector, which cannot be part of another"),
        ('asm("ld.global.u32 %0, [%1+%2];" : "=r"(x) : "l"(p), "r"(i));', "syntax",
         "only an integer can be added to an address"),
        ('asm("ld.global.u32 %0, [%1+%2];" : "=r"(x) : "l"(p), "n"(4));', "", ""),
        ('asm("ld.global.u32 %0, [%1+%2];" : "=r"(x) : "l"(p), "C"(text));', "", ""),
        # A macro's operands may be constants.
        ('asm("ld.global.u32 %0, [%1-4];" OPERANDS);', "", ""),
        ('asm("ld.global.u32 %[x], [%[p]-4];" OPERANDS);', "", ""),
        ('asm("add.u32 %[x], %[x], %[p]*2;" OPERANDS);', "", ""),
        # nvcc makes 32-4 of it, and of f the register of bits that it takes for an address.
        ('asm("ld.local.u32 %0, [%1-4];" : "=r"(x) : "n"(32));', "", ""),
        ('asm("ld.shared.f32 %0, [%1];" : "=f"(x) : "f"(a));', "", ""),
        ('asm("ld.global.u32 %0, [%1-4];" : "=r"(x) : IN(p));', "", ""),
    ],
)  # fmt: skip
def test_addresses_and_parts_of_vectors_are_judged_in_inline_assembly(
    db: Database, text: str, code: str, message: str
) -> None:
    assert [(f.code, f.message) for f in Linter(db).lint(text, "a.cu", "c++")] == [(code, message)] * bool(code)


# Of a name that its block has already ptxas says "Duplicate definition of variable".
DECLARATIONS = """\
{ .reg .f32 x; .reg .f32 x; }  { .reg .f32 x; .reg .b32 x; }  { .reg .f32 x, y, x; }  { .reg .f32 x, /* x */ y; }
{ .reg .f32 %f0; }  { .reg .f32 x; { .reg .f32 x; } }  { .reg .f32 x; } { .reg .f32 x; }  { .reg .f32 x<4>, y<4>; }
{ .reg .f32 x<4>; .reg .b32 x<8>; }  { .reg .f32 x<4>; .reg .f32 x3; }  { .reg .f32 x<4>; .reg .f32 x03; }
{ .reg .f32 x<4>; .reg .f32 x4; }  { .reg .f32 x; .reg .f32 x<4>; }  .reg .f32 pp;  .reg .f32 %f0;  .reg .f32 ga;
.reg .f32 k;  { .reg .f32 pp; }  { .reg .f32 x2; .reg .b32 x<4>; }  { .reg .f32 x7, x3; .reg .b32 y, x<0x4>; }
{ .reg .f32 x<4>, x2; }  { .reg .f32 x2, x<4>; }  { .reg .f32 x<4>, x02; }  { .reg .f32 x02, x<4>; }
{ .reg .f32 x2; .reg .f32 x<2>; }  { .reg .f32 x0; .reg .f32 x<1>; }  { .reg .f32 x2, x0; .reg .f32 x<4>; }
{ .reg .f32 x12; .reg .f32 x1<5>; }
{ .reg .f32 x<12>; .reg .f32 x1<2>; }  { .reg .f32 x2; { .reg .f32 x<4>; } }  { .shared .b32 x2; .reg .b32 x<4>; }
{ .reg .f32 x<4>, x<4>; }  { .reg .v2 .f32 x2; .reg .f32 x<4>; }"""


@pytest.mark.sampled(24)
@pytest.mark.parametrize("statement", re.split(r"  |\n", DECLARATIONS))
def test_a_block_declares_no_register_twice(db: Database, ptxas: Path, tmp_path: Path, statement: str) -> None:
    text = AROUND.format(statement=statement)
    assert len(lines_in_error(db, text)) == is_refused(ptxas, tmp_path / "a.ptx", text)


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("c++", 'asm("{ .reg .f32 t; .reg .f32 %%t; .reg .f32 t; add.f32 %0, t, t; }" : "=f"(x));', "t; add"),
        ("c++", 'asm("{ .reg .f32 t; add.f32 %0, t, t; } { .reg .f32 t; }" : "=f"(x));', ""),
        # Examples, placeholders that may close a block, and alternatives
        ("ptx", ".reg .f32 t;\nadd.f32 t, t, t;\n.reg .f32 t;", ""),
        ("python", 'f"{{{{ .reg .f32 t; add.f32 t, t, t; {end} .reg .f32 t; }}}}"', ""),
        ("python", 's = "{ .reg .f32 t;"\nif a:\n    s += " .reg .f32 u; add.f32 t, t, u;"\n'
         'else:\n    s += " .reg .f32 u; sub.f32 t, t, u;"', ""),
    ],
)  # fmt: skip
def test_a_register_is_told_to_be_declared_twice_where_one_block_is_in_sight(
    db: Database, language: str, text: str, place: str
) -> None:
    found = [(f.code, f.column) for f in Linter(db).lint(text, "f", language)]
    assert found == [("repeated-register", text.index(place) + 1)] * bool(place)


def test_names_in_a_program_are_those_of_a_whole_module_alone(db: Database) -> None:
    """A text that is filled in may declare any name, as may the rest of a function."""
    module = AROUND.format(statement="ld.global.f32 %f0, [nope]; @nope bra NOPE;")
    assert [f.code for f in db.lint(f"x = r'''{module}'''", language="python")] == ["undeclared-register"] * 2
    filled = (
        module.replace("{ ", "{{ ").replace("{\n", "{{\n").replace("}", "}}").replace("ld.global", "{more} ld.global")
    )
    assert db.lint(f"x = rf'''{filled}'''", language="python") == []
    assert db.lint('asm("{ .reg .f32 t; ld.global.f32 t, [nope]; @nope bra NOPE; }");', language="c++") == []
    (found,) = db.lint('asm("{ .reg .f32 t; ld.global.f32 t, [%3]; }" :: "l"(p));', language="c++")
    assert found.message == "the asm statement has no operand %3"


def test_functions_of_optix_are_declared_nowhere(db: Database) -> None:
    text = AROUND.format(statement="call _optix_set_payload, (%r0, %r1); call nope, (%r0, %r1);")
    assert [f.message for f in db.lint(text)] == ["nope is not declared here"]


@pytest.mark.parametrize(
    "text",
    [
        "add.f32 a, b, c;",
        "{ add.f32 a, b, c; }",
        ".reg .f32 a; add.f32 a, b, a;",
        ".entry k() { .reg .f32 a } .reg b; add.f32 a, b, c;",
        ".entry k() { .reg .f32 a<b>; add.f32 a1, c, d; }",
        ".entry k() { .reg .f32 a<010>; add.f32 a1, c, d; }",
        f"%{'1' * 5000} add.f32 %{'1' * 5000}, x{'0' * 5000}, d;",
        '#include "declarations.h"\n.entry k() { add.f32 a, b, c; }',
    ],
)
def test_where_a_declaration_may_be_out_of_sight_nothing_is_said(db: Database, text: str) -> None:
    assert [f for f in db.lint(text) if f.code != "syntax"] == []


ELEMENTS = {16: ("b16", "s16", "u16", "f16"), 32: ("b32", "s32", "u32", "f32", "f16x2"), 8: ("b8", "s8", "u8")}
UNPACKED = """mov.b32 {%b16_1, _}, %b32_1; mov.b32 {_, %b16_1}, %b32_1; mov.b32 {_, _}, %b32_1;
mov.b32 {%b16_1, %b16_1}, %b32_1;
mov.b64 {%b16_1, _, _, %f16_2}, %f64_1; mov.b32 {%b8_1, %u8_1, %b8_2, %b8_3}, %f32_1; mov.b16 {%b8_1, _}, %f16_1;
mov.b32 {%b32_1, %b32_2}, %b32_3; mov.b32 {%b16_1, %b16_2, %b16_3}, %b32_1; mov.b32 {%b16_1}, %b32_1;
mov.u32 {%b16_1, %b16_2}, %b32_1; mov.f32 {%b16_1, %b16_2}, %f32_1; mov.b32 {%b16_1, %b16_2}, 5;
mov.b32 {%b16_1, %b16_2}, 0f3F800000; mov.b32 {%b16_1, %b16_2}, 1.5; mov.b64 {%b32_1, %b32_2}, 1.5;
mov.b16 {%b8_1, %b8_2}, 5;
mov.b32 {%b16_1, %b16_2}, %clock; mov.b32 {%b16_1, %b16_2}, %clock64; mov.b64 {%b32_1, %b32_2}, %clock64;
mov.b32 {%b16_1, %b16_2}, {%b16_2, %b16_1}; mov.b32 {%b16_1, %b16_2}, %b64_1; mov.b32 {%b16_1, %b16_2}, %b16_3;
mov.b32 {%b16_1, 5}, %b32_1; @%pred_1 mov.b32 {%b16_1, %b16_2}, %b32_1; mov.b32 {%pred_1, %b16_1}, %b32_1;
mov.b32 {%b16_1, %b16_2}, k; mov.b32 {%b16_1, nothing}, %b32_1; mov.b32 {%b16_1, %b16_2}, -%b32_1;"""


def test_what_is_unpacked_and_into_which_registers(db: Database, ptxas: Path, tmp_path: Path) -> None:
    """A vector may be the result of a mov too; its registers are of one sort."""
    types = [*itertools.chain.from_iterable(ELEMENTS.values()), "b64", "f64", "pred"]
    declarations = " ".join(f".reg .{t} %{t}_<5>;" for t in types)
    statements = [s.strip() for s in UNPACKED.replace("\n", " ").split("; ")]
    for width, whole in ((16, "b32"), (32, "b64"), (8, "b16")):
        for x, y in itertools.product(ELEMENTS[width], repeat=2):
            vector = f"{{%{x}_1, %{y}_2}}"
            statements += [f"mov.{whole} {vector}, %{whole}_1", f"mov.{whole} %{whole}_1, {vector}"]
    statements = [f"{s.rstrip(';')};" for s in statements]
    assert disagreements(db, ptxas, tmp_path / "v.ptx", declarations, statements) == []


LENGTHS = """\
mov.b64 {%r0, %r1};  mov.b64 {%r0, %r1}, %b0, %b1;  mov.b64 {%r0, %r1, %r2}, %b0;  mov.b64 %b0, {%r0, %r1, %r2};
mov.b64 {%r0};  mov.b32 {%r0}, %r1;  mov.b32 %r0, {%r1};  mov.b64 %b0, {%b1};  mov.b32 %r0, {%f1};  mov.b32 {%f0}, %r1;
mov.b16 {%h0}, %h1;  mov.b16 %h0, {%h1};  mov.b64 {%d0}, %b0;  mov.b64 %b0, {%r1};  mov.b32 {%b0}, %r0;
mov.b32 %r0, {5};  mov.b32 {%r0}, 5;  mov.b32 %r0, {1.5};  mov.b32 %r0, {0f3F800000};  mov.b64 %b0, {1.5};
mov.b32 {%r0}, {%r1};  mov.b32 {_}, %r0;  mov.b32 {%r0}, _;  mov.b32 %r0, {};  mov.b32 %r0, {%r1+4};
mov.b32 %r0, {-%r1};  mov.b32 %r0, {%clock};  mov.b64 %b0, {%clock64};  mov.b32 %r0, {WARP_SZ};  mov.b32 %r0, {f.x};
mov.b32 {f.x}, %r0;
mov.b32 %r0, {k};  mov.b32 {%p0}, %r0;  @%p0 mov.b32 {%r0}, %r1;  mov.f32 %f0, {%f1};
mov.u32 %r0, {%r1};  mov.f32 {%f0}, %f1;  mov.pred %p0, {%p1};  cvt.u32.u64 %r0, {%b0};  add.f32 %f0, {%f1}, %f2;
mov.f64 f, %d0;  mov.f32 f, %f0;  mov.b64 f, %b0;  mov.b64 %b0, f;  mov.b64 f, f;  mov.f32 %f0, f;  mov.u64 f, %b0;
mov.b32 f, %r0;  mov.b64 r, %b0;  mov.b64 f, {%f0, %f1};  mov.b64 {%f0, %f1}, f;  mov.b64 %b0, {f};
mov.b64 %b0, {f, f};  mov.b64 %b0, {f.x, f.y};  mov.b64 f, 5;
mov.b64 f, 0d3FF0000000000000;  mov.b64 f, k;
mov.b64 f, %r0;  mov.b64 f, %d0;  mov.b64 f, %clock64;  mov.u32 f, %tid.x;  mov.pred f, %p0;  mov.b64 f;
mov.b64 f, 1, 2;  mov.b64 f, {%b0};  mov.b64 {%b0}, f;  mov.b32 h, %r0;  mov.b64 h4, %b0;  mov.b64 %b0, h4;
mov.b32 h4, %r0;  mov.f32 %f0, f.x;  mov.f32 %f0, f.g;  mov.f32 %f0, f.q;  mov.f32 %f0, f.xx;
mov.f32 %f0, f[0];
mov.b32 %r0, r.w;  mov.b32 %r0, r.a;  mov.b32 %r0, %r1.x;  mov.u32 %r0, %r1[1];  mov.b32 %r0, %r1.b0;
mov.v2.f32 f, %f0;  mov.v2.f32 {%f0, %f1, %f2}, f;  mov.v2.f32 {%f0}, f;  mov.v2.f32 %f0, f;  mov.v2.f32 f, r;
mov.v2.b32 f, f;  mov.v4.b32 r, {%r0, %r1, %r2, %r3};  mov.v4.b32 f, f;  mov.v2.b32 r, r;  mov.v2.u32 {%r0, _}, {1, 2};
mov.v2.u32 {%r0, %r1}, 1;  mov.v2.u32 {%r0, %r1};  mov.v4.u32 {%r0, %r1, %r2, _}, %tid;  mov.v2.u32 f, {%r0};
ld.global.v2.f32 {%f0, %f1, %f2}, [%b0];  ld.global.v2.f32 %f0, [%b0];  ld.global.v4.f32 {%f0, %f1}, [%b0];
ld.global.f32 {%f0, %f1}, [%b0];  ld.global.f32 {%f0}, [%b0];  ld.global.v2.f32 f, [%b0];  ld.global.v2.f32 r, [%b0];
ld.global.f32 f, [%b0];  ld.global.v2.f32 {f.x, f.y}, [%b0];  ld.global.v2.f32 {%f0, _}, [%b0];
ld.global.v8.f32 {%f0, %f1, %f2, %f3}, [%b0];  ld.global.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%b0];
ld.global.v2.b64 {%b1, %b2}, [%b0];  ldu.global.v2.f32 {%f0}, [%b0];  ld.param.v2.f32 {%f0, %f1, %f2}, [p];
st.global.v2.f32 [%b0], {%f0, %f1, %f2};  st.global.v2.f32 [%b0], %f0;  st.global.v2.f32 [%b0], {%f0};
st.global.f32 [%b0], {%f0};  st.global.f32 [%b0], {%f0, %f1};  st.global.v2.f32 [%b0], {1.0, 2.0};
st.global.f32 [%b0], f;  st.global.v2.f32 [%b0], f;  st.global.v2.f32 [%b0], r;
red.global.add.v2.f32 [%b0], {%f0, %f1, %f2};
red.global.add.v2.f32 [%b0], {%f0, %f1};  atom.global.add.v2.f32 {%f0, %f1, %f2}, [%b0], {%f0, %f1};
atom.global.add.v2.f32 {%f0, %f1}, [%b0], {%f0};  atom.global.add.v2.f32 {%f0, %f1}, [%b0], {%f0, %f1};
tex.1d.v4.f32.s32 {%f0, %f1}, [%b0, {%r0}];  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%b0, {%r0}];"""


@pytest.mark.sampled(24)
@pytest.mark.parametrize("statement", re.split(r"  |\n", LENGTHS))
def test_vectors_are_as_long_as_ptxas_takes_them(db: Database, ptxas: Path, tmp_path: Path, statement: str) -> None:
    declarations = ".reg .v2 .f32 f; .reg .v4 .b32 r; .reg .v2 .b16 h; .reg .v4 .b16 h4; .reg .b16 %h<8>;"
    header = ".version 9.5\n.target sm_120a\n.address_size 64\n.entry k(.param .align 16 .b8 p[16]) {\n"
    registers = ".reg .b32 %r<8>; .reg .b64 %b<8>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg .pred %p<8>;"
    text = f"{header}{declarations} {registers}\n{statement}\nret;\n}}\n"
    assert len(lines_in_error(db, text)) == is_refused(ptxas, tmp_path / "a.ptx", text)


@pytest.mark.parametrize(
    ("statement", "code", "message", "help"),
    [
        ("mov.b64 {%r0, %r1};", "operand-count", "mov.b64 unpacks one operand, not none", "write mov.b64 {d0, d1}, a"),
        ("mov.f32 f, %f0;", "illegal-operand", "f is a vector; mov.f32 takes one register here",
         "name an element, as in v.x"),
        ("ld.global.v4.f32 {%f0, %f1}, [%b0];", "illegal-operand", "4 registers are required here, not 2",
         "write 4 in braces"),
        ("st.global.f32 [%b0], {%f0, %f1};", "illegal-operand", "one register is required here, not 2",
         "write it alone, or write the length, as in .v2"),
    ],
)  # fmt: skip
def test_the_length_of_a_vector_is_told(db: Database, statement: str, code: str, message: str, help: str) -> None:
    (found,) = db.lint(f".reg .v2 .f32 f; {statement}")
    assert (found.code, found.message, found.help) == (code, message, help)


def test_what_is_no_register_is_taken_where_ptxas_takes_it(db: Database, ptxas: Path, tmp_path: Path) -> None:
    """Constants, and symbols with an offset, also where a shift is told how far to go."""
    statements = """selp.b32 %r1, 1, %r2, %p1; and.b32 %r1, %r2, 255; shl.b32 %r1, %r2, 3; setp.eq.s32 %p1, %r1, 5;
    set.eq.u32.s32 %r1, %r2, 5; slct.b32.f32 %r1, 1, 2, %f3; add.u32 %r1, %r2, 1; abs.s32 %r1, -3; not.b32 %r1, 5;
    cvt.rn.f32.s32 %f1, 5; mad.lo.s32 %r1, %r2, 3, 4; shl.b64 %b0, %b1, g+4; shr.s16 %h0, %h1, g+4; shr.u64 %b0, %b1, g;
    shl.b32 %r1, %r2, g; shl.b32 %r1, %r2, %r3+4; shl.b64 %b0, g+4, 2; shl.b32 %r1, %r2, k; shl.b32 %r1, %r2, 1.0;"""
    texts = [s.strip() + ";" for s in statements.split(";") if s.strip()]
    declarations = f"{DECLARED} .shared .b32 g;"
    assert disagreements(db, ptxas, tmp_path / "a.ptx", declarations, texts) == []
    assert len([s for s in texts if lines_in_error(db, f".shared .b32 g;\n{s}")]) == 3
