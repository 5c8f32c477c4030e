"""A kernel in a module of PTX -> its parameters and its steps. It may have accesses to global memory, but no loops. All
statements that cannot be run are reported at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from .conditions import ALWAYS
from .index import OPCODES
from .memory import Load, Store
from .ptx import constants, operands as kinds
from .ptx.operands import Operand
from .ptx.scanning import Declaration, Instruction, Other, Scanner
from .signature import Type, type_named
from .steps import Named, Resize, StatementError, Step
from .straightline import Reader, Refusal, Register
from .variables import DECLARED, LOCAL, Local, UnreadError, Variable, Variables, local_size

_COMMENT = re.compile(r"//[^\n]*|/\*(?s:.)*?(?:\*/|\Z)")
_ENTRY = re.compile(r"\.entry\s+(?P<name>[\w$%]+)")
_HEADER = re.compile(r"\.(?:version|address_size)\b(?:\s++[\w.]++)?|\.target\b(?:\s++\w++(?:\s*+,\s*+\w++)*+)?")
_BRACE = re.compile(r'[{}]|"[^"\n]*"')
_PARAMETER = re.compile(r"\.param\b(?P<attributes>[^,()\[]*+)(?:\[\s*(?P<count>\d{1,9})\s*\]\s*)?(?=[,)])")
_TYPE = re.compile(r"\.([bsuf](?:8|16|32|64)|f16x2)\b")
_ALIGNED = re.compile(r"\.align\s+(\d{1,4})\b")
_ADDRESS = re.compile(r"\[\s*(?P<base>[A-Za-z_$%][\w$%]*)\s*(?:\+(?P<offset>[^\]]*))?\]")
# Qualifiers of an access that change nothing when threads run one after another.
_HINT = re.compile(r"nc|ca|cg|cs|lu|cv|wb|wt|weak|relaxed|volatile|gpu|sys|cta|cluster|L[12]::\w+|level::\w+")
# Prefetches, and waiting for the preceding kernel, change no result.
_IDLE = ("prefetch", "prefetchu", "griddepcontrol")
_COUNTS = {"v2": 2, "v4": 4, "v8": 8}


class Parameter(NamedTuple):
    """A parameter of a kernel: its type (b8 for bytes), its size and its alignment in bytes."""

    name: str
    type: str
    size: int
    alignment: int


class Given(NamedTuple):
    """A part of a parameter as a value: its first byte, its type, and the type of the register it is read into."""

    parameter: int
    offset: int
    type: Type
    register: Type


@dataclass(frozen=True, eq=False)
class Entry:
    """A kernel. `given` are the values from its parameters, `specials` those of special registers; `variables` are the
    first arrays of its memory, `local` each thread's own variables."""

    name: str
    target: str | None
    parameters: tuple[Parameter, ...]
    given: dict[int, Given]
    specials: tuple[Named, ...]
    variables: tuple[Variable, ...]
    local: tuple[Local, ...]
    constants: dict[int, np.generic]
    steps: tuple[Step | Resize | Load | Store, ...]


def read_entry(text: str, name: str | None = None, target: str | None = None) -> Entry:
    """Return the kernel of this name in a module, or its only one. Raises StatementError, and ValueError where there is
    no such kernel."""
    alone, found = _alone(text, name)
    reader = _EntryReader(alone, target)
    for item in Scanner(OPCODES, everything=True).scan(reader):
        reader.take(item)
    return reader.entry(found)


def _alone(text: str, name: str | None) -> tuple[str, str]:
    """Return a module with spaces in place of all but one kernel and the declarations it may read, and the kernel's
    name."""
    code = _COMMENT.sub(lambda m: _blank(m[0]), text)
    entries = {m["name"]: m for m in _ENTRY.finditer(code)}
    if not entries:
        raise ValueError("the text has no kernel: there is no .entry")
    if name not in entries and (name is not None or len(entries) != 1):
        known = ", ".join(list(entries)[:20])
        wanted = f"there is no kernel {name}" if name is not None else f"there are {len(entries)} kernels; name one"
        raise ValueError(f"{wanted}; the module has {known}")
    m = entries[name] if name is not None else next(iter(entries.values()))
    depth, end = 0, len(code)
    for brace in _BRACE.finditer(code, m.end()):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if brace[0] == "}" and depth == 0:
            end = brace.end()
            break
    header = islice(_HEADER.finditer(code, 0, min(x.start() for x in entries.values())), 3)
    kept, position = [], 0
    for part in sorted((*header, *DECLARED.finditer(code, 0, m.start())), key=lambda found: found.start()):
        if part.start() >= position:
            kept += [_blank(code[position : part.start()]), part[0]]
            position = part.end()
    head = "".join([*kept, _blank(code[position : m.start()])])
    return head + code[m.start() : end], m["name"]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


class _EntryReader(Reader):
    """A reader of the items of a kernel."""

    has_warps = False

    def __init__(self, text: str, target: str | None) -> None:
        super().__init__(text, target, None)
        self._parameters: list[Parameter] = []
        self._given: dict[int, Given] = {}
        self._variables = Variables()
        self._local: dict[str, Local] = {}

    def _declaration(self, item: Declaration) -> None:
        text = item.text or ""
        if DECLARED.fullmatch(text):
            self._registers.take(text)
            self._variables.take(text, item.start)
            return
        if LOCAL.fullmatch(text):
            self._registers.take(text)
            self._take_local(item.start, text)
            return
        if not _ENTRY.search(text):
            super()._declaration(item)
            return
        self._registers.take(text)
        for m in _PARAMETER.finditer(text):
            type_, aligned = _TYPE.search(m["attributes"]), _ALIGNED.search(m["attributes"])
            *_, name = m["attributes"].split() or [""]
            if type_ is None:
                self.refuse(item.start, f"the parameter {name} is of a kind that is not supported here")
                continue
            width = type_named(type_[1]).bits.itemsize
            size = width * int(m["count"] or 1)
            self._parameters.append(Parameter(name, type_[1], size, int(aligned[1]) if aligned else width))

    def _take_local(self, start: int, text: str) -> None:
        try:
            name, size = local_size(text)
        except UnreadError as e:
            self.refuse(start, str(e))
            return
        if name in self._local:
            self.refuse(start, f"{name} is declared twice; rename one of them")
        self._values += 1
        self._local[name] = Local(name, size, self._values)

    def _refuse_directive(self, start: int, text: str) -> None:
        # Pragmas and sections change no result.
        if not re.match(r"\.(?:pragma|section)\b", text):
            super()._refuse_directive(start, text)

    def take_other(self, item: Other) -> None:
        opcode, *names = item.text.split(".")
        if opcode in ("ld", "ldu"):
            self._load(item, names)
        elif opcode == "st":
            self._store(item, names)
        elif opcode == "cvta":
            self._convert_address(item, names)
        elif opcode in ("ret", "exit"):
            self._active = self._where(item, opposite=True)
        elif opcode == "bra":
            self._branch(item)
        elif opcode in _IDLE:
            self._where(item)
        elif opcode in ("bar", "barrier"):
            raise Refusal(item.start, f"{item.text} is not supported: threads do not wait for each other here")
        elif opcode == "call":
            raise Refusal(
                item.start,
                "calls of functions are not supported; compile the functions into the kernel (__forceinline__)",
            )
        elif "[" in item.operands:
            raise Refusal(item.start, f"{item.text} is not supported: only ld and st access memory here")
        else:
            super().take_other(item)

    # Memory

    def _load(self, item: Other, names: list[str]) -> None:
        t, count, space = self._access(item, names)
        operands = self._operands(item, 2)
        to = operands[0].parts if operands[0].kind == kinds.VECTOR else (operands[0],)
        if len(to) != count:
            raise Refusal(
                item.operands_start + operands[0].start, f"{item.text} fills {count} registers, not {len(to)}"
            )
        base, offset, start = self._address(item, operands[1])
        guard = self._where(item)
        condition = self._conditions.guard(guard)
        registers = [None if o.kind == kinds.DISCARD else self._target(item, o, t) for o in to]
        if space == "param":
            self._parameter(item, base, offset, start, t, registers, guard)
            return
        address = self._base(base, space, start, guard)
        before = [None if r is None else self._kept(r, t, guard) for r in registers]
        made = [None if r is None else self._fill(r, t, guard) for r in registers]
        types = tuple(t if r is None else r.type or t for r in registers)
        line, text = self.place(item.start).line, self._said(item)
        self._steps.append(Load(line, text, address, offset, t, types, tuple(made), tuple(before), condition))

    def _kept(self, register: Register, t: Type, guard: int) -> int | None:
        # Where the register has no value before, the thread has none afterwards and does not read it.
        if guard != ALWAYS and self._conditions.implies(register.set, guard):
            return None
        return super()._kept(register, register.type or t, guard)

    def _parameter(
        self, item: Other, name: str, offset: int, start: int, t: Type, registers: list[Register | None], guard: int
    ) -> None:
        number = next((i for i, p in enumerate(self._parameters) if p.name == name), None)
        if number is None:
            raise Refusal(start, f"{name} is not a parameter of this kernel")
        width = t.bits.itemsize
        if not 0 <= offset <= self._parameters[number].size - width * len(registers):
            raise Refusal(start, f"{name} has {self._parameters[number].size} bytes")
        line, text = self.place(item.start).line, self._said(item)
        for i, register in enumerate(registers):
            if register is None:
                continue
            to = register.type or t
            before = self._kept(register, t, guard)
            value = self._fill(register, t, guard)
            if guard != ALWAYS:
                # A parameter's value is that of all lanes.
                self._values += 1
                condition = self._conditions.guard(guard)
                self._steps.append(Resize(line, text, self._values, value, to, False, register.name, before, condition))
                value = self._values
            self._given[value] = Given(number, offset + i * width, t, to)

    def _store(self, item: Other, names: list[str]) -> None:
        t, count, space = self._access(item, names)
        if space == "param":
            raise Refusal(item.start, f"{item.text}: parameters of functions are not supported")
        if space == "const":
            raise Refusal(item.start, f"{item.text}: constant memory cannot be written")
        operands = self._operands(item, 2)
        base, offset, start = self._address(item, operands[0])
        sources = operands[1].parts if operands[1].kind == kinds.VECTOR else (operands[1],)
        if len(sources) != count:
            at = item.operands_start + operands[1].start
            raise Refusal(at, f"{item.text} takes {count} registers, not {len(sources)}")
        guard = self._where(item)
        address = self._base(base, space, start, guard)
        values = []
        for o in sources:
            at = item.operands_start + o.start
            if o.kind in (constants.INTEGER, constants.SINGLE, constants.DOUBLE):
                values.append(self._constant(o, t, item))
            else:
                values.append(self._value_of(self._target(item, o, t), _bits_of(t), at, guard))
        condition = self._conditions.guard(guard)
        self._steps.append(
            Store(self.place(item.start).line, self._said(item), address, offset, tuple(values), condition)
        )

    def _convert_address(self, item: Other, names: list[str]) -> None:
        """Add the step of a cvta, which copies: a global address is the same as a generic one here."""
        is_back = names[:1] == ["to"]
        names = names[1:] if is_back else names
        if names not in (["global", "u64"], ["const", "u64"], ["local", "u64"]):
            raise Refusal(
                item.start, f"{item.text}: only global, constant and local memory with 64-bit addresses is supported"
            )
        operands = self._operands(item, 2)
        b64 = type_named("b64")
        guard = self._where(item)
        at = item.operands_start + operands[1].start
        if operands[1].kind in (kinds.VARIABLE, kinds.SUM) and not is_back:
            source = self.variable(operands[1], b64, item)
        else:
            source = self._value_of(self._target(item, operands[1], b64), b64, at, guard)
        register = self._target(item, operands[0], b64)
        before = self._kept(register, b64, guard)
        made = self._fill(register, b64, guard)
        condition = self._conditions.guard(guard)
        line = self.place(item.start).line
        self._steps.append(Resize(line, self._said(item), source, made, b64, False, register.name, before, condition))

    def _access(self, item: Other, names: list[str]) -> tuple[Type, int, str]:
        """Return the type, the number of words, and the space of an access."""
        spaces = [n for n in names if n.partition("::")[0] in ("param", "global", "shared", "const", "local")]
        if not names or not _TYPE.fullmatch(f".{names[-1]}"):
            raise Refusal(item.start, f"{item.text} has no type of up to 64 bits")
        space = spaces[0].partition("::")[0] if spaces else ""
        if space not in ("", "param", "global", "const", "local"):
            raise Refusal(item.start, f"{item.text}: {space} memory is not supported")
        strange = [n for n in names[:-1] if n not in spaces and n not in _COUNTS and not _HINT.fullmatch(n)]
        if strange:
            raise Refusal(item.start, f"{item.text}: .{strange[0]} is not supported")
        count = next((_COUNTS[n] for n in names if n in _COUNTS), 1)
        return type_named(names[-1]), count, space

    def _operands(self, item: Other, least: int) -> list[Operand]:
        found = self._split(item)
        if len(found) < least:
            raise Refusal(item.start, f"{item.text} takes {least} operands")
        return found

    def _address(self, item: Other, o: Operand) -> tuple[str, int, int]:
        """Return the register or parameter of an address, the offset added to it, and its position in the text."""
        m = _ADDRESS.fullmatch(o.text)
        start = item.operands_start + o.start
        if m is None:
            raise Refusal(start, f"{o.text} is not an address; write [register], [register+4] or [register+-4]")
        kind, offset = constants.value(m["offset"] or "0")
        if kind != constants.INTEGER:
            raise Refusal(start, f"{m['offset']} is not a number of bytes")
        return m["base"], int(offset), start + m.start("base")

    def _base(self, name: str, space: str, start: int, where: int) -> int:
        """Return the value of an address in a register, or of the address of a variable."""
        if self._registers.kind(name) == kinds.VARIABLE:
            lies = self._space_of(name, start)
            if lies != space and (space or lies == "const"):
                raise Refusal(start, f"{name} is in {lies} memory, which this statement does not access")
            return self._addressed(name, 0, type_named("b64"), start)
        return self._value_of(self._pointer(name, start), type_named("b64"), start, where)

    def variable(self, o: Operand, t: Type, item: Instruction | Other) -> int:
        name, _, added = o.text.partition("+")
        kind, offset = constants.value(added or "0")
        if self._registers.kind(name.rstrip()) != kinds.VARIABLE or kind != constants.INTEGER:
            return super().variable(o, t, item)
        return self._addressed(name.rstrip(), int(offset), t, item.operands_start + o.start)

    def _addressed(self, name: str, offset: int, t: Type, start: int) -> int:
        if t.bits.itemsize != 8:
            raise Refusal(start, f"{name} is an address, which has 64 bits")
        if name in self._local and not offset:
            return self._local[name].value
        if name in self._local:
            raise Refusal(start, f"{name}+{offset} is an address; add with a separate instruction")
        self._values += 1
        try:
            self._constants[self._values] = np.uint64(self._variables.address(name) + offset)
        except UnreadError as e:
            raise Refusal(start, str(e)) from None
        return self._values

    def _space_of(self, name: str, start: int) -> str:
        try:
            return "local" if name in self._local else self._variables.space(name)
        except UnreadError as e:
            raise Refusal(start, str(e)) from None

    def _pointer(self, name: str, start: int) -> Register:
        if self._registers.home(name) is None:
            raise Refusal(start, f"{name} is neither a register nor a variable of the module")
        register = self._register(name, start)
        if register.type is None or register.type.bits.itemsize != 8 or register.type.sort == "float":
            raise Refusal(
                start, f"{name} is a {register.declared} register; an address requires 64 bits that are not a float"
            )
        return register

    def _target(self, item: Other, o: Operand, t: Type) -> Register:
        """Return the register of an operand, which has at least as many bits as this type."""
        start = item.operands_start + o.start
        if self._registers.home(o.text.partition(".")[0].rstrip()) is None:
            raise Refusal(start, f"{o.text} is not a register; declare it with .reg")
        register = self._register(o.text, start)
        declared = register.type
        if declared is None or declared.sort == "bool" or declared.bits.itemsize < t.bits.itemsize:
            raise Refusal(
                start, f"{o.text} is a {register.declared} register; {item.text} takes .b{8 * t.bits.itemsize}"
            )
        return register

    # All of it together

    def entry(self, name: str) -> Entry:
        """Return the kernel. Raises StatementError."""
        for label, (start, _) in self._jumps.items():
            self.refuse(start, f"there is no label {label} after this branch")
        variables: tuple[Variable, ...] = ()
        try:
            variables = self._variables.used()
        except UnreadError as e:
            self.refuse(e.start, str(e))
        refused = [*self._refused, *(r for _, r in self._unset)]
        if refused:
            raise StatementError(refused)
        specials = [r for r in self._inputs if r.is_input]
        for register in specials:
            self._constants.pop(register.initial or 0, None)
        named = tuple(Named(r.name, r.initial or 0, tuple(dict.fromkeys(r.first))) for r in specials)
        return Entry(
            name,
            self.target,
            tuple(self._parameters),
            self._given,
            named,
            variables,
            tuple(self._local.values()),
            self._constants,
            tuple(self._steps),
        )


def _bits_of(t: Type) -> Type:
    return type_named(f"b{8 * t.bits.itemsize}")
