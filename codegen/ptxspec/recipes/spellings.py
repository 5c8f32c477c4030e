"""Spellings in recipes: a notation that a variant's names fill, so that one recipe serves many variants.

.rnd  .{f16,bf16}   the variant's modifier of the group, or its type among these; it must have one
{.ftz}              what the variant has of this, or nothing
{.rnd|.rn}          what the variant has of the first, else the second
.rn                 this"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..read.notation import NotationError

_NAME = r"[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*"
_NAMES = rf"(?:\.{_NAME}|\.\{{[^{{}}]*\}})+"
_PART = re.compile(
    rf"\.(?P<name>{_NAME})|\.\{{(?P<choice>[^{{}}]*)\}}|\{{(?P<first>{_NAMES})(?:\|(?P<other>{_NAMES}))?\}}"
)


def fill(spelling: str, names: Sequence[str], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, list[str]]:
    """Return the opcode and the names of a spelling in notation, for a variant with these names. Raises
    NotationError."""
    opcode = re.match(r"[a-z][a-z0-9]*", spelling)
    assert opcode is not None, spelling
    found: list[str] = []
    position = opcode.end()
    while position < len(spelling):
        part = _PART.match(spelling, position)
        if part is None:
            help = "a spelling consists of .name, .{one,of}, {.optional} and {.this|.else}"
            raise NotationError("this cannot be parsed", position, len(spelling) - position, help)
        if part["first"]:
            optional = _named(part["first"], names, groups)
            found += optional if optional is not None else _literal(part["other"], groups)
        elif part["choice"] is not None or part["name"] in groups:
            chosen = _named(part[0], names, groups)
            if chosen is None:
                message = f"the variant has no name of {part[0]}"
                raise NotationError(message, position, len(part[0]), f"write {{{part[0]}}} if it may be missing")
            found += chosen
        else:
            found.append(part["name"])
        position = part.end()
    return opcode[0], found


def _named(text: str, names: Sequence[str], groups: Mapping[str, tuple[str, ...]]) -> list[str] | None:
    """Return those of a variant's names that a notation names; None where the variant lacks one of them."""
    found = []
    for part in _PART.finditer(text):
        choice = part["choice"].split(",") if part["choice"] is not None else [part["name"]]
        members = {m for c in choice for m in groups.get(c.strip(), (c.strip(),))}
        name = next((n for n in names if n in members), None)
        if name is None:
            return None
        found.append(name)
    return found


def _literal(text: str | None, groups: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [part["name"] for part in _PART.finditer(text or "") if part["name"]]


def names_in(spelling: str) -> Iterable[str]:
    """Return every name in a spelling's notation."""
    return (match[0] for match in re.finditer(_NAME, spelling) if match.start())
