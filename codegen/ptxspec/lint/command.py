"""`ptxspec lint`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..diagnostics import PtxspecError

OK, NO, UNREADABLE = 0, 1, 2


def add_lint_command(commands: Any, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `lint` to the commands; `parents` give --root."""
    p = commands.add_parser(
        "lint",
        parents=list(parents),
        help="judge the instructions of PTX files, and of the PTX in CUDA, C++ and Python files, as ptxas would",
        description="Judges .ptx files by their own .version and .target, and the inline assembly of C++ "
        "(.cu .cuh .cpp .h ...) and Python (.py) by --target and --ptx; without these, what exists anywhere passes. "
        "Exit 0: no errors, 1: errors, 2: a file that cannot be read.",
    )
    p.add_argument("files", nargs="+", metavar="FILE", help="- is standard input, read as PTX")
    p.add_argument("--target", metavar="T", help="judge for this target, whatever the files say")
    p.add_argument("--ptx", metavar="V", help="judge for this PTX version, whatever the files say")
    p.add_argument("--format", choices=("text", "json", "sarif"), default="text")
    p.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Lint the files and print the findings. What cannot be read is said on standard error; the others are judged."""
    from .. import database, roots
    from .findings import ERROR, Finding
    from .linter import Linter
    from .rendering import FORMATS

    db = database.read(roots.find(options.root).generated / "data" / "ptxspec.json")
    linter = Linter(db, options.target, options.ptx)
    code = OK

    def findings() -> Iterator[Finding]:
        nonlocal code
        for file in options.files:
            try:
                for f in _lint(linter, file):
                    if f.severity == ERROR:
                        code = max(code, NO)
                    yield f
            except PtxspecError as e:
                code = UNREADABLE
                print(f"ptxspec: {e}", file=sys.stderr)

    encoding = sys.stdout.encoding or "utf-8"
    for part in FORMATS[options.format](findings()):
        sys.stdout.write(part.encode(encoding, "backslashreplace").decode(encoding))
    return code


def _lint(linter: Any, file: str) -> Iterator[Any]:
    from .linter import LANGUAGES, PTX
    from .windows import decode, read

    if file == "-":
        yield from linter.lint(decode(sys.stdin.buffer, "<stdin>"), "<stdin>")
    else:
        path = Path(file)
        yield from linter.lint(read(path), file, LANGUAGES.get(path.suffix.lower(), PTX))


def add_explain_command(commands: Any, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `explain` to the commands; `parents` give --root."""
    p = commands.add_parser(
        "explain",
        parents=list(parents),
        help="say what the complaints in a log of ptxas mean and what to write instead",
        description="Reads a log of ptxas or nvcc on standard input, as in `ptxas a.ptx 2>&1 | ptxspec explain`. "
        "Where the PTX file of the log can be read, each complaint is explained by its instruction.",
    )
    p.set_defaults(run=run_explain)


def run_explain(options: argparse.Namespace) -> int:
    """Explain the log on standard input."""
    from .. import database, roots
    from ..explain import explain

    db = database.read(roots.find(options.root).generated / "data" / "ptxspec.json")
    found = False
    encoding = sys.stdout.encoding or "utf-8"
    log = (line.decode("utf-8", "replace") for line in sys.stdin.buffer)
    for line in explain(db, log):
        found = True
        print(line.encode(encoding, "backslashreplace").decode(encoding))
    if not found:
        print("no complaint of ptxas in the input")
    return OK
