"""Programs of every kind of value in NumPy: predicates, bits, integers, floats as they are declared."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from helpers.project import Project
from ptxspec.check.checking import Checked, check
from ptxspec.emit import native
from ptxspec.emit.lowering import shared
from ptxspec.emit.parts import Parts
from ptxspec.emit.registry import products
from ptxspec.emit.text import Templates
from ptxspec.evaluate import emulator
from ptxspec.model import BOOL, Kind
from ptxspec.roots import find
from ptxspec.semantics.exact.evaluate import run
from ptxspec.semantics.program import Program
from ptxspec.specification import read

FORMATS = """
  fp8:  {exponent_bits: 4, fraction_bits: 3, infinity: none, nan: [0x7f, 0xff], canonical_nan: 0x7f, overflow: largest}
  fp4:  {exponent_bits: 2, fraction_bits: 1, infinity: none, nan: none, invalid: 0x7, overflow: largest, container: 8}
  exp8: {exponent_bits: 8, fraction_bits: 0, sign: none, zero: none, infinity: none, nan: [0xff], canonical_nan: 0xff,
          overflow: largest}
  fp19:  {exponent_bits: 8, fraction_bits: 10, canonical_nan: 0x3ffff, container: 32, align: upper}
  int32:   {integer: signed, bits: 32}
  count64:   {integer: unsigned, bits: 64}
  fixed8:  {integer: signed, bits: 8, point: 6}
"""
TYPES = """
  fp8:  {format: fp8,  nan: canonical, constraint: r, registers: .b32, summary: eight bits}
  fp4:  {format: fp4,  constraint: r, registers: .b32, summary: four bits}
  exp8: {format: exp8, nan: canonical, constraint: r, registers: .b32, summary: an exponent}
  fp19:  {format: fp19,  nan: canonical, constraint: r, registers: .b32, summary: nineteen bits}
  int32:   {format: int32, constraint: r, registers: .b32, summary: an integer}
  count64:   {format: count64, constraint: l, registers: .b64, summary: an integer}
  fixed8:  {format: fixed8, constraint: r, registers: .b8, summary: a number with a point}
  word:   {bits: 32, constraint: r, registers: .b32, summary: bits}
"""
PROGRAMS = {
    "convey.{fp8,fp4,exp8,fp19,int32,count64,fixed8,f16}.{f32,f64,fp8,exp8,fp19,int32,count64,fixed8}  d, a": """
        d = convert(a, type, roundTowardPositive)
    """,
    "pick.{f32,fp8,int32}  d, a, b, c:pred": """
        d = a if c else b
    """,
    "compare.{f64,int32,fp4}  p{|q}, a, b, c:pred": """
        p = a < b and c
        q = not (a == b) or c
    """,
    "scale.f32.fp8  d, a, b:exp8": """
        d = convert(a, f32) * convert(b, f32)
    """,
    "sum.{fp8,fp4,fp19}  d, a, b": """
        d = fusedMultiplyAdd(a, b, maximum(a, b))
        d = float_of(~bits(d) << 1) if isSubnormal(a) else d
    """,
    "mask.word.f32  d, a": """
        d = bits(a) & 0xffff
    """,
}


# What C does without.
LONG = "  fp29: {exponent_bits: 8, fraction_bits: 20, canonical_nan: 0xfffffff, container: 32}\n"
LONG_TYPE = "  fp29: {format: fp29, nan: canonical, constraint: r, registers: .b32, summary: long}\n"
OTHERS = {
    "long.f32.fp29  d, a": """
        d = convert(a, type)
    """,
    "units.fixed8.count64  d, a": """
        d = convert(a, type)
    """,
    "away.f32.f64  d, a": """
        d = convert(a, type, roundTiesToAway)
    """,
    "both.f32.f64  d, a": """
        x = convert(a, f32, roundTowardPositive)
        d = maximum(x, convert(a, f32, roundTowardZero))
    """,
}


@pytest.fixture
def programs(project: Project) -> list[Checked]:
    """A specification of nothing but the programs, and the emulator of it."""
    return programs_of(project, PROGRAMS)


def programs_of(project: Project, programs: dict[str, str]) -> list[Checked]:
    text = (project.root / "spec/types.yaml").read_text("utf-8")
    text = text.replace("\nformats:\n", "\nformats:" + FORMATS, 1).replace("\ntypes:\n", "\ntypes:" + TYPES, 1)
    project.write("spec/types.yaml", text)
    for path in (project.root / "spec/instructions").iterdir():
        path.unlink()
    for line, code in programs.items():
        opcode = line.partition(".")[0]
        body = code.strip("\n").replace("\n        ", "\n  ").replace("        ", "  ", 1)
        text = f"opcode: {opcode}\nsummary: A program.\nsyntax:\n  - {line}\n"
        text += f"requires:\n  - {{ptx: 9.5, target: sm_120}}\nsemantics: |\n{body}"
        project.write(f"spec/instructions/{opcode}.yaml", text)
    spec = read(project.root)
    found, errors = check(spec)
    assert not errors
    for name in ("emulator", "units"):
        for file, text in products()[name](spec, found, Templates(project.root), Parts()).items():
            path = project.root / "generated" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    return found


def encodings(kind: Kind) -> list[int]:
    """Every one of few bits; else special ones, numbers about as large as 1, and any others."""
    if kind.width <= 8:
        return list(range(1 << kind.width))
    rng = np.random.default_rng(kind.width)
    found = [int(x) >> (64 - kind.width) for x in rng.integers(0, 1 << 64, 200, np.uint64)]
    if kind.format is None:
        return found + [(1 << i) - d for i in range(kind.width) for d in (0, 1)]
    f = kind.format
    numbers = [((f.bias + e) << f.fraction_bits) + 3 for e in range(-9, 10)] + [f.infinity, f.largest, f.canonical_nan]
    return found + [x | sign for x in numbers for sign in (0, f.sign_bit)]


def operands(program: Program) -> list[tuple[int, ...]]:
    columns = [encodings(i.kind) for i in program.inputs]
    if len(columns) == 1:
        return [(x,) for x in columns[0]]
    rng = np.random.default_rng(1)
    return [tuple(int(rng.choice(np.array(c, np.uint64))) for c in columns) for _ in range(300)]


def dtype(kind: Kind) -> str:
    return "bool" if kind == BOOL else f"uint{kind.storage}"


@pytest.mark.exhaustive
def test_numpy_agrees_with_the_exact_back_end_on_every_kind(project: Project, programs: list[Checked]) -> None:
    emu = emulator(find(project.root))
    for c in programs:
        kernels = importlib.import_module(f"{emu.__name__}.instructions.{c.instruction.opcode}").KERNELS
        for v, found in c.programs.items():
            program = found[None]
            rows = operands(program)
            columns = [np.array(x, dtype(i.kind)) for x, i in zip(zip(*rows, strict=True), program.inputs, strict=True)]
            want = [run(program, row) for row in rows]
            with np.errstate(all="ignore"):
                got = kernels[v.key][None](*columns)
            results = got if isinstance(got, tuple) else (got,)
            assert [r.dtype for r in results] == [dtype(r.kind) for r in program.results], v
            assert list(zip(*(r.tolist() for r in results), strict=True)) == want, v


def test_a_program_without_c_says_why(project: Project) -> None:
    project.edit("spec/types.yaml", "\nformats:\n", "\nformats:\n" + LONG)
    project.edit("spec/types.yaml", "\ntypes:\n", "\ntypes:\n" + LONG_TYPE)
    found = programs_of(project, OTHERS)
    said = {f.name: native.why_not(f.program) for c in found for f in shared(c).values()}
    assert said["long_f32_fp29_1"] == "it has values of the kind 'fp29 float'"
    assert said["units_fixed8_count64_1"] == "there is no C for convert in this format or direction"
    assert said["away_f32_f64_1"] == "there is no C for convert in this format or direction"
    assert said["both_f32_f64_1"] == "its operations round in different directions"


@pytest.mark.exhaustive
def test_sums_of_more_bits_than_float64_has_room_for_are_refused(project: Project) -> None:
    project.bring("spec/tensor")
    project.edit("spec/tensor/arithmetic.yaml", "bits: 35", "bits: 39")
    result = project.run("generate")
    said = "spec/tensor/arithmetic.yaml: error: the emulator cannot compute these sums: they may have 38 bits behind"
    assert result.code == 2 and said in result.err


@pytest.mark.exhaustive
def test_a_format_that_cannot_be_computed_in_is_refused(project: Project) -> None:
    said = "{exponent_bits: 11, fraction_bits: 52, infinity: none, nan: none, invalid: 0x0, overflow: largest}"
    project.edit("spec/types.yaml", "\nformats:\n", f"\nformats:\n  broad: {said}\n")
    result = project.run("generate")
    assert result.code == 2 and "spec/types.yaml: error: the emulator cannot compute in broad" in result.err
