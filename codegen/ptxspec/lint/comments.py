"""The comments of a text that hold a word, and what each of them stands at: the line of code that it stands behind, or
the statement or block that follows.

What a comment is depends on the language. Strings, which may hold PTX or a program, and blocks of Markdown are looked
into as well; what they hold is quoted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from ..ptx.scanning import View
from .languages import BLOCKS, CPP, JULIA, MARKDOWN, MLIR, PTX, PYTHON, RUST
from .languages.markdown import markdown
from .languages.text import Text
from .reading import Whole


class Comment(NamedTuple):
    """From `start` to `end`; it counts from `first` to `last`, and stands between `begin` and `stop` of the text: in a
    string or block where it is `quoted`. `alone`: no code is before it on its line."""

    start: int
    end: int
    first: int
    last: int
    begin: int
    stop: int
    alone: bool
    quoted: bool


class _Syntax(NamedTuple):
    """The syntax of a language's comments, strings and brackets. `by_line`: a line ends a statement, and what is
    indented deeper belongs to it; else a semicolon or brace does. `decorated`: @ on a line says something of the next
    one."""

    token: re.Pattern[str]
    by_line: bool
    decorated: bool = False


_TO_EOL = r"[^\n]*+"
_C_COMMENT = rf"//{_TO_EOL}|/\*(?s:.)*?(?:\*/|\Z)"
_SPACE = rf"(?:\s|{_C_COMMENT})*+"
# Of a block in a quote of Markdown; no program's line begins so.
_MARGIN = r"^[ \t]*+>[> \t]*+"
_CHARACTER = r"'(?:[^'\\\n]|\\.){1,4}'"
_LONG = '"""(?P<long>(?:[^"\\\\]|\\\\(?s:.)|"(?!""))*+)(?:"""|\\Z)'
_LONG_SINGLE = _LONG.replace('"', "'").replace("long", "long_single")
_SHORT = r'"(?P<short>(?:[^"\\\n]|\\(?s:.))*+)"?'
_SHORT_SINGLE = _SHORT.replace('"', "'").replace("short", "short_single")
_OVER_LINES = r'"(?P<short>(?:[^"\\]|\\(?s:.))*+)"?'
_RAW_C = r'(?:u8|[LuU])?R"(?P<d>[^()\\\s]{0,16})\((?P<raw>(?s:.)*?)(?:\)(?P=d)"|\Z)'
_RAW_RUST = r'[bc]?r(?P<d>\#*)"(?P<raw>(?s:.)*?)(?:"(?P=d)|\Z)'


def _syntax(comment: str, strings: str, by_line: bool, decorated: bool = False) -> _Syntax:
    # A brace does not end what goes on behind it.
    end = rf"(?P<space>{_MARGIN}|[^\S\n]++|\\\n)|(?P<end>\n)"
    if not by_line:
        end = rf"(?P<space>{_MARGIN}|[^\S\n]++|\n)|(?P<end>;|\}}(?!{_SPACE}(?:,|else\b)))"
    token = rf"""(?P<comment>{comment})|(?P<string>{strings})|{end}|(?P<open>[(\[{{])|(?P<close>[)\]}}])
        |(?:\w++(?!["'\#])|[^\w\s"'/\#=(){{}}\[\];\\][^\S\n]*+)++|\\(?s:.)|\w++|(?s:.)"""
    return _Syntax(re.compile(token, re.VERBOSE | re.MULTILINE), by_line, decorated)


_C = _syntax(_C_COMMENT, rf"{_RAW_C}|{_SHORT}|{_CHARACTER}", by_line=False)
_SYNTAX = {
    PTX: _C,
    CPP: _C,
    RUST: _syntax(_C_COMMENT, rf"{_RAW_RUST}|{_OVER_LINES}|{_CHARACTER}", by_line=False),
    PYTHON: _syntax(rf"\#{_TO_EOL}", f"{_LONG}|{_LONG_SINGLE}|{_SHORT}|{_SHORT_SINGLE}", by_line=True, decorated=True),
    JULIA: _syntax(rf"\#=(?s:.)*?(?:=\#|\Z)|\#{_TO_EOL}", rf"{_LONG}|{_OVER_LINES}|{_CHARACTER}", by_line=True),
    MLIR: _syntax(rf"(?://|;){_TO_EOL}", _OVER_LINES, by_line=True),
}
# A block of Python that has a program of C with a string of PTX.
_DEEPEST = 3
_BODIES = ("raw", "long", "long_single", "short", "short_single")
_DIRECTIVE = re.compile(r"\#(?:[^\n\\]|\\(?s:.))*+")


def comments(text: str, language: str, word: str) -> Iterator[Comment]:
    """The comments of a text that hold a word, in no order."""
    if language == MARKDOWN:
        yield from _Blocks(text, word).comments()
    else:
        yield from _Region(text, word, 0, len(text), _SYNTAX[language]).comments()


class _Statement:
    """The statement that some comments stand before, as far as it is read."""

    def __init__(self, about: list[re.Match[str]], start: int, depth: int, indent: int) -> None:
        self.about, self.start, self.depth, self.indent = about, start, depth, indent
        self.end = -1  # where a line of it has ended that may be the last


class _Region:
    """A text, or a part of it that is in one language, `within` so many strings and blocks. It is gone through once,
    however many comments there are."""

    def __init__(self, text: str, word: str, begin: int, stop: int, syntax: _Syntax, within: int = 0) -> None:
        self._text, self._word, self._begin, self._stop = text, word, begin, stop
        self._syntax, self._within = syntax, within
        self._open: list[_Statement] = []
        self._closed: list[_Statement] = []
        self._waiting: list[re.Match[str]] = []  # comments whose statement has not begun
        self._decorator = False

    def comments(self) -> Iterator[Comment]:
        text, depth, line, is_begun = self._text, 0, self._begin, False
        string: re.Match[str] | None = None  # the last one that goes over lines
        for m in self._syntax.token.finditer(text, self._begin, self._stop):
            kind = m.lastgroup if m.lastgroup in ("comment", "space", "open", "close", "end") else ""
            if kind == "comment" and self._word in m[0]:
                if is_begun:
                    # A string is on the line that it ends on.
                    first = string.start() if string and string.end() > line else m.start()
                    yield self._comment(m, first, m.end(), alone=False)
                else:
                    self._waiting.append(m)
            is_newline = kind == "end" and m[0] == "\n"
            if kind not in ("comment", "space") and not is_newline:
                if not is_begun and self._syntax.by_line:
                    self._go_on(m.start(), depth, m.start() - line)
                if self._waiting:
                    self._begin_statement(m, depth, m.start() - line)
                is_begun = True
            if m["string"] is not None:
                if "\n" in m[0]:
                    string = m
                if self._within < _DEEPEST and self._word in m[0]:
                    yield from self._in_string(m)
            depth += (kind == "open") - (kind == "close" or (kind == "end" and m[0] == "}"))
            if kind in ("close", "end"):
                self._end(m, depth)
            if m[0] == "\n" or (m[0] == "\\\n" and not self._syntax.by_line):
                is_begun = False
            if "\n" in m[0]:
                line = m.start() + m[0].rindex("\n") + 1
        while self._open:
            self._close(self._stop)
        for about in self._waiting:
            yield self._comment(about, self._stop, self._stop, alone=True)
        for s in self._closed:
            for about in s.about:
                yield self._comment(about, s.start, s.end, alone=True)

    def _comment(self, m: re.Match[str], first: int, last: int, alone: bool) -> Comment:
        return Comment(m.start(), m.end(), first, last, self._begin, self._stop, alone, self._within > 0)

    def _in_string(self, m: re.Match[str]) -> Iterator[Comment]:
        for body in _BODIES:
            if body in m.re.groupindex and m[body] is not None:
                yield from _Region(self._text, self._word, *m.span(body), _C, self._within + 1).comments()

    def _begin_statement(self, m: re.Match[str], depth: int, indent: int) -> None:
        statement = _Statement(self._waiting, m.start(), depth, indent)
        self._waiting = []
        directive = None if self._syntax.by_line else _DIRECTIVE.match(self._text, m.start(), self._stop)
        if directive:
            # Of the preprocessor, with the lines that it goes on in.
            statement.end = directive.end()
            self._closed.append(statement)
        else:
            self._open.append(statement)

    def _go_on(self, at: int, depth: int, indent: int) -> None:
        """Begin a line. It belongs to the statements above that it is deeper than."""
        if self._open and depth > self._open[-1].depth:
            return
        while self._open and (s := self._open[-1]).end >= 0 and indent <= s.indent and not self._decorator:
            self._close(s.end)
        self._decorator = self._syntax.decorated and self._text[at] == "@"

    def _end(self, m: re.Match[str], depth: int) -> None:
        """End the statements that a bracket closes or that end here."""
        while self._open and depth < self._open[-1].depth:
            # What closes around a statement is no part of it.
            self._close(m.start())
        if m.lastgroup != "end":
            return
        if not self._syntax.by_line:
            while self._open and depth == self._open[-1].depth:
                self._close(m.end())
        elif self._open and depth == self._open[-1].depth:
            self._open[-1].end = m.start()

    def _close(self, end: int) -> None:
        """Close the innermost statement. No line of those around it has ended later."""
        s = self._open.pop()
        s.end = end if s.end < 0 else s.end
        self._closed.append(s)
        if self._open and self._open[-1].end >= 0:
            self._open[-1].end = s.end


class _Blocks(Mapping[str, Callable[[View], Iterator[Text]]]):
    """The blocks of Markdown, by whatever language; a comment of HTML outside of them stands before the next one."""

    _OUTSIDE = re.compile(r"(?P<code>`++)[^\n]*?(?P=code)|(?P<comment><!--(?s:.)*?(?:-->|\Z))")

    def __init__(self, text: str, word: str) -> None:
        self._text, self._word = text, word
        self._lines = [0, *(m.end() for m in re.finditer("\n", text))]
        self._found: list[tuple[str, int, int]] = []

    def comments(self) -> Iterator[Comment]:
        text = self._text
        for _ in markdown(Whole(text), self):
            pass
        position = 0
        for language, start, end in [*self._found, ("", len(text), len(text))]:
            for m in self._OUTSIDE.finditer(text, position, start):
                if m["comment"] and self._word in m[0]:
                    yield Comment(m.start(), m.end(), start, end, 0, len(text), alone=True, quoted=False)
            if language in BLOCKS:
                yield from _Region(text, self._word, start, end, _SYNTAX[BLOCKS[language]], within=1).comments()
            position = end

    def _take(self, language: str, block: View) -> Iterator[Text]:
        if block.text:
            first, last = block.place(0), block.place(len(block.text) - 1)
            start, end = (self._lines[p.line - 1] + p.column - 1 for p in (first, last))
            self._found.append((language, start, end + 1))
        return iter(())

    def __getitem__(self, language: str) -> Callable[[View], Iterator[Text]]:
        return partial(self._take, language)

    def __iter__(self) -> Iterator[str]:
        return iter(BLOCKS)

    def __len__(self) -> int:
        return len(BLOCKS)
