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
    LOOKED_BACK,
    OPEN_LIMIT,
    Text,
    consume,
    filled_in,
    goes_on,
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
_TOKEN = re.compile(
    rf"""(?P<comment> \#[^\n]*+ )
      | (?P<string> {_STRING} )
      | (?P<broken> (?:\"\"\"|\'\'\')(?s:.)*+ | ["'][^\n]*+ )
      | (?P<asm> (?:(?=\w*asm)\w++\s*+\(\s*+(?:\w+\s*+=\s*+)? | [(,]\s*+asm\s*+=\s*+)
            (?:\(\s*+)?(?=[A-Za-z]{{0,2}}["']) )
      | (?P<word> \w++ )
    """,
    re.VERBOSE,
)
_PLAIN = re.compile(
    r"""(?: [^\w"'\#(,]++ | (?=\w)[^\Wa]*+(?:a(?!sm)[^\Wa]*+)*+(?![\w"']|\Z) | \#[^\n]*+\n | [(,](?!\s*+asm) )*+""",
    re.VERBOSE,
)
_SPACE = r"(?:[ \t\r\n+]|\\\n|\#[^\n]*\n)*+"
_BETWEEN = re.compile(_SPACE)
_NEXT = re.compile(_STRING, re.VERBOSE)
_OPEN = re.compile(r"[A-Za-z]{0,2}[\"']|[A-Za-z]{1,2}\Z|[#\\]")
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
    """The strings of a window on Python that are PTX, or CUDA C++ with inline assembly."""
    text, position = view.text, 0
    end = len(text)
    places = traces.offsets(text)
    last = max(places, default=-1) if view.final else end
    while True:
        plain = _PLAIN.match(text, position)
        m = _TOKEN.search(text, plain.end() if plain else position) if position <= last else None
        if m is None:
            position = end
            break
        position = m.start()
        if m.end() >= end and not view.final:
            break
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
        if after is None:
            break
        operands = constraints.listed(text, after, view.final or end - after > OPEN_LIMIT)
        if operands is None:
            break
        found.constraints = operands
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
    consume(view, position)


def _documents(view: View, position: int, after: int) -> bool:
    """Whether a string is what a module, a class or a function says of itself, or an error."""
    text = view.text
    before = text[max(0, position - LOOKED_BACK) : position]
    if _RAISED.search(before):
        return True
    if not _ALONE.match(text, after):
        return False
    begun = _BEGUN.match(text)
    is_first = begun is not None and begun.end() == position and view.place(0)[:2] == (1, 1)
    return (is_first and text[after:].strip() != "") or _DOCUMENTED.search(before) is not None


def _parts(view: View, position: int, into: Text, argument: bool) -> int | None:
    """Adjacent strings from a position on, and where they end; None where that is not in the window."""
    text, end = view.text, len(view.text)
    start = after = position
    parts = []
    while m := _NEXT.match(text, position):
        if m.end() >= end and not view.final:
            return None
        parts.append(m)
        after = m.end()
        between = _BETWEEN.match(text, after)
        position = between.end() if between else after
        if position >= end and not view.final:
            return None
    percent = _PERCENT.match(text, after)
    if not view.final and (goes_on(_OPEN, text, position) or (percent and percent.end() >= end)):
        return None
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
