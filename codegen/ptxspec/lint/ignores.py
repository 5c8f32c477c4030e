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
from .findings import CODES, Finding, joined

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
    """The findings in a text, those of a statement as one, but for what its comments ignore. `of_target`: it is known
    what was judged for, or the text says it."""
    if WORD not in text:
        return joined(findings)
    ignores = Ignores(text, file, language)
    return ignores.with_complaints(joined(ignores.left(findings)), of_target)


class Ignores:
    """What the comments of a text say."""

    def __init__(self, text: str, file: str, language: str) -> None:
        self._text, self._file = text, file
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._found: list[_Ignore] = []
        self._used: set[_Ignore] = set()
        self.ignored = 0
        self._wrong: list[Finding] = []
        comments = list(_COMMENT.finditer(text))
        alone = [m.start() for m in comments if self._is_alone(m.start())]
        self._statements = _statements(text, alone, language)
        for m in comments:
            self._take(m)

    def left(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings that are not ignored."""
        lines = {(i.first, i.code): i for i in self._found if i.first == i.last}
        wider = [i for i in self._found if i.first != i.last]
        for f in findings:
            # The nearest one: a comment for the file is not needed where all have one of their own.
            by = lines.get((f.line, f.code)) or max(
                (i for i in wider if i.code == f.code and i.first <= f.line <= i.last),
                key=lambda i: (i.first, -i.last),
                default=None,
            )
            if by is None:
                yield f
            else:
                self.ignored += 1
                self._used.add(by)

    def with_complaints(self, findings: Iterable[Finding], of_target: bool) -> Iterator[Finding]:
        """What is left, and then what the comments have wrong themselves, in the order of the text. `of_target` as in
        `heard`."""
        found = [*findings, *self._wrong]
        for i in self._found:
            if i not in self._used and (of_target or i.code not in _BY_TARGET):
                message = f"nothing is ignored by this: there is no {i.code} {i.where}"
                found.append(self._finding("unused-ignore", message, "remove it", i.at, len(i.code)))
        return iter(sorted(found, key=lambda f: (f.line, f.column)))

    def _take(self, m: re.Match[str]) -> None:
        verb, codes = m["verb"], m["codes"]
        if verb not in _VERBS:
            # Prose may begin so.
            # The whole file is meant only by what says so.
            verbs = _VERBS if "file" in verb.lower() else _VERBS[:1]
            help = suggest(verb, verbs, otherwise="write ignore[code] or ignore-file[code]")
            if codes is not None or help.startswith("did you mean"):
                self._complain(f"unknown word '{verb}' behind {WORD}", help, m.start("verb"), len(verb))
            return
        names = list(_CODE.finditer(codes or ""))
        if not names or not m["end"]:
            help = f"write {verb}[hazard], or another code that is to be ignored"
            self._complain(f"{verb} names no code in brackets", help, m.start("verb"), len(verb))
            return
        scope = self._scope(m.start(), verb)
        for name in names:
            at = m.start("codes") + name.start()
            if name[0] in CODES:
                self._found.append(_Ignore(name[0], at, *scope))
            else:
                self._complain(f"unknown code '{name[0]}'", suggest(name[0], CODES), at, len(name[0]))

    def _scope(self, at: int, verb: str) -> tuple[int, int, str]:
        if verb == "ignore-file":
            return 1, len(self._starts), "in this file"
        if at not in self._statements:
            return self._line(at), self._line(at), "on this line"
        start, end = self._statements[at]
        return self._line(start), self._line(max(start, end - 1)), "in what follows"

    def _is_alone(self, at: int) -> bool:
        return not self._text[self._starts[self._line(at) - 1] : at].strip()

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
_SPACE = re.compile(r"(?:\s|//[^\n]*+|/\*(?s:.)*?(?:\*/|\Z))*+")
_SPACE_INDENTED = re.compile(r"(?:\s|\#[^\n]*+)*+")
_STRINGS = r'"(?:[^"\\\n]|\\(?s:.))*+"?'
_BRACED = re.compile(
    rf"""(?P<skip>//[^\n]*+|/\*(?s:.)*?(?:\*/|\Z)|{_STRINGS}|'(?:[^'\\\n]|\\.){{1,4}}'|[^\s"'/(){{}}\[\];]++|\s++|[/'])
        |(?P<open>[({{\[])|(?P<close>[)\]])|(?P<end>[;}}])""",
    re.VERBOSE,
)
_INDENT = re.compile(
    rf"""(?P<skip>\#[^\n]*+|\"\"\"(?s:.)*?(?:\"\"\"|\Z)|'''(?s:.)*?(?:'''|\Z)|{_STRINGS}|'(?:[^'\\\n]|\\(?s:.))*+'?
        |\\\n|[^\S\n]++|[^\s"'\#(){{}}\[\]\\]++|\\)
        |(?P<open>[({{\[])|(?P<close>[)}}\]])|(?P<end>\n)""",
    re.VERBOSE,
)
_DIRECTIVE = re.compile(r"(?:[^\n\\]|\\(?s:.))*+")
_HAS_BLOCK = re.compile(r":[ \t]*(?:#[^\n]*)?\n?\Z")


def _statements(text: str, comments: Iterable[int], language: str) -> dict[int, tuple[int, int]]:
    """For each comment where the statement or block begins and ends that follows its line. The text is gone through
    once, however many comments there are."""
    indented = language in _INDENTED
    space, tokens = (_SPACE_INDENTED, _INDENT) if indented else (_SPACE, _BRACED)
    starts: dict[int, int] = {}
    start = 0
    for at in comments:
        if at >= start:
            line = text.find("\n", at)
            start = _end(space, text, line if line >= 0 else len(text))
        starts[at] = start
    ends: dict[int, int] = {}
    open_: list[tuple[int, int]] = []  # statements that have not ended, with the depth that they began at
    depth = position = 0
    for here in dict.fromkeys(starts.values()):
        while open_ and position < here and (m := tokens.match(text, position)):
            position = m.end()
            depth = _close(m, depth, open_, ends)
        if not indented and text.startswith("#", here):
            # Of the preprocessor, with the lines that it goes on in.
            ends[here] = _end(_DIRECTIVE, text, here)
        else:
            open_.append((here, depth))
            position = here
    while open_ and (m := tokens.match(text, position)):
        position = m.end()
        depth = _close(m, depth, open_, ends)
    scopes = {here: (here, ends.get(here, len(text))) for here in starts.values()}
    if indented:
        scopes = {here: (here, _block(text, *scope)) for here, scope in scopes.items()}
    return {at: scopes[here] for at, here in starts.items()}


def _close(m: re.Match[str], depth: int, open_: list[tuple[int, int]], ends: dict[int, int]) -> int:
    """The depth behind a token; the statements that end there are closed."""
    kind = m.lastgroup
    if kind == "skip":
        return depth
    depth += (kind == "open") - (kind == "close" or (m[0] == "}" and kind == "end"))
    while open_ and (depth < open_[-1][1] or (kind == "end" and depth == open_[-1][1])):
        here, base = open_.pop()
        # What closes around a statement is no part of it.
        ends[here] = m.start() if depth < base else m.end()
    return depth


def _block(text: str, start: int, end: int) -> int:
    """Where a statement ends, with the deeper lines below it where it has any."""
    if not _HAS_BLOCK.search(text[start:end]):
        return end
    indent = start - (text.rfind("\n", 0, start) + 1)
    return _end(re.compile(rf"(?:[ \t]*\n|[ \t]{{{indent + 1}}}[^\n]*(?:\n|\Z))*+"), text, end)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    m = pattern.match(text, position)
    return m.end() if m else position
