"""Straight-line PTX -> steps: each statement's function with the values that it takes and gives. What cannot be run is
refused, all of it at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from .assembler import ASSEMBLER
from .index import CATALOG, OPCODES
from .kernel import compile as kernel_of
from .lookup import find
from .ptx import constants, operands as kinds
from .ptx.complaints import ERROR, Position
from .ptx.matching import Matcher, count
from .ptx.operands import Operand, split
from .ptx.registers import Registers, special_names
from .ptx.scanning import Declaration, Directive, Instruction, Other, Problem, Scanner
from .signature import Type, signature, type_named
from .statements import Rules, Statement, bits_of, is_other, reversed_signature, statement
from .steps import Named, Program, Refused, StatementError, Step


def read(text: str, target: str | None = None, results: Iterable[str] | None = None) -> Program:
    """Return the program of a text. Raises StatementError, and ValueError for names of results that are none."""
    reader = _Reader(text, target)
    scanner = Scanner(OPCODES, everything=True)
    for item in scanner.scan(reader):
        reader.take(item)
    return reader.program(results)


@dataclass(eq=False)
class _Register:
    """`possible` are the types that it may be declared with, as far as statements tell; `first` and `last` as which it
    is read before it is written, and written last."""

    name: str
    home: int
    declared: str
    possible: set[str] | None = None
    value: int | None = None
    is_input: bool = False
    first: list[Type] = field(default_factory=list)
    last: Type | None = None
    written: int = -1
    read: bool = False


class _Refusal(Exception):
    """The refusal of a statement: what is wrong, and where in the text."""

    def __init__(self, start: int, message: str) -> None:
        super().__init__(message)
        self.start, self.message = start, message


class _Reader:
    """A reader of items one by one. It is what is scanned, too."""

    final, embedded, full = True, False, False

    def __init__(self, text: str, target: str | None) -> None:
        self.text, self.target, self.used = text, target, 0
        self.ptx: str | None = None
        self._registers = Registers(special_names(ASSEMBLER))
        self._matcher = Matcher(Rules())
        self._named: dict[tuple[int, str], _Register] = {}
        self._refused: list[Refused] = []
        # What is read before it is written, in a block of its own.
        self._unset: list[tuple[int, Refused]] = []
        self._outermost: set[int] = set()  # blocks in no other
        self._constants: dict[int, np.generic] = {}
        self._steps: list[Step] = []
        self._values = 0
        self._inputs: list[tuple[_Register, int]] = []

    def place(self, offset: int) -> Position:
        begin = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        source = self.text[begin : end if end >= 0 else len(self.text)].rstrip("\r")
        return Position(self.text.count("\n", 0, offset) + 1, offset - begin + 1, source, offset - begin)

    def _at(self, start: int, message: str) -> Refused:
        place = self.place(start)
        return Refused(place.line, place.column, place.source, message)

    def refuse(self, start: int, message: str) -> None:
        self._refused.append(self._at(start, message))

    def take(self, item: Instruction | Directive | Problem | Declaration | Other) -> None:
        if isinstance(item, Instruction):
            try:
                self._statement(item)
            except _Refusal as e:
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
            self.refuse(item.start, "there are no branches here, and so no labels")
        elif item.kind == "statement":
            self.refuse(item.start, _unknown(item.text + item.operands))
        else:
            self._refuse_directive(item.start, item.text)

    def _refuse_directive(self, start: int, text: str) -> None:
        name = re.match(r"\.\w+", text)
        self.refuse(start, f"there is no {name[0] if name else 'directive'} here: only .reg declares")

    def _directive(self, item: Directive) -> None:
        """Take `.version` and `.target`, which say what the statements are judged for, unless the caller does."""
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
            self.refuse(item.start, f"PTX {self.ptx} does not know {self.target}; write .version {first} or newer")

    def _declaration(self, item: Declaration) -> None:
        text = item.text or ""
        if re.search(r"\.(?:func|entry)\b", text):
            self.refuse(item.start, "there are no functions here; give the statements of the body alone")
            return
        if text.startswith(".") and not re.match(r"\.reg\b", text):
            self._refuse_directive(item.start, text)
            return
        vector = re.match(r"\.reg\b\s*\.v\d", text)
        before = self._registers.lost
        self._registers.take(item.text)
        if vector:
            self.refuse(item.start, "registers that are vectors are not run; declare each register by itself")
        elif self._registers.lost and not before:
            self.refuse(item.start, "this declaration cannot be read; write .reg .f32 a, b; or .reg .f32 %f<9>;")
        elif text.startswith("{") and len(self._registers.open) > 1:
            self._outermost.add(self._registers.open[1])
        elif text.startswith(".reg"):
            type_ = re.match(r"\.reg\b\s*(?:\.align\s+\d+\s*)?\.(\w+)", text)
            if type_ and type_[1] not in _WIDTHS:
                self.refuse(item.start, f"there are no registers of .{type_[1]} here")

    # Statements

    def _statement(self, item: Instruction) -> None:
        opcode, _, names = "".join(item.head.split()).partition(".")
        found = [self._registers.known(o) for o in split(item.operands)]
        spelling = f"{opcode}.{names}" if names else opcode
        for o in found:
            self._check_name(o, item)
        if not found:
            raise _Refusal(item.start, f"{spelling} has no operands")
        shapes = [o.shape for o in found]
        unpacks = self._matcher.unpacks(opcode, shapes)
        try:
            row = find(spelling, count(shapes, unpacks), self.target)
        except LookupError as e:
            if is_other(opcode, names.split(".")):
                raise _Refusal(item.start, f"{spelling} is PTX outside of the database, and not run") from None
            raise _Refusal(item.start, str(e)) from None
        refusals = CATALOG.refusals(row.requires, self.target, self.ptx)
        if any(r.code != "target-unknown" for r in refusals):
            raise _Refusal(item.start, f"{row} needs {CATALOG.text(row.requires)}; .version is {self.ptx}")
        s = signature(row.signature)
        v = statement(row, s)
        for c in self._matcher.complaints(v, shapes):
            if c.severity == ERROR:
                operand = found[c.operand] if c.operand >= 0 else None
                operand = operand.parts[c.part] if operand and c.part >= 0 else operand
                start = item.operands_start + operand.start if operand else item.start
                message = c.message.replace("{operand}", operand.text if operand else "")
                raise _Refusal(start, f"{message}; {c.help}" if c.help else message)
        if unpacks:
            s = reversed_signature(s)
            v = statement(row, s)
        guard = self._guard(item)
        results = [found[0]] if not found[0].parts else list(found[0].parts)
        places = s.places[-1] if len(results) > 1 or not found[0].parts else s.places[0]
        places = places[: len(results)] if len(s.results) > 1 else places
        operands = [p for o in found[1:] for p in (o.parts if o.kind == kinds.VECTOR else [o])]
        used = [self._use(o, t, v, item) for o, (_, t) in zip(operands, s.registers, strict=True)]
        written = list(zip(results, places, strict=True))
        before = [self._before(o, t, v, item, guard is not None) for o, (_, t) in written]
        made = [self._write(o, t, v, item) for o, (_, t) in written]
        registers = tuple("_" if o.kind == kinds.DISCARD else self._register(o.text).name for o in results)
        text = " ".join(self.text[item.statement : item.operands_start + len(item.operands)].split())
        values, negated = zip(*used, strict=True)
        self._steps.append(
            Step(
                line=self.place(item.start).line,
                text=text,
                claim=row.claim_on(self.target),
                kernel=kernel_of(row.spelling, row.operands, self.target),
                signature=s,
                sources=values,
                negated=negated,
                results=tuple(made),
                names=registers,
                before=tuple(before),
                guard=guard,
            )
        )

    def _check_name(self, o: Operand, item: Instruction) -> None:
        for p in (o, *o.parts):
            name = p.text.lstrip("!- \t")
            if re.match(r"%%|[%$]\d", name):
                raise _Refusal(item.operands_start + p.start, f"{name} is of CUDA's inline assembly; name a register")
            if p.kind in kinds.SPECIALS:
                raise _Refusal(item.operands_start + p.start, f"{name} is a special register, which has no value here")
            if p.kind == constants.INTEGER and re.fullmatch(r"[A-Z_]+", name):
                raise _Refusal(item.operands_start + p.start, f"{name} has no value here")

    def _guard(self, item: Instruction) -> tuple[int, bool] | None:
        text = self.text[item.statement : item.start]
        m = re.match(r"\s*@\s*(!?)\s*(\S+)", text)
        if m is None:
            return None
        start = item.statement + m.start(2)
        kind = self._registers.kind(m[2])
        if kind not in (".pred", kinds.REGISTER):
            raise _Refusal(start, f"{m[2]} is a {kind} register; a guard is a predicate")
        register = self._register(m[2])
        self._narrow(register, (".pred",), start, "a guard")
        return self._value_of(register, type_named("pred"), start), not m[1]

    def _use(self, o: Operand, t: Type, v: Statement, item: Instruction) -> tuple[int, bool]:
        if o.kind == kinds.INVERTED:
            return self._use(o.parts[0], t, v, item)[0], True
        if o.kind in (constants.INTEGER, constants.SINGLE, constants.DOUBLE):
            return self._constant(o, t), False
        return self._read(o, t, v, item), False

    def _constant(self, o: Operand, t: Type) -> int:
        kind, value = constants.value(o.text)
        self._values += 1
        self._constants[self._values] = bits_of(kind, value, t)
        return self._values

    def _register(self, name: str) -> _Register:
        home = self._registers.home(name)
        declared = self._registers.kind(name) if home is not None else ""
        return self._named.setdefault((home or 0, name), _Register(name.lstrip("%"), home or 0, declared))

    def _read(self, o: Operand, t: Type, v: Statement, item: Instruction, quietly: bool = False) -> int:
        """Return the value of a register that is read. `quietly`: it is the value that a guarded result has
        otherwise."""
        start = item.operands_start + o.start
        register = self._register(o.text)
        self._narrow(register, self._matcher.registers(v, t.name), start, f"{v.spelling}")
        return self._value_of(register, t, start, quietly)

    def _value_of(self, register: _Register, t: Type, start: int, quietly: bool = False) -> int:
        if register.value is None:
            self._values += 1
            register.value, register.is_input = self._values, True
            self._inputs.append((register, self._values))
            if register.home:
                message = f"{register.name} is read before it is written, and declared in these braces"
                self._unset.append(
                    (register.home, self._at(start, f"{message}; write it first, or declare it outside"))
                )
        if register.is_input and register.written < 0:
            register.first.append(t)
        register.read = register.read or not quietly
        return register.value

    def _before(self, o: Operand, t: Type, v: Statement, item: Instruction, guarded: bool) -> int | None:
        """Return the value of a result's register, which it must have under a guard."""
        if o.kind == kinds.DISCARD:
            return None
        return self._read(o, t, v, item, quietly=True) if guarded else self._register(o.text).value

    def _write(self, o: Operand, t: Type, v: Statement, item: Instruction) -> int | None:
        if o.kind == kinds.DISCARD:
            return None
        register = self._register(o.text)
        self._narrow(register, self._matcher.registers(v, t.name), item.operands_start + o.start, f"{v.spelling}")
        self._values += 1
        register.value, register.last, register.read = self._values, t, False
        register.written = len(self._steps)
        return self._values

    def _narrow(self, register: _Register, taken: tuple[str, ...], start: int, what: str) -> None:
        """Narrow the possible types of an undeclared register to those that a statement takes; refuse it where none is
        left."""
        if register.declared or not taken:
            return
        possible = register.possible
        left = set(taken) if possible is None else possible & set(taken)
        if not left:
            listed = " or ".join(sorted(possible or ()))
            message = f"{what} takes {' or '.join(taken)}, and {register.name} is {listed} elsewhere"
            raise _Refusal(start, f"{message}; move it into another register")
        register.possible = left

    def _forget(self, item: Instruction) -> None:
        """Take the results of a refused statement as written, so that no more is said of them."""
        first = next(split(item.operands), None)
        for o in (first.parts or (first,)) if first else ():
            if o.kind == kinds.REGISTER and not re.search(r"[.\[]", o.text):
                register = self._register(o.text)
                if register.value is None:
                    self._values += 1
                    register.value = self._values

    # All of them together

    def program(self, results: Iterable[str] | None) -> Program:
        used = {home for home, _ in self._named}
        # Braces around everything are those of a function's body.
        body = next(iter(self._outermost)) if len(self._outermost) == 1 and 0 not in used else 0
        self._refused += [r for home, r in self._unset if home != body]
        if not self._steps and not self._refused:
            self._refused.append(self._at(0, "there is no statement to run"))
        if self._refused:
            raise StatementError(self._refused)
        inputs = [Named(r.name, value, _types(r, r.first)) for r, value in self._inputs]
        written = [r for r in self._named.values() if r.written >= 0]
        if results is None:
            chosen = [r for r in written if not r.read and r.home == body]
            chosen.sort(key=lambda r: r.written)
            if not chosen:
                raise ValueError("every register that is written is read again; name those that are results")
        else:
            chosen = [self._named_result(name, written, body) for name in results]
        for names in ([i.name for i in inputs], [r.name for r in chosen]):
            twice = next((n for n in names if names.count(n) > 1), None)
            if twice is not None:
                raise ValueError(f"{twice} and %{twice} are two registers; give one of them another name")
        ends = [Named(r.name, r.value or 0, _types(r, [r.last] if r.last else [])) for r in chosen]
        return Program(self.target, tuple(inputs), tuple(ends), self._constants, tuple(self._steps))

    def _named_result(self, name: str, written: list[_Register], body: int) -> _Register:
        same = [r for r in written if r.name == name.lstrip("%")]
        same = [r for r in same if r.home in (0, body)] or same
        if len(same) != 1:
            known = ", ".join(dict.fromkeys(r.name for r in written))
            why = "is written nowhere" if not same else "is more than one register"
            raise ValueError(f"{name} {why}; what is written: {known}")
        return same[0]


# Bits of the registers that may be declared.
_WIDTHS = {
    **{f"{sort}{width}": width for sort in "bsu" for width in (8, 16, 32, 64)},
    "f16": 16, "f16x2": 32, "f32": 32, "f64": 64, "pred": 1,
}  # fmt: skip


def _unknown(statement: str) -> str:
    m = re.match(r"[\w.:$]+", statement)
    head = m[0] if m else statement
    if "[" in statement:
        return f"{head}: there is no memory here; what it would load is an input, what it would store a result"
    try:
        find(head, None, None)
    except LookupError as e:
        return str(e)
    return f"{head} is not run here"


def _types(register: _Register, used: Iterable[Type]) -> tuple[Type, ...]:
    """Return the types as which a register is used, and the type of its declaration."""
    found = list(used)
    if register.declared:
        found.append(type_named(register.declared[1:]))
    return tuple(dict.fromkeys(found))
