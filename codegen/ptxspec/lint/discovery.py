"""The files to check: those that are named, and those in folders and matching patterns whose suffix determines their
language."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..catalog.likeness import suggest
from ..diagnostics import PtxspecError
from .configuration import FILES, Configurations, Settings
from .languages import LANGUAGES, PTX, language_of
from .links import AWAY, leads_away
from .linter import language
from .patterns import PathPattern, excluded

STDIN = "-"
# Folders of files that were not written for the repository. A walk also skips folders whose names begin with a dot, and
# virtual environments of any name.
PASSED_BY = frozenset(
    ["__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"]
)
_ENVIRONMENT = "pyvenv.cfg"


class LintedFile(NamedTuple):
    """A text to check: its displayed path, `-` for standard input, its language, its settings, and whether it was named
    itself."""

    path: str
    language: str
    settings: Settings
    named: bool = False


class DiscoveredFiles(NamedTuple):
    """The texts to check, each once; arguments without any; and warnings about links that were left out, and about
    patterns that exclude nothing."""

    sources: list[LintedFile]
    missing: list[str]
    warnings: list[str]


def find(
    arguments: Iterable[str],
    configurations: Configurations,
    written_in: str | None = None,
    excluding: bool = False,
    stdin: str | None = None,
) -> DiscoveredFiles:
    """Return the files that arguments name. `written_in` is the language of files that are named themselves.
    `excluding`: leave out even these if the configuration excludes them. `stdin` is the name of standard input."""
    found: dict[str, LintedFile] = {}
    walked = _Walked(Path.cwd())
    missing: list[str] = []
    for argument in arguments:
        try:
            for source in _named(argument, configurations, written_in, excluding, stdin, walked):
                first = found.setdefault(file := _file(source.path), source)
                found[file] = first._replace(named=first.named or source.named)
        except PtxspecError as e:
            missing.append(str(e))
    idle = (f"{p.place}: '{p.text}' excludes nothing" for p in walked.idle())
    warnings = dict.fromkeys([*configurations.left_out, *_left_out(list(walked.links)), *idle])
    return DiscoveredFiles(list(found.values()), list(dict.fromkeys(missing)), list(warnings))


def _left_out(links: list[str]) -> Iterator[str]:
    if links:
        first, *more = links
        are = f"and {len(more):,} more are links" if more else "is a link"
        yield f"{first} {are} {AWAY}; such files are checked only if you name them"


def _file(path: str) -> str:
    """Return the same path for all names of a file. Links are files of their own."""
    return os.path.realpath(path) if ".." in Path(path).parts else os.path.join(os.getcwd(), path)


class _Walked:
    """The account of a walk: the patterns that were applied to all the files in their reach, those that have excluded
    some, and the links that were left out. `inside`: where links may lead; `named`: the requested folder, which is not
    left out by patterns that match it."""

    def __init__(self, inside: Path, named: Path | None = None) -> None:
        self.inside, self.named = inside, named
        self.links: dict[str, None] = {}
        self.wholly: dict[PathPattern, None] = {}
        self.used: set[PathPattern] = set()

    def add(self, other: _Walked) -> None:
        self.wholly.update(other.wholly)
        self.used |= other.used
        self.links.update(other.links)

    def leads_away(self, link: str) -> bool:
        """Return whether a link that a walk met is to be left out, and record it if so."""
        if not leads_away(link, self.inside):
            return False
        self.links[os.path.normpath(link)] = None
        return True

    def idle(self) -> list[PathPattern]:
        # A pattern for something that is skipped anyway need not match.
        idle = (p for p in self.wholly if p not in self.used)
        return [p for p in idle if p.text.strip("/") not in PASSED_BY and not p.text.startswith(".")]


def _named(
    argument: str,
    configurations: Configurations,
    written_in: str | None,
    excluding: bool,
    stdin: str | None,
    walked: _Walked,
) -> Iterator[LintedFile]:
    if argument == STDIN:
        where = configurations.of(_absolute(stdin).parent) if stdin else configurations.otherwise
        by_name = language(Path(stdin), dict(where.endings)) if stdin else PTX
        yield LintedFile(STDIN, written_in or by_name, where, True)
        return
    path = Path(argument)
    absolute = _absolute(argument)
    if path.is_dir():
        settings = configurations.of(absolute)
        if excluding and _is_left_out(absolute, absolute / "_", settings):
            return
        own = _Walked(absolute, absolute)
        inside = list(_walk(path, absolute, settings, configurations, own))
        walked.add(own)
        if not inside:
            by = ", ".join(sorted(f"'{p.text}'" for p in own.used))
            besides = f" except files that {by} excludes" if by else ""
            raise PtxspecError(f"{argument}: there are no files to check{besides}; {_known_endings()}")
        yield from inside
    elif glob.has_magic(argument) and not os.path.lexists(path):
        yield from _matching(argument, configurations, walked)
    else:
        if not os.path.lexists(path):
            raise PtxspecError(_no_such(path))
        settings = configurations.of(absolute.parent)
        if not (excluding and _is_left_out(absolute, absolute, settings)):
            yield LintedFile(str(path), written_in or language(path, dict(settings.endings)), settings, True)


def _is_left_out(path: Path, inside: Path, settings: Settings) -> bool:
    """Return whether a walk would leave out a named path; `inside` is a file in it, or the path itself."""
    return excluded(path, settings.exclude) or _passed_by(inside, Path.cwd())


def _absolute(path: str | Path) -> Path:
    """Return an absolute path without following links: patterns are about visible names."""
    return Path(os.path.abspath(path))


def _walk(
    folder: Path, absolute: Path, settings: Settings, configurations: Configurations, walked: _Walked
) -> Iterator[LintedFile]:
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
    except OSError as e:
        raise PtxspecError(f"{folder}: {e.strerror or e}") from None
    if any(e.name in FILES for e in entries):
        settings = configurations.of(absolute)
    named, endings = walked.named, dict(settings.endings)
    patterns = [p for p in settings.exclude if named is None or not p.matches(named)]
    walked.wholly.update(dict.fromkeys(p for p in patterns if p.base == absolute))
    for entry in entries:
        name = entry.name
        if entry.is_dir(follow_symlinks=False):
            inside, path = absolute / name, Path(entry.path)
            if not (patterns and excluded(inside, patterns, walked.used)) and not _is_passed_by(name, path):
                yield from _walk(path, inside, settings, configurations, walked)
        elif (
            "." in name[1:]
            and (written_in := language_of(name, endings)) is not None
            and os.path.isfile(entry.path)  # unlike entry.is_file(), false for a link to itself
            and not (patterns and excluded(absolute / name, patterns, walked.used))
            and not (entry.is_symlink() and walked.leads_away(entry.path))
        ):
            yield LintedFile(os.path.normpath(entry.path), written_in, settings)


def _is_passed_by(name: str, folder: Path) -> bool:
    return name in PASSED_BY or name.startswith(".") or os.path.exists(folder / _ENVIRONMENT)


def _passed_by(path: Path, base: Path) -> bool:
    """Return whether a walk from a folder would have skipped a path."""
    inside = path.relative_to(base).parts[:-1] if path.is_relative_to(base) else ()
    folders = (base.joinpath(*inside[: i + 1]) for i in range(len(inside)))
    return any(_is_passed_by(name, folder) for name, folder in zip(inside, folders, strict=True))


def _matching(pattern: str, configurations: Configurations, walked: _Walked) -> Iterator[LintedFile]:
    """Yield the sources that a pattern matches which the shell did not expand."""
    base = _fixed(pattern)
    own = _Walked(base)  # it does not reach all files of the configuration's patterns
    some = False
    for matched in sorted(glob.iglob(pattern, recursive=True)):
        path, absolute = Path(matched), _absolute(matched)
        is_folder = path.is_dir()
        if not (is_folder or ("." in path.name and path.is_file())) or _passed_by(absolute / "_", _absolute(base)):
            continue
        known = is_folder or language_of(path.name, dict(configurations.otherwise.endings)) is not None
        # It may be behind a link to a folder, too, with the configuration of another place.
        if own.leads_away(matched) if known else leads_away(matched, own.inside):
            continue
        settings = configurations.of(absolute if is_folder else absolute.parent)
        written_in = language_of(path.name, dict(settings.endings))
        if (written_in is None and not is_folder) or excluded(absolute, settings.exclude):
            continue
        if is_folder:
            for source in _walk(path, absolute, settings, configurations, own):
                some = True
                yield source
        else:
            some = True
            yield LintedFile(str(path), written_in or PTX, settings)
    walked.links.update(own.links)
    if not some:
        files = base.rglob("*") if base.is_dir() else ()
        there = sorted({p.suffix.lower() for p in files if p.suffix and language_of(p.name)})
        if not base.is_dir():
            help = _no_such(base)
        elif there:
            help = f"the files there have the suffixes {' '.join(there)}"
        else:
            help = f"{base} has no files to check; {_known_endings()}"
        raise PtxspecError(f"{pattern} matches no file to check; {help}")


def _fixed(pattern: str) -> Path:
    """Return the folder from which a pattern starts."""
    parts = Path(pattern).parts
    fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return Path(*parts[:fixed])


def _known_endings() -> str:
    return f"supported suffixes: {' '.join(filter(None, LANGUAGES))}"


def _no_such(path: Path) -> str:
    """Return the message that a path does not exist, with the nearest one that does."""
    parent = path.parent
    if not parent.is_dir():
        return _no_such(parent) if parent != path else f"{path}: No such file or directory"
    try:
        names = os.listdir(parent)
    except OSError:
        names = []
    prefix = "" if str(parent) == "." else f"{parent}{os.sep}"
    help = suggest(path.name, names, prefix, otherwise=" ").strip()
    return f"{path}: No such file or directory" + (f"; {help}" if help else "")
