"""Checks of files one by one, according to their settings, with an account of what was checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

from ..files import BoundedStream, standard_input
from ..ptx.complaints import ERROR, WARNING
from ..query.database import Database
from . import traces
from .changes import changed
from .configuration import Settings
from .discovery import STDIN, LintedFile
from .findings import Finding, joined, merged
from .guards import guards
from .ignores import WORD, Ignores, left
from .languages import PTX
from .languages.text import Text
from .linter import Linter, Met, texts
from .reading import decoded, read_bytes
from .statistics import Account, InstructionCounts

_TARGET = re.compile(r"^\s*\.target\b", re.MULTILINE)


class Checker:
    """A checker of files. `everything`: also count instructions that are not checked; `quiet`: only yield findings that
    make the exit code 1; `stdin` is the displayed name of standard input; `met` as for Linter, for all targets."""

    def __init__(self, db: Database, everything: bool = False, quiet: bool = False, stdin: str = "<stdin>") -> None:
        self._db = db
        self.quiet = quiet
        self._stdin = stdin
        self.account = Account(everything)
        self._linters: dict[tuple[str | None, str | None, bool], Linter] = {}
        self.met: list[Met] | None = None

    def check(self, source: LintedFile) -> Iterator[Finding]:
        """Yield the findings in one file. Raises PtxspecError if it cannot be read or is not text."""
        if source.path == STDIN:
            name, data = self._stdin, BoundedStream(standard_input(), self._stdin).read()
        else:
            name, data = source.path, read_bytes(source.path)
        if source.language != PTX:
            text = data.decode("utf-8", "replace")
            if WORD not in text and not traces.has(text) and b"\0" not in data:
                # UTF-16 and the like contain zero bytes, and are refused below as not text.
                self.account.others += 1
                return
        yield from self.judge(decoded(data, name), name, source)

    def judge(self, text: str, name: str, source: LintedFile) -> Iterator[Finding]:
        """Yield the findings in a text, according to the settings of its file. Raises PtxspecError if it cannot be
        read."""
        settings, account = source.settings, self.account
        before, headers = account.instructions, account.tally.headers
        is_ptx = source.language == PTX
        # A module states its own target.
        own = is_ptx and not settings.forced and _TARGET.search(text) is not None
        targets: tuple[str | None, ...] = (None,) if own else settings.targets_of(source.path) or (None,)
        every = [guards(self._db, text, source.language, target, settings.defines, settings.ptx) for target in targets]
        conditions = [c for c in every if c is not None]
        ignores = Ignores(text, name, source.language, conditions) if WORD in text else None
        parts: Iterable[Text] = () if is_ptx else texts(text, name, source.language, settings.calls)
        # Few programs are checked for several targets, and keeping all texts takes memory.
        parts = list(parts) if len(targets) > 1 else parts
        found: dict[str, Iterator[Finding]] = {}
        for i, (target, guarded) in enumerate(zip(targets, every, strict=True)):
            linter = self._linter(target, settings, counts=not i)
            findings = linter.lint(text, name) if is_ptx else linter.lint_texts(parts, text, name)
            findings = left(findings, ignores, guarded)
            found[target or ""] = joined(f for f in findings if self._is_said(f, source))
        ((one, findings), *others) = found.items()
        if others:
            findings = iter(merged(found))
        elif one:
            findings = (f._replace(targets=(one,)) for f in findings)
        if ignores:
            of_target = is_ptx or targets != (None,) or settings.ptx is not None
            findings = (f for f in ignores.with_complaints(findings, of_target) if self._is_said(f, source))
        for f in self._new(list(findings), text, source) if settings.baseline or settings.since else findings:
            account.severities[f.severity] += 1
            account.codes[f.code] += 1
            account.errors |= _counts(f, settings)
            yield f
        account.ignored += ignores.ignored if ignores else 0
        account.excluded += max((c.excluded for c in conditions), default=0)
        # A condition in one place counts once for several targets.
        account.asked += reduce(or_, (c.asked for c in conditions), Counter())
        if account.instructions == before:
            account.others += 1
        else:
            account.files += 1
            has_header = is_ptx and account.tally.headers > headers
            account.judged_for.add((has_header, ", ".join(filter(None, targets)) or None, settings.ptx))

    def _new(self, findings: list[Finding], text: str, source: LintedFile) -> list[Finding]:
        """Return the findings that are not known, in lines that have changed."""
        settings, new = source.settings, findings
        if settings.since and findings and source.path != STDIN:
            lines = changed(source.path, text, settings.since)
            new = [f for f in new if f.line in lines]
        if settings.baseline:
            new = list(settings.baseline.left(new))
        self.account.known += len(findings) - len(new)
        return new

    def _is_said(self, f: Finding, source: LintedFile) -> bool:
        settings = source.settings
        return not settings.ignores(f.code, source.path) and (not self.quiet or _counts(f, settings))

    def _linter(self, target: str | None, settings: Settings, counts: bool) -> Linter:
        """Return the linter for a target. `counts`: its checks go into the account."""
        key = (target, settings.ptx, settings.forced)
        if key not in self._linters:
            self._linters[key] = Linter(self._db, *key)
        linter = self._linters[key]
        linter.tally = self.account.tally if counts else InstructionCounts()
        linter.met = self.met
        return linter


def _counts(f: Finding, settings: Settings) -> bool:
    """Return whether a finding makes the exit code 1."""
    return f.severity == ERROR or (settings.strict and f.severity == WARNING)
