"""targets: list the targets, with the names of their GPUs."""

from __future__ import annotations

import argparse

from ..query import names, releases
from . import OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="list only these, with all their GPUs: sm_90, 9.0, H100, 'RTX 4090', hopper or native",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db = database(options)
    meant = {t for name in options.names for t in names.targets(db, name)}
    found = [t for t in db.targets if not options.names or t in meant]
    if options.format == "json":
        print(releases.targets_as_json(db, found))
    else:
        print(releases.targets_as_table(db, found, whole=bool(options.names)))
    return OK
