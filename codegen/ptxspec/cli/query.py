"""query: what a variant needs, or why it does not exist."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from .. import terminal
from ..diagnostics import PtxspecError
from ..query import answers, calls, functions, verdicts
from ..query.database import Database
from . import NO, OK, TARGET, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "variant",
        metavar="VARIANT|FUNCTION",
        help="a spelling, as in fma.rn.ftz.f32, or a function of CUDA C++ or libdevice, as in __hmul2 or "
        "'fma(double)', for the PTX that nvcc makes of it",
    )
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument("--ptx", metavar="V", help="a PTX version, as in 8.6")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db = database(options)
    target = db.target(options.target) if options.target is not None else None
    if found := calls.named(db, options.variant):
        return _function(options, db, found, target)
    verdict = verdicts.query(db, options.variant, options.operands, target, options.ptx)
    if options.format == "json":
        print(json.dumps(verdict.as_json(db), indent=2))
    else:
        answer, colon, rest = answers.verdict_as_text(db, verdict, target, options.ptx).partition(":")
        colour = "red" if not verdict.available else "yellow" if verdict.hazard else "green"
        print(terminal.painted(answer, colour, "bold") + colon + rest)
    return OK if verdict.available else NO


def _function(options: argparse.Namespace, db: Database, found: Sequence[calls.Call], target: str | None) -> int:
    """Answer about a function of CUDA C++."""
    for option in ("operands", "ptx"):
        if getattr(options, option) is not None:
            raise PtxspecError(f"--{option} is about a variant, and {found[0].name} is a function")
    name = found[0].name
    answer = functions.as_json(db, name, found, target)
    if options.format == "json":
        print(json.dumps(answer, indent=2))
    else:
        head, colon, rest = functions.as_text(db, name, found, target).partition(":")
        print(terminal.painted(head, "green" if answer["available"] else "red", "bold") + colon + rest)
    return OK if answer["available"] else NO
