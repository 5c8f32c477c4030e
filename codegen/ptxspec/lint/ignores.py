"""Comments by which a file says what is not to be said of it:

    // ptxspec: ignore[hazard]                   behind code: on this line
    // ptxspec: ignore[hazard, modifier-order]   alone on its line: in the statement or block that follows
    // ptxspec: ignore-file[hazard]              in the whole file

In Python they begin with #. They name codes, so that nothing else is hidden; what ignores nothing is found itself."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..diagnostics import suggest
from ..ptx.complaints import WARNING
from .findings import CODES, Finding

WORD = "ptxspec:"
_COMMENT = re.compile(
    r"""(?P<mark>//|/\*|\#|<!--)[ \t]*ptxspec:[ \t]*(?P<verb>[\w-]+)
        (?:[ \t]*\[(?P<codes>[^\]\n]*)(?P<end>\]?))?""",
    re.VERBOSE,
)
_VERBS = ("ignore", "ignore-file")
_CODE = re.compile(r"[^\s,]+")
# These depend on what is judged for, so that they may be there for another target.
_BY_TARGET = frozenset(
    ["hazard", "ptx-too-old", "ptx-too-new", "target-too-old", "target-specific", "target-too-new", "target-unknown"]
)
_INDENTED = frozenset(["python", "julia"])


class _Ignore(NamedTuple):
    """A code that is ignored from one line to another. `at` is where the comment names it."""

    code: str
    at: int
    first: int
    last: int
    where: str


def heard(findings: Iterable[Finding], text: str, file: str, language: str, of_target: bool) -> Iterator[Finding]:
    """The findings in a text, but for what its comments ignore."""
    return Ignores(text, file, language).apply(findings, of_target) if WORD in text else iter(findings)


class Ignores:
    """What the comments of a text say."""

    def __init__(self, text: str, file: str, language: str) -> None:
        self._text, self._file = text, file
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._found: list[_Ignore] = []
        self._wrong: list[Finding] = []
        for m in _COMMENT.finditer(text):
            self._take(m, language)

    def apply(self, findings: Iterable[Finding], of_target: bool) -> Iterator[Finding]:
        """The findings that are left, and what the comments themselves have wrong. `of_target`: it is known what was
        judged for, or the text says it."""
        lines = {(i.first, i.code): i for i in self._found if i.first == i.last}
        wider = [i for i in self._found if i.first != i.last]
        used: set[_Ignore] = set()
        left = list(self._wrong)
        self.ignored = 0
        for f in findings:
            # The nearest one: a comment for the file is not needed where all have one of their own.
            by = lines.get((f.line, f.code)) or max(
                (i for i in wider if i.code == f.code and i.first <= f.line <= i.last),
                key=lambda i: (i.first, -i.last),
                default=None,
            )
            if by is None:
                left.append(f)
            else:
                self.ignored += 1
                used.add(by)
        for i in self._found:
            if i not in used and (of_target or i.code not in _BY_TARGET):
                message = f"nothing is ignored by this: there is no {i.code} {i.where}"
                left.append(self._finding("unused-ignore", message, "remove it", i.at, len(i.code)))
        return iter(sorted(left, key=lambda f: (f.line, f.column)))

    def _take(self, m: re.Match[str], language: str) -> None:
        verb, codes = m["verb"], m["codes"]
        if verb not in _VERBS:
            # Prose may begin so.
            if codes is not None or suggest(verb, _VERBS).startswith("did you mean"):
                help = suggest(verb, _VERBS, otherwise="write ignore[code] or ignore-file[code]")
                self._complain(f"unknown word '{verb}' behind {WORD}", help, m.start("verb"), len(verb))
            return
        names = list(_CODE.finditer(codes or ""))
        if not names or not m["end"]:
            help = f"write {verb}[hazard], or another code that is to be ignored"
            self._complain(f"{verb} names no code in brackets", help, m.start("verb"), len(verb))
            return
        scope = self._scope(m.start(), verb, language)
        for name in names:
            at = m.start("codes") + name.start()
            if name[0] in CODES:
                self._found.append(_Ignore(name[0], at, *scope))
            else:
                self._complain(f"unknown code '{name[0]}'", suggest(name[0], CODES), at, len(name[0]))

    def _scope(self, at: int, verb: str, language: str) -> tuple[int, int, str]:
        line = self._line(at)
        if verb == "ignore-file":
            return 1, len(self._starts), "in this file"
        if self._text[self._starts[line - 1] : at].strip():
            return line, line, "on this line"
        start, end = _statement(self._text, at, language)
        return self._line(start), self._line(max(start, end - 1)), "in what follows"

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def _complain(self, message: str, help: str, at: int, length: int) -> None:
        self._wrong.append(self._finding("unknown-ignore", message, help, at, length))

    def _finding(self, code: str, message: str, help: str, at: int, length: int) -> Finding:
        line = self._line(at)
        begin = self._starts[line - 1]
        end = self._text.find("\n", begin)
        first = max(begin, at - 80) if at - begin > 160 else begin
        source = self._text[first : end if end >= 0 else None][:240]
        return Finding(self._file, line, at - begin + 1, WARNING, code, message, None, help, length, source, at - first)


# What follows a comment, token by token.
_SPACE = re.compile(r"(?:\s|//[^\n]*+|/\*(?s:.)*?\*/)*+")
_SPACE_INDENTED = re.compile(r"(?:\s|\#[^\n]*+)*+")
_STRINGS = r'"(?:[^"\\\n]|\\(?s:.))*+"?'
_BRACED = re.compile(
    rf"""(?P<skip>//[^\n]*+|/\*(?s:.)*?\*/|{_STRINGS}|'(?:[^'\\\n]|\\.){{1,4}}'|[^\s"'/(){{}}\[\];]++|\s++|[/'])
        |(?P<open>[({{\[])|(?P<close>[)}}\]])|(?P<end>;)""",
    re.VERBOSE,
)
_INDENT = re.compile(
    rf"""(?P<skip>\#[^\n]*+|\"\"\"(?s:.)*?\"\"\"|'''(?s:.)*?'''|{_STRINGS}|'(?:[^'\\\n]|\\(?s:.))*+'?
        |\\\n|[^\S\n]++|[^\s"'\#(){{}}\[\]\\]++|\\)
        |(?P<open>[({{\[])|(?P<close>[)}}\]])|(?P<end>\n)""",
    re.VERBOSE,
)


def _statement(text: str, at: int, language: str) -> tuple[int, int]:
    """Where the statement or block begins and ends that follows the line of a comment."""
    line = text.find("\n", at)
    if line < 0:
        return len(text), len(text)
    if language in _INDENTED:
        return _indented(text, line)
    start = _end(_SPACE, text, line)
    if text.startswith("#", start):
        # A directive of the preprocessor, with the lines that it goes on in.
        m = re.compile(r"(?:[^\n\\]|\\(?s:.))*+").match(text, start)
        return start, m.end() if m else start
    depth, position = 0, start
    while m := _BRACED.match(text, position):
        position = m.end()
        depth += (m.lastgroup == "open") - (m.lastgroup == "close")
        if depth < 0:
            return start, m.start()
        if depth == 0 and (m.lastgroup == "end" or m[0] == "}"):
            break
    return start, position


def _indented(text: str, line: int) -> tuple[int, int]:
    start = _end(_SPACE_INDENTED, text, line)
    depth, position = 0, start
    while m := _INDENT.match(text, position):
        position = m.end()
        depth += (m.lastgroup == "open") - (m.lastgroup == "close")
        if depth < 0 or (depth == 0 and m.lastgroup == "end"):
            break
    if not re.search(r":[ \t]*(?:#[^\n]*)?\n?\Z", text[start:position]):
        return start, position
    indent = start - (text.rfind("\n", 0, start) + 1)
    deeper = re.compile(rf"(?:[ \t]*\n|[ \t]{{{indent + 1}}}[^\n]*(?:\n|\Z))*+").match(text, position)
    return start, deeper.end() if deeper else position


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    m = pattern.match(text, position)
    return m.end() if m else position
