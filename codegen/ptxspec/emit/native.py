"""Programs -> functions of one lane in C, and the kernels that apply them to arrays.

Programs share a function if they differ only in parameters: the constants that families.py finds, the direction in
which the processor rounds, and the tables of numbers of narrow formats. A program that templates/native/src cannot
compute has no C and runs in NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..diagnostics import PtxspecError
from ..model import BOOL, ROUNDINGS, Kind, Variant
from ..rewrite.comparing import OPERATOR, RELATION
from ..rewrite.converting import SEVERAL, is_in_single
from ..rewrite.families import Member, common_name, members
from ..rewrite.formats import is_native, is_usual
from ..rewrite.propagating import is_arithmetic
from ..rewrite.rewriting import for_lanes
from ..semantics.exact.evaluate import evaluate
from ..semantics.exact.rounding import decode
from ..semantics.expressions import holds_all
from ..semantics.functions import ALL
from ..semantics.program import Apply, Const, Program, Term, Var
from . import units
from .arithmetic import is_direct, is_eased
from .layout import Layout, layout
from .lowering import ELEMENTARY, LoweredLine, Lowering, applications, source_of, written

ANY = "any"
# The parameters that kernel.h has room for.
_NUMBERS, _TABLES = 4, 3


@dataclass(frozen=True)
class CFunction:
    """A function of one lane. `undecided`: it may leave a result undecided, for NumPy to compute. `directly`: its lines
    if nothing becomes subnormal, where they differ."""

    name: str
    result_type: str
    parameters: list[str]
    lines: list[LoweredLine]
    directly: list[LoweredLine]
    undecided: bool


@dataclass(frozen=True)
class CKernel:
    """The application of a function to arrays."""

    name: str
    function: CFunction
    layout: Layout

    @property
    def text(self) -> str:
        """The call of a macro of kernel.h."""
        f, types, sources = self.function, self.layout.types, self.layout.sources
        pointers = [f"{'const ' * (k < sources)}{t} *r{k}" for k, t in enumerate(types)]
        lists = (pointers, [f"(void *)at[{k}]" for k in range(len(types))], map(str, self.layout.widths))
        head = [self.name, str(len(types)), str(sources), *(f"({', '.join(x)})" for x in lists)]
        statements = self.layout.statements.replace("FUNCTION", f.name)
        singles = [f"is_ordinary(r{k}[i])" for k, t in enumerate(types[:sources]) if t == "uint32_t"]
        kind = "DECIDING_KERNEL" if f.undecided else "KERNEL"
        if f.directly and singles:
            kind = "EASED_KERNEL"
            head += [" & ".join(singles), self.layout.statements.replace("FUNCTION", f"{f.name}_directly")]
        return f"{kind}({', '.join(head)},\n    {statements})"


@dataclass(frozen=True)
class KernelRow:
    """A variant's kernel, by modifiers, types and number of operands, and by the target if that differs from the
    others. `results` counts the registers of results, `lanes` the lanes that lie side by side in an element; `numbers`
    and `tables` are its parameters."""

    name: str
    results: int
    lanes: int
    kernel: CKernel
    direction: str
    numbers: list[str]
    tables: list[str]


@dataclass
class OpcodeInC:
    """The C of an opcode."""

    functions: list[CFunction] = field(default_factory=list)
    kernels: list[CKernel] = field(default_factory=list)
    rows: list[KernelRow] = field(default_factory=list)
    has_units: bool = False


def in_c(programs: Mapping[Variant, Mapping[str | None, Program]]) -> OpcodeInC:
    """Return the C of an opcode's programs, which are given by variant and target."""
    by_id = {id(p): p for of in programs.values() for p in of.values() if not why_not(p)}
    originals = list(by_id.values())
    # Processors have each operator, but no instruction with the operator as an operand.
    found = members([for_lanes(p) for p in originals], apart=OPERATOR)
    written = {id(p): _Written(p, member) for p, member in zip(originals, found, strict=True)}
    named: dict[str, list[str]] = {}
    for v, of in programs.items():
        for target, p in of.items():
            if id(p) in written:
                named.setdefault(written[id(p)].key, []).append(f"{v.identifier}_{target}" if target else v.identifier)
    opcode, functions, kernels = OpcodeInC(), dict[str, CFunction](), dict[tuple[str, Layout], CKernel]()
    taken: set[str] = set()
    for w in written.values():
        if w.key not in functions:
            functions[w.key] = w.function(common_name(named[w.key], taken.__contains__))
            taken.add(functions[w.key].name)
    for v, of in programs.items():
        for target, p in of.items():
            if id(p) not in written:
                continue
            w = written[id(p)]
            function = functions[w.key]
            for count in range(1, len(v.results) + 1):
                how = layout(v, count, function.undecided)
                key = function.name, how._replace(lanes=0)
                if key not in kernels:
                    number = sum(k.function is function for k in kernels.values())
                    kernels[key] = CKernel(f"{function.name}__{number}" if number else function.name, function, how)
                name = f"{v.spelling.partition('.')[2]}/{v.operands}" + (f" {target}" if target else "")
                results = len(how.types) - how.sources
                opcode.rows.append(KernelRow(name, results, how.lanes, kernels[key], w.direction, w.numbers, w.tables))
    opcode.has_units = any(a.model for p in originals for a in applications(p))
    opcode.functions, opcode.kernels = list(functions.values()), list(kernels.values())
    return opcode


def why_not(program: Program) -> str:
    """Return why a program has no C and runs in NumPy; empty if it has C."""
    values = [*program.inputs, *(let.value for let in program.lets), *applications(program)]
    for kind in dict.fromkeys(v.kind for v in values):
        if not has_c(kind):
            return f"it has values of the kind '{kind}'"
    directions = set()
    for a in applications(program):
        if a.model is not None and not units.has_c(a.model):
            return f"the unit {a.model.unit} is NumPy's alone"
        if ALL[a.function].rounds:
            direction = _steering(a)
            if direction is None:
                return f"there is no C for {a.function} in this format or direction"
            directions.add(direction)
    if len(directions - {ANY}) > 1:
        return "its operations round in different directions"
    return ""


def has_c(kind: Kind) -> bool:
    """Return whether there is C for values of a kind."""
    if kind.fixed is not None:
        # Fixed-point numbers are converted through binary64.
        return kind.width in (8, 16, 32, 64) and (kind.width < 64 or not kind.fixed.point)
    f = kind.format
    if f is None or is_usual(f):
        return True
    # Declared formats are converted through binary32 and through words with 20 bits of fraction.
    inside = f.exponent_bits <= 8 and f.fraction_bits <= 17 and f.emax <= 127 and f.bias <= 127
    subnormals = not f.has_subnormals or f.emin - f.fraction_bits >= -126 or f.emin == -126
    return inside and subnormals and (not f.has_zero or f.emin >= -126)


def _direction(program: Program) -> str:
    """Return the direction in which the processor must round all operations of a program that has C; `anyDirection` if
    it makes no difference."""
    wanted = {_steering(a) for a in applications(program) if ALL[a.function].rounds} - {ANY}
    return next(iter(wanted), None) or "anyDirection"


def _steering(t: Apply) -> str | None:
    """Return the direction in which the processor must round for an operation: the operation's own in a native format,
    to nearest in a carrier. None if there is no C for it."""
    source, f = t.arguments[0].kind, t.kind
    if _is_exact_product(t):
        return ANY
    if not all(k.fixed or is_native(k) or _has_carrier(k) for k in (f, source)):
        return None
    if t.function in ELEMENTARY:
        # There is C for binary32 and for one function of binary64. For narrower formats NumPy has tables of the
        # results, which are faster to read than to compute.
        has_c = is_native(f) and (f.width == 32 or t.function == "rSqrt") and t.mode == "roundTiesToEven"
        return t.mode if has_c else None
    if t.function == "roundToIntegral":
        return "roundTiesToEven"
    if t.function == "convert":
        return _converting(source, f, t.mode)
    if t.function == "convertStochastic":
        assert f.format is not None
        # binary32 has a place for the last random bit.
        fits = f.format.fraction_bits + t.arguments[1].kind.width <= 23
        return "roundTiesToEven" if fits and _single(source) and not is_native(f) else None
    if t.mixed and not _has_mixed(t):
        return None
    if is_native(f):
        return t.mode if t.mode != "roundTiesToAway" else None
    return "roundTiesToEven"


def _is_exact_product(t: Apply) -> bool:
    """Return whether this is a product in binary64 of a number of binary32 and a constant that is short enough for an
    exact result."""
    if t.function != "multiplication" or not is_native(t.kind) or t.kind.width != 64:
        return False
    x, y = t.arguments
    single = isinstance(x, Apply) and x.function == "convert" and is_native(x.arguments[0].kind)
    if not single or not isinstance(y, Const) or y.kind.format is None:
        return False
    size = abs(decode(y.value, y.kind.format))
    # The constant and the products are far from the ends of the exponents.
    return 2**-24 <= size < 2**24 and size.numerator.bit_length() + 24 <= y.kind.format.precision


def _has_mixed(t: Apply) -> bool:
    """Return whether the result and all operands have formats whose numbers binary32 contains."""
    return t.function in SEVERAL and all(_single(k) for k in (t.kind, *(a.kind for a in t.arguments)))


def _converting(source: Kind, f: Kind, mode: str) -> str | None:
    if f.fixed is not None:
        if source.fixed is None or source.fixed.point != f.fixed.point:
            # The C library's rint rounds in the processor's direction. 64-bit integers do not fit binary64.
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
    """Return whether a kind has a carrier, like `Format.carrier`. Formats of 32 bits have none, unless they are native.
    Declared formats have binary64."""
    f = kind.format
    return f is not None and (not is_usual(f) or (f.exponent_bits <= 8 and f.width <= 16))


def _is_upper_half(kind: Kind) -> bool:
    """Return whether encodings of a kind are the upper halves of those of binary32."""
    return kind.format is not None and is_usual(kind.format) and (kind.width, kind.format.exponent_bits) == (16, 8)


def _is_short(kind: Kind) -> bool:
    """Return whether a format is so short that a value rounded to odd with 16 bits of precision can be rounded
    again."""
    return kind.format is not None and kind.format.precision <= 14


def _single(kind: Kind) -> bool:
    """Return whether all numbers of a kind are numbers of binary32, and there is C that converts them."""
    return kind.width < 32 if kind.fixed else kind.width <= 32 and (is_native(kind) or _has_carrier(kind))


class _Written:
    """A program as a function of one lane, without a name yet."""

    def __init__(self, original: Program, member: Member) -> None:
        self.program = program = member.program
        self.direction = _direction(original)
        c = _Writer(program, dict(member.parameters))
        result, *second = program.results
        self.parameters = [f"{_type(i.kind)} {c.variable(i.name)}" for i in program.inputs]
        if second:
            self.parameters.append(f"{_type(second[0].kind)} *second")
        self.lines = _lines(program, c)
        direct = _DirectWriter(program, dict(member.parameters)) if is_eased(program) else None
        self.directly = _lines(program, direct) if direct else []
        assert direct is None or (direct.numbers, direct.tables) == (c.numbers, c.tables)
        self.result_type = "uint8_t" if result.kind == BOOL else _type(result.kind)
        self.undecided = any(a.function in ELEMENTARY for a in applications(original))
        self.numbers, self.tables = list(c.numbers.values()), list(c.tables.values())
        if len(self.numbers) > _NUMBERS:
            raise PtxspecError(f"a family of programs has {len(self.numbers)} parameters; C has room for {_NUMBERS}")

    @property
    def key(self) -> str:
        """Everything in the function except its name."""
        return "\n".join([self.result_type, *self.parameters, *(x.text for x in (*self.lines, *self.directly))])

    def function(self, name: str) -> CFunction:
        return CFunction(name, self.result_type, self.parameters, self.lines, self.directly, self.undecided)


def _lines(program: Program, c: _Writer) -> list[LoweredLine]:
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

    def __init__(self, program: Program, parameters: Mapping[str, Const]) -> None:
        self.values = {let.name: let.value for let in program.lets}
        self.parameters = parameters
        # The C values of the parameters, by name, and the names of the tables, by the C of their index.
        self.numbers: dict[str, str] = {}
        self.tables: dict[str, str] = {}

    def _keeps_nans(self, term: Term) -> bool:
        """Return whether this is the result of an arithmetic operation, which is a NaN if an operand is one."""
        return is_arithmetic(self.values.get(term.name) if isinstance(term, Var) else term)

    def constant(self, kind: Kind, value: int) -> str:
        if kind.sort == "bool" or kind in (RELATION, OPERATOR):
            return str(value)
        digits = f"0x{value:0{kind.storage // 4}x}"
        return f"UINT64_C({digits})" if kind.storage == 64 else f"{digits}u"

    def count(self, kind: Kind, value: int) -> str:
        return str(value)

    def variable(self, name: str) -> str:
        """Return a name for a variable that differs from all names of C, its macros and the functions here."""
        if name in self.parameters:
            c = self.parameters[name]
            self.numbers.setdefault(name, self.constant(c.kind, c.value))
            return f"({_type(c.kind)})p.numbers[{list(self.numbers).index(name)}]"
        return f"v_{name}"

    def single(self, kind: Kind, x: str) -> str:
        """Return C for a number of a kind in binary32. Numbers of narrow formats are read from a table, so that formats
        can share a function."""
        full = len(self.tables) == _TABLES and x not in self.tables
        if kind.format is None or kind.width > 8 or full:
            return f"single_{_number(kind)}({x})"
        if x not in self.tables:
            self.tables[x] = f"{kind.format.name}_numbers"
        return f"p.tables[{list(self.tables).index(x)}][{x}]"

    def number(self, kind: Kind, x: str) -> str:
        """Return C for a number of a kind in binary64."""
        return f"(double){self.single(kind, x)}" if kind.format and kind.width <= 8 else f"number_{_number(kind)}({x})"

    def how(self, t: Apply) -> str:
        """Return C for the direction and for whether tiny results are flushed. In a native format the processor already
        rounds in the direction."""
        steered = is_native(t.kind) and t.mode != ROUNDINGS[0] and _steering(t) == t.mode
        return f"{'steered' if steered else t.mode}, {int(t.ftz)}"

    def of_kind(self, kind: Kind, text: str) -> str:
        # C promotes narrower integers to int.
        return f"({_type(kind)})({text})"

    def product(self, kind: Kind, x: str, y: str) -> str:
        # C does not define products of narrower integers that overflow int.
        return self.of_kind(kind, f"1u * {x} * {y}")

    def call(self, t: Apply, arguments: list[str]) -> str:
        if t.function == "select":
            return f"select_{1 if t.kind == BOOL else t.kind.storage}({', '.join(arguments)})"
        if t.function == "combine":
            return f"{t.function}({', '.join(arguments)})"
        if t.function in ("shiftLeftBy", "shiftRightBy"):
            return f"{t.function}_{t.kind.storage}({', '.join(arguments)})"
        if t.function == "convert":
            if _saturates(t):
                within = t.arguments[0]
                assert isinstance(within, Apply)
                bare = self.term(within.arguments[0])
                return f"saturated_{_number(t.kind)}({self.single(within.kind, bare)}, {t.mode})"
            return self.converted(t, arguments[0])
        if t.model is not None:
            return f"unit_{t.model.identifier}({arguments[0]})"
        if t.mixed or (t.function in SEVERAL and t.format is not None and not is_usual(t.format)):
            return self.mixed(t, arguments)
        name = t.format.name if t.format else _number(t.arguments[0].kind)
        if t.function == "convertStochastic":
            x, random = (a.kind for a in t.arguments)
            return f"{t.function}_{name}({self.single(x, arguments[0])}, {arguments[1]}, {random.width})"
        if t.function == "propagate":
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
        if ALL[t.function].rounds:
            arguments += [self.how(t), *(["undecided"] if t.function in ELEMENTARY else [])]
        return f"{'passing_' if t.passes_nans else ''}{t.function}_{name}({', '.join(arguments)})"

    def mixed(self, t: Apply, arguments: list[str]) -> str:
        """Return C for an operation on several formats. It computes in binary32 if that contains the operands, or their
        products and the range of the sums; otherwise in binary64."""
        name, how = _number(t.kind), self.how(t)
        if is_native(t.kind) and t.kind.width == 32:
            widened = [
                x if a.kind == t.kind else f"from_single_{name}({self.single(a.kind, x)}, roundTiesToEven, 0)"
                for a, x in zip(t.arguments, arguments, strict=True)
            ]
            return f"{t.function}_{name}({', '.join(widened)}, {how})"
        single = is_in_single(t)
        of = self.single if single else self.number
        x, y, *z = (of(a.kind, x) for a, x in zip(t.arguments, arguments, strict=True))
        if t.function == "multiplication":
            return f"{'from_single' if single else 'convert'}_{name}({x} * {y}, {how})"
        pair = (f"{x} * {y}", *z) if z else (x, f"-{y}" if t.function == "subtraction" else y)
        if t.kind.width == 64:
            return f"convert_{name}({' + '.join(pair)}, {how})"
        if single:
            return f"from_single_{name}(float_sum_to_odd({', '.join(pair)}), {how})"
        return f"sum_{name}({', '.join(pair)}, {how})"

    def converted(self, t: Apply, x: str) -> str:
        """Return C for a conversion through binary32 or binary64, whichever contains all numbers of the source. 64-bit
        integers and f64 are rounded to odd, or once in binary64."""
        source, name, target = t.arguments[0].kind, _number(t.arguments[0].kind), _number(t.kind)
        if source.fixed and t.kind.fixed and source.fixed.point == t.kind.fixed.point:
            signed = source.fixed.signed or source.width < 64
            return f"from_{'signed' if signed else 'unsigned'}_{target}(whole_{name}({x}))"
        how = self.how(t)
        narrow = t.kind.fixed or not is_native(t.kind) or t.kind.width == 32
        if _single(source) and _is_upper_half(t.kind) and not t.ftz and _contains(t.kind, source):
            return f"exactly_{target}({self.single(source, x)})"
        if _single(source) and narrow:
            return f"from_single_{target}({self.single(source, x)}, {how})"
        if source.fixed and source.width == 32 and not t.kind.fixed and not is_native(t.kind) and _is_short(t.kind):
            return f"from_single_{target}(odd_{name}({x}), {how})"
        steered = source.fixed and source.width == 64 and is_native(t.kind) and t.kind.width == 64
        number = f"steered_{name}({x})" if steered else self.number(source, x)
        return f"convert_{target}({number}, {how})"


class _DirectWriter(_Writer):
    """A writer of the computation without subnormal numbers."""

    def call(self, t: Apply, arguments: list[str]) -> str:
        if is_direct(t):
            return f"directly_{t.function}_{_number(t.kind)}({', '.join(arguments)}, {int(t.ftz)})"
        return super().call(t, arguments)


def _saturates(t: Apply) -> bool:
    """Return whether a number of binary32 is clamped to a declared format's largest numbers and then converted to
    it."""
    f, x = t.kind.format, t.arguments[0]
    if f is None or is_usual(f) or not f.signed or t.ftz or not isinstance(x, Apply) or x.function != "within":
        return False
    _, low, high = x.arguments
    assert isinstance(low, Const) and isinstance(high, Const)
    most = evaluate(Apply(x.kind, "convert", (Const(t.kind, f.largest),), x.kind.format, ROUNDINGS[0]), {})
    return high.value == most and low.value == most | 1 << 31


def _number(kind: Kind) -> str:
    """Return the name of a kind's format, which ends the names of functions in C."""
    number = kind.format or kind.fixed
    assert number is not None
    return number.name
