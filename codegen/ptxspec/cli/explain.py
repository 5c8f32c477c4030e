"""explain: what ptxas said."""

from __future__ import annotations

import argparse
import sys

from ..ptxas.explain import explain
from . import OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Reads a log of ptxas or nvcc on standard input, as in `ptxas a.ptx 2>&1 | ptxspec explain`. Where the file "
        "of PTX that it names can be read, each complaint is explained by its instruction."
    )
    parser.usage = "ptxspec explain [-h] [--root DIR] < LOG"
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    log = (line.decode("utf-8", "replace") for line in sys.stdin.buffer)
    lines = list(explain(database(options), log))
    print("\n".join(lines) if lines else "no complaint of ptxas in the input")
    return OK
