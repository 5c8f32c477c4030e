"""query: what a variant needs, or why it does not exist."""

from __future__ import annotations

import argparse
import json

from .. import terminal
from ..diagnostics import PtxspecError
from ..query import answers, verdicts
from ..query.database import Database
from . import NO, OK, TARGET, database, lines_given


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "variant",
        metavar="VARIANT",
        help="a spelling, as in fma.rn.ftz.f32; modifiers may stand in any order. `-`: each line of standard input is "
        "one, and has a line as its answer",
    )
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument("--ptx", metavar="V", help="a PTX version, as in 8.6")
    parser.add_argument("--driver", action="store_true", help="name the oldest driver that compiles it, too")
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db = database(options)
    target = db.target(options.target) if options.target is not None else None
    if options.variant == "-":
        return _many(db, target, options)
    verdict = verdicts.query(db, options.variant, options.operands, target, options.ptx)
    if options.format != "text":
        print(json.dumps(verdict.as_json(db), indent=2 if options.format == "json" else None))
    else:
        _print(verdict, answers.verdict_as_text(db, verdict, target, options.ptx, options.driver))
    return OK if verdict.available else NO


def _many(db: Database, target: str | None, options: argparse.Namespace) -> int:
    """Answer each line of standard input by a line."""
    if options.format == "json":
        raise PtxspecError("each line has an answer of its own: write --format jsonl")
    code = OK
    for _, spelling in lines_given():
        verdict = verdicts.query(db, spelling, options.operands, target, options.ptx)
        if options.format == "jsonl":
            print(json.dumps(verdict.as_json(db)))
        else:
            found = answers.told(db, verdict, target, options.ptx)
            _print(verdict, ": ".join([found.head, *["; ".join(found.reasons)][: len(found.reasons)]]))
        code = code if verdict.available else NO
    return code


def _print(verdict: verdicts.Verdict, text: str) -> None:
    answer, colon, rest = text.partition(":")
    colour = "red" if not verdict.available else "yellow" if verdict.hazard else "green"
    print(terminal.painted(answer, colour, "bold") + colon + rest)
