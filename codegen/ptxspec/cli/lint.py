"""lint: what ptxas would say, of one text or of whole repositories."""

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
from ..lint.configuration import Configurations, Given
from ..lint.discovery import Found, Source, find
from ..lint.findings import Finding
from ..lint.languages import LANGUAGES
from ..lint.many import Unreadable, check_all
from ..lint.mending import mended
from ..lint.reading import NotTextError
from ..lint.rendering import FORMATS, plain, text
from ..lint.rewriting import Rewriting
from . import MISUSE, NO, OK, TARGET, database, positive

# The formats in which an account of what was judged does no harm.
_FOR_PEOPLE = ("text", "github")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Judges .ptx files by their own .version and .target, and the inline assembly of C++ and CUDA, Python, Rust, "
        "Julia, C#, MLIR and LLVM, notebooks and the blocks of Markdown by --target and --ptx; without these, as the "
        "newest PTX for any target. A string that is plainly PTX is judged too. Code under a condition that does not "
        "hold for the target is passed over. Exit 1: errors were found, with --strict warnings too, 2: something is "
        "not there, or could not be read. Registers are judged where their declaration or constraint is in sight. Of "
        "other instructions than the database's only names and vectors are judged, and in programs nothing that a "
        "macro or a format fills in.\n\n"
        "In a folder all files are judged whose ending says what they are written in, but for hidden folders, virtual "
        "environments, node_modules, build, dist and the like; what is named itself is judged wherever it is. The "
        "table [lint] in the nearest ptxspec.toml above a file, or above the working folder, or [tool.ptxspec.lint] in "
        "pyproject.toml, may have what `ptxspec manual linting` lists; the command line wins.\n\n"
        "A comment `// ptxspec: ignore[CODE]`, in Python with #, hides what is found by that code: behind code on its "
        "line, else in the statement or block that follows; `ignore-file[CODE]` in the file. A comment that ignores "
        "nothing is a warning. `ptxspec manual codes` has all codes with what they mean."
    )
    languages = tuple(dict.fromkeys(LANGUAGES.values()))
    about = "files, folders and patterns; - is standard input; without any, the working folder"
    parser.add_argument("files", nargs="*", metavar="PATH", default=[], help=about)
    about = f"judge for this target, or these: T,T; a .ptx file that names its own keeps it. {TARGET}"
    parser.add_argument("--target", metavar="T", action="append", help=about)
    parser.add_argument("--ptx", metavar="V", help="judge for this PTX version, where a file does not name its own")
    parser.add_argument("--force-target", action="store_true", help="judge for them whatever the files say")
    parser.add_argument("--select", metavar="CODE", action="append", help="say only this, or these: CODE,CODE")
    parser.add_argument("--ignore", metavar="CODE", action="append", help="do not say this, or these")
    about = "pass by files and folders as third_party, *.inc, src/**/old_*.cu"
    parser.add_argument("--exclude", metavar="PATTERN", action="append", help=about)
    parser.add_argument("--force-exclude", action="store_true", help="pass them by even where they are named")
    parser.add_argument("--isolated", action="store_true", help="read no ptxspec.toml and no pyproject.toml")
    about = "mend what is found in the files where one change does that, and the same is computed"
    parser.add_argument("--fix", action="store_true", help=about)
    about = "write comments into the files that ignore what is found in them"
    parser.add_argument("--add-ignores", action="store_true", help=about)
    parser.add_argument("--diff", action="store_true", help="with these, print what would change, and change nothing")
    parser.add_argument("--exit-zero", action="store_true", help="exit 0 whatever is found")
    about = "say nothing of the findings in this file, which the configuration may name too"
    parser.add_argument("--baseline", metavar="FILE", help=about)
    about = "write the findings into this file, instead of saying them"
    parser.add_argument("--write-baseline", metavar="FILE", help=about)
    about = "say only what is found in lines that have changed since this commit"
    parser.add_argument("--since", metavar="COMMIT", help=about)
    parser.add_argument("--strict", action="store_true", help="exit 1 for warnings too")
    about = "say only what makes the exit code 1, and nothing at the end"
    parser.add_argument("--quiet", "-q", action="store_true", help=about)
    about = "instead of what was found, count the instructions by opcode, with those outside of the database"
    parser.add_argument("--stats", action="store_true", help=about)
    about = "instead of what was found, list the conditions around it that were not understood, with how much is there"
    parser.add_argument("--explain-guards", action="store_true", help=about)
    about = "what standard input, and a file that is named, is written in, whatever its ending says"
    parser.add_argument("--language", choices=languages, help=about)
    about = "the file that standard input is: its ending says the language, its folder the configuration"
    parser.add_argument("--stdin-filename", metavar="FILE", help=about)
    parser.add_argument(
        "--jobs", metavar="N", type=positive, help="the number of processes; by default that of the processors"
    )
    parser.add_argument("--format", choices=tuple(FORMATS), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Judge the files and print the findings. Files that cannot be read are named on standard error; the others are
    judged all the same."""
    counted = "--stats" if options.stats else "--explain-guards" if options.explain_guards else ""
    if counted and options.format not in ("text", "json"):
        raise PtxspecError(f"{counted} is text or json, not {options.format}")
    configurations = _configurations(options)
    paths = options.files or ["."]
    found = find(paths, configurations, options.language, options.force_exclude, options.stdin_filename)
    for d in sorted(set(configurations.wrong)):
        error = terminal.painted("error:", "red", "bold", stream=sys.stderr)
        print(str(d).replace("error:", error, 1), file=sys.stderr)
    db, data = database(options), roots.find(options.root).data
    checker = Checker(db, options.stats, options.quiet, options.stdin_filename or "<stdin>")
    account = checker.account
    unreadable = bool(found.missing or configurations.wrong)
    rewrites = options.fix or options.add_ignores
    if options.diff and not rewrites:
        raise PtxspecError("--diff shows what --fix or --add-ignores would change")
    for message in found.missing:
        _say(message)
    for message in () if options.quiet else found.warnings:
        _say(message, "warning:", "yellow")

    if rewrites:
        return MISUSE if unreadable else _rewrite(found, checker, options)
    told: set[str] = set()  # what holds for many files is told once

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
                elif not counted:
                    progress.clear()
                    yield event

        if options.write_baseline:
            number = baseline.write(Path(options.write_baseline), findings())
            progress.clear()
            print(f"{number:,} findings are known in {visible(options.write_baseline)}")
            return MISUSE if unreadable else OK
        paint = terminal.painted if terminal.has_colours(sys.stdout) else plain
        if counted:
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


def _rewrite(found: Found, checker: Checker, options: argparse.Namespace) -> int:
    """Mend the files and write comments into them. What cannot be written is named on standard error."""

    def change(text: str, source: Source) -> str:
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
    print(f"{changed:,} {'file' if changed == 1 else 'files'} {left}", file=sys.stderr)
    return code


def _configurations(options: argparse.Namespace) -> Configurations:
    given = Given(
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
    """A progress line on a terminal, with the number of files judged. It appears after one second."""

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
