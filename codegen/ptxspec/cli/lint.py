"""lint: what ptxas would say."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from ..diagnostics import PtxspecError
from ..lint.findings import Finding, joined
from ..lint.linter import Linter, language
from ..lint.rendering import FORMATS
from ..lint.windows import decode, read
from ..ptx.complaints import ERROR, WARNING
from . import MISUSE, NO, OK, TARGET, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Judges .ptx files by their own .version and .target, and the inline assembly of C++ (.cu .cuh .cpp .h .hip "
        ".cl) and Python (.py) by --target and --ptx; without these, what exists anywhere passes. Exit 1: errors were "
        "found, with --strict warnings too, 2: a file could not be read. Registers are judged where their declaration "
        "or constraint is in sight. Not judged are other instructions than the database's, declarations and guards by "
        "themselves, and in programs what a macro or a format fills in."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="- is standard input, read as PTX")
    parser.add_argument("--target", metavar="T", help=f"judge for this target, whatever the files say: {TARGET}")
    parser.add_argument("--ptx", metavar="V", help="judge for this PTX version, whatever the files say")
    parser.add_argument("--strict", action="store_true", help="exit 1 for warnings too")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """What cannot be read is said on standard error; the other files are judged all the same."""
    linter = Linter(database(options), options.target, options.ptx)
    code = OK

    def findings() -> Iterator[Finding]:
        nonlocal code
        for file in options.files:
            try:
                for f in _findings(linter, file):
                    if f.severity == ERROR or (options.strict and f.severity == WARNING):
                        code = max(code, NO)
                    yield f
            except PtxspecError as e:
                code = MISUSE
                print(f"ptxspec: {e}", file=sys.stderr)

    for part in FORMATS[options.format](joined(findings())):
        sys.stdout.write(part)
    return code


def _findings(linter: Linter, file: str) -> Iterator[Finding]:
    if file == "-":
        return linter.lint(decode(sys.stdin.buffer, "<stdin>"), "<stdin>")
    path = Path(file)
    return linter.lint(read(path), file, language(path))
