"""Semantics with results and operands of several kinds, shown by running programs exactly."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
from helpers.project import Project, declare
from ptxspec.check.checking import check
from ptxspec.model import Kind
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact.evaluate import run
from ptxspec.specification import read, read_all

FILE = "spec/instructions/try.yaml"
ONE, TWO, NAN = 0x3F800000, 0x40000000, 0x7FFFFFFF
FORMATS = """
  saturating:
    {exponent_bits: 8, fraction_bits: 0, sign: none, zero: none, infinity: none, nan: [0xff], canonical_nan: 0xff,
     overflow: largest}
"""
TYPES = """\
  e4m3:  {format: e4m3, nan: canonical, registers: .b8, summary: FP8}
  power: {format: saturating, nan: canonical, registers: .b8, summary: a power of two}
  s2f6:  {format: s2f6, registers: .b8, summary: a fixed-point number}
"""
COMPARISONS = """
  cmp: [eq, ne, lt, ltu]
  bool: [and, or, xor]
"""


class Try:
    """A project of one opcode `try` with more formats and types, and with comparisons."""

    def __init__(self, project: Project) -> None:
        self.project = project
        for path in (project.root / "spec/instructions").iterdir():
            path.unlink()
        declare(project.root, "types.yaml", formats=FORMATS, types=TYPES)
        names = [n for line in COMPARISONS.split("\n") for n in line.partition("[")[2].rstrip("]").split(", ") if n]
        more = "".join(f"  {n}:\n    summary: Says {n}.\n" for n in names)
        declare(project.root, "modifiers.yaml", groups=COMPARISONS, modifiers=more)

    def write(self, semantics: str, *syntax: str, more: str = "") -> None:
        lines = "".join(f"  - try{s}\n" for s in syntax)
        body = indent(dedent(semantics).strip("\n"), "  ")
        text = f"opcode: try\nsummary: A trial.\nsyntax:\n{lines}requires:\n  - ptx: 1.0\nsemantics: |\n{body}\n{more}"
        self.project.write(FILE, text)

    def run(self, semantics: str, syntax: str, *operands: int, spelling: str = "", more: str = "") -> tuple[int, ...]:
        self.write(semantics, syntax, more=more)
        spec = read(self.project.root)
        assert check(spec)[1] == []
        i = spec.instructions["try"]
        variant = next(v for v in i.variants if spelling in ("", v.spelling))
        return run(Compiler(spec).program(i, variant, None), operands)

    def errors(self, semantics: str, *syntax: str, more: str = "") -> list[str]:
        self.write(semantics, *syntax, more=more)
        reading = read_all(self.project.root)
        found = reading.diagnostics or (check(reading.spec)[1] if reading.spec else [])
        return [f"{e.message}; {e.help}" for e in found]


@pytest.fixture
def attempt(project: Project) -> Try:
    return Try(project)


SETP = """
unordered = isNaN(a) or isNaN(b)
equal = cmp in ("eq", "ne") and a == b
t = (a < b) if cmp in ("lt", "ltu") else equal if cmp == "eq" else not equal and not unordered
t = t or (cmp == "ltu" and unordered)
if bool:
    p = (t and c) if bool == "and" else (t or c) if bool == "or" else t != c
    q = (not t and c) if bool == "and" else (not t or c) if bool == "or" else (not t) != c
else:
    p = t
    q = not t
"""
NO_RULE = "nan:\n  - {rule: unchanged, basis: our reading}\n"

# Each: semantics, syntax, operands, results.
RESULTS: dict[str, tuple[str, str, tuple[int, ...], tuple[int, ...]]] = {
    "a predicate and its complement": (SETP, ".lt.f32  p{|q}, a, b", (ONE, TWO), (1, 0)),
    "an ordered comparison of NaN": (SETP, ".ne.f32  p{|q}, a, b", (NAN, TWO), (0, 1)),
    "an unordered comparison of NaN": (SETP, ".ltu.f32  p{|q}, a, b", (NAN, TWO), (1, 0)),
    "a predicate as an operand": (SETP, ".eq.and.f32  p{|q}, a, b, {!}c:pred", (ONE, ONE, 0), (0, 0)),
    "a selection": ("d = a if c else b", ".f32  d, a, b, c:pred", (ONE, TWO, 0), (TWO,)),
    "a selection by a sign": ("d = a if c >= 0 else b", ".f32.s32  d, a:d, b:d, c", (ONE, TWO, 0xFFFFFFFF), (TWO,)),
    "a narrower result": ("d = convert(a, type)", ".f16.f32  d, a", (0x3F801000,), (0x3C00,)),
    "a wider result": ("d = convert(a, f32)", ".f32.f16  d, a", (0x3C01,), (0x3F802000,)),
    "a mixed fma": (
        "d = fusedMultiplyAdd(convert(a, f32), convert(b, f32), c)", ".f32.f16  d, a, b, c:d",
        (0x3C01, 0x3C01, 0), (0x3F804008,),
    ),
    "a sum in a wider format": ("d = addition(a, b, f32)", ".f32.f16  d, a, b:d", (0x3C01, ONE), (0x40001000,)),
    # 1 + 2**-10 + 2**-24 is above the middle of two numbers of bfloat16's eight bits by its last bit alone.
    "a sum in a narrower format": (
        "d = addition(a, b, bf16)", ".bf16.f32.f32  d, a, b", (0x3F810000 - 0x8000, 0x33800000), (0x3F81,),
    ),
    "a difference of two formats": (
        "d = subtraction(a, b, f32)", ".f32.f16.bf16  d, a, b", (0x3C00, 0x3F81), (0xBC000000,),
    ),
    "a product of two formats in a third": (
        "d = multiplication(a, b, e4m3)", ".e4m3.ue8m0.f16  d, a, b", (0x80, 0x3E00), (0x44,),
    ),
    "a literal beside other formats": ("d = fusedMultiplyAdd(a, b, 1, f32)", ".f32.f16  d, a, b", (0, 0), (ONE,)),
    "an integer": ("d = convert(a, s32, roundTowardZero)", ".s32.f32  d, a", (0xC0300000,), (0xFFFFFFFE,)),
    "an integer beyond the range": ("d = convert(a, s32)", ".s32.f32  d, a", (0xFF800000,), (0x80000000,)),
    "an integer of a NaN": ("d = convert(a, s32)", ".s32.f32  d, a", (NAN,), (0,)),
    "a float of an integer": ("d = convert(a, f32)", ".f32.s32  d, a", (0xFFFFFFFF,), (0xBF800000,)),
    "a fixed-point number": ("d = convert(a, s2f6)", ".s2f6.f32  d, a", (0x3FC00000,), (96,)),
    "bits as an operand": ("d = float_of(bits(a) ^ r)", ".f32  d, a, r:b32", (ONE, 0x80000000), (0xBF800000,)),
    "240 + 240 where 448 is the largest": ("d = a + b", ".e4m3  d, a, b", (0x77, 0x77), (0x7F,)),
    "a tie at the largest": ("d = a + b", ".e4m3  d, a, b", (0x7E, 0x58), (0x7E,)),
    "an overflow toward zero": ("d = a + b", ".rz.e4m3  d, a, b", (0x78, 0x78), (0x7E,)),
    "a magnitude": ("d = convert(a, power)", ".power.f32  d, a", (0xC0000000,), (0x80,)),
    "what a format without zero makes of it": ("d = convert(a, power)", ".power.f32  d, a", (0,), (0,)),
    "the format of a value": ("d = convert(a, f32) if formatOf(a) == f16 else 0", ".f32.f16  d, a", (0x3C00,), (ONE,)),
    "a sum of integers": ("d = a + a", ".s32  d, a", (0x40000001,), (0x80000002,)),
    "a difference of integers": ("d = 1 - a", ".u8  d, a", (2,), (0xFF,)),
    "an integer's lower bits": ("d = congruent(a, s8)", ".s8.u32  d, a", (0x1FF,), (0xFF,)),
    "an integer extended by its sign": ("d = congruent(a, u32)", ".u32.s8  d, a", (0x80,), (0xFFFFFF80,)),
    "an integer extended by zeros": ("d = congruent(a, s32)", ".s32.u8  d, a", (0x80,), (0x80,)),
    "a whole number": ("d = roundToIntegral(a)", ".rm.f32  d, a", (0xBE800000,), (0xBF800000,)),
    "a whole number, ties to even": ("d = roundToIntegral(a)", ".f16  d, a", (0x4100,), (0x4000,)),
    "a zero of the operand's sign": ("d = roundToIntegral(a)", ".rp.f32  d, a", (0xBE800000,), (0x80000000,)),
    "a whole number of a subnormal one": ("d = roundToIntegral(a)", ".rp.ftz.f16  d, a", (1,), (0,)),
    "a NaN in a wider format": ("d = convertNaN(a, f64)", ".f64.f32  d, a", (0xFF800001,), (0xFFF0000020000000,)),
    "a NaN in a narrower format": (
        "d = quieten(convertNaN(a, f32))", ".f32.f64  d, a", (0x7FF0000000000001,), (0x7FC00000,),
    ),
    "the largest number": ("d = largestOf(f16)", ".f32  d, a", (0,), (0x477FE000,)),
    "the largest integer": ("d = largestOf(type)", ".s8.f32  d, a", (0,), (0x7F,)),
    "a format's width": ("d = 2**(widthOf(u8) - 1)", ".f32  d, a", (0,), (0x43000000,)),
    "an integer type": (
        "d = 1 if isInteger(sourceType) and not isInteger(type) else 0", ".f32.u8  d, a", (0,), (ONE,),
    ),
    "the types of the spelling": ("d = 1 if type == f32 and sourceType == f16 else 0", ".f32.f16  d, a", (0,), (ONE,)),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_what_programs_compute(attempt: Try, name: str) -> None:
    semantics, syntax, operands, results = RESULTS[name]
    more = NO_RULE if ".f32.f16" in syntax or ".f16.f32" in syntax or "convertNaN" in semantics else ""
    assert attempt.run(semantics, syntax, *operands, more=more) == results


def test_a_branch_of_other_variants_may_read_their_operands(attempt: Try) -> None:
    semantics = "if sat:\n  d = float_of(r)\nelse:\n  d = a"
    attempt.write(semantics, ".f32  d, a", ".sat.f32  d, a, r:b32")
    spec = read(attempt.project.root)
    assert check(spec)[1] == []


# Each: semantics, syntax, a part of the error.
REFUSED: dict[str, tuple[str, str, str]] = {
    "a result of another format": (
        "d = a",
        ".f16.f32  d, a",
        "'d' is a f32 float; try.f16.f32 (1 operand) needs a f16 float",
    ),
    "no second result": ("p = a < b", ".f32  p{|q}, a, b", "'q' is not assigned on every path"),
    "a number for a predicate": ("p = a", ".f32  p, a", "expected a bool, this is a f32 float"),
    "an unknown member": (
        'p = cmp == "lx"',
        ".lt.f32  p, a, b",
        "'lx' is not in the group 'cmp'; known: eq, ne",
    ),
    "a sign that is not there": ("d = -a", ".ue8m0  d, a", "negate: ue8m0 has no sign"),
    "an infinity that is not there": ("d = infinity", ".e4m3  d, a", "e4m3 has no infinity"),
    "quiet NaNs that are not told apart": ("d = quieten(a)", ".e4m3  d, a", "does not tell quiet NaNs"),
    "a sine of FP8": ("d = sin(a)", ".e4m3  d, a", "sin: e4m3 is not a format of IEEE 754"),
    "a product of integers of two types": ("d = a * b", ".s32.s32.u32  d, a, b", "'*' of a s32 integer and a u32"),
    "a quotient of bits": ("d = a / a", ".b32  d, a", "'/' is not defined on a 32 bits"),
    "a sum of integers of two types": ("d = a + b", ".s32.s32.u32  d, a, b", "'+' of a s32 integer and a u32 integer"),
    "a sum of an integer and a float": ("d = a + b", ".s32.s32.f32  d, a, b", "'+' of a s32 integer and a f32 float"),
    "formats that differ": ("d = a + b", ".f32.f32.f16  d, a, b", "'+' of a f32 float and a f16 float"),
    "a literal that a format lacks": ("d = 0", ".ue8m0  d, a", "this number is not exact in ue8m0"),
    "a sum that is an integer": (
        "d = addition(a, a, s32)",
        ".s32.f32  d, a",
        "addition delivers a float, and s32 is none",
    ),
    "a sum of bits": ("d = addition(a, bits(a), f32)", ".f32  d, a", "addition takes a float, this is a 32 bits"),
    "a sum of a sum": ("d = addition(a, a + a, f16)", ".f16.f32  d, a", "rounds twice"),
    "a difference without a sign": ("d = subtraction(a, a, ue8m0)", ".ue8m0.f32  d, a", "ue8m0 has no sign"),
    "an integer of a float": (
        "d = congruent(a, s32)",
        ".s32.f32  d, a",
        "congruent takes an integer, this is a f32 float",
    ),
    "a float congruent to an integer": (
        "d = congruent(a, f32)",
        ".f32.s32  d, a",
        "congruent gives an integer, f32 is none",
    ),
    "integers of different units": ("d = congruent(a, s32)", ".s32.s2f6  d, a", "congruent does not move the point"),
    "a NaN of FP8": ("d = convertNaN(a, f32)", ".f32.e4m3  d, a", "convertNaN: e4m3 is not a format of IEEE 754"),
    "a whole number of FP8": ("d = roundToIntegral(a)", ".e4m3  d, a", "roundToIntegral: e4m3 is not a format"),
    "the largest of a number": ("d = largestOf(a)", ".f32  d, a", "is a format"),
    "two roundings through a format": ("d = convert(a + a, f16)", ".f16.f32  d, a", "rounds twice"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(attempt: Try, name: str) -> None:
    semantics, syntax, message = REFUSED[name]
    found = attempt.errors(semantics, syntax)
    assert any(message in e for e in found), found


def test_corner_cases_have_a_cell_for_each_kind(attempt: Try) -> None:
    table = "corner_cases:\n  - title: All\n    rows:\n      - "
    rows = f"{table}[1.0, 2.0, true, true|false]\n      - [NaN, 1.0, true, false|true]\n"
    attempt.write(SETP, ".lt.and.f32  p{|q}, a, b, c:pred", more=rows)
    assert check(read(attempt.project.root))[1] == []
    wrong = attempt.errors(SETP, ".lt.and.f32  p{|q}, a, b, c:pred", more=rows.replace("true|false", "true|true"))
    assert "of 1.0 0x1p+0 0x3f800000, 2.0 0x1p+1 0x40000000, true is true|false, not true|true" in wrong[0]
    wrong = attempt.errors("d = a if r else a", ".f32  d, a, r:pred", more=f"{table}[1.0, 2.0, 1.0]\n")
    assert "'2.0' is not true or false" in wrong[0]


def test_variants_that_mean_the_same_share_a_program(attempt: Try) -> None:
    attempt.write("d = a", ".{f16,f16x2}  d, a", "{.rn}.f32  d, a")
    spec = read(attempt.project.root)
    compiler, i = Compiler(spec), spec.instructions["try"]
    programs = [compiler.program(i, v, None) for v in i.variants]
    assert programs[0] is programs[1] and programs[2] is programs[3] and programs[0] is not programs[2]
    assert programs[0].inputs[0].kind == Kind("float", 16, spec.formats["f16"])  # type: ignore[arg-type]


def test_what_a_target_implies_decides_between_rules_for_nans(attempt: Try) -> None:
    attempt.write("d = a + a", "{.approx}{.ftz}.f32  d, a", more="nan:\n  - {for: .approx.ftz.f32, rule: payload}\n")
    spec = read(attempt.project.root)
    compiler, i = Compiler(spec), spec.instructions["try"]
    of = {v.spelling: v for v in i.variants}
    for spelling in ("try.f32", "try.approx.f32"):
        implied = compiler.program(i, of[spelling], "sm_10")
        assert implied is compiler.program(i, of[spelling.replace(".f32", ".ftz.f32")], None)
        assert run(implied, [0x7FC01234]) == ((0x7FC01234,) if "approx" in spelling else (0x7FFFFFFF,))


FLUSHING = """acts_on: {ftz: [f32]}
nan:
  - {for: .f32, rule: unchanged}
"""


@pytest.mark.parametrize(
    ("syntax", "operand", "result"),
    [
        (".ftz.f16.f32  d, a", 0x00000001, 0),
        # 2**-20 stays, which is subnormal in half precision.
        (".ftz.f16.f32  d, a", 0x35800000, 0x0010),
        (".ftz.f32.f16  d, a", 0x0001, 0x33800000),
        (".ftz.f32.f64  d, a", 0x37D0000000000000, 0),
    ],
)
def test_a_modifier_acts_on_the_formats_that_the_file_says(
    attempt: Try, syntax: str, operand: int, result: int
) -> None:
    assert attempt.run("d = convert(a, type)", syntax, operand, more=FLUSHING) == (result,)


def test_what_a_modifier_acts_on_is_known(attempt: Try) -> None:
    wrong = attempt.errors("d = a", ".ftz.f32  d, a", more="acts_on: {ftz: [f33]}\n")
    assert any("unknown format 'f33'" in e for e in wrong)
    wrong = attempt.errors("d = a", ".ftz.f32  d, a", more="acts_on: {fzt: [f32]}\n")
    assert any("unknown modifier 'fzt'" in e for e in wrong)


def test_types_are_named_in_groups(attempt: Try) -> None:
    declare(attempt.project.root, "types.yaml", groups="  half: [f16, bf16]\n")
    attempt.write("d = a", ".half  d, a")
    found = read(attempt.project.root).instructions["try"].variants
    assert [v.spelling for v in found] == ["try.f16", "try.bf16"]
    attempt.project.edit("spec/types.yaml", "half: [f16, bf16]", "half: [f16, bf61]")
    wrong = [e.message for e in read_all(attempt.project.root).diagnostics]
    assert "unknown type 'bf61'" in wrong
    attempt.project.edit("spec/types.yaml", "half: [f16, bf61]", "sat: [f16, bf16]")
    wrong = [e.message for e in read_all(attempt.project.root).diagnostics]
    assert any("'sat' is a modifier, a type or another group too" in e for e in wrong), wrong
