"""PTX without loops -> steps: the function of each statement with the values that it reads and writes, and the lanes in
which it has effect. All statements that cannot be run are reported at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .assembler import ASSEMBLER, SPECIAL_REGISTERS
from .assembly import Argument, AssemblyError, Template, is_statement, of_statement, of_template
from .conditions import ALWAYS, NEVER, Conditions, TooManyError
from .index import CATALOG, OPCODES
from .kernels import compile as kernel_of
from .lookup import find
from .matrix_steps import CONSTANTS, MATRICES, OPCODES as MATRIX_OPCODES, TAKEN, MatrixStep, Multiplying, multiplying
from .ptx import constants, operands as kinds
from .ptx.complaints import ERROR, Position
from .ptx.matching import Matcher, count
from .ptx.operands import Operand, split
from .ptx.registers import Registers, special_names
from .ptx.scanning import Declaration, Directive, Instruction, Other, Problem, Scanner
from .signature import Type, signature, type_named
from .statements import Rules, Statement, bits_of, is_other, reversed_signature, statement
from .steps import Named, Program, Refused, Resize, StatementError, Step, is_signed
from .tensor import NoRuleError


def read(
    text: str,
    target: str | None = None,
    results: Iterable[str] | None = None,
    constraints: str | None = None,
    around: str = "",
) -> Program:
    """Return the program of a text: of PTX, of an asm statement of C++, or of a template with its constraints. `around`
    declares registers that the text shares with others. Raises StatementError, and ValueError for names of results that
    are no registers of the text, and for an `around` that does not only declare registers."""
    try:
        if is_statement(text):
            template = of_statement(text)
        elif constraints is not None:
            template = of_template(text, constraints)
        else:
            template = None
    except AssemblyError as e:
        raise StatementError([_at(text, e.start, e.message)]) from None
    reader = Reader(text, target, template, around)
    scanner = Scanner(OPCODES, everything=True)
    for item in scanner.scan(reader):
        reader.take(item)
    return reader.program(results)


@dataclass(eq=False)
class Register:
    """A register. `possible` are the types that it may be declared with, as far as statements decide. `first` are the
    types as which it is read before it is written, `last` is the type of its last write. It has been written in the
    lanes `set`. `initial` is its value before the first write; the register is an input where that value is needed."""

    name: str
    home: int
    declared: str
    argument: Argument | None = None
    possible: set[str] | None = None
    value: int | None = None
    initial: int | None = None
    is_input: bool = False
    set: int = NEVER
    first: list[Type] = field(default_factory=list)
    last: Type | None = None
    written: int = -1
    place: int = 0  # of the last statement that writes it
    read: bool = False

    @property
    def type(self) -> Type | None:
        """The type of its declaration."""
        return type_named(self.declared[1:]) if self.declared[1:] in _WIDTHS else None


class Refusal(Exception):
    """The refusal of a statement: the reason, and the position in the text."""

    def __init__(self, start: int, message: str) -> None:
        super().__init__(message)
        self.start, self.message = start, message


class Reader:
    """A reader of items one by one. It is also the source that is scanned."""

    final, embedded, full = True, False, False
    # Whether the lanes of a warp run together.
    has_warps = True

    def __init__(self, text: str, target: str | None, template: Template | None, around: str = "") -> None:
        self.text, self.target = template.text if template else text, target
        self._source, self._template = text, template
        self._arguments = template.arguments if template else ()
        self.ptx: str | None = None
        special = special_names(SPECIAL_REGISTERS, ASSEMBLER["named_integers"])
        self._registers = Registers(special, [a.letter for a in self._arguments])
        self._around = Registers({})
        for declaration in filter(str.strip, around.split(";")):
            for registers in (self._registers, self._around):
                registers.take(declaration.strip())
        if self._around.lost or not re.fullmatch(r"(?:\s*\.reg\b[^;{}]*(?:;|$))*\s*", around):
            raise ValueError(f"declarations of registers must be such as '.reg .pred p;', not {around!r}")
        self._matcher = Matcher(Rules())
        self._named: dict[tuple[int, str], Register] = {}
        self._refused: list[Refused] = []
        # Refusals of reads before writes, each with the block that declares the register.
        self._unset: list[tuple[int, Refused]] = []
        self._outermost: set[int] = set()  # blocks in no other block
        self._constants: dict[int, np.generic] = {}
        self._steps: list[Any] = []
        # The dtype of each value's bits; and the values resized for narrower or wider operands, by value and dtype.
        self._bits: dict[int, np.dtype[Any]] = {}
        self._fitted: dict[tuple[int, np.dtype[Any]], int] = {}
        self._values = 0
        self._inputs: list[Register] = []  # possible inputs
        # The lanes in which statements have effect now, those that jump to each label further down, and the labels so
        # far.
        self._conditions = Conditions()
        self._active = ALWAYS
        self._jumps: dict[str, tuple[int, int]] = {}
        self._labels: set[str] = set()
        for number, a in enumerate(self._arguments):
            if a.reads and a.type:
                self._take(self._argument(number), a)

    def place(self, offset: int) -> Position:
        return _place(self._source, self._offset(offset))

    def _offset(self, offset: int) -> int:
        """Return the offset in the original text."""
        if self._template is None:
            return offset
        places = self._template.places
        return places[offset] if offset < len(places) else len(self._source)

    def _at(self, start: int, message: str) -> Refused:
        return _at(self._source, self._offset(start), message)

    def refuse(self, start: int, message: str) -> None:
        self._refused.append(self._at(start, message))

    def take(self, item: Instruction | Directive | Problem | Declaration | Other) -> None:
        """Read the next item."""
        try:
            self._take_item(item)
        except (TooManyError, RecursionError):
            refused = self._at(item.start, "there are too many branches and guards up to here")
            raise StatementError([*self._refused, refused]) from None

    def _take_item(self, item: Instruction | Directive | Problem | Declaration | Other) -> None:
        if isinstance(item, Instruction):
            try:
                self._statement(item)
            except Refusal as e:
                self.refuse(e.start, e.message)
                self._forget(item)
        elif isinstance(item, Declaration):
            self._declaration(item)
        elif isinstance(item, Problem):
            help = f"; {item.help}" if item.help else ""
            place = item.place or self.place(item.start)
            self._refused.append(Refused(place.line, place.column, place.source, item.message + help))
        elif isinstance(item, Directive):
            self._directive(item)
        elif item.kind == "label":
            self._label(item)
        elif item.kind == "statement":
            try:
                self.take_other(item)
            except Refusal as e:
                self.refuse(e.start, e.message)
        else:
            self._refuse_directive(item.start, item.text)

    def take_other(self, item: Other) -> None:
        """Read a statement that is not in the database. Raises Refusal."""
        opcode = item.text.partition(".")[0]
        if opcode in MATRIX_OPCODES:
            self._multiply(item)
        elif opcode == "bra":
            self._branch(item)
        else:
            raise Refusal(item.start, _unknown(item.text + item.operands))

    def _refuse_directive(self, start: int, text: str) -> None:
        name = re.match(r"\.\w+", text)
        self.refuse(start, f"{name[0] if name else 'this directive'} is not supported; only .reg is")

    def _directive(self, item: Directive) -> None:
        """Read `.version` and `.target`, for which statements are checked unless the caller chose a target."""
        for word in item.values[:1]:
            if item.name == "version" and word.text in CATALOG.versions:
                self.ptx = word.text
            elif item.name == "target" and word.text in CATALOG.targets:
                self.target = self.target or word.text
            else:
                known = CATALOG.versions if item.name == "version" else CATALOG.targets
                self.refuse(word.start, f"there is no .{item.name} {word.text}; the newest is {next(reversed(known))}")
                return
        if self.target in CATALOG.targets and not CATALOG.knows(self.target, self.ptx):
            first = CATALOG.targets[self.target or ""].ptx
            self.refuse(item.start, f"PTX {self.ptx} does not support {self.target}; write .version {first} or newer")

    def _declaration(self, item: Declaration) -> None:
        text = item.text or ""
        if re.search(r"\.(?:func|entry)\b", text):
            self.refuse(item.start, "functions are not supported; give only the statements of the body")
            return
        if text.startswith(".") and not re.match(r"\.reg\b", text):
            self._refuse_directive(item.start, text)
            return
        before = self._registers.lost
        self._registers.take(item.text)
        if self._registers.lost and not before:
            self.refuse(item.start, "this declaration cannot be parsed; write .reg .f32 a, b; or .reg .f32 %f<9>;")
        elif text.startswith("{") and len(self._registers.open) > 1:
            self._outermost.add(self._registers.open[1])
        elif text.startswith(".reg"):
            type_ = re.match(r"\.reg\b\s*(?:\.align\s+\d+\s*)?(?:\.v[24]\s*)?\.(\w+)", text)
            if type_ and type_[1] not in _WIDTHS:
                self.refuse(item.start, f"registers of .{type_[1]} are not supported")

    # Branches

    def _branch(self, item: Other) -> None:
        """Read a branch: lanes that take it skip all statements up to its label."""
        label = item.operands.strip()
        start = item.operands_start + item.operands.find(label)
        if label in self._labels:
            raise Refusal(start, f"{label} is before this branch, and loops are not supported")
        first, jumped = self._jumps.get(label, (start, NEVER))
        self._jumps[label] = (first, self._conditions.either(jumped, self._where(item)))
        self._active = self._where(item, opposite=True)

    def _label(self, item: Other) -> None:
        label = item.text.rstrip(":").rstrip()
        if label in self._labels:
            self.refuse(item.start, f"the label {label} appears twice")
        self._labels.add(label)
        self._active = self._conditions.either(self._active, self._jumps.pop(label, (0, NEVER))[1])

    # Matrices

    def _multiply(self, item: Other) -> None:
        """Read a statement that multiplies matrices. Raises Refusal."""
        head = "".join(item.text.split())
        if not self.has_warps:
            raise Refusal(
                item.start,
                f"{head} is not supported: each thread runs by itself here; ptxemu.function runs all 32 lanes",
            )
        try:
            does = multiplying(head, self.target, self.ptx)
        except (ValueError, NoRuleError) as e:
            raise Refusal(item.start, str(e)) from None
        if self._where(item) != ALWAYS:
            raise Refusal(item.start, f"{head} is executed by all lanes at once; no guard or branch may leave some out")
        given = self._split(item)
        operands = dict(zip(does.operands, given, strict=False))
        if len(given) != len(does.operands):
            raise Refusal(item.start, f"{head} takes the operands {', '.join(does.operands)}, not {len(given)}")
        constants = {name: self._choice(o, name, item) for name, o in operands.items() if name in CONSTANTS}
        registers = {name: self._matrix(o, name, does, item) for name, o in operands.items() if name not in CONSTANTS}
        written, (_, t) = registers.pop("d"), does.operands["d"]
        taken = {name: does.operands[name][1] for name in registers}
        sources = {name: tuple(self._held(o, taken[name], item) for o in os) for name, os in registers.items()}
        before = tuple(None if o.kind == kinds.DISCARD else self._register(o.text, 0).value for o in written)
        results = tuple(None if o.kind == kinds.DISCARD else self._result(o, t, item) for o in written)
        names = tuple("" if o.kind == kinds.DISCARD else self._register(o.text, 0).name for o in written)
        line = self.place(item.start).line
        self._steps.append(MatrixStep(line, self._said(item), does, sources, constants, results, names, before))

    def _matrix(self, o: Operand, name: str, does: Multiplying, item: Other) -> tuple[Operand, ...]:
        """Return the registers or constants of an operand."""
        count, _ = does.operands[name]
        parts = o.parts if o.kind == kinds.VECTOR else (o,) if name not in MATRICES else ()
        if len(parts) != count:
            called = name.upper() if name in MATRICES else name
            message = f"{called} of {does.form.shape} must be {count} register{'s' * (count > 1)} in braces"
            raise Refusal(item.operands_start + o.start, message)
        for p in parts:
            self._check_name(p, item)
        return parts

    def _choice(self, o: Operand, name: str, item: Other) -> Any:
        """Return the value of a selector, or the byte-id and the thread-id."""
        found = tuple(self._integer(p, item) for p in o.parts or (o,))
        if len(found) != CONSTANTS[name]:
            raise Refusal(item.operands_start + o.start, f"{name} has {CONSTANTS[name]}, not {len(found)}")
        return found[0] if len(found) == 1 else found

    def _integer(self, o: Operand, item: Other) -> int:
        start = item.operands_start + o.start
        kind, value = constants.value(_NUMBERED.sub(lambda m: self._number(m, start), o.text))
        if kind != constants.INTEGER:
            raise Refusal(start, f"{o.text} must be an integer constant, which chooses lanes")
        return int(value)

    def _held(self, o: Operand, t: Type, item: Other) -> int:
        """Return the value of a register of a matrix, of a special register or of a constant."""
        if o.kind in (constants.INTEGER, constants.SINGLE, constants.DOUBLE):
            return self._constant(o, t, item)
        if o.kind in kinds.SPECIALS:
            return self._special(o, t, item)
        return self._value_of(self._of_matrix(o, t, item), t, item.operands_start + o.start, ALWAYS)

    def _result(self, o: Operand, t: Type, item: Other) -> int:
        register = self._of_matrix(o, t, item)
        register.place = item.operands_start + o.start
        self._check_written(o, register)
        return self._fill(register, t, ALWAYS)

    def _of_matrix(self, o: Operand, t: Type, item: Other) -> Register:
        """Return a register of a matrix, which has as many bits as its type."""
        start = item.operands_start + o.start
        if o.kind[0] not in '."' and o.kind != kinds.REGISTER:
            raise Refusal(start, f"{o.text} is not a register")
        register = self._register(o.text, start)
        bits = 8 * t.bits.itemsize
        if register.type is not None and register.type.bits != t.bits:
            raise Refusal(start, f"{o.text} is a {register.declared} register; one of {bits} bits is required here")
        self._narrow(register, TAKEN[bits], start, "a matrix")
        return register

    # Statements

    def _statement(self, item: Instruction) -> None:
        opcode, _, names = "".join(item.head.split()).partition(".")
        found = self._split(item)
        spelling = f"{opcode}.{names}" if names else opcode
        for o in found:
            self._check_name(o, item)
        if not found:
            raise Refusal(item.start, f"{spelling} has no operands")
        shapes = [o.shape for o in found]
        unpacks = self._matcher.unpacks(opcode, shapes)
        try:
            row = find(spelling, count(shapes, unpacks), self.target)
        except LookupError as e:
            if is_other(opcode, names.split(".")):
                raise Refusal(item.start, f"{spelling} is PTX outside the database and cannot be run") from None
            raise Refusal(item.start, str(e)) from None
        refusals = CATALOG.refusals(row.requires, self.target, self.ptx)
        if any(r.code != "target-unknown" for r in refusals):
            raise Refusal(item.start, f"{row} requires {CATALOG.text(row.requires)}; .version is {self.ptx}")
        s = signature(row.signature)
        v = statement(row, s)
        for c in self._matcher.complaints(v, shapes):
            if c.severity == ERROR:
                operand = found[c.operand] if c.operand >= 0 else None
                operand = operand.parts[c.part] if operand and c.part >= 0 else operand
                start = item.operands_start + operand.start if operand else item.start
                message = c.message.replace("{operand}", operand.text if operand else "")
                raise Refusal(start, f"{message}; {c.help}" if c.help else message)
        if unpacks:
            s = reversed_signature(s)
            v = statement(row, s)
        guard = self._where(item)
        results = [found[0]] if not found[0].parts else list(found[0].parts)
        places = s.places[-1] if len(results) > 1 or not found[0].parts else s.places[0]
        places = places[: len(results)] if len(s.results) > 1 else places
        operands = [p for o in found[1:] for p in (o.parts if o.kind == kinds.VECTOR else [o])]
        read = [(r, o.type) for o in s.sources if not o.implicit for r in o.registers]
        used = [self._use(o, t, v, item, guard) for o, (_, t) in zip(operands, read, strict=True)]
        used += [(self._condition_code(o.type, v, item, guard), False) for o in s.sources if o.implicit]
        written = list(zip(results, places, strict=True))
        text = self._said(item)
        line = self.place(item.start).line
        condition = self._conditions.guard(guard)
        before = [self._before(o, t, v, item, guard) for o, (_, t) in written]
        made = [self._write(o, t, v, item, guard) for o, (_, t) in written]
        called = ["_" if o.kind == kinds.DISCARD else self._register(o.text, 0).name for o in results]
        resized = []
        for i, (o, (_, t)) in enumerate(written):
            wide = self._wide(o, t)
            if wide is not None and made[i] is not None:
                # A separate step moves the result into its wider register.
                self._values += 1
                final, made[i] = made[i], self._values
                signed = is_signed(t)
                resized.append(
                    Resize(line, text, self._values, final or 0, wide, signed, called[i], before[i], condition)
                )
                before[i], called[i] = None, ""
        for result in s.results:
            if result.implicit:
                code = self._known(_CONDITION_CODE, result.type.name)
                before.append(code.value if guard == ALWAYS else self._value_before(code, result.type))
                made.append(self._fill(code, result.type, guard))
                called.append(_CONDITION_CODE)
                code.read = True  # not a result of the text
        values, negated = zip(*used, strict=True)
        self._steps.append(
            Step(
                line=line,
                text=text,
                claim=row.claim_on(self.target),
                kernel=kernel_of(row.spelling, row.operands, self.target),
                signature=s,
                sources=values,
                negated=negated,
                results=tuple(made),
                names=tuple(called),
                before=tuple(before),
                guard=condition,
            )
        )
        self._steps += resized

    def _split(self, item: Instruction | Other) -> list[Operand]:
        """Return the operands of a statement. A register that is a vector becomes its registers in braces."""
        found = []
        for o in map(self._registers.known, split(item.operands)):
            if o.kind.startswith(".v"):
                lanes, type_ = o.kind.split()
                names = [f"{o.text}.{lane}" for lane in "xyzw"[: int(lanes[2:])]]
                parts = [Operand(type_, name, o.start) for name in names]
                o = Operand(kinds.VECTOR, o.text, o.start, tuple(parts))
            found.append(o)
        return found

    def _said(self, item: Instruction | Other) -> str:
        """Return the text of a statement on one line."""
        return " ".join(self.text[item.statement : item.operands_start + len(item.operands)].split())

    def _check_name(self, o: Operand, item: Instruction | Other) -> None:
        for p in (o, *o.parts):
            name = p.text.lstrip("!- \t")
            if re.match(r"%%|[%$]\d", name) and not self._arguments:
                message = f"{name} is an operand of inline assembly; give its constraints, as in constraints='=r,r'"
                raise Refusal(item.operands_start + p.start, message)
            if p.kind == constants.INTEGER and re.fullmatch(r"[A-Z_]+", name):
                raise Refusal(item.operands_start + p.start, f"{name} has no value here")

    def _where(self, item: Instruction | Other, opposite: bool = False) -> int:
        """Return the condition under which a statement has effect or, if `opposite`, under which its guard prevents
        it."""
        return self._conditions.both(self._active, self._guard(item, opposite))

    def _guard(self, item: Instruction | Other, opposite: bool) -> int:
        """Return the condition that the guard of a statement is true or, if `opposite`, false."""
        text = self.text[item.statement : item.start]
        m = re.match(r"\s*@\s*(!?)\s*(\S+)", text)
        if m is None:
            return NEVER if opposite else ALWAYS
        start = item.statement + m.start(2)
        kind = self._registers.kind(m[2])
        if kind not in (".pred", kinds.REGISTER):
            raise Refusal(start, f"{m[2]} is a {kind} register; a guard must be a predicate")
        register = self._register(m[2], start)
        self._narrow(register, (".pred",), start, "a guard")
        value = self._value_of(register, type_named("pred"), start, self._active)
        return self._conditions.literal(value, bool(m[1]) == opposite)

    def _use(self, o: Operand, t: Type, v: Statement, item: Instruction, where: int) -> tuple[int, bool]:
        if o.kind == kinds.INVERTED:
            return self._use(o.parts[0], t, v, item, where)[0], True
        if o.kind in (constants.INTEGER, constants.SINGLE, constants.DOUBLE):
            return self._constant(o, t, item), False
        if o.kind in kinds.SPECIALS:
            return self._special(o, t, item), False
        if o.kind in (kinds.VARIABLE, kinds.SUM):
            return self.variable(o, t, item), False
        return self._read(o, t, v, item, where), False

    def variable(self, o: Operand, t: Type, item: Instruction | Other) -> int:
        """Return the value of an operand that is an address. Raises Refusal."""
        raise Refusal(item.operands_start + o.start, f"{o.text} is an address; add with a separate instruction")

    def _constant(self, o: Operand, t: Type, item: Instruction | Other) -> int:
        start = item.operands_start + o.start
        number = self._operand(o.text)
        if number is not None and (argument := self._arguments[number]).value is None:
            return self._value_of(self._known(o.text, argument.name, argument), t, start, ALWAYS)
        kind, value = constants.value(_NUMBERED.sub(lambda m: self._number(m, start), o.text))
        self._values += 1
        self._constants[self._values] = bits_of(kind, value, t)
        return self._values

    def _number(self, m: re.Match[str], start: int) -> str:
        number = self._operand(m[0])
        if number is None:
            return m[0]
        argument = self._arguments[number]
        if argument.value is None:
            raise Refusal(start, f"the value of {argument.name} is not known; replace it by the number")
        return f"({argument.value})"

    def _condition_code(self, t: Type, v: Statement, item: Instruction, where: int) -> int:
        """Return the value of the condition code, a carry or a borrow that an earlier statement set, or else an
        input."""
        code = self._known(_CONDITION_CODE, t.name)
        if code.last not in (None, t):
            message = f"{v.spelling} reads a {t.name}, but the statements before produce a {code.last.name}"
            raise Refusal(item.start, f"{message}; PTX does not define the result")
        code.last = t
        return self._value_of(code, t, item.start, where)

    def _special(self, o: Operand, t: Type, item: Instruction | Other) -> int:
        """Return the value of a special register, which is an input."""
        if t.sort == "bool" and o.kind != kinds.PREDICATE_SPECIAL:
            raise Refusal(item.operands_start + o.start, f"{o.text} is not a predicate")
        name = "".join(o.text.split()).lstrip("%")
        about = next(r for r in SPECIAL_REGISTERS if f"%{name.partition('.')[0]}" in r.names)
        if any(r.code != "target-unknown" for r in CATALOG.refusals(about.requires, self.target, self.ptx)):
            message = f"{o.text} requires {CATALOG.text(about.requires)}"
            raise Refusal(item.operands_start + o.start, message)
        name = name.replace(".", "_")
        return self._value_of(self._known(o.text, name), t, item.operands_start + o.start, ALWAYS)

    def _known(self, text: str, name: str, argument: Argument | None = None) -> Register:
        """Return the register for a value that no register of the text has, which is always an input."""
        return self._named.setdefault((0, text), Register(name, 0, "", argument))

    def _operand(self, name: str) -> int | None:
        """Return the number of the operand of inline assembly that a name means; None for another name."""
        m = _NUMBERED.fullmatch(name)
        return int(m[1]) if m and int(m[1]) < len(self._arguments) else None

    def _argument(self, number: int) -> Register:
        """Return the register of an operand of inline assembly."""
        argument = self._arguments[number]
        owner = self._arguments[argument.register]
        key = (0, f"%{argument.register}")
        return self._named.setdefault(key, Register(owner.name, 0, f".{owner.type}", owner))

    def _register(self, name: str, start: int) -> Register:
        if (number := self._operand(name)) is not None:
            return self._argument(number)
        vector, _, lane = "".join(name.split()).partition(".")
        home = self._registers.home(vector)
        declared = self._registers.kind(name) if home is not None else ""
        name = f"{vector}.{_LANES.get(lane, lane)}" if lane else name
        if home is None and self._arguments:
            raise Refusal(start, f"{name} is neither an operand nor declared; declare it with .reg")
        return self._named.setdefault(
            (home or 0, name), Register(name.lstrip("%").replace(".", "_"), home or 0, declared)
        )

    def _read(self, o: Operand, t: Type, v: Statement, item: Instruction, where: int) -> int:
        """Return the value of a register that is read in some lanes."""
        start = item.operands_start + o.start
        register = self._register(o.text, start)
        self._narrow(register, self._matcher.registers(v, t.name), start, f"{v.spelling}")
        return self._value_of(register, t, start, where)

    def _value_of(self, register: Register, t: Type, start: int, where: int) -> int:
        if not self._conditions.implies(where, register.set):
            self._need(register, start)
        value = self._value_before(register, t)
        register.read = True
        if self._bits[value] == t.bits:
            return value
        key = value, t.bits
        if key not in self._fitted:
            self._values += 1
            self._fitted[key] = self._values
            self._bits[self._values] = t.bits
            self._steps.append(Resize(self.place(start).line, "", value, self._values, t))
        return self._fitted[key]

    def _value_before(self, register: Register, t: Type) -> int:
        """Return the value of a register, whether it was set or not."""
        if register.value is None:
            self._values += 1
            register.value = register.initial = self._values
            bits = self._bits[self._values] = (register.type or t).bits
            self._constants[self._values] = bits.type(0)
            self._inputs.append(register)
        if register.initial is not None and register.written < 0 and self._bits[register.value] == t.bits:
            register.first.append(t)
        return register.value

    def _wide(self, o: Operand, t: Type) -> Type | None:
        """Return the type of a result's register if it has another size than this type, else None."""
        register = None if o.kind == kinds.DISCARD else self._register(o.text, 0)
        type_ = register.type if register else None
        return type_ if type_ is not None and type_.bits != t.bits else None

    def _take(self, register: Register, argument: Argument) -> None:
        """Give the register of an operand its input value."""
        self._values += 1
        register.value = register.initial = self._values
        self._bits[self._values] = type_named(argument.type).bits
        register.is_input, register.set = True, ALWAYS
        register.argument = argument
        self._inputs.append(register)

    def _need(self, register: Register, start: int) -> None:
        """Note that a register is read in lanes in which it was not written: it is an input, or an error where it
        cannot be one."""
        if register.is_input:
            return
        register.is_input, register.set = True, ALWAYS
        argument = register.argument
        if argument is not None and argument.type:
            message = f"{register.name} is read before it is written"
            if start == register.place:
                message = f"{register.name} is not written if a guard or a branch skips this"
            self._unset.append((-1, self._at(start, f'{message}, and its constraint is "="; write "+"')))
        elif register.home:
            partly = "" if register.written < 0 else " if its guard is false"
            message = f"{register.name} is read before it is written{partly}, and declared in these braces"
            self._unset.append((register.home, self._at(start, f"{message}; write it first, or declare it outside")))

    def _before(self, o: Operand, t: Type, v: Statement, item: Instruction, guard: int) -> int | None:
        """Return the previous value of a result's register, which it keeps where the guard is false."""
        if o.kind == kinds.DISCARD:
            return None
        start = item.operands_start + o.start
        register = self._register(o.text, start)
        if guard != ALWAYS:
            self._narrow(register, self._matcher.registers(v, t.name), start, f"{v.spelling}")
        return self._kept(register, t, guard)

    def _kept(self, register: Register, t: Type, guard: int) -> int | None:
        """Return the value that a register keeps where a guard is false."""
        return register.value if guard == ALWAYS else self._value_before(register, t)

    def _write(self, o: Operand, t: Type, v: Statement, item: Instruction, guard: int) -> int | None:
        if o.kind == kinds.DISCARD:
            return None
        register = self._register(o.text, item.operands_start + o.start)
        register.place = item.operands_start + o.start
        self._check_written(o, register)
        self._narrow(register, self._matcher.registers(v, t.name), register.place, f"{v.spelling}")
        return self._fill(register, t, guard)

    def _check_written(self, o: Operand, register: Register) -> None:
        """Refuse to write an operand that is only an input."""
        number = self._operand(o.text)
        if number is not None and not self._arguments[self._arguments[number].register].writes:
            message = f'{o.text} is an input, "{register.name}"; writing requires the constraint "=" or "+"'
            raise Refusal(register.place, message)

    def _fill(self, register: Register, t: Type, guard: int) -> int:
        """Return a new value for a register, which it has from now on."""
        self._values += 1
        self._bits[self._values] = (register.type or t).bits
        register.value, register.last, register.read = self._values, t, False
        register.set = self._conditions.either(register.set, guard)
        register.written = len(self._steps)
        return self._values

    def _narrow(self, register: Register, taken: tuple[str, ...], start: int, what: str) -> None:
        """Narrow the possible types of an undeclared register to those that a statement accepts. Raises Refusal where
        none is left."""
        if register.declared or not taken:
            return
        possible = register.possible
        left = set(taken) if possible is None else possible & set(taken)
        if not left:
            listed = " or ".join(sorted(possible or ()))
            message = f"{what} takes {' or '.join(taken)}, but {register.name} is {listed} elsewhere"
            raise Refusal(start, f"{message}; move it into another register")
        register.possible = left

    def _forget(self, item: Instruction) -> None:
        """Treat the results of a refused statement as written, to avoid consequential errors."""
        first = next(split(item.operands), None)
        for o in (first.parts or (first,)) if first else ():
            if o.kind == kinds.REGISTER and not re.search(r"[.\[]", o.text):
                try:
                    register = self._register(o.text, 0)
                except Refusal:
                    continue
                if register.value is None:
                    self._values += 1
                    register.value = self._values
                    self._bits[self._values] = (register.type or type_named("b32")).bits
                register.set = ALWAYS

    # All of them together

    def program(self, results: Iterable[str] | None) -> Program:
        used = {home for home, _ in self._named}
        # A function body is in braces.
        body = next(iter(self._outermost)) if len(self._outermost) == 1 and 0 not in used else 0
        for label, (start, _) in self._jumps.items():
            self.refuse(start, f"there is no label {label} after this branch")
        if not self._steps and not self._refused and not self._unset:
            self._refused.append(self._at(0, "there is no statement to run"))
        chosen = [] if self._refused else self._results(results, body)
        for register in chosen:
            if register.set != ALWAYS:
                self._need(register, register.place)
        self._refused += [r for home, r in self._unset if home != body]
        if self._refused:
            raise StatementError(self._refused)
        taken = [r for r in self._inputs if r.is_input]
        for register in taken:
            self._constants.pop(register.initial or 0, None)
        inputs = [Named(_incoming(r), r.initial or 0, _types(r, r.first)) for r in taken]
        for names in ([i.name for i in inputs], [r.name for r in chosen]):
            twice = next((n for n in names if names.count(n) > 1), None)
            if twice is not None:
                raise ValueError(f"{twice} and %{twice} are two registers; rename one of them")
        ends = [Named(r.name, r.value or 0, _types(r, [r.last] if r.last else [])) for r in chosen]
        return Program(self.target, tuple(inputs), tuple(ends), self._constants, tuple(self._steps))

    def _results(self, results: Iterable[str] | None, body: int) -> list[Register]:
        """Return the registers that are results: the outputs of inline assembly, the named ones, or those that are not
        read again."""
        written = [r for r in self._named.values() if r.written >= 0]
        if results is not None:
            return [self._named_result(name, written, body) for name in results]
        if self._arguments:
            outputs = [self._argument(i) for i, a in enumerate(self._arguments) if a.writes]
            for register in outputs:
                if register.value is None:
                    self.refuse(0, f"no statement writes {register.name}, which is an output")
            if not outputs and not any(map(self._is_around, written)):
                raise ValueError("none of the operands is an output")
            return [r for r in outputs if r.value is not None] + [r for r in written if self._is_around(r)]
        chosen = [r for r in written if (not r.read and r.home == body) or self._is_around(r)]
        chosen.sort(key=lambda r: r.written)
        if not chosen:
            raise ValueError("every register that is written is read again; name those that are results with `results`")
        return chosen

    def _is_around(self, register: Register) -> bool:
        """Return whether a register is shared with other texts."""
        names = (register.name, f"%{register.name}")
        return register.home == 0 and not register.argument and any(self._around.home(n) is not None for n in names)

    def _named_result(self, name: str, written: list[Register], body: int) -> Register:
        same = [r for r in written if r.name == name.lstrip("%")]
        same = [r for r in same if r.home in (0, body)] or same
        if len(same) != 1:
            known = ", ".join(dict.fromkeys(r.name for r in written))
            why = "is not written" if not same else "means several registers"
            raise ValueError(f"{name} {why}; these are written: {known}")
        return same[0]


# An operand of inline assembly.
_NUMBERED = re.compile(r"%([0-9]{1,4})")
_CONDITION_CODE = "CC.CF"
# The registers of a vector by their names; each has two names.
_LANES = {"x": "x", "y": "y", "z": "z", "w": "w", "r": "x", "g": "y", "b": "z", "a": "w"}
# The bits of the types that registers may be declared with.
_WIDTHS = {
    **{f"{sort}{width}": width for sort in "bsu" for width in (8, 16, 32, 64)},
    "f16": 16, "f16x2": 32, "f32": 32, "f64": 64, "pred": 1,
}  # fmt: skip


def _place(text: str, offset: int) -> Position:
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    source = text[begin : end if end >= 0 else len(text)].rstrip("\r")
    return Position(text.count("\n", 0, offset) + 1, offset - begin + 1, source, offset - begin)


def _at(text: str, offset: int, message: str) -> Refused:
    place = _place(text, offset)
    return Refused(place.line, place.column, place.source, message)


def _incoming(register: Register) -> str:
    """Return the name of an input; for an operand that shares a register it is that of the operand."""
    return register.argument.name if register.argument else register.name


def _unknown(statement: str) -> str:
    m = re.match(r"[\w.:$]+", statement)
    head = m[0] if m else statement
    if "[" in statement:
        return f"{head} is not supported: there is no memory here; use inputs and results instead"
    try:
        find(head, None, None)
    except LookupError as e:
        return str(e)
    return f"{head} is not supported"


def _types(register: Register, used: Iterable[Type]) -> tuple[Type, ...]:
    """Return the types as which a register is used, and its declared type."""
    found = list(used)
    if declared := register.type:
        found = [*(t for t in found if t.bits == declared.bits), declared]
    return tuple(dict.fromkeys(found))
