"""`ptxspec lint` held against ptxas, statement by statement."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ptxspec import Database
from ptxspec.lint.findings import Finding
from ptxspec.lint.linter import Linter
from ptxspec.proving.ptxas.asking import FIRST_LINE, FOOTER, HEADER, STATEMENT, Sheet, unexpected
from ptxspec.proving.ptxas.statements import StatementWriter, alike
from ptxspec.ptx.complaints import ERROR

Pair = tuple[str, str]


def pairs(db: Database) -> list[Pair]:
    """Every target with every PTX version that knows it."""
    return [(t, v) for t in db.targets for v in db.versions if db.catalog.knows(t, v)]


NEWEST = ("sm_121a", "9.5")
ENDS = [NEWEST, ("sm_13", "1.3"), ("sm_35", "3.1"), ("sm_80", "7.0"), ("sm_90a", "8.1")]


def errors_by_line(db: Database, statements: Sequence[str], pair: Pair) -> dict[int, list[Finding]]:
    """Return lint's errors for each statement that ptxas refuses on reading. Crashes are left out: they come only
    later, on statements that it has taken."""
    target, ptx = pair
    found: dict[int, list[Finding]] = {}
    text = HEADER.format(ptx=ptx, target=target) + "\n".join(statements) + FOOTER
    for f in Linter(db).lint(text, "text"):
        if f.severity == ERROR and f.code != "assembler-crash":
            found.setdefault(f.line - FIRST_LINE, []).append(f)
    return found


def disagreements(db: Database, ptxas: Path, statements: Sequence[str], pair: Pair, batch: int = 20_000) -> list[str]:
    """The statements on which lint and ptxas differ."""
    parts = (statements[start : start + batch] for start in range(0, len(statements), batch))
    return [w for part in parts for w in disagreements_on(db, ptxas, part, [pair])]


def disagreements_on(db: Database, ptxas: Path, statements: Sequence[str], some: Sequence[Pair]) -> list[str]:
    """The same on several pairs of a target and a PTX version, for which ptxas is asked together."""
    found = {pair: errors_by_line(db, statements, pair) for pair in some}
    taken = {pair: {i for i in range(len(statements)) if i not in found[pair]} for pair in some}
    wrong = []
    for pair, i, messages in unexpected(ptxas, Sheet(statements), taken):
        # Where it refuses an operand, ptxas complains of a `mov` of its own making in some other line.
        if not any("instruction 'mov'" in m for m in messages):
            said = [f.message for f in found[pair].get(i, [])]
            wrong.append(f"{statements[i]} on {pair}: ptxas {messages}, lint {said}")
    return wrong


HEADS = ("", "rn", "rz", "rm", "rp", "approx", "full")
FLAGS = ("ftz", "sat", "oob", "relu", "NaN", "xorsign", "abs")


@cache
def spelled_types(db: Database) -> list[str]:
    """The types that spellings end in."""
    return list(dict.fromkeys(t for v in db.variants for t in v.types))


@cache
def writer(db: Database) -> StatementWriter:
    # No register has an integer of two or four bits alone.
    return StatementWriter({**{t: ["b32"] for t in spelled_types(db)}, **db.data["assembler"]["registers"]})


def written(db: Database, spelling: str, operands: int, second: bool = False, inverted: bool = False) -> str:
    """A spelling, right or wrong, with so many source registers."""
    opcode, *names = spelling.split(".")
    found = db.find(opcode, names, operands) or alike(db.opcodes[opcode].variants, db.split(names)[1], operands)
    return writer(db).statement(spelling, found, second, inverted)


STRANGE_NAMES = (
    "foo",
    "FTZ",
    "nan",
    "cc",
    "lo",
    "wide",
    "uni",
    "v2",
    "eq",
    "global",
    "rni",
    "noftz",
    "satfinite",
    "x2",
)
OPERANDS = (
    "1.0", "0", "1", "-1", "-2.5", "0f3F800000", "0d3FF0000000000000", "0x10", "1e3", ".5", "1.", "_", "(1.0)",
    "1.0+2.0", "1.0+1", "-0f3F800000", "+1.0", "1.0f", "-@1", "!%p1", "[%b1]", "@1|%p1", "@1|_", "1U", "",
    "@1 @2", "1.0*2.0",
    "-(1.0)", "1.0<2.0", "017", "08", "0b11", "0f3F8", "~1", "!1", "--1.0", "- 1.0", "(@1)",
)  # fmt: skip


def mutated(db: Database, r: random.Random) -> str:
    """A variant's statement, often spoilt in one place or several; `@` in an operand stands for the registers. Empty
    where other instructions have the form, of which nothing is known."""
    modifiers, types = list(db.data["modifiers"]), spelled_types(db)
    ignored = [n for group in db.data["assembler"]["ignored"] for n in group]
    v = r.choice(db.variants)
    opcode, *names = v.spelling.split(".")
    for _ in range(r.choice((0, 0, 0, 1, 1, 2, 3))):
        change = r.random()
        place = r.randrange(len(names) + 1)
        if change < 0.3 and names:
            names.pop(r.randrange(len(names)))
        elif change < 0.6:
            names.insert(place, r.choice(modifiers))
        elif change < 0.7:
            names.insert(place, r.choice([*ignored, *STRANGE_NAMES]))
        elif change < 0.8:
            names.insert(place, r.choice(names or modifiers))
        elif change < 0.85:
            names.insert(place, r.choice(types))
        elif change < 0.95:
            r.shuffle(names)
        else:
            opcode = r.choice(list(db.opcodes))
    if db.is_elsewhere(opcode, names):
        return ""
    count = max(0, v.operands + (r.choice((-1, 1, 2, -3)) if r.random() < 0.1 else 0))
    types = db.split(names)[1]
    found = db.find(opcode, names, count) or alike(db.opcodes[opcode].variants, types or v.types, count)
    operands = writer(db).operands(found)
    if r.random() < 0.25:
        i = r.randrange(len(operands))
        operands[i] = r.choice(OPERANDS).replace("@", re.sub(r"\d+$", "", operands[i]))
    before = r.choice(("", "", "", "@%p1 ", "@!%p2 ", f"L{r.randrange(10**9)}: "))
    spelled = ".".join((opcode, *names))
    return f"{before}{spelled}{r.choice((' ', '  ', chr(9)))}{r.choice((', ', ',', ' , ')).join(operands)};"


def spoilt(db: Database, count: int, seed: object) -> list[str]:
    r = random.Random(str(seed))
    some = [mutated(db, r) for _ in range(count)]
    return [s for s in some if STATEMENT.fullmatch(s)]


def register(db: Database, type_: str) -> str:
    """A register for a type of any section."""
    if type_ in db.data["assembler"]["registers"]:
        return writer(db).register(type_)
    m = re.search(r"(\d+)(?:x(\d+))?$", type_)
    bits = int(m[1]) * int(m[2] or 1) if m else 32
    return "%r" if bits == 32 else "%b" if bits == 64 else "%h"


UNTOUCHED = r"""
.version 9.5
.target sm_100a
.address_size 64
.file 1 "a;b.cu"
.global .align 4 .b8 table[8] = {1, -2, ~3, 0x7f, 'a'};
.extern .func (.param .b32 r) add (.param .b32 a);
.pragma "nounroll";
.visible .entry kernel(.param .u64 add, .param .f32 mul)
.maxntid 128, 1, 1
{
  .reg .f32 %f<9>; .reg .pred p; .reg .b64 %rd<3>;   // add.foo.f32 %f0, %f1, %f2;
  .reg .b16 %h<4>, %rs; .reg .b32 %r<5>, r0, lo, hi;
  .loc 1 2 3
  .loc 1 2 3, function_name $L__info+4, inlined_at 1 5 6
  /* add.foo.f32 %f0, %f1, %f2;
     " */
  add.s32 %r0, %r1, 1; mad.lo.u32 %r1, %r2, %r3, %r4; min.u16x2 %r0, %r1, %r2; add.f32.bf16 %f0, %h1, %f2;
  sub.rn.f32.f16 %f0, %h1, %f2; fma.rn.sat.f32.bf16 %f0, %h1, %h2, %f3; max.relu.s32 %r0, %r1, %r2; neg.s64 %rd0, %rd1;
  mul.wide.u32 %rd0, %r1, %r2; div.s32 %r0, %r1, %r2; abs.s32 %r0, %r1; add.cc.u32 %r0, %r1, %r2; addc.u32 %r0, %r1, 0;
  mul24.lo.u32 %r0, %r1, %r2; sad.u32 %r0, %r1, %r2, %r3; cvt.rn.f32.s32 %f0, %r0; setp.lt.f32 p, %f0, 0f00000000;
  ld.global.v2.f32 {%f0, %f1}, [%rd0+8]; st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};
$L__BB0: @p add.f32 %f0, %f1, 0f3F800000;  @!p fma.rn.f32 %f0, %f1, %f2, 0d3FF0000000000000;
add:  add.rn.f32
    %f0 , %f1 /* the first */ ,
    %f2 // the second
    ;
  { .reg .f32 t; mul.f32 t, %f1, -1.5e-3; }
  call (r0), add, (%r1);
  mov.b64 {lo, hi}, %rd1; vote.sync.any.pred p, p, -1; bra.uni $L__BB0;
  fma.rn.f16x2 %r0, %r1, %r2, %r3; tanh.approx.bf16 %h0, %h1; testp.finite.f32 p, %f1; add.f32x2 %rd0, %rd1, %rd2;
  ret;
}
"""
