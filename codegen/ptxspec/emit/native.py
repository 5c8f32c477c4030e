"""Programs -> the C of ptxemu's accelerator: one source per opcode, one function for each of the emulator's.

A program that templates/runtime/native cannot compute is left out, and runs on NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import mpmath  # type: ignore[import-untyped]

from ..model import BOOL, ROUNDINGS, FixedPoint, Format, Instruction, Kind, Spec, number_in
from ..semantics.exact.evaluate import evaluate
from ..semantics.exact.rounding import decode
from ..semantics.expressions import holds_all
from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Program, Term, Var
from . import units
from .arithmetic import Passing, is_arithmetic, is_direct, is_eased, is_native, passing
from .clamping import CLAMPED, WITHIN
from .converting import SEVERAL, is_in_single, is_usual
from .fusing import PROPAGATE, shorten
from .lowering import ELEMENTARY, Function, Line, Lowering, Shared, applications, source_of, written
from .text import Files, Templates

_FOLDER = "python/ptxemu/native"
ANY = "any"


@dataclass(frozen=True)
class CFunction(Function):
    """`undecided`: it may leave a result undecided, for NumPy's kernel to find. `directly`: its lines where nothing
    becomes subnormal, if they are others."""

    result_type: str
    direction: str
    undecided: bool
    directly: list[Line]


def emit(spec: Spec, templates: Templates) -> Files:
    """Return the files of generated/python/ptxemu/native that all opcodes share."""
    files = {f"{_FOLDER}/{name}": text for name, text in templates.plain("runtime/native").items()}
    formats = [f for f in spec.formats.values() if _has_c(number_in(f))]
    floats = [f for f in formats if isinstance(f, Format)]
    files[f"{_FOLDER}/formats.h"] = templates.render(
        "emulator/native/formats.h.j2",
        ["spec/types.yaml"],
        comment="/* {} */",
        usual=[f for f in floats if is_usual(f)],
        declared=[f for f in floats if not is_usual(f)],
        integers=[f for f in formats if isinstance(f, FixedPoint)],
    )
    files[f"{_FOLDER}/turns.h"] = templates.render(
        "emulator/native/turns.h.j2", [], comment="/* {} */", turns=list(_turns())
    )
    return files


def of(instruction: Instruction, kernels: Sequence[Shared], templates: Templates) -> Files:
    """Return the file of an opcode, for those of the emulator's functions that have C; none where none has."""
    functions = [_function(one) for one in kernels if not why_not(one.program)]
    if not functions:
        return {}
    text = templates.render(
        "emulator/native/opcode.c.j2", ["spec/types.yaml", "spec/modifiers.yaml", instruction.path],
        comment="/* {} */", opcode=instruction.opcode, functions=functions,
        has_units=any(a.model for one in kernels for a in applications(one.program)),
    )  # fmt: skip
    return {f"{_FOLDER}/{instruction.opcode}.c": text}


def _turns() -> Iterator[tuple[int, int]]:
    """Yield 2**(i - 23) radians in turns, without whole turns, for the exponents i of binary32: 64 bits and 32 more."""
    with mpmath.workprec(300):
        longer = int(mpmath.ldexp(1 / (2 * mpmath.pi), 96 + 127))
    for i in range(128):
        yield divmod((longer >> (150 - i)) & ((1 << 96) - 1), 1 << 32)


def why_not(program: Program) -> str:
    """Return why a program has no C and runs on NumPy; empty where it has C."""
    values = [*program.inputs, *(let.value for let in program.lets), *applications(program)]
    for kind in dict.fromkeys(v.kind for v in values):
        if not _has_c(kind):
            return f"it has values of the kind '{kind}'"
    directions = set()
    for a in applications(program):
        if a.model is not None and not units.has_c(a.model):
            return f"the unit {a.model.unit} is NumPy's alone"
        if TABLE[a.function].rounds:
            direction = _steering(a)
            if direction is None:
                return f"there is no C for {a.function} in this format or direction"
            directions.add(direction)
    if len(directions - {ANY}) > 1:
        return "its operations round in different directions"
    return ""


def _has_c(kind: Kind) -> bool:
    if kind.fixed is not None:
        # Fractions go by way of binary64.
        return kind.width in (8, 16, 32, 64) and (kind.width < 64 or not kind.fixed.point)
    f = kind.format
    if f is None or is_usual(f):
        return True
    # Declared formats go by way of binary32, and of words with 20 bits of fraction.
    inside = f.exponent_bits <= 8 and f.fraction_bits <= 17 and f.emax <= 127 and f.bias <= 127
    subnormals = not f.has_subnormals or f.emin - f.fraction_bits >= -126 or f.emin == -126
    return inside and subnormals and (not f.has_zero or f.emin >= -126)


def _direction(program: Program) -> str:
    """Return the direction in which the processor must round for every operation of a program that has C;
    `anyDirection` where it makes no difference."""
    wanted = {_steering(a) for a in applications(program) if TABLE[a.function].rounds} - {ANY}
    return next(iter(wanted), None) or "anyDirection"


def _steering(t: Apply) -> str | None:
    """Return the direction that an operation needs: its own in a native format, to nearest in a carrier."""
    source, f = t.arguments[0].kind, t.kind
    if _is_exact_product(t):
        return ANY
    if not all(k.fixed or is_native(k) or _has_carrier(k) for k in (f, source)):
        return None
    if t.function in ELEMENTARY:
        # Of binary32, and one of binary64: NumPy has tables of narrower formats' results, which are sooner read than
        # computed.
        has_c = is_native(f) and (f.width == 32 or t.function == "rSqrt") and t.mode == "roundTiesToEven"
        return t.mode if has_c else None
    if t.function == "roundToIntegral":
        return "roundTiesToEven"
    if t.function == "convert":
        return _converting(source, f, t.mode)
    if t.function == "convertStochastic":
        assert f.format is not None
        # The last random bit has a place in binary32.
        fits = f.format.fraction_bits + t.arguments[1].kind.width <= 23
        return "roundTiesToEven" if fits and _single(source) and not is_native(f) else None
    if t.mixed and not _has_mixed(t):
        return None
    if is_native(f):
        return t.mode if t.mode != "roundTiesToAway" else None
    return "roundTiesToEven"


def _is_exact_product(t: Apply) -> bool:
    """Return whether this is a product in binary64 of a number of binary32 and a constant that leaves room for all of
    its bits."""
    if t.function != "multiplication" or not is_native(t.kind) or t.kind.width != 64:
        return False
    x, y = t.arguments
    single = isinstance(x, Apply) and x.function == "convert" and is_native(x.arguments[0].kind)
    if not single or not isinstance(y, Const) or y.kind.format is None:
        return False
    size = abs(decode(y.value, y.kind.format))
    # Neither it nor anything of its products is near the ends of the exponents.
    return 2**-24 <= size < 2**24 and size.numerator.bit_length() + 24 <= y.kind.format.precision


def _has_mixed(t: Apply) -> bool:
    """Return whether all operands are numbers of binary32, and the result is one of it or of a narrower format."""
    return t.function in SEVERAL and all(_single(k) for k in (t.kind, *(a.kind for a in t.arguments)))


def _converting(source: Kind, f: Kind, mode: str) -> str | None:
    if f.fixed is not None:
        if source.fixed is None or source.fixed.point != f.fixed.point:
            # The C library's rint rounds as the processor is steered; 64 bits are too many for binary64.
            return None if source.fixed and source.width == 64 else mode if mode == "roundTiesToEven" else ANY
        return ANY
    if not is_native(f) or _contains(f, source):
        return ANY
    return mode if mode != "roundTiesToAway" else None


def _contains(f: Kind, source: Kind) -> bool:
    """Return whether a format has all numbers of a kind."""
    wide, narrow = f.format or f.fixed, source.format or source.fixed
    return wide is not None and narrow is not None and holds_all(wide, narrow)


def _has_carrier(kind: Kind) -> bool:
    """Return whether a kind has a carrier, as `Format.carrier` does; formats of 32 bits have none that is not native.
    Declared formats have binary64."""
    f = kind.format
    return f is not None and (not is_usual(f) or (f.exponent_bits <= 8 and f.width <= 16))


def _is_upper_half(kind: Kind) -> bool:
    """Return whether a pattern is the upper half of a binary32."""
    return kind.format is not None and is_usual(kind.format) and (kind.width, kind.format.exponent_bits) == (16, 8)


def _is_short(kind: Kind) -> bool:
    """Return whether a format has so few bits that a value of 16 bits of precision, rounded to odd, may be rounded
    again."""
    return kind.format is not None and kind.format.precision <= 14


def _single(kind: Kind) -> bool:
    """Return whether all numbers of a kind are numbers of binary32, and there is C that makes them such."""
    return kind.width < 32 if kind.fixed else kind.width <= 32 and (is_native(kind) or _has_carrier(kind))


def _function(one: Shared) -> CFunction:
    program = passing(shorten(one.program))
    c = _Writer(program)
    result, *second = program.results
    parameters = [f"{_type(i.kind)} {c.variable(i.name)}" for i in program.inputs]
    if second:
        parameters.append(f"{_type(second[0].kind)} *second")
    return CFunction(
        name=one.name,
        parameters=parameters,
        lines=_lines(program, c),
        result_type="uint8_t" if result.kind == BOOL else _type(result.kind),
        direction=_direction(one.program),
        undecided=any(a.function in ELEMENTARY for a in applications(one.program)),
        directly=_lines(program, _DirectWriter(program)) if is_eased(program) else [],
    )


def _lines(program: Program, c: _Writer) -> list[Line]:
    statements = [
        (f"{_type(let.value.kind)} {c.variable(let.name)}", c.term(let.value), source_of(let)) for let in program.lets
    ]
    result, *second = program.results
    if second:
        statements.append(("*second", c.term(second[0]), ""))
    return written(statements, [c.term(result)], end=";")


def _type(kind: Kind) -> str:
    return "_Bool" if kind.sort == "bool" else f"uint{kind.storage}_t"


class _Writer(Lowering):
    """A writer of terms of one lane. Bools are _Bool."""

    OPERATORS: ClassVar = {**Lowering.OPERATORS, "logicalNot": "(!{})"}

    def __init__(self, program: Program) -> None:
        self.values = {let.name: let.value for let in program.lets}

    def _keeps_nans(self, term: Term) -> bool:
        """Return whether this is the result of an operation of arithmetic, which is a NaN where an operand is."""
        return is_arithmetic(self.values.get(term.name) if isinstance(term, Var) else term)

    def constant(self, kind: Kind, value: int) -> str:
        if kind.sort == "bool":
            return str(value)
        digits = f"0x{value:0{kind.storage // 4}x}"
        return f"UINT64_C({digits})" if kind.storage == 64 else f"{digits}u"

    def count(self, kind: Kind, value: int) -> str:
        return str(value)

    def variable(self, name: str) -> str:
        """Return a name for a variable that is none of C, its macros or the functions here."""
        return f"v_{name}"

    def of_kind(self, kind: Kind, text: str) -> str:
        # Integers narrower than C's int grow into it.
        return f"({_type(kind)})({text})"

    def call(self, t: Apply, arguments: list[str]) -> str:
        if t.function == "select":
            return f"select_{1 if t.kind == BOOL else t.kind.storage}({', '.join(arguments)})"
        if t.function in ("shiftLeftBy", "shiftRightBy"):
            return f"{t.function}_{t.kind.storage}({', '.join(arguments)})"
        if t.function == "convert":
            if _saturates(t):
                within = t.arguments[0]
                assert isinstance(within, Apply)
                bare = self.term(within.arguments[0])
                return f"saturated_{_number(t.kind)}(single_{_number(within.kind)}({bare}), {t.mode})"
            return self.converted(t, arguments[0])
        if t.model is not None:
            return f"unit_{t.model.identifier}({arguments[0]})"
        if t.mixed or (t.function in SEVERAL and t.format is not None and not is_usual(t.format)):
            return self.mixed(t, arguments)
        name = t.format.name if t.format else _number(t.arguments[0].kind)
        if t.function == "convertStochastic":
            x, random = (a.kind for a in t.arguments)
            return f"{t.function}_{name}(single_{_number(x)}({arguments[0]}), {arguments[1]}, {random.width})"
        if t.function == CLAMPED:
            arguments[1] = f"{t.arguments[1].value:#x}"  # type: ignore[union-attr]
        if t.function == PROPAGATE:
            value, *operands = arguments
            name = f"{'passed_on' if self._keeps_nans(t.arguments[0]) else t.function}_{name}"
            for operand in reversed(operands):
                value = f"{name}({value}, {operand})"
            return value
        if t.function == "congruent":
            return f"{t.function}_{_number(t.kind)}(whole_{_number(t.arguments[0].kind)}({arguments[0]}))"
        if t.function == "convertNaN":
            source = t.arguments[0].kind.format
            assert source is not None
            arguments += [str(source.exponent_bits), str(source.fraction_bits)]
        if t.function in TABLE and TABLE[t.function].rounds:
            arguments += [t.mode, str(int(t.ftz)), *(["undecided"] if t.function in ELEMENTARY else [])]
        return f"{'passing_' if isinstance(t, Passing) else ''}{t.function}_{name}({', '.join(arguments)})"

    def mixed(self, t: Apply, arguments: list[str]) -> str:
        """Return C for an operation on several formats: in binary32 where its operands become numbers of it, or it has
        their products and the range of their sums; else by way of binary64."""
        name, how = _number(t.kind), f"{t.mode}, {int(t.ftz)}"
        if is_native(t.kind) and t.kind.width == 32:
            widened = [
                x if a.kind == t.kind else f"from_single_{name}(single_{_number(a.kind)}({x}), roundTiesToEven, 0)"
                for a, x in zip(t.arguments, arguments, strict=True)
            ]
            return f"{t.function}_{name}({', '.join(widened)}, {how})"
        single = is_in_single(t)
        of = "single" if single else "number"
        x, y, *z = (f"{of}_{_number(a.kind)}({x})" for a, x in zip(t.arguments, arguments, strict=True))
        if t.function == "multiplication":
            return f"{'from_single' if single else 'convert'}_{name}({x} * {y}, {how})"
        pair = (f"{x} * {y}", *z) if z else (x, f"-{y}" if t.function == "subtraction" else y)
        if t.kind.width == 64:
            return f"convert_{name}({' + '.join(pair)}, {how})"
        if single:
            return f"from_single_{name}(float_sum_to_odd({', '.join(pair)}), {how})"
        return f"sum_{name}({', '.join(pair)}, {how})"

    def converted(self, t: Apply, x: str) -> str:
        """Return C for a conversion by way of binary32 or binary64, whichever has all numbers of the source. Integers
        of 64 bits and f64 are rounded to odd or, in binary64, once."""
        source, name, target = t.arguments[0].kind, _number(t.arguments[0].kind), _number(t.kind)
        if source.fixed and t.kind.fixed and source.fixed.point == t.kind.fixed.point:
            signed = source.fixed.signed or source.width < 64
            return f"from_{'signed' if signed else 'unsigned'}_{target}(whole_{name}({x}))"
        how = f"{t.mode}, {int(t.ftz)}"
        narrow = t.kind.fixed or not is_native(t.kind) or t.kind.width == 32
        if _single(source) and _is_upper_half(t.kind) and not t.ftz and _contains(t.kind, source):
            return f"exactly_{target}(single_{name}({x}))"
        if _single(source) and narrow:
            return f"from_single_{target}(single_{name}({x}), {how})"
        if source.fixed and source.width == 32 and not t.kind.fixed and not is_native(t.kind) and _is_short(t.kind):
            return f"from_single_{target}(odd_{name}({x}), {how})"
        steered = source.fixed and source.width == 64 and is_native(t.kind) and t.kind.width == 64
        return f"convert_{target}({'steered' if steered else 'number'}_{name}({x}), {how})"


class _DirectWriter(_Writer):
    """A writer of what is computed where nothing becomes subnormal."""

    def call(self, t: Apply, arguments: list[str]) -> str:
        if is_direct(t):
            return f"directly_{t.function}_{_number(t.kind)}({', '.join([*arguments, t.mode])})"
        return super().call(t, arguments)


def _saturates(t: Apply) -> bool:
    """Return whether a number of binary32 is bounded by a declared format's largest ones, and converted to it."""
    f, x = t.kind.format, t.arguments[0]
    if f is None or is_usual(f) or not f.signed or t.ftz or not isinstance(x, Apply) or x.function != WITHIN:
        return False
    _, low, high = x.arguments
    assert isinstance(low, Const) and isinstance(high, Const)
    most = evaluate(Apply(x.kind, "convert", (Const(t.kind, f.largest),), x.kind.format, ROUNDINGS[0]), {})
    return high.value == most and low.value == most | 1 << 31


def _number(kind: Kind) -> str:
    """Return the name of a kind's format, behind which functions are called in C."""
    number = kind.format or kind.fixed
    assert number is not None
    return number.name
