"""The statements of a kernel that do a call's work, from the loads of its parameters to the stores of its results, with
names for registers.

`%a`, `%b`, `%c` are the call's arguments, `%d` its result; `%ax` and `%ay` are the parts of an argument that is loaded
in parts, the lowest first. All other registers are `%t1`, `%t2`, ..., declared in front. Registers have types of bits,
as they may in PTX of any version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .compiling import outputs
from .headers import CompilableCall, arguments

# Up to this many straight-line instructions are kept as they are.
WHOLE = 24

_COMMENT = re.compile(r"//[^\n]*")
_TOKEN = re.compile(r"[{};]|[^{};]+")
_DECLARED = re.compile(r"\.reg\s*\.(?P<type>\w+)\s+(?P<names>.*)", re.DOTALL)
_NAME = re.compile(r"(?<![\w$.%])(?:%[\w$]+|[A-Za-z_$][\w$]*)")
_LABEL = re.compile(r"^\s*[$\w]+:\s*(?!:)")
_PARAMETER = re.compile(
    r"ld\.param(?:\.v\d)?\.(?P<kind>[a-z])(?P<width>\d+)\s+(?P<to>.*?),\s*\[k\d+_param_(?P<number>\d+)(?:\+(?P<offset>\d+))?\]"
)
_POINTER = re.compile(r"cvta\.to\.global\.u64\s+(?P<to>\S+),\s*(?P<of>\S+)")
_STORE = re.compile(
    r"st\.global(?:\.v\d)?\.[a-z](?P<width>\d+)\s+\[(?P<at>[^\]+]+)(?:\+(?P<offset>\d+))?\],\s*(?P<what>.*)"
)
_SIZE = re.compile(r"\.param \.align \d+ \.b8 k\d+_param_(?P<number>\d+)\[(?P<size>\d+)\]")
# Jumps, calls and memory accesses are not straight-line code.
_NOT_STRAIGHT = re.compile(r"(?:@!?\S+\s+)?(?:bra|call|brx|ret|exit|trap)\b|.*[\[(]", re.DOTALL)


@dataclass(frozen=True)
class PtxWork:
    """The PTX that does a call's work, as statements separated by spaces, and the number of instructions in it. `ptx`
    is empty if there are many, or they jump. `low` is 8 where the low 8 bits of `%d` are the result: no register of an
    instruction is smaller than 16 bits."""

    ptx: str
    count: int
    low: int = 0


class _Unclear(Exception):
    """An error for code in which names would be wrong."""


def work(call: CompilableCall, kernel: str) -> PtxWork:
    """Return the work of a call in its kernel."""
    head, _, body = _COMMENT.sub("", kernel).partition("{")
    statements, types = _statements(body[: body.rindex("}")])
    own = [s for s in statements if not re.match(r"ld\.param|cvta|st\.global|ret$", s)]
    counted = PtxWork("", len(own))
    if len(own) > WHOLE or any(_NOT_STRAIGHT.match(s) for s in own):
        return counted
    try:
        return _Naming(call, head, types).work(statements)
    except _Unclear:
        return counted


def _statements(body: str) -> tuple[list[str], dict[str, str]]:
    """Return the statements in their order, with a unique name for each register, and the types of these."""
    found: list[str] = []
    types: dict[str, str] = {}
    scopes: list[dict[str, str]] = [{}]
    text = ""

    def close() -> None:
        nonlocal text
        statement, text = " ".join(text.split()), ""
        if m := _DECLARED.match(statement):
            for name in m["names"].split(","):
                scopes[-1][name.strip().partition("<")[0]] = unique = f"\0{len(types)}."
                types[unique] = m["type"]
        elif statement and not statement.startswith("."):
            found.append(_NAME.sub(lambda m: _unique(m[0], scopes), _LABEL.sub("", statement)))

    for token in _TOKEN.findall(body):
        if token == ";":
            close()
        elif token == "{" and not text.strip():
            scopes.append({})
        elif token == "}" and not text.strip() and len(scopes) > 1:
            scopes.pop()
        else:
            text += token
    return found, types


def _unique(name: str, scopes: Sequence[Mapping[str, str]]) -> str:
    """Return the unique name of a register; any other name is unchanged."""
    for scope in reversed(scopes):
        if name in scope:
            return scope[name]
        stem = name.rstrip("0123456789")
        if name.startswith("%") and stem != name and stem in scope:
            return f"{scope[stem]}{name[len(stem) :]}"
    return name


def _destination(statement: str) -> tuple[str, str]:
    """Return a statement up to the end of its destination, and the rest."""
    m = re.match(r"(?:@!?\S+ )?\S+ (?:\{[^}]*\}|[^,]*)", statement)
    return (m[0], statement[m.end() :]) if m else ("", statement)


# A register with a unique name.
_REGISTER = re.compile(r"\0\d+\.\d*")


class _Naming:
    """The names of a kernel's registers."""

    def __init__(self, call: CompilableCall, head: str, types: Mapping[str, str]) -> None:
        self._types = types
        self._results = outputs(call)
        self._letters = [letter for letter, type in arguments(call.takes) if not type.endswith("*")]
        self._sizes = {int(m["number"]): int(m["size"]) for m in _SIZE.finditer(head)}
        self._pointers: dict[str, int] = {}
        self._names: dict[str, str] = {}
        # Statements that extend an argument loaded into a larger register, as the load does.
        self._widened: list[str] = []

    def work(self, statements: Sequence[str]) -> PtxWork:
        own, stores = [], []
        for s in statements:
            if m := _PARAMETER.fullmatch(s):
                self._load(m)
            elif (m := _POINTER.fullmatch(s)) and m["of"] in self._pointers:
                self._pointers[m["to"]] = self._pointers[m["of"]]
            elif (m := _STORE.fullmatch(s)) and m["at"] in self._pointers:
                stores.append(m)
            elif s != "ret":
                own.append(s)
        own, held = self._without_writes_to_arguments(own)
        moves, low = self._store([(m, _REGISTER.sub(lambda r: held.get(r[0], r[0]), m["what"])) for m in stores])
        return self._text([*self._widened, *own, *moves], low)

    def _without_writes_to_arguments(self, statements: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        """Return the statements with another register wherever one of an argument is written, and the register that
        each now is."""
        found: list[str] = []
        held: dict[str, str] = {}
        for s in statements:
            written, rest = _destination(s)
            rest = _REGISTER.sub(lambda m: held.get(m[0], m[0]), rest)
            for register in _REGISTER.findall(written):
                if register in self._names:
                    if s.startswith("@"):
                        raise _Unclear
                    held[register] = unique = f"{register.partition('.')[0]}.{len(held)}000000"
                    if unique in self._names:
                        raise _Unclear
            found.append(_REGISTER.sub(lambda m: held.get(m[0], m[0]), written) + rest)
        return found, held

    def _load(self, m: re.Match[str]) -> None:
        number, m_width, offset = int(m["number"]), int(m["width"]), int(m["offset"] or 0)
        width = m_width // 8
        registers = _REGISTER.findall(m["to"])
        if number < len(self._results):
            self._pointers[registers[0]] = number
            return
        letter = self._letters[number - len(self._results)]
        is_part = width < self._sizes.get(number, width)
        for i, register in enumerate(registers):
            name = f"%{letter}{'xyzw'[offset // width + i] if is_part else ''}"
            if 8 < m_width < self._width(register):
                kind = "s" if m["kind"] == "s" else "u"
                self._widened.append(f"cvt.{kind}{self._width(register)}.{kind}{m_width} {register}, {name}")
            else:
                self._names[register] = name

    def _store(self, stores: Sequence[tuple[re.Match[str], str]]) -> tuple[list[str], int]:
        """Name results. Return the statements that move results which already have a name, and how many bits of a wider
        register are stored."""
        parts: dict[int, list[tuple[int, int, str]]] = {}
        for m, whats in stores:
            width, offset = int(m["width"]), int(m["offset"] or 0)
            for i, what in enumerate(whats.strip("{} ").split(",")):
                parts.setdefault(self._pointers[m["at"]], []).append((offset + i * width // 8, width, what.strip()))
        if sorted(parts) != list(range(len(self._results))):
            raise _Unclear
        moves, low = [], 0
        for number, stored in parts.items():
            name = f"%d{number + 1}" if len(self._results) > 1 else "%d"
            for i, (_, width, what) in enumerate(sorted(stored)):
                part = f"{name}{'xyzw'[i]}" if len(stored) > 1 else name
                own = self._width(what) if _REGISTER.fullmatch(what) else width
                if 8 < width < own:
                    moves.append(f"cvt.u{width}.u{own} {part}, {what}")
                elif _REGISTER.fullmatch(what) and what not in self._names:
                    self._names[what] = part
                else:
                    moves.append(f"mov.b{max(16, own)} {part}, {what}")
                low = width if width == 8 else low
        return moves, low

    def _width(self, register: str) -> int:
        type = self._types[register[: register.index(".") + 1]]
        return int(re.sub(r"\D", "", type) or 1)

    def _text(self, statements: Sequence[str], low: int) -> PtxWork:
        declared: dict[str, list[str]] = {}

        def named(m: re.Match[str]) -> str:
            if m[0] not in self._names:
                self._names[m[0]] = name = f"%t{sum(map(len, declared.values())) + 1}"
                type = self._types[m[0][: m[0].index(".") + 1]]
                declared.setdefault(re.sub(r"^[a-z](?=\d)", "b", type), []).append(name)
            return self._names[m[0]]

        lines = [re.sub(r"\s*,\s*", ", ", _REGISTER.sub(named, s)) + ";" for s in statements]
        registers = [f".reg .{type} {', '.join(names)};" for type, names in declared.items()]
        return PtxWork(" ".join([*registers, *lines]), len(lines), low)
