"""list, query, diff, show: what the database knows. Only a page on a terminal needs a library, which is rich."""

from __future__ import annotations

import argparse
import json
import sys

from .. import roots
from ..diagnostics import PtxspecError
from ..query import answers, show, verdicts
from ..query.database import Database
from . import NO, OK


def configure_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="T", help="sm_90; compute_90 and 9.0 are understood")
    parser.add_argument("--ptx", metavar="V", help="a PTX version, as in 8.6")
    parser.add_argument("--type", metavar="TYPE", help="a type, as in bf16x2")
    parser.add_argument("--opcode", metavar="OPCODE")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.set_defaults(run=_list)


def configure_query(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("variant", metavar="VARIANT")
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help="sm_90; compute_90 and 9.0 are understood")
    parser.add_argument("--ptx", metavar="V", help="a PTX version, as in 8.6")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=_query)


def configure_diff(parser: argparse.ArgumentParser) -> None:
    between = parser.add_mutually_exclusive_group(required=True)
    between.add_argument("--ptx", metavar="OLD..NEW", help="two PTX versions, as in 8.5..8.8")
    between.add_argument("--target", metavar="OLD..NEW", help="two targets, as in sm_90..sm_100")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=_diff)


def configure_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="OPCODE|VARIANT")
    parser.add_argument("--operands", type=int, metavar="N", help="the variant with this many source operands")
    parser.set_defaults(run=_show)


def _database(options: argparse.Namespace) -> Database:
    return Database.read(roots.find(options.root).data)


def _list(options: argparse.Namespace) -> int:
    db = _database(options)
    target = db.target(options.target) if options.target is not None else None
    found = [db.on(v, target) for v in db.available(target, options.ptx, options.type, options.opcode)]
    render = {
        "table": answers.variants_as_table,
        "json": answers.variants_as_json,
        "csv": answers.variants_as_csv,
    }[options.format]
    print(render(db, found))
    pair = verdicts.pair(db, target, options.ptx)
    if pair is not None:
        print(f"ptxspec: {pair.message}", file=sys.stderr)
    return OK if found else NO


def _query(options: argparse.Namespace) -> int:
    db = _database(options)
    verdict = verdicts.query(db, options.variant, options.operands, options.target, options.ptx)
    if options.format == "json":
        print(json.dumps(verdict.as_json(), indent=2))
    else:
        target = db.target(options.target) if options.target is not None else None
        print(answers.verdict_as_text(db, verdict, target, options.ptx))
    return OK if verdict.available else NO


def _diff(options: argparse.Namespace) -> int:
    db = _database(options)
    old, separator, new = (options.target if options.ptx is None else options.ptx).partition("..")
    if not separator or not old or not new:
        raise PtxspecError("a range is written OLD..NEW, as in 8.5..8.8 or sm_90..sm_100")
    if options.ptx:
        gained, lost = db.diff_ptx(old, new)
        old, new = f"PTX {old}", f"PTX {new}"
    else:
        gained, lost = db.diff_target(old, new)
    render = answers.difference_as_json if options.format == "json" else answers.difference_as_text
    print(render(old, new, gained, lost))
    return OK


def _show(options: argparse.Namespace) -> int:
    text = show.page(roots.find(options.root), options.name, options.operands)
    if sys.stdout.isatty():
        from ..query import paging

        paging.show(text)
    else:
        print(text, end="" if text.endswith("\n") else "\n")
    return OK
