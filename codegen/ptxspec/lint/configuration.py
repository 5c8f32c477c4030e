"""The configuration of a repository: the table [lint] of its ptxspec.toml, or [tool.ptxspec.lint] of its
pyproject.toml. The command line wins."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..catalog.explaining import pair
from ..catalog.likeness import suggest
from ..diagnostics import Diagnostic, Mark, PtxspecError
from ..files import read_bytes
from ..query.database import Database
from .baseline import Baseline
from .findings import CODES, unknown_code
from .languages import EXTRACT, PTX
from .languages.programs import Calls
from .links import AWAY, leads_away
from .macros import Defines, needed
from .patterns import PathPattern

# The first file of these in a folder that has a table for lint is used.
FILES = ("ptxspec.toml", "pyproject.toml")
_MAX_BYTES = 1 << 22
_BY_FILE = ("per-file-targets", "per-file-ignores")
KEYS = {
    "exclude": "a list of patterns, such as third_party or src/**/old_*.cu",
    "select": "a list of the only codes to report",
    "ignore": "a list of codes that are not reported",
    "target": 'a target or a list of targets, such as "sm_90"',
    "per-file-targets": 'a table of patterns, such as {"src/hopper/**" = ["sm_90a"]}',
    "per-file-ignores": 'a table of patterns, such as {"tests/**" = ["hazard"]}',
    "force-target": "true or false: whether the target and the PTX version replace a module's own",
    "endings": 'a table of languages by file suffix, such as {".impl" = "c++"}',
    "calls": "a list of functions that take PTX, such as emit_ptx, or emit:2 for the second argument",
    "baseline": "a file of known findings, which `lint --write-baseline FILE` writes",
    "ptx": 'a PTX version, such as "8.0"',
    "defines": 'a table of macros, such as {HAS_FP8 = ">= sm_89", DEBUG = false}',
    "strict": "true or false: whether warnings make the exit code 1",
}


class Settings(NamedTuple):
    """The settings for checking files. `codes` are those that are reported; None: all. `forced`: target and PTX version
    replace those that modules state. `endings` are the languages of additional suffixes, and `calls` are additional
    functions that take PTX. Findings in `baseline` are not reported, nor are those in lines that the commit `since`
    has. `defines` are macros that the files do not define themselves. Of the patterns in `own_targets` the first that
    matches a file counts, and of those in `own_ignores` all do."""

    targets: tuple[str, ...] = ()
    ptx: str | None = None
    forced: bool = False
    codes: frozenset[str] | None = None
    exclude: tuple[PathPattern, ...] = ()
    strict: bool = False
    defines: Defines = ()
    endings: tuple[tuple[str, str], ...] = ()
    calls: Calls = ()
    baseline: Baseline | None = None
    since: str = ""
    own_targets: tuple[tuple[PathPattern, tuple[str, ...]], ...] = ()
    own_ignores: tuple[tuple[PathPattern, frozenset[str]], ...] = ()

    def targets_of(self, file: str) -> tuple[str, ...]:
        """Return the targets for which a file is judged."""
        path = Path(os.path.abspath(file))
        return next((targets for pattern, targets in self.own_targets if pattern.matches(path)), self.targets)

    def ignores(self, code: str, file: str) -> bool:
        """Return whether findings with a code are not reported for a file."""
        if self.codes is not None and code not in self.codes:
            return True
        own = [codes for _, codes in self.own_ignores if code in codes]
        path = Path(os.path.abspath(file)) if own else None
        return path is not None and any(code in codes and p.matches(path) for p, codes in self.own_ignores)


class CommandLineSettings(NamedTuple):
    """The settings given on the command line; None, or nothing, where it does not give one."""

    targets: tuple[str, ...] | None = None
    ptx: str | None = None
    forced: bool = False
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    strict: bool = False
    isolated: bool = False
    baseline: str | None = None
    since: str = ""


class _WrongError(Exception):
    """An error for a configuration that is unusable as a whole."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics = diagnostics
        super().__init__()


class Configurations:
    """The settings of each folder: of the nearest configuration above it that has a table for lint, else of that above
    the working folder. Errors in them are in `wrong`; the wrong parts are ignored. Raises PtxspecError for errors on
    the command line."""

    def __init__(self, db: Database, given: CommandLineSettings) -> None:
        self._db = db
        self._given = given
        for codes in (given.select, given.ignore):
            for code in codes or ():
                if code not in CODES:
                    raise PtxspecError("; ".join(unknown_code(code)))
        if given.select is not None and (wrong := _silence(given.select, given.ignore or (), "--select", "--ignore")):
            raise PtxspecError(wrong)
        self._targets = None if given.targets is None else tuple(dict.fromkeys(map(db.target, given.targets)))
        self._ptx = db.ptx_version(given.ptx) if given.ptx is not None else None
        self._known: dict[Path, Settings | None] = {}
        self.wrong: list[Diagnostic] = []
        self.left_out: list[str] = []  # links that would expose other places
        here = None if given.isolated else self._above(Path.cwd())
        self.otherwise = here or self._settings({}, Path.cwd())

    def of(self, folder: Path) -> Settings:
        """Return the settings of the files in a folder, which must be absolute."""
        return self.otherwise if self._given.isolated else self._above(folder) or self.otherwise

    def _above(self, folder: Path) -> Settings | None:
        if folder not in self._known:
            found = next((s for name in FILES if (s := self._read(folder / name))), None)
            if found is None and folder.parent != folder:
                found = self._above(folder.parent)
            self._known[folder] = found
        return self._known[folder]

    def _read(self, path: Path) -> Settings | None:
        try:
            data = read_bytes(path, _MAX_BYTES)
        except OSError:
            return None
        if path.name != FILES[0] and b"ptxspec" not in data:
            return None
        if leads_away(path, path.parent):
            self.left_out.append(f"{_shown(path)} is a link {AWAY}; it is not read")
            return None
        text = data.decode("utf-8", "replace")
        table = _Table(path, text)
        try:
            said = self._said(text, table)
            return None if said is None else self._settings(said, path.parent, table)
        except _WrongError as e:
            self.wrong += e.diagnostics
            return self._settings({}, path.parent)

    def _said(self, text: str, table: _Table) -> dict[str, Any] | None:
        """Return the valid part of a file's table for lint; None if it has no such table."""
        try:
            whole = tomllib.loads(text)
        except ValueError as e:  # also for numbers of thousands of digits
            raise _WrongError(table.undecodable(str(e))) from None
        except RecursionError:
            raise _WrongError(table.undecodable("it is nested too deeply")) from None
        ours: Any = whole
        if table.prefix:
            tools = whole.get("tool", {})
            ours = tools.get("ptxspec") if isinstance(tools, dict) else None
            if ours is None and isinstance(tools, dict):
                return None
            if not isinstance(ours, dict):
                name, key = ("tool", "tool") if ours is None else ("tool.ptxspec", "ptxspec")
                raise _WrongError(table.says(f"{name} must be a table", "write [tool.ptxspec.lint]", key))
        for key in ours:
            if key != "lint":
                unknown = f"unknown table {table.prefix}{key}"
                self.wrong.append(table.says(unknown, f"write [{table.prefix}lint]", key))
        said = ours.get("lint")
        if said is None:
            return None
        if not isinstance(said, dict):
            name = f"{table.prefix}lint"
            raise _WrongError(table.says(f"{name} must be a table", f"write [{name}] and its keys below it", "lint"))
        found = {}
        for key, value in said.items():
            wrong = list(self._wrong(key, value, table))
            self.wrong += wrong
            if not wrong:
                found[key] = value
        return found

    def _wrong(self, key: str, value: Any, table: _Table) -> Iterable[Diagnostic]:
        """Yield the errors in a key and its value."""
        if key not in KEYS:
            yield table.says(f"unknown key '{key}'", suggest(key, KEYS), key)
        elif key in ("exclude", "select", "ignore"):
            yield from self._wrong_list(key, value, table, None if key == "exclude" else _wrong_code)
        elif key == "target":
            yield from self._wrong_list(key, _as_list(value), table, self._wrong_target)
        elif key in _BY_FILE:
            if not isinstance(value, dict):
                yield table.says(f"'{key}' must be {KEYS[key]}", "", key)
                return
            wrong = self._wrong_target if key == "per-file-targets" else _wrong_code
            for pattern, listed in value.items():
                yield from self._wrong_list(pattern, _as_list(listed), table, wrong)
        elif key == "calls":
            yield from self._wrong_list(key, value, table, _wrong_call)
        elif key == "endings":
            yield from _wrong_endings(value, table)
        elif key == "defines":
            yield from self._wrong_defines(value, table)
        elif key in ("strict", "force-target"):
            if not isinstance(value, bool):
                yield table.says(f"'{key}' must be true or false", f"write {key} = true", key)
        elif not isinstance(value, str):
            yield table.says(f"'{key}' must be {KEYS[key]}", f'write {key} = "{value}"', key)
        elif key == "ptx":
            try:
                self._db.ptx_version(value)
            except PtxspecError as e:
                yield table.says(str(e), "", key, value)

    def _wrong_list(
        self, key: str, value: Any, table: _Table, wrong: Callable[[str], tuple[str, str] | None] | None
    ) -> Iterable[Diagnostic]:
        """Yield the errors in a list of strings; `wrong` returns that of a single one. It is None for patterns."""
        if not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            what = KEYS.get(key, "a list of strings")
            example = {"exclude": '["third_party/"]', "target": '"sm_90"'}.get(key)
            if example is None:
                example = '["sm_90a"]' if wrong == self._wrong_target else '["hazard"]'
            yield table.says(f"'{key}' must be {what}", f"write {key} = {example}", key)
            return
        for v in value:
            if wrong is None:
                if not v.strip():
                    yield table.says("an empty pattern excludes nothing", "remove it", key, v)
            elif said := wrong(v):
                yield table.says(*said, key, v)

    def _wrong_target(self, name: str) -> tuple[str, str] | None:
        try:
            self._db.target(name)
        except PtxspecError as e:
            return str(e), ""
        return None

    def _wrong_defines(self, said: Any, table: _Table) -> Iterable[Diagnostic]:
        if not isinstance(said, dict):
            yield table.says(f"'defines' must be {KEYS['defines']}", "", "defines")
            return
        help = 'write ">= sm_90", "sm_90a, sm_100f < sm_107", a number, true or false'
        for name, value in said.items():
            if not name.isidentifier() or not name.isascii():
                yield table.says(f"'{name}' is not the name of a macro", "write one such as HAS_FP8", name)
            elif isinstance(value, str):
                try:
                    terms = needed(self._db, value)
                except PtxspecError as e:
                    yield table.says(str(e), "", name, value)
                    continue
                if terms is None:
                    yield table.says(f"'{value}' is not a value for a macro", help, name, value)
                for t in terms or ():
                    if not any(t.holds(self._db, target) for target in self._db.targets):
                        newer = " or newer" * t.newer
                        message = f"there is no target {t.target}{newer} that is older than {t.below}"
                        yield table.says(message, "", name, value)
            elif not isinstance(value, int):
                yield table.says(f"'{value}' is not a value for a macro", help, name)

    def _settings(self, said: dict[str, Any], base: Path, table: _Table | None = None) -> Settings:
        given = self._given
        named, unsaid = said.get("select"), said.get("ignore", ())
        if table is not None and named is not None and (silent := _silence(named, unsaid, "'select'", "'ignore'")):
            raise _WrongError(table.says(silent, "name a code that is to be reported, or remove 'select'", "select"))
        select = given.select if given.select is not None else named
        ignore = given.ignore if given.ignore is not None else unsaid
        codes = frozenset(CODES if select is None else select).difference(ignore)
        exclude = tuple(PathPattern(e, base, table.place(e) if table else "") for e in said.get("exclude", ()))
        if given.exclude is not None:
            exclude = tuple(PathPattern(e, Path.cwd(), "--exclude") for e in given.exclude)
        targets = self._listed(said.get("target", ())) if self._targets is None else self._targets
        ptx = self._ptx
        if ptx is None and "ptx" in said:
            ptx = self._db.ptx_version(said["ptx"])
        own_targets = () if self._targets is not None else tuple(self._by_file(said, "per-file-targets", base))
        for target in targets or (None,):
            if impossible := pair(self._db, target, ptx):
                # Nothing could be checked.
                own = next((key for key, by in (("ptx", self._ptx), ("target", self._targets)) if by is None), None)
                if table is None or own is None or own not in said:
                    raise PtxspecError(impossible.message)
                raise _WrongError(table.says(impossible.message, "", own, target if own == "target" else ptx))
        return Settings(
            targets,
            ptx,
            given.forced or bool(said.get("force-target")),
            None if codes == CODES.keys() else codes,
            exclude,
            given.strict or bool(said.get("strict")),
            tuple(said.get("defines", {}).items()),
            tuple((ending.lower(), name) for ending, name in said.get("endings", {}).items()),
            tuple((name, int(place or 0)) for name, _, place in (c.partition(":") for c in said.get("calls", ()))),
            _baseline(given.baseline, said.get("baseline"), base),
            given.since,
            tuple((p, self._listed(of)) for p, of in own_targets),
            tuple((p, frozenset(_as_list(of))) for p, of in self._by_file(said, "per-file-ignores", base)),
        )

    def _by_file(self, said: dict[str, Any], key: str, base: Path) -> list[tuple[PathPattern, Any]]:
        return [(PathPattern(pattern, base), of) for pattern, of in said.get(key, {}).items()]

    def _listed(self, targets: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(self._db.target, _as_list(targets))))


def _as_list(value: Any) -> Any:
    """Return a string as a list of one; other values unchanged."""
    return [value] if isinstance(value, str) else value


def _baseline(given: str | None, said: str | None, base: Path) -> Baseline | None:
    """Return the known findings of the option, or those of the configuration; None for an empty name."""
    name = said if given is None else given
    return Baseline((base if given is None else Path.cwd()) / name) if name else None


def _wrong_call(call: str) -> tuple[str, str] | None:
    if re.fullmatch(r"[^\W\d]\w*(?::[1-9]\d?)?", call):
        return None
    return f"'{call}' is not the name of a function", "write it without its class or module: emit_ptx or emit_ptx:2"


def _wrong_endings(said: Any, table: _Table) -> Iterable[Diagnostic]:
    if not isinstance(said, dict):
        yield table.says(f"'endings' must be {KEYS['endings']}", "", "endings")
        return
    for ending, name in said.items():
        if not re.fullmatch(r"\.[^/\s]+", ending):
            yield table.says(f"'{ending}' is not a suffix", "write it with its dot", ending)
        if not isinstance(name, str) or name not in (PTX, *EXTRACT):
            help = suggest(str(name), (PTX, *EXTRACT), otherwise=f"known: {', '.join((PTX, *EXTRACT))}")
            yield table.says(f"unknown language '{name}'", help, ending, str(name))


def _wrong_code(code: str) -> tuple[str, str] | None:
    return None if code in CODES else unknown_code(code)


def _silence(select: Iterable[str], ignore: Iterable[str], selecting: str, ignoring: str) -> str:
    """Return the error for codes of which none would be reported, or an empty text. `selecting` and `ignoring` are the
    names of the options."""
    codes = frozenset(select)
    if not codes:
        return f"{selecting} names no code: nothing would be reported"
    return "" if codes.difference(ignore) else f"{ignoring} names all codes of {selecting}: nothing would be reported"


def _shown(path: Path) -> str:
    shown = os.path.relpath(path)
    return str(path) if shown.startswith("..") else shown


class _Table:
    """The table's keys in a file, with their places as far as these can be told from its lines."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = _shown(path)
        self.prefix = "" if path.name == FILES[0] else "tool.ptxspec."
        self._lines = text.splitlines()
        self._text = text

    def says(self, message: str, help: str, key: str, value: str | None = None) -> Diagnostic:
        at, length = self._place(key)
        if value is not None and (m := re.compile(rf"[\"']{re.escape(value)}[\"']").search(self._text, at)):
            at, length = m.start() + 1, max(1, len(value))
        return self._diagnostic(message, help, at, length)

    def place(self, pattern: str) -> str:
        """Return the place of a pattern, as file:line:column."""
        d = self.says("", "", "exclude", pattern)
        return f"{d.path}:{d.mark.line}:{d.mark.column}"

    def undecodable(self, message: str) -> Diagnostic:
        m = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
        at = len(self._text.rstrip())
        if m and m[1]:
            at = sum(len(line) + 1 for line in self._lines[: int(m[1]) - 1]) + int(m[2]) - 1
        said = message[: m.start()] if m else message
        return self._diagnostic(f"not TOML: {said[:1].lower()}{said[1:]}", "", at, 1)

    def _place(self, key: str) -> tuple[int, int]:
        word = re.escape(key)
        name = r"[ \t]*\.[ \t]*".join(f"{self.prefix}lint".split("."))
        header = re.search(rf"^[ \t]*\[[ \t]*{name}[ \t]*\]", self._text, re.M)
        start = header.end() if header else 0
        for pattern, begin in (
            (rf"^[ \t]*(?:[\w-]+[ \t]*\.[ \t]*)*[\"']?(?P<key>{word})[\"']?[ \t]*=", start),
            (rf"\[[^\]\n]*\b(?P<key>{word})\b", 0),
            (rf"(?<![\w-])(?P<key>{word})(?![\w-])", 0),
        ):
            if m := re.compile(pattern, re.M).search(self._text, begin):
                return m.start("key"), len(key)
        return start, 1

    def _diagnostic(self, message: str, help: str, at: int, length: int) -> Diagnostic:
        line = self._text.count("\n", 0, at)
        column = at - (self._text.rfind("\n", 0, at) + 1)
        source = self._lines[line] if line < len(self._lines) else ""
        return Diagnostic(self._path, Mark(line + 1, column + 1, length), message, help, source)
