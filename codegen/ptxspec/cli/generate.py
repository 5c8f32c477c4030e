"""generate: generate everything that is made from the specification."""

from __future__ import annotations

import argparse
import sys

from .. import roots, terminal
from ..emit import generate
from ..emit.generate import Changes
from ..emit.text import Files
from . import NO, OK, counted, keeping_everything, waiting

# The greatest number of files that are listed by name; more are only counted.
_LISTED = 20


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check", action="store_true", help="write nothing; report what would change, and exit 1 if anything would"
    )
    parser.add_argument("--diff", action="store_true", help="show the changed lines")
    parser.set_defaults(run=run)


@keeping_everything()
def run(options: argparse.Namespace) -> int:
    root = roots.find_own(options.root).path

    def show(changes: Changes, files: Files) -> None:
        for line in generate.diff(root, files, changes) if options.diff else ():
            line = line.rstrip("\n")
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            print(terminal.painted(line, colour) if colour else line)

    with waiting("reading spec/ and generating generated/"):
        if options.check:
            changes, files = generate.check(root)
            show(changes, files)
        else:
            changes = generate.generate(root, show)
    if not changes:
        print(f"generated/ {'is' if options.check else 'was'} up to date: {counted(changes.total, 'file')}")
        return OK
    for line in changes.told:
        print(line)
    kinds = (("added", changes.added), ("changed", changes.changed), ("removed", changes.removed))
    for kind, names in kinds:
        for name in names if len(names) <= _LISTED else ():
            print(f"  {kind}: {name}")
    numbers = ", ".join(f"{len(names)} {kind}" for kind, names in kinds)
    print(f"generated/: {numbers}, {counted(changes.total, 'file')} in all")
    if options.check:
        print("generated/ is out of date; run `ptxspec generate`", file=sys.stderr)
        return NO
    return OK
