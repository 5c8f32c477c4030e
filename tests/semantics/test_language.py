"""The semantics language: what it means, shown by running programs exactly, and what it refuses, and where."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent, indent

import numpy as np
import pytest
from helpers.project import Project
from helpers.repository import checked
from ptxspec.check.checking import check
from ptxspec.diagnostics import Diagnostic
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact.evaluate import run, trace
from ptxspec.semantics.program import Apply, Program
from ptxspec.specification import read, read_all

FILE = "spec/instructions/try.yaml"
ONE, TWO, HALF, INF, NAN = 0x3F800000, 0x40000000, 0x3F000000, 0x7F800000, 0x7FFFFFFF


def f32(x: float) -> int:
    return int(np.float32(x).view(np.uint32))


def result(program: Program, operands: Sequence[int]) -> int:
    """The only result of a program."""
    (found,) = run(program, operands)
    return found


class Try:
    """A project of one opcode `try` whose semantics a test writes."""

    def __init__(self, project: Project) -> None:
        self.project = project
        for path in (project.root / "spec/instructions").iterdir():
            path.unlink()

    def write(self, semantics: str, *syntax: str) -> None:
        lines = "".join(f"  - try{s}\n" for s in syntax or (".f32  d, a, b",))
        body = indent(dedent(semantics).strip("\n"), "  ")
        text = f"opcode: try\nsummary: A trial.\nsyntax:\n{lines}requires:\n  - ptx: 1.0\nsemantics: |\n{body}\n"
        self.project.write(FILE, text)

    def program(self, semantics: str, *syntax: str, target: str | None = None, spelling: str = "") -> Program:
        self.write(semantics, *syntax)
        spec = read(self.project.root)
        i = spec.instructions["try"]
        variant = next(v for v in i.variants if spelling in ("", v.spelling))
        found = Compiler(spec).programs(i, variant)
        return found.get(target, found[None])

    def run(self, semantics: str, *operands: int, **how: str) -> int:
        program = self.program(semantics, f"{how.pop('names', '.f32')}  d, {', '.join('abc'[: len(operands)])}", **how)
        return result(program, operands)

    def errors(self, semantics: str, *syntax: str) -> list[Diagnostic]:
        self.write(semantics, *syntax)
        reading = read_all(self.project.root)
        # What is wrong with the text itself is found twice; the command says it once.
        return sorted({*reading.diagnostics, *(check(reading.spec)[1] if reading.spec else [])})


@pytest.fixture
def attempt(project: Project) -> Try:
    return Try(project)


VALUES: dict[str, tuple[str, tuple[int, ...], int]] = {
    "a literal takes the format of the other operand": ("d = a + 1", (ONE, 0), TWO),
    "hexadecimal floats": ("d = 0x1.8p1 if a == 0x1p0 else 0x.8p0", (ONE, 0), f32(3)),
    "powers of two": ("d = a * 2**-3", (ONE, 0), f32(0.125)),
    "arithmetic of literals": ("d = 2**3 - 1 * 3", (0, 0), f32(5)),
    "negative zero": ("d = -0", (0, 0), 0x80000000),
    "zeros compare equal": ("d = 1 if -0 == 0 else 2", (0, 0), ONE),
    "a chained comparison": ("d = 1 if 0 < a <= b else 2", (ONE, ONE), ONE),
    "a chained comparison that fails late": ("d = 1 if 0 < a < b else 2", (ONE, ONE), TWO),
    "not": ("d = 1 if not a < b else 2", (ONE, ONE), ONE),
    "and, or": ("d = 1 if a < b and b < 3 or isNaN(a) else 2", (NAN, ONE), ONE),
    "a comparison with NaN": ("d = 1 if a == a else 2", (NAN, 0), TWO),
    "bits": ("d = float_of((bits(a) & 0xff) | (bits(b) ^ ~bits(b)))", (ONE, TWO), NAN),
    "shifts": ("d = float_of((bits(a) << 31) | (bits(a) >> 1))", (3, 0), 0x80000001),
    "a comparison of bits": ("d = 1 if bits(a) >= bits(b) and bits(a) != bits(b) else 2", (2, 1), ONE),
    "a conversion": ("d = convert(convert(a, f16, roundTowardZero), f32)", (f32(1.0009), 0), ONE),
    "the constants of the format": ("d = quietNaN if a > b else infinity", (ONE, TWO), INF),
    "a fused multiply-add": ("d = fusedMultiplyAdd(a, b, -1)", (f32(1 + 2**-23), f32(1 - 2**-23)), f32(-(2.0**-46))),
    "two roundings of named results": ("x = a * b\nd = x - 1", (f32(1 + 2**-23), f32(1 - 2**-23)), 0),
    "a helper": ("def twice(x):\n  return x + x\nd = twice(twice_of(a))\ndef twice_of(x):\n  return x", (ONE, 0), TWO),
    "a helper of several returns": (
        "def f(x):\n  if x > 1:\n    return 1\n  if x < 0:\n    return 0\n  return x\nd = f(a)", (f32(-5), 0), 0
    ),
    "a helper that changes what it was given": (
        "def f(x, y):\n  if y > 1:\n    x = y\n  return x\nd = f(1, a)", (ONE, 0), ONE
    ),
    "the names of operands can be assigned": ("a = b\nd = a", (ONE, TWO), TWO),
    "if, elif, else": ("if a > 1:\n  d = a\nelif a == 1:\n  d = 0x.8p0\nelse:\n  d = b", (ONE, TWO), HALF),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_what_programs_compute(attempt: Try, name: str) -> None:
    semantics, operands, result = VALUES[name]
    assert attempt.errors(semantics) == []
    assert attempt.run(semantics, *operands) == result


# Each: the semantics with « before the mistake, a part of the message, a part of the help.
REFUSED: dict[str, tuple[str, str, str]] = {
    "an unknown name": ("d = a + «e", "unknown name 'e'", ""),
    "an unknown name where no variant goes": ("if operands == 3:\n  d = «quitNaN\nd = a", "unknown name 'quitNaN'", "quietNaN"),  # noqa: E501
    "an unknown function": ("d = «maximun(a, b)", "unknown function 'maximun'", "maximum"),
    "a third operand": ("d = «c", "'c' is not an operand of try.f32 (2 operands)", "operands"),
    "bits for a float": ("d = «a + bits(b)", "'+' of a f32 float and a 32 bits", ""),
    "a float for bits": ("d = float_of(«a & b)", "'&' is not defined on a f32 float", "bits"),
    "a float for a bool": ("d = a if «a else b", "a condition must be a bool, this is a f32 float", ""),
    "kinds that differ between branches": ("x = a\nif «a > b:\n  x = bits(a)\nd = float_of(x)", "'x' is a 32 bits in one branch and a f32 float", ""),  # noqa: E501
    "a result of the wrong kind": ("«d = bits(a)", "'d' is a 32 bits", ""),
    "a name assigned on one path": ("if a > b:\n  x = a\nd = «x", "'x' is not assigned on every path to here", "line"),
    "a name before its assignment": ("d = «x\nx = a", "'x' is not assigned before this", ""),
    "no result": ("«x = a", "has no result: 'd' is not assigned on every path", "nothing assigns it"),
    "a path without result": ("«if a > b:\n  d = a", "has no result", "condition in line"),
    "two roundings": ("d = «a * b + 1", "rounds twice", "fusedMultiplyAdd"),
    "two roundings through a helper": ("def f(x):\n  return x * x\nd = «f(a) + b", "rounds twice", "name the first"),
    "a decimal fraction": ("d = a + «0.1", "a decimal fraction is not exact: 0.1", "0x1.999999999999ap-4"),
    "a literal of too many digits": ("d = a + «0x1.0000001p0", "not exact in f32", ""),
    "a hexadecimal float of no format": ("d = «0x1p99999999999", "is not a number of any format", ""),
    "a literal beyond every format": ("d = a + «2**20000 * 2**20000 * 2**20000", "beyond every format", ""),
    "a power beyond every format": ("d = a * «2**100000000", "this literal is beyond every format", ""),
    "a shift beyond every format": ("d = a * («1 << 100000000)", "this literal is beyond every format", ""),
    "a decimal beyond every format": ("d = a * «1e400", "this literal is beyond every format", ""),
    "a power of something else": ("d = «3**2", "a literal power is 2**n", "2**n"),
    "a power of an operand": ("d = «a**2", "powers are for literals only", ""),
    "a shift of a float": ("d = «a << 1", "'<<' shifts bits", "bits(x)"),
    "a shift too far": ("d = float_of(bits(a) << «32)", "by 0 to 31 places", ""),
    "a shift by an operand": ("d = float_of(bits(a) << «bits(b))", "a literal number of places", ""),
    "a wrong count": ("d = «maximum(a)", "maximum takes 2 arguments, not 1", "maximum(x: float, y: float)"),
    "a wrong count for a helper": ("def f(x):\n  return x\nd = «f(a, b)", "f takes 1 arguments, not 2", "def f(x)"),
    "a recursive helper": ("def f(x):\n  return «f(x)\nd = f(a)", "'f' calls itself", "no recursion"),
    "a helper that may return nothing": ("def f(x):\n  if «x > 1:\n    return x\nd = f(a)", "returns nothing", ""),
    "a helper without return": ("«def f(x):\n  y = x\nd = f(a)", "helper 'f' returns nothing", ""),
    "a helper that sees more than its parameters": ("def f(x):\n  return «a\nd = f(b)", "'a' is not known in 'f'", "pass it"),  # noqa: E501
    "a helper with a modifier's name": ("«def ftz(x):\n  return x\nd = ftz(a)", "'ftz' has a meaning already", ""),
    "a parameter with a modifier's name": ("«def f(ftz):\n  return ftz\nd = f(a)", "'ftz' has a meaning already", ""),
    "a helper with a function's name": ("«def maximum(x):\n  return x\nd = a", "'maximum' is defined already", ""),
    "two parameters of one name": ("«def f(x, x):\n  return x\nd = f(a, b)", "two parameters of one name", ""),
    "assigning a modifier": ("«NaN = a\nd = a", "'NaN' has a meaning already", "another name"),
    "assigning a constant": ("«infinity = a\nd = a", "'infinity' has a meaning already", ""),
    "an import": ("«import os\nd = a", "an import is not part", ""),
    "an attribute": ("d = «a.real", "an attribute is not part", ""),
    "a call of an attribute": ("d = «a.real()", "only functions of the table are called", ""),
    "an index": ("d = «a[0]", "an index is not part", ""),
    "a lambda": ("d = «lambda: a", "a lambda is not part", ""),
    "a loop": ("«while a > b:\n  d = a", "a loop is not part", ""),
    "a comprehension": ("d = «[x for x in a]", "a comprehension is not part", ""),
    "text": ("d = «'a'", "'a' stands alone", "compared with a group"),
    "an augmented assignment": ("d = a\n«d += b", "an augmented assignment is not part", ""),
    "an expression alone": ("«print\nd = a", "an expression without effect", ""),
    "a starred argument": ("d = «maximum(*a)", "takes its arguments by position", ""),
    "a return outside a helper": ("«return a", "outside a helper, is not part", ""),
    "a nested def": ("def f(x):\n  «def g(y):\n    return y\n  return x\nd = f(a)", "a nested def is not part", ""),
    "identity": ("d = a if «a is b else b", "this comparison is not part", ""),
    "broken syntax": ("d = (a«", "semantics cannot be read", ""),
    "letters that only look like a": ("d = «ａ", "can stand in a comment only", "ASCII"),
    "a type as a value": ("d = «f32", "a type is no value to compute with", ""),
    "a format for a format": ("d = convert(a, «ftz)", "the second argument is a format", "f16"),
    "too many terms": ("d = a if «" + " and ".join(["a > b"] * 300) + " else b", "more than 60 terms", ""),
}  # fmt: skip


@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_and_where(attempt: Try, name: str) -> None:
    marked, message, help = REFUSED[name]
    before, _, _ = marked.partition("«")
    line, column = 8 + before.count("\n"), 3 + len(before.rpartition("\n")[2])
    found = attempt.errors(marked.replace("«", ""))
    assert [(e.path, e.mark.line) for e in found][:1] == [(FILE, line)], found
    first = found[0]
    assert message in first.message and help in first.help
    if name != "broken syntax":
        assert first.mark.column == column
        assert len(found) == 1


@pytest.mark.parametrize(
    "semantics",
    [
        "d = " + "(" * 150 + "a" + ")" * 150 + "+" + "-" * 150 + "a",
        "d = " + "+".join(["a"] * 50_000),
        "if a > b:\n  d = a\n" + "elif a > b:\n  d = a\n" * 3000 + "else:\n  d = b",
        "d = " + "-" * 20_000 + "a",
        "\n".join(f"def g{i}(x):\n  return g{i + 1}(x)" for i in range(900)) + "\ndef g900(x):\n  return x\nd = g0(a)",
        "\n".join(f"def h{i}(x):\n  return bits(h{i + 1}(x)) ^ bits(h{i + 1}(x))" for i in range(40))
        + "\ndef h40(x):\n  return x\nd = float_of(h0(a))",
        "d = float_of(bits(a) << 2**20000)",
        "d = a + " + "9" * 10_000,
        "d = a  # " + "é" * 100_000 + "\nx = é",
    ],
    ids=["signs", "sum", "elif", "minus", "depth of calls", "tree of calls", "shift", "digits", "long line"],
)
def test_much_in_little_text_is_refused(attempt: Try, semantics: str) -> None:
    assert len(attempt.errors(semantics)) == 1


def functions(program: Program) -> list[str]:
    return [let.value.function for let in program.lets if isinstance(let.value, Apply)]


STATIC = {
    "ftz": ("d = magnitude(a) if ftz else a", ".ftz.f32", 0x80000000 | ONE, ONE),
    "no ftz": ("d = magnitude(a) if ftz else a", ".f32", 0x80000000 | ONE, 0x80000000 | ONE),
    "operands": ("d = 1 if operands == 2 else b", ".f32", 0, ONE),
    "type": ("d = 1 if type == f32 else 2", ".f32", 0, ONE),
    "rounding": ("d = 1 if rounding == roundTowardZero else 2", ".rz.f32", 0, ONE),
    "no target": ("d = 1 if target >= sm_10 or target != sm_10 or target == sm_10 else 2", ".f32", 0, TWO),
    "and decides alone": ("d = 1 if NaN and c > 0 else 2", ".f32", 0, TWO),
    "or decides alone": ("d = 1 if not NaN or c > 0 else 2", ".f32", 0, ONE),
}


@pytest.mark.parametrize("name", STATIC)
def test_what_is_known_beforehand_leaves_no_branch(attempt: Try, name: str) -> None:
    semantics, names, operand, expected = STATIC[name]
    program = attempt.program(semantics, f"{names}  d, a, b")
    assert result(program, (operand, 0)) == expected
    assert all(f not in ("compareEqual",) for f in functions(program))


def test_targets_compare_in_their_order(attempt: Try) -> None:
    text = "d = 1 if target >= sm_90 else 2"
    assert [attempt.run(text, 0, 0, target=t) for t in ("sm_80", "sm_90", "sm_90a", "sm_120")] == [TWO, ONE, ONE, ONE]


def test_a_target_can_imply_a_modifier(attempt: Try) -> None:
    assert attempt.run("d = a", 1, 0) == 1
    assert attempt.run("d = a", 1, 0, target="sm_13") == 0
    assert attempt.run("d = a", 1, 0, target="sm_20") == 1


def test_a_predicate_is_assigned_to_p(attempt: Try) -> None:
    program = attempt.program("p = a < b", ".f32  p, a, b")
    assert [result(program, o) for o in ((ONE, TWO), (TWO, ONE))] == [1, 0]
    (found,) = attempt.errors("p = a + b", ".f32  p, a, b")
    assert "expected a bool, this is a f32 float" in found.message


def test_one_mistake_is_reported_once_for_all_variants(attempt: Try) -> None:
    assert len(attempt.errors("d = a + bits(b)", "{.rnd}{.ftz}.f32  d, a, b", ".{f16,f64}  d, a, b")) == 1
    assert len(attempt.errors("x = a", "{.rnd}{.ftz}.f32  d, a, b", ".{f16,f64}  d, a, b")) == 1


def test_the_stages_act_in_their_order(attempt: Try) -> None:
    new = """\
  all:
    summary: Every stage.
    section: 9.7
    raw: |
      seen = a
    operand: |
      x = x + 1
    result: |
      d = d * 2
    override: |
      d = seen if isZero(seen) else d
modifiers:
"""
    attempt.project.edit("spec/modifiers.yaml", "\nmodifiers:\n", "\nmodifiers:\n" + new.replace("modifiers:\n", ""))
    program = attempt.program("d = a + b", ".all.f32  d, a, b")
    assert result(program, (ONE, ONE)) == f32(8)  # ((1 + 1) + (1 + 1)) * 2
    assert result(program, (0x80000000, ONE)) == 0x80000000  # the operand as it came
    _, steps = trace(program, (ONE, ONE))
    stages = [s.let.stage for s in steps]
    assert stages.index(".all a") < stages.index("operation") < stages.index("NaN") < stages.index(".all")
    # The NaN rule comes before the result stage: a NaN that the stage makes keeps its bits.
    attempt.project.edit("spec/modifiers.yaml", "      d = d * 2\n", "      d = float_of(0x7fc00001)\n")
    assert result(attempt.program("d = quietNaN", ".all.f32  d, a, b"), (ONE, ONE)) == 0x7FC00001


def test_a_mistake_in_a_modifier_is_reported_in_its_file(attempt: Try) -> None:
    attempt.project.edit("spec/modifiers.yaml", "if isSubnormal(x) else x", "if isSubnormal(y) else x")
    (found,) = attempt.errors("d = a", "{.rnd}.ftz.f32  d, a, b")
    place = attempt.project.place("spec/modifiers.yaml", "y) else x")
    assert f"{found.path}:{found.mark.line}:{found.mark.column}" == place and "unknown name 'y'" in found.message


def test_a_program_names_lines_of_its_own_opcode_s_file() -> None:
    """Others may have an equal program, as mov and cvt without a change have."""
    elsewhere = {
        f"{opcode}: {let.path}:{let.mark.line}"
        for opcode, one in checked().items()
        for programs in one.programs.values()
        for program in programs.values()
        for let in program.lets
        if "/instructions/" in let.path and let.path != one.instruction.path
    }
    assert elsewhere == set()
