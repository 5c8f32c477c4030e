"""generate: everything that is made from the specification."""

from __future__ import annotations

import argparse
import sys

from .. import roots, terminal
from ..emit import generate
from ..emit.generate import Changes
from . import NO, OK, counted, keeping_everything


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 with a diff where generated/ is stale"
    )
    parser.set_defaults(run=run)


@keeping_everything()
def run(options: argparse.Namespace) -> int:
    root = roots.find_own(options.root)
    if options.check:
        changes, files = generate.check(root.path)
        if not changes:
            print(f"generated/ is up to date: {counted(changes.total, 'file')}")
            return OK
        for line in generate.diff(root.path, files, changes):
            line = line.rstrip("\n")
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            print(terminal.painted(line, colour) if colour else line)
        print(f"generated/ is stale: {_summary(changes)}; run `ptxspec generate`", file=sys.stderr)
        return NO
    changes = generate.generate(root.path)
    if not changes:
        print(f"generated/ was up to date: {counted(changes.total, 'file')}")
        return OK
    for sign, names in (("+", changes.added), ("~", changes.changed), ("-", changes.removed)):
        for name in names:
            print(f"  {sign} {name}")
    print(f"generated/: {_summary(changes)}, {counted(changes.total, 'file')} in all")
    return OK


def _summary(changes: Changes) -> str:
    return f"{len(changes.added)} added, {len(changes.changed)} changed, {len(changes.removed)} removed"
