"""The manual's notation for spellings: `max{.ftz}{.NaN}.{f16,f16x2}  d, a, b`, and the notation of selectors.

.name       a modifier, a type, or a group of modifiers (one of its members)
.{x,y}      one of several
{...}       what is inside, or nothing

The operands follow the spelling: the result d, p for a predicate, or p{|q} if a second one may follow; then the
sources. The types that a spelling ends in go to them in order, and the last one repeats; an operand may state its own.

a, b, c     sources, in this order
c:f32       an operand with a type of its own, which is not in the spelling
c:d         an operand with the type of another one
d=u16x2     an operand of this type; the spelling has one of the same size, or one of which several fit in
a1, a0      the lanes of an operand in registers of their own, by their numbers; {a1, a0} if they are a vector
p0|p1       a result with a predicate for each lane
{!}c:pred   a predicate that may be negated
[carry]     a source k of this type that no statement writes: the condition code
d|q:pred    a result q of this type beside d, and every statement writes both
d[|carry]   a result q of this type beside d that no statement writes
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest

_NAME = r"[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*"
_TOKEN = re.compile(rf"\.\{{(?P<choice>[^{{}}]*)\}}|\.(?P<name>{_NAME})|(?P<open>\{{)|(?P<close>\}})")
_LINE = re.compile(r"\s*(?P<spelling>\S+)\s+(?P<operands>\S.*)")
_OPCODE = re.compile(r"[a-z][a-z0-9]*")
_PLACE = re.compile(r"(?P<negatable>\{!\})?(?P<name>[a-z])(?P<lane>\d)?(?:(?P<mark>[:=])(?P<type>[a-z]\w*))?")
_IMPLICIT = re.compile(r"(d?)\[(\|?)([a-z]\w*)\]")
_BOTH = re.compile(r"d\|q:([a-z]\w*)")
_VECTOR = re.compile(r"\{(?P<lanes>[^{}]*)\}(?::(?P<type>[a-z]\w*))?")
_MAX_SPELLINGS = 4096
_MAX_NAMES = 32
# Sources without a type of their own, in this order.
_SOURCES = ("a", "b", "c")
_RESULTS = ("d", "p", "q")


class NotationError(ValueError):
    """An error in a notation. `start` and `length` say which part is wrong."""

    def __init__(self, message: str, start: int, length: int, help: str = "") -> None:
        super().__init__(message)
        self.start, self.length, self.help = start, max(1, length), help


@dataclass(frozen=True)
class SyntaxOperand:
    """An operand as a syntax line writes it. `registers` are those of lanes that have registers of their own, `braced`
    if they are written as a vector. `type` is a type that it states, or the name of an operand that has the same type;
    empty if the spelling gives it. `holds` is the type of its values if the spelling names another one for the size
    alone. An `implicit` operand is the condition code. `start` and `length` are its place in the line."""

    name: str
    registers: tuple[str, ...]
    braced: bool
    negatable: bool
    type: str
    start: int
    length: int
    holds: str = ""
    implicit: bool = False


@dataclass(frozen=True)
class Spellings:
    """All spellings of one syntax line: names as written, and the operands."""

    names: tuple[tuple[str, ...], ...]
    result: SyntaxOperand
    second: SyntaxOperand | None
    sources: tuple[SyntaxOperand, ...]


def expand(text: str, groups: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return every sequence of names that a notation such as `{.ftz}.{f16,f16x2}` stands for."""
    # Each level of braces is a list of alternatives built so far.
    stack: list[list[tuple[str, ...]]] = [[()]]
    opened: list[int] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotationError("a spelling is made of .name, .{one,of} and {.optional}", position, 1)
        position = match.end()
        if match["open"]:
            stack.append([()])
            opened.append(match.start())
            continue
        if match["close"]:
            if len(stack) == 1:
                raise NotationError("this closing brace has no opening one", match.start(), 1)
            inner = [(), *stack.pop()]
            opened.pop()
        else:
            choice = [c.strip() for c in match["choice"].split(",")] if match["choice"] is not None else [match["name"]]
            if not all(choice):
                raise NotationError("an empty name in a choice", match.start(), len(match[0]))
            inner = [(m,) for m in itertools.chain.from_iterable(groups.get(c, (c,)) for c in choice)]
        # This is checked before the spellings are made: a short text can stand for more than fit into memory.
        if len(stack[-1]) * len(inner) > _MAX_SPELLINGS:
            raise NotationError(f"this stands for more than {_MAX_SPELLINGS} spellings", 0, position)
        if max(map(len, stack[-1])) + max(map(len, inner)) > _MAX_NAMES:
            raise NotationError(f"more than {_MAX_NAMES} names in one spelling", 0, position)
        stack[-1] = [s + i for s in stack[-1] for i in inner]
    if opened:
        raise NotationError("this opening brace is never closed", opened[-1], 1)
    return stack[0]


def parse_line(line: str, opcode: str, groups: Mapping[str, tuple[str, ...]]) -> Spellings:
    """Read one syntax line. Raises NotationError."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise NotationError("a syntax line is a spelling, blanks, and operands", 0, len(line), f"{opcode}.f32  d, a, b")
    spelling = match["spelling"]
    start, listed = match.start("spelling"), match.start("operands")
    named = _OPCODE.match(spelling)
    if named is None or named[0] != opcode:
        length = len(re.split(r"[.{]", spelling)[0])
        raise NotationError(f"the line must begin with the file's opcode '{opcode}'", start, length)
    places = [_place(text, listed + at) for at, text in parts(match["operands"])]
    first, *written = places
    result, second = _results(first)
    if not written:
        raise NotationError("an instruction has sources: a, then b, then c", listed, len(match["operands"]))
    try:
        names = expand(spelling[len(opcode) :], groups)
    except NotationError as e:
        e.start += start + len(opcode)
        raise
    return Spellings(tuple(names), result, second, _sources(written))


def parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the operands between the commas, each with its place; commas within braces do not separate."""
    depth, begin = 0, 0
    for i, c in enumerate(f"{text},"):
        depth += (c == "{") - (c == "}")
        # A brace that is not closed extends to the end.
        if (c == "," and depth == 0) or i == len(text):
            part = text[begin:i]
            yield begin + len(part) - len(part.lstrip()), part.strip()
            begin = i + 1


def _place(text: str, start: int) -> SyntaxOperand:
    """Return one operand. The name of a result with several parts is the whole text."""
    if vector := _VECTOR.fullmatch(text):
        registers = tuple(r.strip() for r in vector["lanes"].split(","))
        lanes = [_PLACE.fullmatch(r) for r in registers]
        if not all(m and m["lane"] and not m["type"] and m["name"] == registers[0][0] for m in lanes):
            raise NotationError("a vector has the lanes of one operand", start, len(text), "write them as in {a1, a0}")
        return SyntaxOperand(registers[0][0], registers, True, False, vector["type"] or "", start, len(text))
    if (m := _IMPLICIT.fullmatch(text)) and bool(m[1]) == bool(m[2]):
        return SyntaxOperand(m[1] or "k", (), False, False, m[3], start, len(text), implicit=True)
    if m := _PLACE.fullmatch(text):
        registers = (m["name"] + m["lane"],) if m["lane"] else ()
        stated = m["type"] or ""
        types = ("", stated) if m["mark"] == "=" else (stated, "")
        return SyntaxOperand(m["name"], registers, False, bool(m["negatable"]), types[0], start, len(text), types[1])
    return SyntaxOperand(text, (), False, False, "", start, len(text))


def _results(first: SyntaxOperand) -> tuple[SyntaxOperand, SyntaxOperand | None]:
    """Return the result, and the second one of p{|q}, d|q:pred or d[|carry]."""
    if first.implicit and first.name == "d":
        return replace(first, type="", implicit=False), replace(first, name="q")
    if first.name == "p{|q}":
        return replace(first, name="p"), replace(first, name="q")
    if both := _BOTH.fullmatch(first.name):
        return replace(first, name="d"), replace(first, name="q", type=both[1])
    lanes = first.name.split("|")
    if len(lanes) > 1 and lanes == [f"p{i}" for i in range(len(lanes))]:
        return replace(first, name="p", registers=tuple(lanes)), None
    if first.name not in ("d", "p") or first.registers or first.negatable:
        message = "the first operand is the result: d, or p for a predicate"
        raise NotationError(message, first.start, first.length, "p{|q} has a second one, p0|p1 one for each lane")
    return first, None


def _sources(written: list[SyntaxOperand]) -> tuple[SyntaxOperand, ...]:
    """Return the sources, with the registers of one operand's lanes together."""
    found: list[SyntaxOperand] = []
    for place in written:
        last = found[-1] if found else None
        if last and place.registers and last.registers and last.name == place.name and not place.braced:
            length = place.start + place.length - last.start
            registers = (*last.registers, *place.registers)
            found[-1] = replace(last, registers=registers, type=place.type or last.type, length=length)
        else:
            found.append(place)
    plain = [p for p in found if p.name in _SOURCES or not p.type]
    for place, expected in zip_longest(plain, _SOURCES[: len(plain)]):
        if place.name != expected:
            help = "other names are for operands with a type of their own, as in r:b32"
            raise NotationError("the source operands are a, then b, then c", place.start, place.length, help)
    for i, place in enumerate(found):
        if place.name in _RESULTS or place.name in (p.name for p in found[:i]):
            raise NotationError(f"'{place.name}' is stated twice", place.start, place.length)
        lanes = sorted(int(r[-1]) for r in place.registers)
        if lanes and (lanes != list(range(len(lanes))) or len(lanes) == 1):
            message = f"the lanes of '{place.name}' are not numbered from 0 on"
            raise NotationError(message, place.start, place.length, "write each once, as in a1, a0")
    return tuple(found)
