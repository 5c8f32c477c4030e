"""list: list the variants that are available on a target or in a PTX version."""

from __future__ import annotations

import argparse
import sys

from ..query import lists
from ..query.where import where
from . import NO, OK, TARGET, counted, database, keeping_everything


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument("--ptx", metavar="V", help="a PTX version, such as 8.6")
    parser.add_argument("--type", metavar="TYPE", help="a type, such as bf16x2")
    parser.add_argument("--opcode", metavar="OPCODE")
    parser.add_argument(
        "--where",
        metavar="CONDITION",
        help="list only variants that satisfy this condition. A test is target, type, result, opcode, modifier, "
        "operands, claim or hazard, followed by = and a value; tests can be combined with and, or, not and parentheses",
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.set_defaults(run=run)


@keeping_everything()
def run(options: argparse.Namespace) -> int:
    db = database(options)
    target = db.target(options.target) if options.target is not None else None
    asked = db.available(target, options.ptx, options.type, options.opcode)
    if options.where is not None:
        asked = list(filter(where(db, options.where, options.ptx), asked))
    found = [db.on(v, target) for v in asked]
    render = {
        "table": lists.variants_as_table,
        "json": lists.variants_as_json,
        "csv": lists.variants_as_csv,
    }[options.format]
    print(render(db, found, target))
    if options.format == "table" and target is None and options.ptx is None:
        crashing = [v for v in db.variants if v.crash and options.opcode in (None, v.opcode)]
        kept = [v for v in crashing if options.type is None or options.type.lstrip(".") in v.types]
        if options.where is not None:
            kept = list(filter(where(db, options.where), kept))
        if kept:
            print(f"{counted(len(kept), 'variant')} not listed: on no target, because the assembler crashes")
    if not found:
        from ..catalog import explaining  # most answers need no explanation

        pair = explaining.pair(db, target, options.ptx)
        if pair is not None:
            print(f"ptxspec: {pair.message}", file=sys.stderr)
    return OK if found else NO
