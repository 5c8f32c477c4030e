"""A text checked by lint, with the configuration of the repository that contains its file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ..diagnostics import PtxspecError
from ..lint.checking import Checker
from ..lint.configuration import CommandLineSettings, Configurations, Settings
from ..lint.discovery import LintedFile
from ..lint.findings import Finding
from ..lint.languages import BLOCKS, MARKDOWN, PTX, language_of
from ..lint.linter import Met
from ..lint.patterns import excluded
from ..lint.reading import decoded
from ..query.database import Database

Place = tuple[str | None, str | None]


class AbandonedError(Exception):
    """The error for a check whose result is no longer wanted."""


class _Met(list[Met]):
    """The spellings that a check has met. It asks at each whether the check should go on."""

    def __init__(self, is_stale: Callable[[], bool]) -> None:
        super().__init__()
        self._is_stale = is_stale

    def append(self, met: Met) -> None:
        if self._is_stale():
            raise AbandonedError
        super().append(met)


# Editors' names for languages.
_NAMES = {**BLOCKS, MARKDOWN: MARKDOWN, "javascriptreact": BLOCKS["javascript"]}


def language_named(name: str) -> str | None:
    """Return the language for an editor's name; None for one that is not checked."""
    return _NAMES.get(name.lower())


class CheckedText(NamedTuple):
    """A text with its findings. `met` are the spellings that exist, in the text's order; `otherwise` are the targets
    and PTX versions that apply where no spelling was met. `unread` is the reason why the text was not checked."""

    text: str
    path: str
    language: str
    findings: tuple[Finding, ...] = ()
    met: tuple[Met, ...] = ()
    otherwise: tuple[Place, ...] = ((None, None),)
    unread: str = ""

    def at(self, offset: int) -> list[Met]:
        """Return the spellings met at an offset, for each target of the check."""
        return list({m: m for m in self.met if m.start <= offset <= m.end and m.variant})

    def places(self, offset: int) -> list[Place]:
        """Return the targets and PTX versions for which a statement at an offset would be checked."""
        before = [m for m in self.met if m.start <= offset]
        nearest = max((m.start for m in before), default=0)
        return list({(m.target, m.ptx): None for m in before if m.start == nearest} or dict.fromkeys(self.otherwise))


class TextChecker:
    """A checker of texts, like `ptxspec lint` in the editor's folder that contains the file. `folders` returns these;
    the first one is for files outside. If a configuration is wrong, `tell` gets the reason, and the text is checked
    without it."""

    def __init__(
        self, db: Database, tell: Callable[[str], None], folders: Callable[[], Iterable[str]] = lambda: ()
    ) -> None:
        self.db, self._tell, self._folders = db, tell, folders
        self._home, self._entering = os.getcwd(), Lock()
        self._checker = Checker(db)
        self._told = ""

    def language(self, path: str, name: str) -> str | None:
        """Return the language of a file by its suffix, else by the editor's name for it; None for one that is not
        checked."""
        file = Path(path)
        by_ending = language_of(file.name, dict(self._settings(file).endings)) if "." in file.name else None
        return by_ending or language_named(name)

    def judge(self, text: str, path: str, language: str, is_stale: Callable[[], bool] = lambda: False) -> CheckedText:
        """Return a text with its findings. Raises AbandonedError if the check `is_stale`."""
        if is_stale():
            raise AbandonedError
        settings = self._settings(Path(path))
        targets: tuple[str | None, ...] = settings.targets_of(path) or (None,)
        ptx = settings.ptx or (None if language == PTX else self.db.catalog.newest_version)
        judged = CheckedText(text, path, language, otherwise=tuple((t, ptx) for t in targets))
        if excluded(Path(os.path.abspath(path)), settings.exclude):
            return judged
        met = self._checker.met = _Met(is_stale)
        try:
            # A text that lint would not read as text is not checked here either.
            read = decoded(text.encode("utf-8", "replace"), path)
            findings = tuple(self._checker.judge(read, path, LintedFile(path, language, settings, True)))
        except PtxspecError as e:
            return judged._replace(unread=str(e))
        return judged._replace(findings=findings, met=tuple(sorted(met, key=lambda m: m.start)))

    def _settings(self, path: Path) -> Settings:
        with self._entering:
            self._enter(path)
            return self._of(Path(os.path.abspath(path)).parent)

    def _enter(self, path: Path) -> None:
        """Work in the innermost folder of the editor that contains a file, wherever the editor started this process."""
        folders = [*self._folders()]
        inside = sorted((f for f in folders if path.is_relative_to(f)), key=len, reverse=True)
        # A folder may have been deleted.
        os.chdir(next(f for f in (*inside, *folders, self._home, os.sep) if os.path.isdir(f)))

    def _of(self, folder: Path) -> Settings:
        """Return the settings of a folder."""
        # Configurations are read every time, so that they are never out of date. This takes less time than reading a
        # text.
        try:
            configurations = Configurations(self.db, CommandLineSettings())
            settings = configurations.of(folder)
            wrong = "; ".join(f"{d.path}:{d.mark.line}: {d.message}" for d in configurations.wrong)
        except PtxspecError as e:  # a file named in the configuration is wrong
            settings, wrong = Configurations(self.db, CommandLineSettings(isolated=True)).otherwise, str(e)
        if wrong and wrong != self._told:
            self._tell(f"{wrong}; files are checked without this")
        self._told = wrong
        return settings
