"""Statements that multiply matrices: lint's verdict is ptxas's, on spellings, registers, targets and versions."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.linting import Pair, pairs
from helpers.repository import specification
from helpers.sizes import each_size
from ptxspec import Database
from ptxspec.lint.findings import Finding
from ptxspec.lint.linter import Linter
from ptxspec.matrices.forms import Form
from ptxspec.ptx.complaints import ERROR

pytestmark = pytest.mark.inputs(
    "spec/tensor/mma.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/matrices",
    "codegen/ptxspec/ptx",
)

CORES = specification().tensor
# By the prefix of their names, the registers that a module has.
REGISTERS = {
    "%r": ".b32", "%u": ".u32", "%s": ".s32", "%f": ".f32", "%x": ".f16x2", "%b": ".b64", "%bu": ".u64", "%d": ".f64",
    "%h": ".b16",
}  # fmt: skip
USUAL = {"f32": "%f", "f64": "%d"}
# ptxas has no machine code for the target, or complains of what it makes of a statement that it has taken.
LATER = (
    "<builtin>",
    "not defined for option 'gpu-name'",
    *(f"for instruction '{opcode}'" for opcode in ("mov", "add", "cvt")),
)
# Of registers of other types ptxas takes fewer in matrices of eight rows; lint says nothing of them there.
STRICTER = ("Arguments mismatch", "elements of different types")
TYPES = [*CORES.elements]
CONSTANTS = ("0", "1.0", "0f3F800000", "_", "%tid.x", "-%r1", "nope")


MORE = (
    "%r1", "%s1", "%f1", "%h1", "%b1", "{%r1}", "0", "1", "-1", "1.0", "{0, 1}", "{1, 0}", "{2, 3}", "{%h1, 0}", "{0}",
    "[%r1]",
)  # fmt: skip


def module(statement: str, pair: Pair) -> str:
    declared = " ".join(f".reg {type} {name}<16>;" for name, type in REGISTERS.items())
    return (
        f".version {pair[1]}\n.target {pair[0]}\n.entry k {{ {declared} .reg .v4 .f32 %vf; .reg .v4 .b32 %vr;\n"
        f"{statement}\nret; }}\n"
    )


def findings(db: Database, statement: str, pair: Pair = ("sm_120a", "9.5")) -> list[Finding]:
    return [*Linter(db).lint(module(statement, pair), "text")]


def operands(f: Form) -> list[str]:
    """The operands of a form, with the registers that are usual."""
    found = [
        "{" + ", ".join(f"{USUAL.get(t, '%r')}{i}" for i in range(n)) + "}"
        for t, n in zip(f.types, f.registers, strict=True)
    ]
    found += ["%r5", "0"] * f.is_sparse
    return found + ["%r7", "{0, 0}", "%r8", "{0, 0}"] * f.is_scaled


def spoilt(r: random.Random) -> str:
    """The statement of a form, often with a mistake or two."""
    f = r.choice(CORES.forms)
    opcode, *names = f.spelling.split(".")
    every = sorted({n for g in CORES.forms for n in g.spelling.split(".")[1:]})
    own = operands(f)
    for _ in range(r.choice((0, 1, 1, 1, 2))):
        place, change = r.randrange(len(names)), r.random()
        if change < 0.1:
            names.pop(place)
        elif change < 0.2:
            names[place] = r.choice([*every, "m16n8k17", "f17", "ftz"] if names[place] not in TYPES else [*TYPES])
        elif change < 0.25:
            names.insert(r.randrange(len(names)), names[place])
        elif change < 0.4:
            names.insert(r.randrange(len(names)), names.pop(place))
        elif change < 0.45:
            own.pop()
        elif change < 0.6 and len(own) > 4:
            i = r.randrange(4, len(own))
            own[i] = r.choice([*MORE, own[i].replace("0", r.choice("12345"), 1)])
        else:
            matrix = r.randrange(4)
            if matrix >= len(own):
                continue
            own[matrix] = "{" + ", ".join(_registers(r, own[matrix].strip("{}").split(", "), f)) + "}"
    return f"{'.'.join((opcode, *names))} {', '.join(own)};"


def _registers(r: random.Random, usual: list[str], f: Form) -> list[str]:
    # With eight rows ptxas takes .f16x2 for integers in some places, and not in others; lint says nothing.
    prefixes = [name for name in REGISTERS if f.size[0] > 8 or name != "%x"]
    change = r.random()
    if change < 0.4:
        prefix = r.choice(prefixes)
        return [f"{prefix}{i}" for i in range(len(usual))]
    if change < 0.6:
        return [*usual, "%r3"] if change < 0.5 else usual[1:] or usual
    if change < 0.8:
        usual[r.randrange(len(usual))] = r.choice(CONSTANTS)
        return usual
    usual[r.randrange(len(usual))] = f"{r.choice(prefixes)}9"
    return usual


def said(ptxas: Path, folder: Path, statement: str, pair: Pair) -> str:
    """Return ptxas's complaints about a statement in a module of its own."""
    source = folder / "one.ptx"
    source.write_text(module(statement, pair), encoding="utf-8")
    command = [str(ptxas), "-arch", pair[0], "-O0", str(source), "-o", str(folder / "one.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stderr if done.returncode else ""


def disagreements(db: Database, ptxas: Path, folder: Path, r: random.Random, count: int) -> Iterator[str]:
    known = [p for p in pairs(db) if db.targets[p[0]].order >= db.targets["sm_75"].order and p[0] != "sm_107"]
    for _ in range(count):
        statement = spoilt(r)
        pair = r.choice(known) if r.random() < 0.2 else ("sm_120a", "9.5")
        told = said(ptxas, folder, statement, pair)
        if any(words in told for words in LATER):
            continue
        found = [f.message for f in findings(db, statement, pair) if f.severity == ERROR]
        unsaid = ".m8n8" in statement and not found and any(words in told for words in STRICTER)
        if bool(told) != bool(found) and not unsaid:
            yield f"{statement} on {pair}: ptxas {told!r}, lint {found}"


@each_size
def test_statements_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, whole: bool, tmp_path: Path) -> None:
    assert [*disagreements(db, ptxas, tmp_path, random.Random(1), 4_000 if whole else 40)] == []


F = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
D, A, B = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r4, %r5}"
OPERANDS = f"{D}, {A}, {B}, {D}"
EIGHT = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"
NOTHING = "mma.sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32"


@pytest.mark.parametrize(
    ("statement", "code", "message", "help"),
    [
        (f"{F} {D}, {A}, {B};", "operand-count", f"{F} takes 4 operands, not 3", "write D, A, B, C"),
        (f"{F} {D}, {{%r0, %r1}}, {B}, {D};", "illegal-operand",
         "A of m16n8k16 with f16 must be 4 registers in braces, not 2", ""),
        (f"{F} {D}, {{%f0, %f1, %f2, %f3}}, {B}, {D};", "illegal-register",
         "%f0 is a .f32 register; A of m16n8k16 with f16 takes .b32 or .f16x2", "name registers of .b32"),
        (f"{F} {D}, {A}, {B}, {{0, 0, 0, 0}};", "illegal-operand",
         "C of m16n8k16 with f32 cannot consist of these constants without a register",
         "move them into registers"),
        (f"{F.replace('.sync', '')} {OPERANDS};", "missing-modifier", f"{F.replace('.sync', '')} lacks .sync",
         f"write {F}"),
        (f"{F.replace('k16', 'k61')} {OPERANDS};", "unknown-modifier", "mma has no .m16n8k61",
         "these types are multiplied in the shapes m8n8k4, m16n8k8, m16n8k16"),
        (f"{F.replace('f32.f16', 'f32.fp16')} {OPERANDS};", "unknown-modifier",
         "mma has no .fp16", "did you mean .f16?"),
        (f"{F.replace('k16', 'k32')} {OPERANDS};", "illegal-combination", f"there is no {F.replace('k16', 'k32')}",
         "these types are multiplied in the shapes m8n8k4, m16n8k8, m16n8k16"),
        (f"{F.replace('.col', '.col.rn')} {OPERANDS};", "illegal-combination",
         f"there is no {F.replace('.col', '.col.rn')}", f"there is {F}"),
        (f"{F.replace('.sync.aligned', '.aligned.sync.aligned')} {OPERANDS};", "repeated-modifier",
         ".aligned appears twice", "write it once"),
        (f"{F.replace('.sync.aligned', '.aligned.sync')} {OPERANDS};", "modifier-order", f"NVIDIA's manual writes {F}",
         "the assembler accepts any order"),
        (f"{NOTHING} {EIGHT}, {{%r0, %r1}}, {{%r2, %r3}}, {EIGHT};", "hazard",
         f"the assembler generates no operation for {NOTHING}, so D is not written", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(db: Database, statement: str, code: str, message: str, help: str) -> None:
    first = findings(db, statement)[0]
    assert (first.code, first.message, first.help) == (code, message, help)


def test_assembly_in_a_program_is_judged_by_its_constraints(db: Database) -> None:
    program = f"""
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const float (&b)[2]) {{
    asm volatile("{F} {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "f"(b[0]), "f"(b[1]));
}}
"""
    found = [f.message for f in Linter(db, "sm_80").lint(program, "a.cu", "c++")]
    assert found == ['%8 has the constraint "f" (.f32); B of m16n8k16 with f16 takes .b32 or .f16x2']
    assert next(f.code for f in Linter(db, "sm_75").lint(program, "a.cu", "c++")) == "target-too-old"
