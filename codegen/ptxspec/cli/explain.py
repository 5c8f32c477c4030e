"""explain: what a compiler of PTX said."""

from __future__ import annotations

import argparse
import json
import os

from ..diagnostics import PtxspecError
from ..files import Bounded, standard_input
from ..ptxas import explain as explaining
from ..ptxas.surroundings import surroundings
from . import MISUSE, OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Says what mends the complaints of ptxas, nvcc, clang, NVRTC, nvJitLink, Triton and the driver's JIT: those in "
        "a log on standard input, as in `ptxas a.ptx 2>&1 | ptxspec explain`, or those given. Where the file of PTX "
        "that a log names can be read, each complaint is explained by its instruction. "
        "Exit 2: none of the complaints is one that the database knows."
    )
    parser.add_argument("messages", nargs="*", metavar="MESSAGE", help="instead of standard input")
    parser.add_argument("--all", action="store_true", help="show the other ways as well")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db, direct = database(options), bool(options.messages)
    file = next((m for m in options.messages if os.path.isfile(m)), None)
    if file is not None:
        raise PtxspecError(f"'{file}' is a file, and no message; write `ptxspec explain < {file}`")
    if direct:
        log = [line for m in options.messages for line in m.splitlines()]
        # Of several lines that one pasted, some are no complaints.
        direct = len(log) == len(options.messages)
    else:
        log = Bounded(standard_input(), "standard input").read().decode("utf-8", "replace").split("\n")
    found = explaining.explanations(db, log, direct)
    if options.format == "json":
        around = surroundings(db, log)
        targets = {"gpus": list(around.gpus), "compiled": list(around.targets)}
        print(json.dumps({"schema": 1, "targets": targets, "explanations": [e.as_json() for e in found]}, indent=2))
    else:
        lines = list(explaining.as_text(found, options.all))
        print("\n".join(lines) if lines else "no complaint about PTX in the input")
    return OK if not found or any(e.is_known for e in found) else MISUSE
