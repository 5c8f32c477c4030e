"""Comments with which a file suppresses findings:

    // ptxspec: ignore[hazard]                   behind code: on this line
    // ptxspec: ignore[hazard, modifier-order]   before code: in the statement or block that begins there
    // ptxspec: ignore-file[hazard]              in the whole file

They are comments of the language, and name codes, so that nothing else is hidden. A comment that suppresses nothing is
itself a finding, unless it is quoted in a string or in a block of Markdown: it works there, but may be an example."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from ..catalog.likeness import suggest
from ..diagnostics import PtxspecError
from ..ptx.complaints import WARNING
from .comments import Comment, comments
from .findings import BY_TARGET, CODES, Finding, joined, unknown_code
from .guards import Guards
from .languages.trees import UnreadProgramError

WORD = "ptxspec:"
# A quotation in a comment, or a comment in a comment, has no effect.
_SAID = re.compile(
    r"""(?<![\w`'"/.-]) (?<![/\#][ ]) (?<!/\*[ ]) ptxspec:[ \t]*(?P<verb>[\w-]+)
        (?:[ \t]*\[(?P<codes>[^\]\n]*)(?P<end>\]?))?""",
    re.VERBOSE,
)
_MARK = re.compile(r"(?:/[/*]+!?|\#=?|\#+|<!--|;+)\s*+")
_VERBS = ("ignore", "ignore-file")
_CODE = re.compile(r"[^\s,]+")


class _Ignore(NamedTuple):
    """A code that is suppressed from one line to another. `at` is where the comment names it. `quoted`: in a string or
    in a block of Markdown, where it may be an example."""

    code: str
    at: int
    first: int
    last: int
    where: str
    quoted: bool


class _Nearest:
    """A search for the nearest comment that suppresses a code on a line: a comment for the file is unused if all
    findings have nearer ones. It is prepared once for all lines, as a file may have as many comments as findings."""

    def __init__(self, ignores: Iterable[_Ignore]) -> None:
        self._lines: list[int] = []
        self._from_there: list[_Ignore | None] = []
        open_: list[_Ignore] = []
        for i in sorted(ignores, key=lambda i: (i.first, -i.last)):
            self._close(open_, i.first)
            open_.append(i)
            self._begin(i.first, i)
        self._close(open_, None)

    def at(self, line: int) -> _Ignore | None:
        """Return the comment nearest to a line, or None if none covers it."""
        k = bisect_right(self._lines, line)
        return self._from_there[k - 1] if k else None

    def _close(self, open_: list[_Ignore], before: int | None) -> None:
        """End the comments that end before the line `before`, or all. After each, the one around it is in force."""
        while open_ and (before is None or open_[-1].last < before):
            line = open_.pop().last + 1
            while open_ and open_[-1].last < line:
                open_.pop()
            self._begin(line, open_[-1] if open_ else None)

    def _begin(self, line: int, ignore: _Ignore | None) -> None:
        self._lines.append(line)
        self._from_there.append(ignore)


def left(findings: Iterable[Finding], ignores: Ignores | None, guards: Guards | None) -> Iterator[Finding]:
    """Yield the findings that no comment suppresses, in code that is compiled."""
    if ignores:
        findings = ignores.left(findings)
    if guards:
        findings = guards.left(findings)
    # Once more, because a finding under an unknown condition has another code now.
    yield from ignores.left(findings) if ignores else findings


def heard(
    findings: Iterable[Finding], text: str, file: str, language: str, of_target: bool, guards: Guards | None
) -> Iterator[Finding]:
    """Return the findings in a text that its comments do not suppress, in code that is compiled; those of one statement
    are joined. `of_target`: the target is known, or the text states it."""
    ignores = Ignores(text, file, language, [guards] if guards else ()) if WORD in text else None
    found = joined(left(findings, ignores, guards))
    return ignores.with_complaints(found, of_target) if ignores else found


class Ignores:
    """The suppressing comments of a text. Unused ones are not reported in code that no target compiles, according to
    `guards`. Raises PtxspecError for a program that cannot be read."""

    def __init__(self, text: str, file: str, language: str, guards: Sequence[Guards] = ()) -> None:
        self._text, self._file, self._guards = text, file, guards
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._found: list[_Ignore] = []
        self._used: set[_Ignore] = set()
        self.ignored = 0
        self._wrong: list[Finding] = []
        try:
            every = sorted(comments(text, language, WORD))
        except UnreadProgramError as e:
            raise PtxspecError(f"{file}: {e}") from None
        for c in every:
            mark = _MARK.match(text, c.start, c.end)
            begin = mark.end() if mark else c.start
            for m in _SAID.finditer(text[begin : c.end]):
                self._take(m, begin, c)

    def left(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings that are not suppressed."""
        for f in findings:
            by = self._nearest[f.code].at(f.line) if f.code in self._nearest else None
            if by is None:
                yield f
            else:
                self.ignored += 1
                self._used.add(by)

    @cached_property
    def _nearest(self) -> dict[str, _Nearest]:
        return {code: _Nearest(i for i in self._found if i.code == code) for code in {i.code for i in self._found}}

    def with_complaints(self, findings: Iterable[Finding], of_target: bool) -> Iterator[Finding]:
        """Yield the remaining findings and those about the comments themselves, in the order of the text. `of_target`
        as in `heard`."""
        found = [*findings, *self._wrong]
        for i in self._found:
            excluded = bool(self._guards) and all(g.excludes(i.first) for g in self._guards)
            if not i.quoted and i not in self._used and not excluded and (of_target or i.code not in BY_TARGET):
                message = f"this comment ignores nothing: there is no {i.code} {i.where}"
                found.append(self._finding("unused-ignore", message, "remove it", i.at, len(i.code)))
        return iter(sorted(found, key=lambda f: (f.line, f.column)))

    def _take(self, m: re.Match[str], begin: int, comment: Comment) -> None:
        """Record the codes that a comment suppresses; its text is matched from `begin` on."""

        def complain(message: str, help: str, at: int, length: int) -> None:
            if not comment.quoted:
                self._wrong.append(self._finding("unknown-ignore", message, help, at, length))

        verb, codes, at = m["verb"], m["codes"], begin + m.start("verb")
        if verb not in _VERBS:
            # Prose may begin in the same way. Only a word with "file" in it can mean ignore-file.
            verbs = _VERBS if "file" in verb.lower() else _VERBS[:1]
            help = suggest(verb, verbs, otherwise="write ignore[code] or ignore-file[code]")
            if codes is not None or help.startswith("did you mean"):
                complain(f"unknown word '{verb}' after {WORD}", help, at, len(verb))
            return
        names = list(_CODE.finditer(codes or ""))
        if not names or not m["end"]:
            help = f"write {verb}[hazard], or another code"
            complain(f"{verb} requires a code in brackets", help, at, len(verb))
            return
        scope = self._scope(comment, verb)
        for name in names:
            at = begin + m.start("codes") + name.start()
            if name[0] in CODES:
                self._found.append(_Ignore(name[0], at, *scope, comment.quoted))
            else:
                complain(*unknown_code(name[0]), at, len(name[0]))

    def _scope(self, c: Comment, verb: str) -> tuple[int, int, str]:
        if verb == "ignore-file":
            return self._line(c.begin), self._line(c.stop), "in this file"
        where = "in the code that follows" if c.alone else "on this line"
        return self._line(c.first), self._line(max(c.first, c.last - 1)), where

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def _finding(self, code: str, message: str, help: str, at: int, length: int) -> Finding:
        line = self._line(at)
        begin = self._starts[line - 1]
        end = self._text.find("\n", begin)
        first = max(begin, at - 80) if at - begin > 160 else begin
        source = self._text[first : end if end >= 0 else None][:240]
        return Finding(self._file, line, at - begin + 1, WARNING, code, message, None, help, length, source, at - first)
