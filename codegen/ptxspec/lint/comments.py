"""The comments of a text that contain a word, and the code that each is about: the line that it ends, or the statement
or block that follows.

A program's tree has the comments; PTX, and languages without a grammar, are scanned here. Strings, which may contain
PTX or a program, and blocks of Markdown are searched as well; comments in them are `quoted`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .languages import BLOCKS, CONTAINERS, MARKDOWN, MLIR, PROGRAMS, PTX
from .languages.programs import ParsedProgram
from .languages.trees import Walk
from .reading import Whole

if TYPE_CHECKING:
    from tree_sitter import Node


class Comment(NamedTuple):
    """A comment from `start` to `end`. It is about the code from `first` to `last`, within the text from `begin` to
    `stop`: the string or block if it is `quoted`. `alone`: there is no code before it on its line."""

    start: int
    end: int
    first: int
    last: int
    begin: int
    stop: int
    alone: bool
    quoted: bool


_TO_EOL = r"[^\n]*+"
_C_COMMENT = rf"//{_TO_EOL}|/\*(?s:.)*?(?:\*/|\Z)"
_SPACE = rf"(?:\s|{_C_COMMENT})*+"
_CHARACTER = r"'(?:[^'\\\n]|\\.){1,4}'"
_SHORT = r'"(?P<short>(?:[^"\\\n]|\\(?s:.))*+)"?'
_OVER_LINES = _SHORT.replace(r"\n", "")
_RAW = r'(?:u8|[LuU])?R"(?P<d>[^()\\\s]{0,16})\((?P<raw>(?s:.)*?)(?:\)(?P=d)"|\Z)'


def _syntax(comment: str, strings: str, end: str) -> re.Pattern[str]:
    """Return the tokens of a language; `end` is the end of a statement."""
    token = rf"""(?P<comment>{comment})|(?P<string>{strings})|(?P<end>{end})|(?P<space>[^\S\n]++|\n)|(?P<open>[(\[{{])
        |(?P<close>[)\]}}])|(?:\w++(?!["'\#])|[^\w\s"'/\#=(){{}}\[\];\\][^\S\n]*+)++|\\(?s:.)|\w++|(?s:.)"""
    return re.compile(token, re.VERBOSE | re.MULTILINE)


# A brace does not end a statement that continues after it.
_C = _syntax(_C_COMMENT, rf"{_RAW}|{_SHORT}|{_CHARACTER}", rf";|\}}(?!{_SPACE}(?:,|else\b))")
_SYNTAX = {PTX: _C, MLIR: _syntax(rf"(?://|;){_TO_EOL}", _OVER_LINES, r"\n")}
# Up to a string of PTX in a string of a program.
_DEEPEST = 3
_DIRECTIVE = re.compile(r"\#(?:[^\n\\]|\\(?s:.))*+")
_HTML = re.compile(r"(?P<code>`++)[^\n]*?(?P=code)|(?P<comment><!--(?s:.)*?(?:-->|\Z))")
# A comment that begins with // belongs to the body of a macro in the tree.
_MACRO = frozenset(["preproc_arg"])
# The parts of a statement that readers see as statements, and nodes other than blocks that contain statements.
_CLAUSE = "_clause"
_HOLD_STATEMENTS = frozenset(
    ["preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "field_declaration_list", "case_statement", "ERROR"]
)


def comments(text: str, language: str, word: str) -> Iterator[Comment]:
    """Yield the comments of a text that contain a word, in no particular order."""
    if language in CONTAINERS:
        yield from _in_blocks(text, language, word)
    elif language in PROGRAMS:
        yield from _in_program(PROGRAMS[language](Whole(text)), word)
    else:
        yield from _Region(text, word, 0, len(text), _SYNTAX[language]).comments()


def _in_program(program: ParsedProgram, word: str) -> Iterator[Comment]:
    walk, position = Walk(program.tree.root), 0
    found: list[Node] = []
    while (at := program.text.find(word, position)) >= 0:
        position = at + len(word)
        leaf = walk.to(at)
        if comment := leaf.within(program.comments):
            position = comment.node.end_byte
            found.append(comment.node)
        elif string := leaf.within(program.strings):
            position = string.node.end_byte
            body = program.literal(string.node)
            yield from _Region(program.text, word, body.start, body.end, _C, within=1).comments()
        elif macro := leaf.within(_MACRO):
            position = macro.node.end_byte
            yield from _Region(program.text, word, macro.node.start_byte, position, _C).comments()
    behind: dict[int, Node | None] = {}
    for node in reversed(found):
        yield _at_code(program, node, behind)


def _at_code(program: ParsedProgram, comment: Node, known: dict[int, Node | None]) -> Comment:
    """Return a comment with the code that it is about. `known` has the nodes that follow earlier comments."""
    text, start, end = program.text, comment.start_byte, comment.end_byte
    line = text.rfind("\n", 0, start) + 1
    if not _is_alone(program, line, start):
        # A string belongs to the line that it ends on.
        string = program.tree.at(line).within(program.strings)
        first = string.node.start_byte if string is not None and string.node.start_byte < line else start
        return Comment(start, end, first, end, 0, len(text), alone=False, quoted=False)
    others, behind = [comment.id], comment.next_named_sibling
    while behind is not None and behind.type in program.comments:
        others.append(behind.id)
        behind = known.get(behind.id, behind.next_named_sibling)
    known.update(dict.fromkeys(others, behind))
    while behind is not None and behind.type in program.blocks and behind.children[0].is_named:
        # A block without brackets begins behind the comments before its first statement.
        behind = behind.children[0]
    parent = behind.parent if behind is not None else None
    if behind is None or parent is None:
        return Comment(start, end, end, end, 0, len(text), alone=True, quoted=False)
    is_statement = parent.type in program.blocks | _HOLD_STATEMENTS or behind.type.endswith(_CLAUSE)
    last = (behind if is_statement else parent).end_byte
    return Comment(start, end, behind.start_byte, last, 0, len(text), alone=True, quoted=False)


def _is_alone(program: ParsedProgram, line: int, comment: int) -> bool:
    """Return whether only comments precede one on its line."""
    position = line
    while position < comment:
        if program.text[position].isspace():
            position += 1
        elif other := program.tree.at(position).within(program.comments):
            position = other.node.end_byte
        else:
            return False
    return True


def _in_blocks(text: str, language: str, word: str) -> Iterator[Comment]:
    """Yield the comments in the blocks of a file. In Markdown, an HTML comment between blocks is about the next
    block."""
    position = 0
    for name, block in CONTAINERS[language](Whole(text)):
        start, end = block.outside(0), block.outside(max(len(block.text) - 1, 0)) + 1
        if language == MARKDOWN:
            yield from _of_html(text, word, position, start, (start, end))
        if name in BLOCKS:
            for c in comments(block.text, BLOCKS[name], word):
                first, last = block.outside(c.first), block.outside(max(c.last - 1, c.first)) + 1
                yield Comment(
                    block.outside(c.start), block.outside(c.end - 1) + 1, first, last, start, end, c.alone, True
                )
        position = end
    if language == MARKDOWN:
        yield from _of_html(text, word, position, len(text), (len(text), len(text)))


def _of_html(text: str, word: str, position: int, end: int, about: tuple[int, int]) -> Iterator[Comment]:
    for m in _HTML.finditer(text, position, end):
        if m["comment"] and word in m[0]:
            yield Comment(m.start(), m.end(), *about, 0, len(text), alone=True, quoted=False)


class _Statement:
    """The statement that some comments precede, as far as it is read."""

    def __init__(self, about: list[re.Match[str]], start: int, depth: int) -> None:
        self.about, self.start, self.depth = about, start, depth
        self.end = -1


class _Region:
    """A text or part of it in one language, inside `within` strings. It is scanned once for all comments."""

    def __init__(self, text: str, word: str, begin: int, stop: int, token: re.Pattern[str], within: int = 0) -> None:
        self._text, self._word, self._begin, self._stop = text, word, begin, stop
        self._token, self._within = token, within
        self._open: list[_Statement] = []
        self._closed: list[_Statement] = []
        self._waiting: list[re.Match[str]] = []  # comments whose statement has not begun

    def comments(self) -> Iterator[Comment]:
        text, depth, line, is_begun = self._text, 0, self._begin, False
        string: re.Match[str] | None = None  # the last one with several lines
        for m in self._token.finditer(text, self._begin, self._stop):
            kind = m.lastgroup if m.lastgroup in ("comment", "space", "open", "close", "end") else ""
            if kind == "comment" and self._word in m[0]:
                if is_begun:
                    # A string belongs to the line that it ends on.
                    first = string.start() if string and string.end() > line else m.start()
                    yield self._comment(m, first, m.end(), alone=False)
                else:
                    self._waiting.append(m)
            if kind not in ("comment", "space") and m[0] != "\n":
                if self._waiting:
                    self._begin_statement(m, depth)
                is_begun = True
            if m["string"] is not None:
                if "\n" in m[0]:
                    string = m
                if self._within < _DEEPEST and self._word in m[0]:
                    yield from self._in_string(m)
            depth += (kind == "open") - (kind == "close" or (kind == "end" and m[0] == "}"))
            if kind in ("close", "end"):
                self._end(m, depth)
            if m[0] in ("\n", "\\\n"):
                is_begun = False
            if "\n" in m[0]:
                line = m.start() + m[0].rindex("\n") + 1
        for s in self._open:
            s.end = self._stop
        for about in self._waiting:
            yield self._comment(about, self._stop, self._stop, alone=True)
        for s in (*self._closed, *self._open):
            for about in s.about:
                yield self._comment(about, s.start, s.end, alone=True)

    def _comment(self, m: re.Match[str], first: int, last: int, alone: bool) -> Comment:
        return Comment(m.start(), m.end(), first, last, self._begin, self._stop, alone, self._within > 0)

    def _in_string(self, m: re.Match[str]) -> Iterator[Comment]:
        for body in ("raw", "short"):
            if body in m.re.groupindex and m[body] is not None:
                yield from _Region(self._text, self._word, *m.span(body), _C, self._within + 1).comments()

    def _begin_statement(self, m: re.Match[str], depth: int) -> None:
        statement = _Statement(self._waiting, m.start(), depth)
        self._waiting = []
        directive = _DIRECTIVE.match(self._text, m.start(), self._stop)
        if directive:
            # A preprocessor directive includes its continuation lines.
            statement.end = directive.end()
            self._closed.append(statement)
        else:
            self._open.append(statement)

    def _end(self, m: re.Match[str], depth: int) -> None:
        """End the statements that end here or whose bracket is closed."""
        while self._open and depth < self._open[-1].depth:
            # The closing bracket around a statement is not part of it.
            self._close(m.start())
        while m.lastgroup == "end" and self._open and depth == self._open[-1].depth:
            self._close(m.end())

    def _close(self, end: int) -> None:
        s = self._open.pop()
        s.end = end
        self._closed.append(s)
