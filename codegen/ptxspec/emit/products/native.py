"""Programs -> the C of ptxemu's accelerator: one source per opcode, one function per different program.

A program that templates/runtime/native cannot compute is left out, and runs on NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import mpmath  # type: ignore[import-untyped]

from ...check.checking import Checked
from ...model import BOOL, ROUNDINGS, Format, Kind, Spec, float_in
from ...semantics.functions import TABLE
from ...semantics.program import Apply, Program
from ..fusing import FLUSH, PROPAGATE, is_usual, shorten
from ..lowering import ELEMENTARY, Function, Lowering, Shared, applications, shared, source_of, written
from ..registry import product
from ..text import Files, Templates

_FOLDER = "python/ptxemu/native"
# What a table of coefficients decides stays with NumPy, and what random bits do.
WITHOUT_C = {"unit", "convertStochastic"}
ANY = "any"


@dataclass(frozen=True)
class CFunction(Function):
    """`undecided`: it may leave a result undecided, for NumPy's kernel to find."""

    operand_type: str
    result_type: str
    direction: str
    undecided: bool


@product("emulator-c")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """The files of generated/python/ptxemu/native."""
    files = {f"{_FOLDER}/{name}": text for name, text in templates.plain("runtime/native").items()}
    formats = [f for f in spec.formats.values() if isinstance(f, Format) and _has_c(float_in(f))]
    files[f"{_FOLDER}/formats.h"] = templates.render(
        "emulator/native/formats.h.j2",
        ["spec/types.yaml"],
        comment="/* {} */",
        formats=formats,
    )
    files[f"{_FOLDER}/turns.h"] = templates.render(
        "emulator/native/turns.h.j2", [], comment="/* {} */", turns=list(_turns())
    )
    for c in checked:
        functions = [_function(one) for one in shared(c).values() if not why_not(one.program)]
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


def why_not(program: Program) -> str:
    """Why a program has no C, and runs on NumPy; empty where it has."""
    if len(program.results) > 1:
        return "it has two results"
    if len({i.kind for i in program.inputs}) > 1 or program.inputs[0].kind.sort != "float":
        return "its operands are not floats of one format"
    values = [*program.inputs, *(let.value for let in program.lets), *applications(program)]
    for kind in dict.fromkeys(v.kind for v in values):
        if not _has_c(kind):
            return f"it has values of the kind '{kind}'"
    directions = set()
    for a in applications(program):
        if a.function in WITHOUT_C:
            return f"{a.function} is NumPy's alone"
        if a.mixed:
            return f"there is no C for {a.function} of several formats"
        if TABLE[a.function].rounds:
            direction = _steering(a)
            if direction is None:
                return f"there is no C for {a.function} in this format or direction"
            directions.add(direction)
    if len(directions - {ANY}) > 1:
        return "its operations round in different directions"
    return ""


def _has_c(kind: Kind) -> bool:
    if kind.sort == "bool":
        return True
    usual = kind.format is None or is_usual(kind.format)
    return kind.sort != "integer" and usual and kind.width in (16, 32, 64)


def _direction(program: Program) -> str:
    """The direction in which the processor must round for every operation of a program that has C."""
    wanted = {_steering(a) for a in applications(program) if TABLE[a.function].rounds} - {ANY}
    return next(iter(wanted), None) or ROUNDINGS[0]


def _steering(t: Apply) -> str | None:
    """The direction that an operation needs: its own in a native format, to nearest in a carrier."""
    f, source = t.format, t.arguments[0].kind.format
    assert f is not None and source is not None
    if not all(_is_native(x) or _has_carrier(x) for x in (f, source)):
        return None
    if t.function in ELEMENTARY:
        # Of binary32 alone: NumPy has tables of narrower formats' results, which are sooner read than computed.
        return "roundTiesToEven" if (f.width, f.precision, t.mode) == (32, 24, "roundTiesToEven") else None
    if t.function == "roundToIntegral":
        return ROUNDINGS[0]
    if t.function == "convert":
        contains = source.exponent_bits <= f.exponent_bits and source.precision <= f.precision
        if contains or not _is_native(f):
            return ANY
    if _is_native(f):
        return t.mode if t.mode != "roundTiesToAway" else None
    return "roundTiesToEven"


def _is_native(f: Format) -> bool:
    """The processor computes in it, as `Format.native` of templates/runtime/binary.py has it."""
    return (f.exponent_bits, f.fraction_bits) in ((8, 23), (11, 52))


def _has_carrier(f: Format) -> bool:
    """As `Format.carrier`; formats of 32 bits have none that is not native."""
    return f.exponent_bits <= 8 and f.width <= 16


def _function(one: Shared) -> CFunction:
    program, c = shorten(one.program), _Writer()
    operand = _type(program.inputs[0].kind)
    (result,) = program.results
    return CFunction(
        name=one.name,
        parameters=[c.variable(i.name) for i in program.inputs],
        lines=written(
            [
                (f"{_type(let.value.kind)} {c.variable(let.name)}", c.term(let.value), source_of(let))
                for let in program.lets
            ],
            [c.term(result)],
            end=";",
        ),
        operand_type=operand,
        result_type="uint8_t" if result.kind == BOOL else _type(result.kind),
        direction=_direction(one.program),
        undecided=any(a.function in ELEMENTARY for a in applications(one.program)),
    )


def _type(kind: Kind) -> str:
    return "_Bool" if kind.sort == "bool" else f"uint{kind.storage}_t"


class _Writer(Lowering):
    """Writes terms of one lane. Bools are _Bool."""

    OPERATORS: ClassVar = {**Lowering.OPERATORS, "logicalNot": "(!{})"}

    def constant(self, kind: Kind, value: int) -> str:
        if kind.sort == "bool":
            return str(value)
        digits = f"0x{value:0{kind.width // 4}x}"
        return f"UINT64_C({digits})" if kind.width == 64 else f"{digits}u"

    def count(self, kind: Kind, value: int) -> str:
        return str(value)

    def variable(self, name: str) -> str:
        """A name that none of C, its macros or the functions here has."""
        return f"v_{name}"

    def of_kind(self, kind: Kind, text: str) -> str:
        # Integers narrower than C's int grow into it.
        return f"({_type(kind)})({text})"

    def call(self, t: Apply, arguments: list[str]) -> str:
        if t.function == "select":
            return f"select_{t.kind.width}({', '.join(arguments)})"
        assert t.format is not None
        if t.function == PROPAGATE:
            value, *operands = arguments
            for operand in reversed(operands):
                value = f"{t.function}_{t.format.name}({value}, {operand})"
            return value
        if t.function == "convert":
            source = t.arguments[0].kind.format
            assert source is not None
            arguments = [f"number_{source.name}({arguments[0]})"]
        if t.function == "convertNaN":
            source = t.arguments[0].kind.format
            assert source is not None
            arguments += [str(source.exponent_bits), str(source.fraction_bits)]
        if t.function != FLUSH and TABLE[t.function].rounds:
            arguments += [t.mode, str(int(t.ftz)), *(["undecided"] if t.function in ELEMENTARY else [])]
        return f"{t.function}_{t.format.name}({', '.join(arguments)})"
