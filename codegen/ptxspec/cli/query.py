"""query: what a variant needs, or why it does not exist."""

from __future__ import annotations

import argparse
import json

from .. import terminal
from ..query import answers, verdicts
from . import NO, OK, TARGET, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("variant", metavar="VARIANT")
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument("--ptx", metavar="V", help="a PTX version, as in 8.6")
    parser.add_argument("--driver", action="store_true", help="name the oldest driver that compiles it, too")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db = database(options)
    target = db.target(options.target) if options.target is not None else None
    verdict = verdicts.query(db, options.variant, options.operands, target, options.ptx)
    if options.format == "json":
        print(json.dumps(verdict.as_json(db), indent=2))
    else:
        answer, colon, rest = answers.verdict_as_text(db, verdict, target, options.ptx, options.driver).partition(":")
        colour = "red" if not verdict.available else "yellow" if verdict.hazard else "green"
        print(terminal.painted(answer, colour, "bold") + colon + rest)
    return OK if verdict.available else NO
