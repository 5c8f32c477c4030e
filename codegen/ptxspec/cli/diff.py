"""diff: show the variants that a PTX version or a target added or removed."""

from __future__ import annotations

import argparse

from .. import terminal
from ..diagnostics import PtxspecError
from ..query import differences
from . import OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    between = parser.add_mutually_exclusive_group(required=True)
    between.add_argument("--ptx", metavar="OLD..NEW", help="two PTX versions, such as 8.5..8.8")
    between.add_argument("--target", metavar="OLD..NEW", help="two targets, such as sm_90..sm_100 or A100..H100")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db = database(options)
    old, separator, new = (options.target if options.ptx is None else options.ptx).partition("..")
    if not separator or not old or not new:
        raise PtxspecError("a range has the form OLD..NEW, as in 8.5..8.8 or sm_90..sm_100")
    if options.ptx:
        gained, lost = db.diff_ptx(old, new)
        old, new = f"PTX {old}", f"PTX {new}"
    else:
        old, new = db.target(old), db.target(new)
        gained, lost = db.diff_target(old, new)
    if options.format == "json":
        print(differences.as_json(old, new, gained, lost))
    else:
        for line in differences.as_text(db, old, new, gained, lost).split("\n"):
            colour = {"+ ": "green", "- ": "red"}.get(line[:2])
            print(terminal.painted(line, colour) if colour else line)
    return OK
