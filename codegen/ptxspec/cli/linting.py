"""lint, explain: what ptxas would say, and what it said."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from .. import roots
from ..diagnostics import PtxspecError
from ..lint.findings import ERROR, Finding
from ..lint.linter import Linter, language
from ..lint.rendering import FORMATS
from ..lint.windows import decode, read
from ..ptxas.explain import explain
from ..query.database import Database
from . import MISUSE, NO, OK


def configure_lint(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Judges .ptx files by their own .version and .target, and the inline assembly of C++ (.cu .cuh .cpp .h .hip "
        ".cl) and Python (.py) by --target and --ptx; without these, what exists anywhere passes. Exit 1: errors were "
        "found, 2: a file could not be read. Registers are judged where their declaration or constraint is in sight. "
        "Not judged are other instructions than the database's, declarations and guards by themselves, and in programs "
        "what a macro or a format fills in."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="- is standard input, read as PTX")
    parser.add_argument("--target", metavar="T", help="judge for this target, whatever the files say")
    parser.add_argument("--ptx", metavar="V", help="judge for this PTX version, whatever the files say")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text")
    parser.set_defaults(run=_lint)


def configure_explain(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads a log of ptxas or nvcc on standard input, as in `ptxas a.ptx 2>&1 | ptxspec explain`. Where the file "
        "of PTX that it names can be read, each complaint is explained by its instruction."
    )
    parser.usage = "ptxspec explain [-h] [--root DIR] < LOG"
    parser.set_defaults(run=_explain)


def _database(options: argparse.Namespace) -> Database:
    return Database.read(roots.find(options.root).data)


def _lint(options: argparse.Namespace) -> int:
    """What cannot be read is said on standard error; the other files are judged all the same."""
    linter = Linter(_database(options), options.target, options.ptx)
    code = OK

    def findings() -> Iterator[Finding]:
        nonlocal code
        for file in options.files:
            try:
                for f in _findings(linter, file):
                    if f.severity == ERROR:
                        code = max(code, NO)
                    yield f
            except PtxspecError as e:
                code = MISUSE
                print(f"ptxspec: {e}", file=sys.stderr)

    for part in FORMATS[options.format](findings()):
        sys.stdout.write(part)
    return code


def _findings(linter: Linter, file: str) -> Iterator[Finding]:
    if file == "-":
        return linter.lint(decode(sys.stdin.buffer, "<stdin>"), "<stdin>")
    path = Path(file)
    return linter.lint(read(path), file, language(path))


def _explain(options: argparse.Namespace) -> int:
    log = (line.decode("utf-8", "replace") for line in sys.stdin.buffer)
    lines = list(explain(_database(options), log))
    print("\n".join(lines) if lines else "no complaint of ptxas in the input")
    return OK
