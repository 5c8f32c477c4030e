"""Files judged one by one, as their settings say, with an account of what was judged."""

from __future__ import annotations

from collections.abc import Iterator

from ..files import Bounded, standard_input
from ..ptx.complaints import ERROR, WARNING
from ..query.database import Database
from . import traces
from .configuration import Settings
from .discovery import STDIN, Source
from .findings import Finding, joined
from .guards import guards
from .ignores import WORD, Ignores
from .languages import PTX
from .linter import Linter
from .reading import decoded, read_bytes
from .statistics import Account


class Checker:
    """Judges files. `everything`: what is not judged is counted too; `quiet`: only what makes the exit code 1 is said;
    `stdin` is the name by which standard input is known."""

    def __init__(self, db: Database, everything: bool = False, quiet: bool = False, stdin: str = "<stdin>") -> None:
        self._db = db
        self.quiet = quiet
        self._stdin = stdin
        self.account = Account(everything)
        self._linters: dict[tuple[str | None, str | None], Linter] = {}

    def check(self, source: Source) -> Iterator[Finding]:
        """The findings in one file. Raises PtxspecError for one that cannot be read or is not text."""
        if source.path == STDIN:
            name, data = self._stdin, Bounded(standard_input(), self._stdin).read()
        else:
            name, data = source.path, read_bytes(source.path)
        if source.language != PTX:
            text = data.decode("utf-8", "replace")
            if WORD not in text and not traces.has(text) and b"\0" not in data:
                # In whatever encoding: letters of more than a byte are refused below, as what is no text.
                self.account.others += 1
                return
        yield from self._judged(decoded(data, name), name, source)

    def _judged(self, text: str, name: str, source: Source) -> Iterator[Finding]:
        settings, account = source.settings, self.account
        linter = self._linter(settings.target, settings.ptx)
        before, headers = account.instructions, linter.tally.headers
        conditions = guards(self._db, text, source.language, settings.target, settings.defines, settings.ptx)
        ignores = Ignores(text, name, source.language, conditions) if WORD in text else None
        findings = linter.lint(text, name, source.language)
        if ignores:
            findings = ignores.left(findings)
        if conditions:
            findings = conditions.left(findings)
        if ignores:
            # By the code that it has where a condition is not understood, too.
            findings = ignores.left(findings)
        findings = joined(f for f in findings if self._is_said(f, settings))
        if ignores:
            of_target = source.language == PTX or settings.target is not None or settings.ptx is not None
            findings = (f for f in ignores.with_complaints(findings, of_target) if self._is_said(f, settings))
        for f in findings:
            account.severities[f.severity] += 1
            account.codes[f.code] += 1
            account.errors |= _counts(f, settings)
            yield f
        account.ignored += ignores.ignored if ignores else 0
        if conditions:
            account.excluded += conditions.excluded
            account.asked.update(conditions.asked)
        if account.instructions == before:
            account.others += 1
        else:
            account.files += 1
            has_header = source.language == PTX and linter.tally.headers > headers
            account.judged_for.add((has_header, settings.target, settings.ptx))

    def _is_said(self, f: Finding, settings: Settings) -> bool:
        return (settings.codes is None or f.code in settings.codes) and (not self.quiet or _counts(f, settings))

    def _linter(self, target: str | None, ptx: str | None) -> Linter:
        if (target, ptx) not in self._linters:
            linter = self._linters[target, ptx] = Linter(self._db, target, ptx)
            linter.tally = self.account.tally
        return self._linters[target, ptx]


def _counts(f: Finding, settings: Settings) -> bool:
    """Return whether a finding makes the exit code 1."""
    return f.severity == ERROR or (settings.strict and f.severity == WARNING)
