"""The manual's notation for spellings: `max{.ftz}{.NaN}.{f16,f16x2}  d, a, b`, and what selectors are made of.

.name       a modifier, a type, or a group of modifiers (one of its members)
.{x,y}      one of several
{...}       what stands inside, or nothing
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"\.\{(?P<choice>[^{}]*)\}|\.(?P<name>[A-Za-z0-9_]+)|(?P<open>\{)|(?P<close>\})")
_LINE = re.compile(r"\s*(?P<spelling>\S+)\s+(?P<operands>\S.*)")
_OPCODE = re.compile(r"[a-z][a-z0-9]*")
_MAX_SPELLINGS = 4096
_MAX_NAMES = 32
SOURCES = ("a", "b", "c")


class NotationError(ValueError):
    """`start` and `length` say which part of the text is wrong."""

    def __init__(self, message: str, start: int, length: int, help: str = "") -> None:
        super().__init__(message)
        self.start, self.length, self.help = start, max(1, length), help


@dataclass(frozen=True)
class Spellings:
    """All spellings of one syntax line: names as written, the number of operands, the kind of result."""

    names: tuple[tuple[str, ...], ...]
    operands: int
    predicate: bool


def expand(text: str, groups: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Every sequence of names that a notation such as `{.ftz}.{f16,f16x2}` stands for."""
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
        # Asked before the spellings are made: a short text can stand for more than fit into memory.
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
    first, *sources = (o.strip() for o in match["operands"].split(","))
    if first not in ("d", "p"):
        raise NotationError("the first operand is the result: d, or p for a predicate", listed, len(first))
    if not sources or tuple(sources) != SOURCES[: len(sources)]:
        raise NotationError("the source operands are a, then b, then c", listed, len(match["operands"]))
    try:
        names = expand(spelling[len(opcode) :], groups)
    except NotationError as e:
        e.start += start + len(opcode)
        raise
    return Spellings(tuple(names), len(sources), first == "p")
