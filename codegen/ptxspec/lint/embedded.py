"""PTX in the strings of C++ and Python programs."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import partial

from ..ptx.complaints import Position
from ..ptx.scanning import HOLE, View
from . import constraints, traces

# A string that is no argument of asm() is PTX if it says so itself, or has a statement with a PTX type.
_MODULE = re.compile(rf"\.version\s+(?:\d+\.\d|(?:\d+\.)?{HOLE})")
_STATEMENT = re.compile(
    rf"""(?:^|[;{{}}{HOLE}]|\*/)[^\S\n]*+(?:[%$\w{HOLE}]++\s*+:\s*+)?(?:@!?[%$\w{HOLE}]++\s++)?
        [A-Za-z]\w*(?:\.[\w:]+)*\.(?:[bsuf]\d+|bf16|pred)(?:x\d)?\s[^;]{{0,4096}};""",
    re.MULTILINE | re.VERBOSE,
)
# What stands before or behind a string is not known: a space, so that it is told apart from what the string says.
_ELSEWHERE = HOLE + " "


class Text:
    """What a program's strings say, with the place of each character in the program."""

    embedded = True
    final = True
    full = False
    prose = False  # it may be about PTX rather than PTX
    constraints: constraints.Constraints = ()

    def __init__(self, outer: View) -> None:
        self.text = ""
        self.used = 0
        self._outer = outer
        # From the offset in `text` on, characters stand one by one from the offset in the outer text on.
        self._inner_starts: list[int] = []
        self._outer_starts: list[int] = []
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str, outer: int) -> None:
        if text:
            self._inner_starts.append(self._length)
            self._outer_starts.append(outer)
            self._parts.append(text)
            self._length += len(text)

    def close(self) -> Text:
        self.text = "".join(self._parts)
        return self

    @property
    def whole(self) -> bool:
        """Nothing is filled into it, so that what it does not declare is declared nowhere."""
        return HOLE not in self.text.removeprefix(_ELSEWHERE).removesuffix(_ELSEWHERE)

    def place(self, offset: int) -> Position:
        i = bisect_right(self._inner_starts, offset) - 1
        inner = offset - self._inner_starts[i] if i >= 0 else 0
        return self._outer.place(self._outer_starts[i] + inner if i >= 0 else 0)


# C and C++

_CPP_STRING = r"""(?:u8|[LuU])?(?:
    R"(?P<delimiter>[^()\\\s]{0,16})\((?P<raw>(?s:.)*?)\)(?P=delimiter)" | "(?P<body>(?:[^"\\\n]|\\(?s:.))*+)" )"""
_CPP_ASM = r"\b(?:asm|__asm__|__asm)\b"
_CPP_SKIP = r"(?:[ \t\r\n]|\\\r?\n|//[^\n]*|/\*(?s:.)*?\*/)*+"
_CPP = re.compile(
    rf"""(?P<comment> //[^\n]*+ | /\*(?s:.)*?\*/ | /\*(?s:.)*+ )
      | (?P<string> {_CPP_STRING} )
      | (?P<open> (?:u8|[LuU])?R"[^()\\\s]{{0,16}}\((?s:.)*+ | {_CPP_ASM}[^("';{{}}]*+\Z
            | /\Z | '(?:[^'\\\n]|\\.){{0,4}}\Z )
      | (?P<broken> (?:u8|[LuU])?R?"[^\n]*+ )
      | (?P<char> '(?:[^'\\\n]|\\.){{1,4}}' )
      | (?P<asm> {_CPP_ASM}{_CPP_SKIP}
            (?:(?:volatile|__volatile__|goto|__inline__|inline|const){_CPP_SKIP})*+\( )
      | (?P<word> \w++ )
    """,
    re.VERBOSE,
)
# What is none of these, or a word or comment that goes on to nowhere: most of a program, in one step.
_CPP_PLAIN = re.compile(
    r"""(?: [^\w"'/]++ | (?!asm|__asm)\w++(?!["']|\Z) | //[^\n]*+\n | /\*(?s:.)*?\*/ | /(?![/*]|\Z) )*+""", re.VERBOSE
)
_CPP_PART = re.compile(
    rf"""(?P<skip> [ \t\r]++ | \n(?![ \t]*+\#) | \\\r?\n | //[^\n]*+ | /\*(?s:.)*?\*/ )
      | (?P<line> \n[ \t]*+\#(?:[^\n\\]|\\(?s:.))*+ )
      | (?P<string> {_CPP_STRING} )
      | (?P<hole> \#?\s*\w++(?:\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))? )
    """,
    re.VERBOSE,
)
# What may be a part that goes on behind the window. No one writes longer ones.
_CPP_OPEN = re.compile(r'(?:u8|[LuU])?R?"|[/\\#(\n]')
# The names that GCC and Clang give to operands, and their %= that is another number in each copy: %[a] and L%=.
_CPP_NAMED = re.compile(r"%\[(\w+)\]|%=")
_OPEN_LIMIT = 1 << 16
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|\r?\n|(?s:.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": " ", "b": " ", "e": " ", "\n": "", "\r\n": ""}


def cpp(view: View) -> Iterator[Text]:
    """The inline assembly of a window on C or C++, and its strings that are PTX modules."""
    text, position = view.text, 0
    unending = False  # an asm statement was that; what follows may be anything
    end = len(text)
    last = _last_trace(view)
    while True:
        plain = _CPP_PLAIN.match(text, position)
        m = _CPP.search(text, plain.end() if plain else position) if position <= last else None
        if m is None:
            position = end
            break
        if m.end() >= end and not view.final:
            position = m.start()
            break
        kind = m.lastgroup
        stop = m.end()
        if kind == "asm" or (kind == "string" and (".version" in m[0] or "asm" in m[0])):
            found = Text(view)
            if kind == "string":
                found.add(_ELSEWHERE, m.start())
            after = _cpp_parts(view, m.end() if kind == "asm" else m.start(), found)
            if after is None:
                # It goes on behind the window.
                position = m.start()
                break
            stop = max(stop, after)
            found.close()
            if kind == "asm":
                operands = None if unending else constraints.cpp(text, after)
                if operands is None and not view.final and end - after < _OPEN_LIMIT:
                    position = m.start()
                    break
                unending = operands is None
                found.constraints, numbers = operands or ((), {})
                found.text = _CPP_NAMED.sub(partial(_numbered, numbers), found.text)
                yield found
            else:
                found.add(_ELSEWHERE, stop)
                yield from _inside(found.close())
        position = stop
    _consume(view, position)


def _last_trace(view: View) -> int:
    """Behind it nothing is found in a text; what follows the window may make something of its end."""
    return max(traces.offsets(view.text), default=-1) if view.final else len(view.text)


def _numbered(numbers: dict[str, int], m: re.Match[str]) -> str:
    """What an operand's name stands for, in as many characters; an unknown name is left a name."""
    if m[1] is None:
        return "__"
    return f"%{numbers[m[1]]}".ljust(len(m[0])) if m[1] in numbers else f"%_{m[1]}_"


def _inside(text: Text, asm: bool = False, statements: bool = False) -> Iterator[Text]:
    """The inline assembly of a string that holds C++, or the string itself where it is PTX: `asm` says that it is.
    Compilers write that word into the comments of PTX, so that it alone says nothing."""
    found = [t for t in cpp(text) if t.text.strip()] if "asm" in text.text else []
    if found:
        yield from found
    elif asm or _MODULE.search(text.text):
        yield text
    elif statements and _STATEMENT.search(text.text):
        text.prose = True
        yield text


def _cpp_parts(view: View, position: int, into: Text) -> int | None:
    """Adjacent strings from a position on, and where they end; None where that is not in the window. Names between
    them are macros, of which nothing is known."""
    text, end = view.text, len(view.text)
    while m := _CPP_PART.match(text, position):
        if m.end() >= end and not view.final:
            return None
        if m.lastgroup == "string":
            _cpp_string(m, into)
        elif m.lastgroup == "hole":
            into.add(_ELSEWHERE, m.start())
        elif m.lastgroup == "line":
            # What stands behind it may take the place of what stands before it.
            into.add(HOLE + "\n", m.start())
        position = m.end()
    return None if not view.final and _goes_on(_CPP_OPEN, text, position) else position


def _goes_on(opening: re.Pattern[str], text: str, position: int) -> bool:
    left = len(text) - position
    return left == 0 or (left < _OPEN_LIMIT and opening.match(text, position) is not None)


def _cpp_string(m: re.Match[str], into: Text) -> None:
    if m["body"] is None:
        into.add(m["raw"], m.start("raw"))
    else:
        unescape(m["body"], m.start("body"), into)


def unescape(body: str, start: int, into: Text) -> None:
    """A string's text, with its escapes replaced by what they stand for."""
    position = 0
    for m in _ESCAPE.finditer(body):
        into.add(body[position : m.start()], start + position)
        into.add(_escaped(m[0][1:]), start + m.start())
        position = m.end()
    into.add(body[position:], start + position)


def _escaped(what: str) -> str:
    if what in _ESCAPED:
        return _ESCAPED[what]
    if what[0] in "xuU01234567" and what[1:]:
        number = int(what[1:], 16) if what[0] in "xuU" else int(what, 8)
        return chr(number) if number < 0x110000 else "?"
    return what if len(what) == 1 else "?"


# Python

_PYTHON_STRING = r"""
    (?P<prefix>[A-Za-z]{0,2})
    (?: \"\"\"(?P<long>(?:[^"\\]|\\(?s:.)|"(?!""))*+)\"\"\"
      | '''(?P<long_single>(?:[^'\\]|\\(?s:.)|'(?!''))*+)'''
      | (?!\"\"\"|''')(?:"(?P<short>(?:[^"\\\n]|\\(?s:.))*+)"
      | '(?P<short_single>(?:[^'\\\n]|\\(?s:.))*+)') )
"""
_PYTHON = re.compile(
    rf"""(?P<comment> \#[^\n]*+ )
      | (?P<string> {_PYTHON_STRING} )
      | (?P<broken> (?:\"\"\"|\'\'\')(?s:.)*+ | ["'][^\n]*+ )
      | (?P<asm> (?:(?=\w*asm)\w++\s*+\(\s*+(?:\w+\s*+=\s*+)? | [(,]\s*+asm\s*+=\s*+)
            (?:\(\s*+)?(?=[A-Za-z]{{0,2}}["']) )
      | (?P<word> \w++ )
    """,
    re.VERBOSE,
)
_PYTHON_PLAIN = re.compile(
    r"""(?: [^\w"'\#(,]++ | (?=\w)[^\Wa]*+(?:a(?!sm)[^\Wa]*+)*+(?![\w"']|\Z) | \#[^\n]*+\n | [(,](?!\s*+asm) )*+""",
    re.VERBOSE,
)
_BETWEEN = r"(?:[ \t\r\n+]|\\\n|\#[^\n]*\n)*+"
_PYTHON_BETWEEN = re.compile(_BETWEEN)
_PYTHON_NEXT = re.compile(_PYTHON_STRING, re.VERBOSE)
_PYTHON_OPEN = re.compile(r"[A-Za-z]{0,2}[\"']|[A-Za-z]{1,2}\Z|[#\\]")
# Strings side by side, where it is in sight that no more follow.
_PYTHON_QUOTED = re.sub(r"[?]P<\w+>", "?:", _PYTHON_STRING)
_PYTHON_GROUP = re.compile(
    rf"(?:{_PYTHON_QUOTED}{_BETWEEN})++(?![A-Za-z]{{0,2}}[\"'\\]|[A-Za-z]{{1,2}}\Z|\#|\Z)", re.VERBOSE
)
_PYTHON_END = re.compile(r"\s*+[,)]")
_PYTHON_PERCENT = re.compile(r"[\s)]*+%")
_CONVERSION = r"(?:\(\w+\))?[-+\ \#0]*+(?:\d++|\*)?(?:\.(?:\d++|\*))?[sdiurxXofFeEgGca]"
_LATER = r"""\{\{(?=[^{};\n]*\w)[^{};\n]*+\}\} | \{%[^{}]*%\} | \{\#[^{}]*\#\} | \$?\{[\w.!:\[\]]*\}"""
# {expression} of an f-string; the same with % where % follows the string; and {name}, {{ name }}, ${name}, %s, %(name)s
# of a string that is formatted later, where a PTX vector has a % or $, or a comma, and a register more than one letter.
_FILLED = re.compile(r"(?P<literal>\{\{|\}\})|\{(?:[^{}]|\{[^{}]*\})*\}")
_FORMATTED = re.compile(rf"(?P<literal>%%)|%{_CONVERSION}|{_LATER}", re.VERBOSE)
_FORMATTED_LATER = re.compile(rf"(?P<literal>%%)|%\(\w+\){_CONVERSION}|%[sdi](?!\w)|{_LATER}", re.VERBOSE)


def python(view: View) -> Iterator[Text]:
    """The strings of a window on Python that are PTX, or CUDA C++ with inline assembly."""
    text, position = view.text, 0
    end = len(text)
    places = traces.offsets(text)
    last = max(places, default=-1) if view.final else end
    while True:
        plain = _PYTHON_PLAIN.match(text, position)
        m = _PYTHON.search(text, plain.end() if plain else position) if position <= last else None
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
        if not argument and (strings := _PYTHON_GROUP.match(text, position)):
            next_trace = bisect_left(places, position)
            if next_trace == len(places) or places[next_trace] >= strings.end():
                position = strings.end()
                continue
        found = Text(view)
        after = _python_parts(view, m.end() if argument else position, found, argument)
        if after is None:
            break
        operands = constraints.listed(text, after, view.final or end - after > _OPEN_LIMIT)
        if operands is None:
            break
        found.constraints = operands
        position = max(after, m.end())
        yield from _inside(found.close(), argument, statements=True)
    _consume(view, position)


def _python_parts(view: View, position: int, into: Text, argument: bool) -> int | None:
    """Adjacent strings from a position on, and where they end; None where that is not in the window."""
    text, end = view.text, len(view.text)
    start = after = position
    parts = []
    while m := _PYTHON_NEXT.match(text, position):
        if m.end() >= end and not view.final:
            return None
        parts.append(m)
        after = m.end()
        between = _PYTHON_BETWEEN.match(text, after)
        position = between.end() if between else after
        if position >= end and not view.final:
            return None
    percent = _PYTHON_PERCENT.match(text, after)
    if not view.final and (_goes_on(_PYTHON_OPEN, text, position) or (percent and percent.end() >= end)):
        return None
    whole = argument and _PYTHON_END.match(text, position)
    if not argument:
        into.add(_ELSEWHERE, start)
    for part in parts:
        _python_string(part, into, percent is not None)
    if not whole:
        into.add(_ELSEWHERE, after)
    return after


def _python_string(m: re.Match[str], into: Text, formatted: bool) -> None:
    prefix = m["prefix"].lower()
    group = next(g for g in ("long", "long_single", "short", "short_single") if m[g] is not None)
    body, start = m[group], m.start(group)
    position = 0

    def plain(piece: str, at: int) -> None:
        if "r" in prefix:
            into.add(piece, at)
        else:
            unescape(piece, at, into)

    for hole in (_FILLED if "f" in prefix else _FORMATTED if formatted else _FORMATTED_LATER).finditer(body):
        plain(body[position : hole.start()], start + position)
        into.add(hole["literal"][0] if hole["literal"] else HOLE, start + hole.start())
        position = hole.end()
    plain(body[position:], start + position)


def _consume(view: View, position: int) -> None:
    """What is left is kept for the next window, unless it is too long for a string or statement."""
    view.used = len(view.text) if view.full and not view.final and position == 0 else position
