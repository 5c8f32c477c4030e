"""Python: the arguments of functions for inline assembly, and the strings that are PTX or CUDA C++ with asm."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from ...ptx.scanning import View
from .. import constraints, traces
from .cpp import by_itself, in_program
from .text import (
    ELSEWHERE,
    FORMATTED,
    FORMATTED_LATER,
    Text,
    before,
    filled_in,
    unescape,
    verbatim,
)

_STRING = r"""
    (?P<prefix>[A-Za-z]{0,2})
    (?: \"\"\"(?P<long>(?:[^"\\]|\\(?s:.)|"(?!""))*+)\"\"\"
      | '''(?P<long_single>(?:[^'\\]|\\(?s:.)|'(?!''))*+)'''
      | (?!\"\"\"|''')(?:"(?P<short>(?:[^"\\\n]|\\(?s:.))*+)"
      | '(?P<short_single>(?:[^'\\\n]|\\(?s:.))*+)') )
"""
# What may stand before the quotation marks of an argument.
_FIRST = r"(?:\(\s*+)?[A-Za-z]{0,2}+"
_TOKEN = re.compile(
    rf"""(?P<comment> \#[^\n]*+ )
      | (?P<string> {_STRING} )
      | (?P<broken> [A-Za-z]{{0,2}}(?:(?:\"\"\"|\'\'\')(?s:.)*+ | ["'](?:[^\\\n]|\\(?s:.|\Z))*+) )
      | (?P<asm> (?:(?=\w*asm)\w++\s*+\(\s*+(?:\w+\s*+=\s*+)? | [(,]\s*+asm\s*+=\s*+)
            (?:\(\s*+)?(?=[A-Za-z]{{0,2}}["']) )
      | (?P<open> (?: (?=\w*asm)\w++\s*+(?:\(\s*+(?:\w++\s*+(?:=\s*+)?)?{_FIRST})?
            | [(,]\s*+(?:as?|asm\s*+(?:=\s*+{_FIRST})?)? )\Z )
      | (?P<word> \w++ )
    """,
    re.VERBOSE,
)
_PLAIN = re.compile(
    r"""(?: [^\w"'\#(,]++ | (?=\w)[^\Wa]*+(?:a(?!sm)[^\Wa]*+)*+(?![\w"']|\Z) | \#[^\n]*+\n
      | [(,](?!\s*+(?:asm|as?\Z|\Z)) )*+""",
    re.VERBOSE,
)
_SPACE = r"(?:[ \t\r\n+]|\\\n|\#[^\n]*\n)*+"
_BETWEEN = re.compile(_SPACE)
_NEXT = re.compile(_STRING, re.VERBOSE)
# Strings side by side, where it is in sight that no more follow.
_QUOTED = re.sub(r"[?]P<\w+>", "?:", _STRING)
_GROUP = re.compile(rf"(?:{_QUOTED}{_SPACE})++(?![A-Za-z]{{0,2}}[\"'\\]|[A-Za-z]{{1,2}}\Z|\#|\Z)", re.VERBOSE)
_END = re.compile(r"\s*+[,)]")
_PERCENT = re.compile(r"[\s)]*+%")
# The {expression} of an f-string.
_FILLED = re.compile(r"(?P<literal>\{\{|\}\})|\{(?:[^{}]|\{[^{}]*\})*\}")
# What stands before the string that documents a module, and before that of a class or a function: a string by itself
# that begins a block. So does the value in a dictionary, but behind that something else follows than a statement.
_COMMENT = r"[ \t]*+(?:\#[^\n]*+)?"
_BEGUN = re.compile(rf"(?:{_COMMENT}\n)*+")
_DOCUMENTED = re.compile(
    rf""":{_COMMENT}\n(?:{_COMMENT}\n)*+[ \t]*+\Z | (?:^|\n)[ \t]*+(?:(?:async[ ]++)?def\b|class\b)[^\n]*:[ \t]*+\Z""",
    re.VERBOSE,
)
_ALONE = re.compile(rf"{_COMMENT}(?:\Z|\n(?:{_COMMENT}\n)*+[ \t]*+(?![)\]}},%+.*]))")
# What an error says is no PTX.
_RAISED = re.compile(r"\braise\s++[\w.]++\(\s*+\Z")


def python(view: View) -> Iterator[Text]:
    """The strings of Python that are PTX, or CUDA C++ with inline assembly."""
    text, position = view.text, 0
    places = traces.offsets(text)
    last = max(places, default=-1)
    while position <= last:
        plain = _PLAIN.match(text, position)
        m = _TOKEN.search(text, plain.end() if plain else position)
        if m is None:
            break
        position = m.start()
        argument = m.lastgroup == "asm"
        if m.lastgroup != "string" and not argument:
            position = m.end()
            continue
        if not argument and (strings := _GROUP.match(text, position)):
            following = bisect_left(places, position)
            if following == len(places) or places[following] >= strings.end():
                position = strings.end()
                continue
        found = Text(view)
        after = _parts(view, m.end() if argument else position, found, argument)
        found.constraints = constraints.listed(text, after)
        documents = not argument and _documents(view, position, after)
        position = max(after, m.end())
        if documents:
            continue
        found.close_without_braces()
        if programs := in_program(found):
            yield from programs
        elif argument:
            yield found
        else:
            yield from by_itself(found)


def _begins(view: View, position: int) -> bool:
    """Return whether nothing but comments stands before a position in the file."""
    begun = _BEGUN.match(view.text)
    return begun is not None and begun.end() == position and view.place(0)[:2] == (1, 1)


def _documents(view: View, position: int, after: int) -> bool:
    """Return whether a string is the docstring of a module, a class or a function, or the message of an error."""
    known = before(view, position)
    if _RAISED.search(known):
        return True
    if not _ALONE.match(view.text, after):
        return False
    is_first = _begins(view, position) and view.text[after:].strip() != ""
    return is_first or _DOCUMENTED.search(known) is not None


def _parts(view: View, position: int, into: Text, argument: bool) -> int:
    """Adjacent strings from a position on, and where they end."""
    text = view.text
    start = after = position
    parts = []
    while m := _NEXT.match(text, position):
        parts.append(m)
        after = m.end()
        between = _BETWEEN.match(text, after)
        position = between.end() if between else after
    percent = _PERCENT.match(text, after)
    whole = argument and _END.match(text, position)
    if not argument:
        into.add(ELSEWHERE, start)
    for part in parts:
        _string(part, into, percent is not None)
    if not whole:
        into.add(ELSEWHERE, after)
    return after


def _string(m: re.Match[str], into: Text, formatted: bool) -> None:
    prefix = m["prefix"].lower()
    group = next(g for g in ("long", "long_single", "short", "short_single") if m[g] is not None)
    holes = _FILLED if "f" in prefix else FORMATTED if formatted else FORMATTED_LATER
    if "f" in prefix:
        into.written_as |= {"{": "{{", "}": "}}"}
    elif formatted:
        into.written_as["%"] = "%%"
    filled_in(m[group], m.start(group), holes, into, verbatim if "r" in prefix else unescape)
