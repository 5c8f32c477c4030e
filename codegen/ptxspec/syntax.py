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
_LINE = re.compile(r"(?P<spelling>\S+)\s+(?P<operands>\S.*)")
_OPCODE = re.compile(r"[a-z][a-z0-9]*")
_MAX_SPELLINGS = 4096
_MAX_NAMES = 32
SOURCES = ("a", "b", "c")


class NotationError(ValueError):
    """`part` is the piece of the text that is wrong."""

    def __init__(self, message: str, part: str, help: str = "", name: str = "") -> None:
        super().__init__(message)
        self.part, self.help, self.name = part, help, name


@dataclass(frozen=True)
class Spellings:
    """All spellings of one syntax line: their names in the written order, the number of operands, the kind of result."""

    names: tuple[tuple[str, ...], ...]
    operands: int
    predicate: bool


def expand(text: str, groups: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Every sequence of names that a notation such as `{.ftz}.{f16,f16x2}` stands for."""
    # Each level of braces is a list of alternatives built so far.
    stack: list[list[tuple[str, ...]]] = [[()]]
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotationError(
                "a spelling is made of .name, .{one,of} and {.optional}", text[position : position + 12]
            )
        position = match.end()
        if match["open"]:
            stack.append([()])
            continue
        if match["close"]:
            if len(stack) == 1:
                raise NotationError("this closing brace has no opening one", "}")
            inner = [(), *stack.pop()]
        else:
            choice = [c.strip() for c in match["choice"].split(",")] if match["choice"] is not None else [match["name"]]
            if not all(choice):
                raise NotationError("an empty name in a choice", match[0])
            inner = [(m,) for m in itertools.chain.from_iterable(groups.get(c, (c,)) for c in choice)]
        # Asked before the spellings are made: a short text can stand for more than fit into memory.
        if len(stack[-1]) * len(inner) > _MAX_SPELLINGS:
            raise NotationError(f"this stands for more than {_MAX_SPELLINGS} spellings", text[:position])
        if max(map(len, stack[-1])) + max(map(len, inner)) > _MAX_NAMES:
            raise NotationError(f"more than {_MAX_NAMES} names in one spelling", text[:position])
        stack[-1] = [s + i for s in stack[-1] for i in inner]
    if len(stack) > 1:
        raise NotationError("this opening brace is never closed", "{")
    return stack[0]


def parse_line(line: str, opcode: str, groups: Mapping[str, tuple[str, ...]]) -> Spellings:
    """Read one syntax line. Raises NotationError."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise NotationError("a syntax line is a spelling, blanks, and operands", line.strip(), f"{opcode}.f32  d, a, b")
    spelling = match["spelling"]
    named = _OPCODE.match(spelling)
    if named is None or named[0] != opcode:
        raise NotationError(
            f"the line must begin with the file's opcode '{opcode}'", spelling.split(".")[0].split("{")[0]
        )
    operands = [o.strip() for o in match["operands"].split(",")]
    if operands[0] not in ("d", "p"):
        raise NotationError(
            "the first operand is the result: d, or p for a predicate", operands[0] or match["operands"]
        )
    if not 1 <= len(operands) - 1 <= len(SOURCES) or tuple(operands[1:]) != SOURCES[: len(operands) - 1]:
        raise NotationError("the source operands are a, then b, then c", match["operands"])
    names = expand(spelling[len(opcode) :], groups)
    return Spellings(tuple(names), len(operands) - 1, operands[0] == "p")
