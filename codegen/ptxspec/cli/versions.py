"""versions: list the PTX versions, with the CUDA releases and drivers that support them."""

from __future__ import annotations

import argparse

from ..query import releases
from . import OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db = database(options)
    print(releases.versions_as_json(db) if options.format == "json" else releases.versions_as_table(db))
    return OK
