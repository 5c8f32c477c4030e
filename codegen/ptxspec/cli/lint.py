"""lint: check one text or whole repositories as ptxas would."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import monotonic as _now

from .. import roots, terminal
from ..diagnostics import PtxspecError, visible
from ..lint import baseline
from ..lint.annotating import ignoring
from ..lint.changes import commit
from ..lint.checking import Checker
from ..lint.configuration import CommandLineSettings, Configurations
from ..lint.discovery import DiscoveredFiles, LintedFile, find
from ..lint.findings import Finding
from ..lint.languages import LANGUAGES
from ..lint.many import Unreadable, check_all
from ..lint.mending import mended
from ..lint.reading import NotTextError
from ..lint.rendering import FORMATS, plain, text
from ..lint.rewriting import Rewriting
from . import MISUSE, NO, OK, TARGET, counted, database, positive

# The formats that can be followed by a summary.
_FOR_PEOPLE = ("text", "github")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Check PTX for errors without ptxas. A .ptx file is checked for its own .version and .target. The inline PTX "
        "in C++ and CUDA, Python, Rust, Julia, C#, JavaScript, MLIR and LLVM, notebooks and the code blocks of "
        "Markdown is checked for --target and --ptx; without these, for any target and the newest PTX version. "
        "Strings that are clearly PTX are checked too. Code under a preprocessor condition that is false for the "
        "target is skipped. Registers are checked if their declaration or constraint is visible. Instructions outside "
        "the database are checked for their names and vectors only. In programs, text that a macro or a format fills "
        "in is not checked. Exit 0: no errors; 1: errors were found, or warnings with --strict; 2: a file is missing "
        "or could not be read.\n\n"
        "In a folder, every file with the suffix of a supported language is checked. Hidden folders, virtual "
        "environments, node_modules, build, dist and the like are skipped. A file named on the command line is always "
        "checked. The configuration is the table [lint] in the nearest ptxspec.toml above a file or the working "
        "folder, or [tool.ptxspec.lint] in pyproject.toml. `ptxspec manual linting` lists its keys. Options on the "
        "command line take precedence.\n\n"
        "A comment `// ptxspec: ignore[CODE]` (with # in Python) hides the findings with that code. After code, it "
        "applies to its line; on a line of its own, to the statement or block that follows. `ignore-file[CODE]` "
        "applies to the whole file. A comment that hides nothing is reported as a warning. `ptxspec manual codes` "
        "explains all codes."
    )
    languages = tuple(dict.fromkeys(LANGUAGES.values()))
    about = "files, folders and patterns; - is standard input; the default is the working folder"
    parser.add_argument("files", nargs="*", metavar="PATH", default=[], help=about)
    about = f"check for this target, or for several: T,T; a .ptx file with its own .target keeps it. {TARGET}"
    parser.add_argument("--target", metavar="T", action="append", help=about)
    parser.add_argument("--ptx", metavar="V", help="check for this PTX version, if a file does not name its own")
    parser.add_argument("--force-target", action="store_true", help="check for --target and --ptx in every file")
    parser.add_argument("--select", metavar="CODE", action="append", help="report only these codes: CODE,CODE")
    parser.add_argument("--ignore", metavar="CODE", action="append", help="do not report these codes")
    about = "skip files and folders that match, such as third_party, *.inc or src/**/old_*.cu"
    parser.add_argument("--exclude", metavar="PATTERN", action="append", help=about)
    about = "skip them even if they are named on the command line"
    parser.add_argument("--force-exclude", action="store_true", help=about)
    parser.add_argument("--isolated", action="store_true", help="read no ptxspec.toml and no pyproject.toml")
    about = "fix findings in the files where a single change does so without changing what is computed; report the rest"
    parser.add_argument("--fix", action="store_true", help=about)
    about = "add comments to the files that ignore their findings"
    parser.add_argument("--add-ignores", action="store_true", help=about)
    about = "with --fix or --add-ignores, print the changes instead of making them"
    parser.add_argument("--diff", action="store_true", help=about)
    parser.add_argument("--exit-zero", action="store_true", help="exit 0 even if errors are found")
    about = "do not report the findings in this file, which the configuration can name too"
    parser.add_argument("--baseline", metavar="FILE", help=about)
    about = "write the findings to this file instead of reporting them"
    parser.add_argument("--write-baseline", metavar="FILE", help=about)
    about = "report only findings in lines that have changed since this commit"
    parser.add_argument("--since", metavar="COMMIT", help=about)
    parser.add_argument("--strict", action="store_true", help="exit 1 for warnings too")
    about = "report only findings that make the exit code 1, without a summary"
    parser.add_argument("--quiet", "-q", action="store_true", help=about)
    about = "count the instructions by opcode, with those outside the database, instead of reporting findings"
    parser.add_argument("--stats", action="store_true", help=about)
    about = "list the conditions that were not understood and count the findings under each, instead of reporting them"
    parser.add_argument("--explain-guards", action="store_true", help=about)
    about = "the language of standard input and of files named on the command line, whatever their suffix"
    parser.add_argument("--language", choices=languages, help=about)
    about = "the name of the file in standard input: its suffix decides the language, its folder the configuration"
    parser.add_argument("--stdin-filename", metavar="FILE", help=about)
    about = "the number of processes; the number of processors by default"
    parser.add_argument("--jobs", metavar="N", type=positive, help=about)
    parser.add_argument("--format", choices=tuple(FORMATS), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the files and print the findings. Files that cannot be read are named on standard error; the others are
    checked all the same."""
    account_only = "--stats" if options.stats else "--explain-guards" if options.explain_guards else ""
    if account_only and options.format not in ("text", "json"):
        raise PtxspecError(f"{account_only} supports --format text and json, not {options.format}")
    configurations = _configurations(options)
    paths = options.files or ["."]
    found = find(paths, configurations, options.language, options.force_exclude, options.stdin_filename)
    for d in sorted(set(configurations.wrong)):
        error = terminal.painted("error:", "red", "bold", stream=sys.stderr)
        print(str(d).replace("error:", error, 1), file=sys.stderr)
    db, data = database(options), roots.find(options.root).data
    new_checker = partial(Checker, db, options.stats, options.quiet, options.stdin_filename or "<stdin>")
    unreadable = bool(found.missing or configurations.wrong)
    rewrites = options.fix or options.add_ignores
    if options.diff and not rewrites:
        raise PtxspecError("--diff requires --fix or --add-ignores")
    for message in found.missing:
        _say(message)
    for message in () if options.quiet else found.warnings:
        _say(message, "warning:", "yellow")

    if rewrites:
        code = MISUSE if unreadable else _rewrite(found, new_checker(), options)
        if code or options.diff or not options.fix:
            return code
        # The files are checked again: what is left is reported as without --fix.
    checker = new_checker()
    account = checker.account
    told: set[str] = set()  # a message about many files is printed once

    with _Progress() as progress:

        def findings() -> Iterator[Finding]:
            nonlocal unreadable
            for event in check_all(found.sources, checker, data, options.jobs, progress.of):
                if isinstance(event, Unreadable):
                    unreadable |= event.grave
                    progress.clear()
                    if event.message in told:
                        continue
                    told.add(event.message)
                    if event.grave:
                        _say(event.message)
                    elif not options.quiet:
                        _say(event.message, "warning:", "yellow")
                elif not account_only:
                    progress.clear()
                    yield event

        if options.write_baseline:
            number = baseline.write(Path(options.write_baseline), findings())
            progress.clear()
            print(f"{counted(number, 'finding')} written to {visible(options.write_baseline)}")
            return MISUSE if unreadable else OK
        paint = terminal.painted if terminal.has_colours(sys.stdout) else plain
        if account_only:
            for _ in findings():
                pass
        else:
            render = (
                partial(text, width=terminal.lines_width()) if options.format == "text" else FORMATS[options.format]
            )
            for part in render(findings(), paint):
                progress.clear()
                sys.stdout.write(part)
    if options.stats:
        print(json.dumps(account.as_json(), indent=2) if options.format == "json" else "\n".join(account.table()))
    if options.explain_guards:
        asked = dict(account.asked.most_common())
        print(json.dumps(asked, indent=2) if options.format == "json" else "\n".join(account.guards()))
    if options.format in _FOR_PEOPLE and not options.quiet and found.sources:
        if found_in_all := account.found():
            print(found_in_all)
        print(account.judged(db.catalog.newest_version))
    return MISUSE if unreadable else NO if account.errors and not options.exit_zero else OK


def _rewrite(found: DiscoveredFiles, checker: Checker, options: argparse.Namespace) -> int:
    """Fix the files and add comments to them. Files that cannot be written are named on standard error."""

    def change(text: str, source: LintedFile) -> str:
        judge = partial(checker.judge, name=source.path, source=source)
        text = mended(text, judge) if options.fix else text
        return ignoring(text, source.path, source.language, judge) if options.add_ignores else text

    changed, code = 0, OK
    for source in found.sources:
        try:
            file = Rewriting(source.path, partial(change, source=source))
            if not file.changes:
                continue
            changed += 1
            if options.diff:
                sys.stdout.writelines(f"{visible(line)}\n" for line in file.diff())
            else:
                file.write()
        except NotTextError:
            continue
        except PtxspecError as e:
            _say(str(e))
            code = MISUSE
    left = "would change" if options.diff else "changed"
    print(f"{counted(changed, 'file')} {left}", file=sys.stderr)
    return code


def _configurations(options: argparse.Namespace) -> Configurations:
    given = CommandLineSettings(
        _listed(options.target),
        options.ptx,
        options.force_target,
        _listed(options.select),
        _listed(options.ignore),
        _listed(options.exclude),
        options.strict,
        options.isolated,
        "" if options.write_baseline else options.baseline,
        commit(options.since) if options.since else "",
    )
    return Configurations(database(options), given)


def _listed(given: list[str] | None) -> tuple[str, ...] | None:
    """Return the names that an option was given, with commas between them or by repeating the option."""
    if given is None:
        return None
    return tuple(name.strip() for some in given for name in some.split(",") if name.strip())


def _say(message: str, by: str = "ptxspec:", colour: str = "red") -> None:
    print(f"{terminal.painted(by, colour, 'bold', stream=sys.stderr)} {visible(message)}", file=sys.stderr)


class _Progress(contextlib.AbstractContextManager["_Progress"]):
    """A progress line on a terminal, with the number of files checked. It appears after one second."""

    def __init__(self) -> None:
        self._next = _now() + 1 if sys.stderr.isatty() else float("inf")
        self._shown = False

    def __exit__(self, *_: object) -> None:
        self.clear()

    def of(self, done: int, total: int) -> None:
        now = _now()
        if now > self._next:
            self._next = now + 0.1
            self._shown = True
            sys.stdout.flush()
            print(f"\r\033[K{done:,} of {total:,} files", end="", file=terminal.as_it_is(sys.stderr), flush=True)

    def clear(self) -> None:
        if self._shown:
            self._shown = False
            print("\r\033[K", end="", file=terminal.as_it_is(sys.stderr), flush=True)
