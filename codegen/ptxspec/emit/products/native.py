"""Programs -> the C of ptxemu's accelerator: one source per opcode, one function per different program.

A program that templates/runtime/native cannot compute is left out, and runs on NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mpmath  # type: ignore[import-untyped]

from ...check.checking import Checked
from ...model import ROUNDINGS, Format, Spec
from ...semantics.functions import TABLE
from ...semantics.program import Apply, Const, Kind, Program, Term, Var
from ..registry import product
from ..sharing import ELEMENTARY, Line, Shared, shared, source_of
from ..text import Files, Templates

_FOLDER = "python/ptxemu/native"
# Bits are unsigned integers, bools _Bool: these functions are C's own operators.
INFIX = {
    "bitAnd": "({} & {})", "bitOr": "({} | {})", "bitXor": "({} ^ {})",
    "sameBits": "({} == {})", "lessBits": "({} < {})", "bits": "{}", "float_of": "{}",
    "logicalAnd": "({} & {})", "logicalOr": "({} | {})", "logicalXor": "({} ^ {})", "logicalNot": "(!{})",
}  # fmt: skip
# What a table of coefficients decides stays with NumPy.
WITHOUT_C = {"unit"}


@dataclass(frozen=True)
class Function:
    name: str
    parameters: list[str]
    operand_type: str
    result_type: str
    direction: str
    serves: list[str]
    lines: list[Line]
    result: str
    undecided: bool


@product("emulator-c")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """The files of generated/python/ptxemu/native."""
    files = {f"{_FOLDER}/{name}": text for name, text in templates.plain("runtime/native").items()}
    files[f"{_FOLDER}/formats.h"] = templates.render(
        "emulator/native/formats.h.j2", ["spec/types.yaml"], comment="/* {} */", formats=list(spec.formats.values())
    )
    files[f"{_FOLDER}/turns.h"] = templates.render(
        "emulator/native/turns.h.j2", [], comment="/* {} */", turns=list(_turns())
    )
    for c in checked:
        functions = list(_functions(c))
        if functions:
            files[f"{_FOLDER}/{c.instruction.opcode}.c"] = templates.render(
                "emulator/native/opcode.c.j2", ["spec/types.yaml", "spec/modifiers.yaml", c.instruction.path],
                comment="/* {} */", opcode=c.instruction.opcode, functions=functions,
            )  # fmt: skip
    return files


def _turns() -> Iterator[tuple[int, int]]:
    """2**(i - 23) radians in turns, without the whole ones, for the exponents i of binary32: 64 bits and 32 more."""
    with mpmath.workprec(300):
        longer = int(mpmath.ldexp(1 / (2 * mpmath.pi), 96 + 127))
    for i in range(128):
        yield divmod((longer >> (150 - i)) & ((1 << 96) - 1), 1 << 32)


def _functions(checked: Checked) -> Iterator[Function]:
    for one in shared(checked).values():
        direction = steering(one.program)
        if direction is not None:
            yield _function(one, direction)


def steering(program: Program) -> str | None:
    """The direction in which the processor must round for every operation of the program; None where no one will do,
    or an operation has no C."""
    applications = list(_applications(program))
    if any(a.function in WITHOUT_C for a in applications):
        return None
    wanted = {_steering(a) for a in applications if TABLE[a.function].rounds} - {"any"}
    if not wanted:
        return ROUNDINGS[0]
    return wanted.pop() if len(wanted) == 1 else None


def _steering(t: Apply) -> str | None:
    """The direction that an operation needs: its own in a native format, to nearest in a carrier."""
    f, source = t.format, t.arguments[0].kind.format
    assert f is not None and source is not None
    if not all(_is_native(x) or _has_carrier(x) for x in (f, source)):
        return None
    if t.function in ELEMENTARY:
        # Of binary32 alone: NumPy has tables of narrower formats' results, which are sooner read than computed.
        return "roundTiesToEven" if (f.width, f.precision, t.mode) == (32, 24, "roundTiesToEven") else None
    if t.function == "convert":
        contains = source.exponent_bits <= f.exponent_bits and source.precision <= f.precision
        if contains or not _is_native(f):
            return "any"
    if _is_native(f):
        return t.mode if t.mode != "roundTiesToAway" else None
    return "roundTiesToEven"


def _is_native(f: Format) -> bool:
    """The processor computes in it, as `Format.native` of templates/runtime/binary.py has it."""
    return (f.exponent_bits, f.fraction_bits) in ((8, 23), (11, 52))


def _has_carrier(f: Format) -> bool:
    """As `Format.carrier`; formats of 32 bits have none that is not native."""
    return f.exponent_bits <= 8 and f.width <= 16


def _applications(program: Program) -> Iterator[Apply]:
    pending: list[Term] = [program.result, *(let.value for let in program.lets)]
    while pending:
        term = pending.pop()
        if isinstance(term, Apply):
            yield term
            pending += term.arguments


def _function(one: Shared, direction: str) -> Function:
    program = one.program
    lines = [
        Line(
            f"{_type(let.value.kind)} {_name(let.name)} = {_term(let.value)};",
            source_of(let),
        )
        for let in program.lets
    ]
    operand = _unsigned(program.format.width)
    parameters = [f"{operand} {_name(n)}" for n in program.inputs]
    result_type = "uint8_t" if program.result.kind.sort == "bool" else _type(program.result.kind)
    # Elementary functions may leave a result undecided, for NumPy's kernel to find.
    undecided = any(a.function in ELEMENTARY for a in _applications(program))
    result = _term(program.result)
    return Function(one.name, parameters, operand, result_type, direction, one.serves, lines, result, undecided)


def _unsigned(width: int) -> str:
    return f"uint{width}_t"


def _type(kind: Kind) -> str:
    return "_Bool" if kind.sort == "bool" else _unsigned(kind.width)


def _name(name: str) -> str:
    """A variable's name, which none of C, its macros or the functions here has."""
    return f"v_{name}"


def _constant(kind: Kind, value: int) -> str:
    if kind.sort == "bool":
        return str(value)
    digits = f"0x{value:0{kind.width // 4}x}"
    return f"UINT64_C({digits})" if kind.width == 64 else f"{digits}u"


def _term(term: Term) -> str:
    if isinstance(term, Const):
        return _constant(term.kind, term.value)
    if isinstance(term, Var):
        return _name(term.name)
    return _apply(term)


def _apply(t: Apply) -> str:
    texts = [_term(a) for a in t.arguments]
    if t.function in INFIX:
        return INFIX[t.function].format(*texts)
    # Integers narrower than C's int would grow into it.
    if t.function == "bitNot":
        return f"({_type(t.kind)})~{texts[0]}"
    if t.function in ("shiftLeft", "shiftRight"):
        sign = "<<" if t.function == "shiftLeft" else ">>"
        return f"({_type(t.kind)})({texts[0]} {sign} {t.count})"
    if t.function == "highWord":
        half = t.kind.width // 2
        return f"({texts[0]} & {_constant(t.kind, ((1 << half) - 1) << half)})"
    if t.function == "select":
        return f"select_{t.kind.width}({', '.join(texts)})"
    assert t.format is not None
    if t.function == "convert":
        source = t.arguments[0].kind.format
        assert source is not None
        texts = [f"number_{source.name}({texts[0]})"]
    if TABLE[t.function].rounds:
        texts += [t.mode, str(int(t.ftz)), *(["undecided"] if t.function in ELEMENTARY else [])]
    return f"{t.function}_{t.format.name}({', '.join(texts)})"
