"""C and C++: the text of asm statements, and the strings that are PTX or hold a program with asm statements."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from ...ptx.scanning import HOLE, View
from .. import constraints, traces
from .text import (
    ELSEWHERE,
    FORMATTED_LATER,
    Text,
    before,
    filled_in,
    has_statement,
    is_module,
    unescape,
    verbatim,
)

_ASM = r"\b(?:asm|__asm__|__asm)\b"
_SKIP = r"(?:[ \t\r\n]|\\\r?\n|//[^\n]*|/\*(?s:.)*?\*/)*+"


class _Patterns(NamedTuple):
    """The patterns for a program's tokens, for the parts of a text between strings, and for strings side by side."""

    token: re.Pattern[str]
    part: re.Pattern[str]
    adjacent: re.Pattern[str]


def _patterns(body: str) -> _Patterns:
    """`body` is what a string in quotes may have, beside escapes."""
    string = rf"""(?:u8|[LuU])?(?:
        R"(?P<delimiter>[^()\\\s]{{0,16}})\((?P<raw>(?s:.)*?)\)(?P=delimiter)" | "(?P<body>(?:{body}|\\(?s:.))*+)" )"""
    token = rf"""
        (?P<comment> //[^\n]*+ | /\*(?s:.)*?\*/ | /\*(?s:.)*+ )
      | (?P<string> {string} )
      | (?P<open> (?:u8|[LuU])?R"[^()\\\s]{{0,16}}\((?s:.)*+ | {_ASM}[^("';{{}}]*+\Z
            | /\Z | '(?:[^'\\\n]|\\.){{0,4}}\Z )
      | (?P<broken> (?:u8|[LuU])?R?"(?:[^\\\n]|\\(?s:.|\Z))*+ )
      | (?P<char> '(?:[^'\\\n]|\\.){{1,4}}' )
      | (?P<asm> {_ASM}{_SKIP}
            (?:(?:volatile|__volatile__|goto|__inline__|inline|const){_SKIP})*+\( )
      | (?P<word> \w++ )"""
    part = rf"""
        (?P<skip> [ \t\r]++ | \n(?![ \t]*+\#) | \\\r?\n | //[^\n]*+ | /\*(?s:.)*?\*/ )
      | (?P<line> \n[ \t]*+\#(?:[^\n\\]|\\(?s:.))*+ )
      | (?P<string> {string} )
      | (?P<hole> \#?\s*\w++(?:\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))? )"""
    nameless = re.sub(r"[?]P<(?:raw|body)>", "?:", string)
    return _Patterns(
        re.compile(token, re.VERBOSE),
        re.compile(part, re.VERBOSE),
        re.compile(rf"(?:{_SKIP}{nameless.replace('delimiter', 'd')})*+", re.VERBOSE),
    )


_IN_FILES = _patterns(r'[^"\\\n]')
# In a Python string that is not raw, \n within a string of C is the end of a line.
_IN_STRINGS = _patterns(r'[^"\\]')
# What is none of these, or a word, comment or character that goes on to nowhere, or a string by itself without a trace:
# most of a program, in one step.
_PLAIN = re.compile(
    r"""(?: [^\w"'/]++ | (?!asm|__asm)\w++(?!["']|\Z) | //[^\n]*+\n | /\*(?s:.)*?\*/ | /(?![/*]|\Z)
      | "(?:[^"\\\n.a]|\\[^\n]|\.(?![bsufpv])|a(?!sm))*+"(?!\s*+(?:["/\\LuUR]|\Z))
      | '(?:[^'\\\n]|\\.){1,4}'(?!\Z) )*+""",
    re.VERBOSE,
)
# The names that GCC and Clang give to operands, and their %= that is another number in each copy: %[a] and L%=.
_NAMED = re.compile(r"%\[(\w+)\]|%=")
# What an error or a log begins with is no PTX: it is told to people.
_TOLD = re.compile(
    r"""\b(?: throw\s++(?:[\w:<>]++\s*+[({]\s*+)++ | (?:cerr|clog|LOG\w*+\([^()"]*+\))\s*+<<\s*+
      | (?:spdlog|logger|log)(?:::|\.|->)(?:trace|debug|info|warn|warning|error|critical|fatal)\(\s*+
      | fprintf\(\s*+stderr\s*+,\s*+ )\Z""",
    re.VERBOSE,
)


def cpp(view: View, within: _Patterns = _IN_FILES) -> Iterator[Text]:
    """The inline assembly of C or C++, and its strings that are PTX."""
    text, position = view.text, 0
    unending = False  # an asm statement was that; what follows may be anything
    places = traces.offsets(text)
    last = max(places, default=-1)
    while position <= last:
        plain = _PLAIN.match(text, position)
        m = within.token.search(text, plain.end() if plain else position)
        if m is None:
            break
        kind = m.lastgroup
        stop = m.end()
        if kind == "asm" or (kind == "string" and _is_traced(view, m, within, places)):
            found = Text(view)
            if kind == "string":
                found.add(ELSEWHERE, m.start())
            after = _parts(view, stop if kind == "asm" else m.start(), found, within, formatted=kind == "string")
            stop = max(stop, after)
            found.close()
            if kind == "asm":
                operands = None if unending else constraints.cpp(text, after)
                unending = operands is None
                found.constraints, numbers = operands or ((), {})
                found.text = _NAMED.sub(partial(_numbered, numbers), found.text)
                yield found
            else:
                found.add(ELSEWHERE, stop)
                # A whole module is PTX wherever it is written to.
                if is_module(found.text) or not _TOLD.search(before(view, m.start())):
                    yield from in_program(found.close()) or by_itself(found)
        position = stop


def in_program(text: Text) -> list[Text]:
    """The inline assembly of a string that holds a program. Compilers write `asm` into the comments of PTX too, so that
    the word alone says nothing."""
    return [t for t in cpp(text, _IN_STRINGS) if t.text.strip()] if "asm" in text.text else []


def by_itself(text: Text) -> Iterator[Text]:
    """A string that is no argument of asm() where it is PTX: where it names a version, or has a statement."""
    if is_module(text.text):
        yield text
    elif has_statement(text.text):
        text.prose = True
        yield text


def _is_traced(view: View, string: re.Match[str], within: _Patterns, places: list[int]) -> bool:
    """Return whether a trace of PTX is in a string, or in those beside it."""
    following = bisect_left(places, string.start())
    next_place = places[following] if following < len(places) else len(view.text)
    if next_place < string.end():
        return True
    adjacent = within.adjacent.match(view.text, string.end())
    end = adjacent.end() if adjacent else string.end()
    return next_place < end


def _numbered(numbers: dict[str, int], m: re.Match[str]) -> str:
    """Return the number that an operand's name stands for, in as many characters; an unknown name is left a name."""
    if m[1] is None:
        return "__"
    return f"%{numbers[m[1]]}".ljust(len(m[0])) if m[1] in numbers else f"%_{m[1]}_"


def _parts(view: View, position: int, into: Text, within: _Patterns, formatted: bool = False) -> int:
    """Adjacent strings from a position on, and where they end. Names between them are macros, of which nothing
    is known. `formatted`: printf and the like may fill something in."""
    text = view.text
    while m := within.part.match(text, position):
        if m.lastgroup == "string":
            _string(m, into, formatted)
        elif m.lastgroup == "hole":
            into.add(ELSEWHERE, m.start())
        elif m.lastgroup == "line":
            # What stands behind it may take the place of what stands before it.
            into.add(HOLE + "\n", m.start())
        position = m.end()
    return position


def _string(m: re.Match[str], into: Text, formatted: bool) -> None:
    raw = m["body"] is None
    body, start = (m["raw"], m.start("raw")) if raw else (m["body"], m.start("body"))
    plain = verbatim if raw else unescape
    if formatted:
        filled_in(body, start, FORMATTED_LATER, into, plain)
    else:
        plain(body, start, into)
