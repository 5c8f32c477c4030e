"""PTX text -> the instructions of the database, the .version and .target directives, what tells which registers there
are, and what cannot be read.

Only what is needed to find these is understood; all else is skipped. The text comes in windows, so that a file of any
length takes the same memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

from .findings import Place

# How much of a line that is done with is kept for showing what follows on it.
_KEPT = 4096

HOLE = "\0"  # in text from other languages: what stands here is not known

_SPACE = r"[ \t]"
_REGISTER = r"(?:%{0,2}(?!_\b)[A-Za-z_$][\w$]*+|[%$]\d++)"
COMMENT = r"//[^\n]*+|/\*(?s:.)*?\*/"
_STRING = r'"[^"\n]*+"|"[^";]*+"'
_DECLARES = re.compile(r"\.(?:reg|func|entry)\b")
_DEFINES = re.compile(r"#\s*[a-z]")  # and no line marker, as in # 1 "a.ptx"
_NAMES = r"(?:\.[\w:]++)*+"


class View(Protocol):
    """What is scanned: a window on a file, or a string in a program."""

    text: str
    final: bool
    used: int
    embedded: bool

    @property
    def full(self) -> bool: ...

    def place(self, offset: int) -> Place: ...


class Instruction(NamedTuple):
    """An instruction of the database. `head` is its spelling as it stands, `plain` the number of operands where all are
    registers or symbols, else -1. `ended`: a semicolon follows."""

    start: int
    head: str
    operands: str
    operands_start: int
    plain: int
    ended: bool


class Directive(NamedTuple):
    """`.version` or `.target` with what it names."""

    start: int
    name: str
    value: str
    value_start: int


class Problem(NamedTuple):
    """Something that the assembler cannot read. `place` is given where `start` is no longer in view."""

    start: int
    length: int
    code: str
    message: str
    place: Place | None = None


class Declaration(NamedTuple):
    """What tells which registers there are: `.reg`, the head of a function, braces; None for what was not read."""

    text: str | None


Item: TypeAlias = Instruction | Directive | Problem | Declaration


class Scanner:
    """Scans one text. `opcodes` are those to look for."""

    def __init__(self, opcodes: Iterable[str], embedded: bool = False) -> None:
        names = "|".join(sorted(map(re.escape, opcodes), key=len, reverse=True))
        self.embedded = embedded
        self._match = {final: _pattern(names, final).match for final in (False, True)}
        self._head = _head(names).match
        # While not None, everything up to this is skipped: it belongs to something too long to be of interest.
        self._skip: re.Pattern[str] | None = None
        self._opened: Place | None = None  # the comment that is skipped
        self._resume = 0

    def scan(self, view: View) -> Iterator[Item]:
        """The items of a view, as far as they are complete; sets its `used`."""
        text, final, match = view.text, view.final, self._match[view.final]
        end, position = len(text), self._resume
        if self._skip is not None:
            found = self._skip.search(text, position)
            if found is None:
                # The last character may be the first of what is looked for.
                self._resume, view.used = 0, max(0, end - 1)
                if final and self._opened:
                    yield _open_comment(0, self._opened)
                return
            self._skip, self._opened, position = None, None, found.end()
        while position < end:
            m = match(text, position)
            assert m is not None, "one alternative matches anything"
            if m.end() == end and not final:
                break
            kind, start, position = m.lastgroup, position, m.end()
            if kind == "plain":
                operands = m["args"]
                yield Instruction(m.start("head"), m["head"], operands, m.start("args"), operands.count(",") + 1, True)
            elif kind == "general":
                instruction = self._general(m[0], start)
                if instruction:
                    yield instruction
            elif kind == "version" or kind == "target":
                yield Directive(start, kind, m[kind + "_value"], m.start(kind + "_value"))
            elif kind == "block" or (kind == "directive" and _DECLARES.search(m[0])):
                yield Declaration(m[0])
            elif kind == "preprocessor" and _DEFINES.match(m[0]):
                yield Declaration(None)
            elif kind == "comment" and not m[0].startswith("//") and (len(m[0]) < 4 or not m[0].endswith("*/")):
                yield _open_comment(start)
            elif kind == "quote":
                yield Problem(start, 1, "unterminated-string", "this string does not end")
                position = text.find("\n", start) + 1 or end
            elif kind == "stray" and not self.embedded:
                yield Problem(start, 1, "syntax", f"unexpected {m[0]!a}")
        if position < end and view.full:
            # What is open may stand inside a statement.
            whole = self._match[True](text, position)
            if whole and whole.end() < end:
                position = whole.end()
            if text.startswith('"', position):
                yield Problem(position, 1, "unterminated-string", "this string does not end")
            self._give_up(view, position)
            yield Declaration(None)
            position = end
        line = text.rfind("\n", 0, position) + 1
        view.used = line if position - line < _KEPT else position
        self._resume = position - view.used

    def _give_up(self, view: View, position: int) -> None:
        opening = view.text[position : position + 2]
        if opening == "/*":
            self._opened = view.place(position)
        closing = {"/*": r"\*/", "//": r"\n"}.get(opening, '["\\n]' if opening.startswith('"') else "[;{}]")
        self._skip = re.compile(closing)

    def _general(self, statement: str, start: int) -> Instruction | None:
        if "/" in statement:
            statement = re.sub(COMMENT, lambda m: re.sub(r"[^\n]", " ", m[0]), statement)
        m = self._head(statement)
        if m is None:
            return None
        operands = m["operands"]
        if operands.startswith(HOLE):
            # The spelling goes on there.
            return None
        ended = operands.endswith(";")
        return Instruction(
            start + m.start("head"),
            m["head"].rstrip(),
            operands.removesuffix(";"),
            start + m.start("operands"),
            -1,
            ended or (self.embedded and not operands.endswith("}")),
        )


def _open_comment(start: int, place: Place | None = None) -> Problem:
    return Problem(start, 2, "unterminated-comment", "this comment does not end", place)


@cache
def _head(opcodes: str) -> re.Pattern[str]:
    """A statement that begins with one of the opcodes, after a predicate perhaps."""
    spelling = rf"(?:{opcodes})(?![\w$])(?:\s*+\.[\w:.]*+)*+"
    return re.compile(rf"(?:@\s*+!?\s*+[%\w$]++\s*+)?(?P<head>{spelling})(?P<operands>.*)", re.DOTALL)


@cache
def _pattern(opcodes: str, final: bool) -> re.Pattern[str]:
    """One alternative for whatever may come next; the first ones are the frequent ones.

    Where more text may come, what is still open goes on to the end of the text, and so is not complete."""
    tail = "" if final else r'|/\*(?s:.)*+|"[^";]*+\Z|\{[^;{}"]*+\Z'
    inner = rf'(?:[^;{{}}"/]++|{COMMENT}|/(?![/*])|\{{[^;{{}}"]*+\}}|{_STRING}{tail})'
    return re.compile(
        rf"""
        (?P<space> [\s;]++ )
      | (?P<plain> (?:@!?[%\w$]++{_SPACE}++)? (?P<head>(?:{opcodes}){_NAMES})
            {_SPACE}++ (?P<args>{_REGISTER}(?:{_SPACE}*+,{_SPACE}*+{_REGISTER})*+) {_SPACE}*+; )
      | (?P<block> [{{}}][\s;{{}}]*+ )
      | (?P<label> [%\w$]++\s*+:(?!:) )
      | (?P<version> \.version\s++(?P<version_value>\d++\.\d++|[^\s;]++) )
      | (?P<target> \.target\s++(?P<target_value>\w++)[^\n;{{}}.]*+ )
      | (?P<line> \.(?:loc(?:\s++\d++)++
                (?:\s*+,\s*+function_name\s++[^\s,]++(?:\s*+\+\s*+\d++)?\s*+,\s*+inlined_at(?:\s++\d++)++)?
            | file\s++\d++\s++(?:{_STRING})(?:\s*+,\s*+\d++)*+ | address_size\s++\d++) )
      | (?P<comment> {COMMENT}|/\*(?s:.)*+ )
      | (?P<directive> \.[^;{{}}"/]*+(?:(?:{_STRING}|{COMMENT}{tail})[^;{{}}"/]*+)*+;? )
      | (?P<string> {_STRING} )
      | (?P<quote> "[^"\n]*+ )
      | (?P<preprocessor> \#[^\n]*+ )
      | (?P<general> [@\w$%(\[<!\\\0,=*|&~+-] {inner}*+;? )
      | (?P<stray> . )
        """,
        re.VERBOSE,
    )
