"""explain: explain the errors of ptxas and other programs that compile PTX."""

from __future__ import annotations

import argparse
import json
import os

from ..diagnostics import PtxspecError
from ..explain.log import as_text, explanations
from ..explain.surroundings import surroundings
from ..files import BoundedStream, standard_input
from . import MISUSE, OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Explain errors of ptxas, nvcc, clang, NVRTC, nvJitLink, Triton and the driver's JIT compiler, and say how to "
        "fix them. The errors are read from a log on standard input, as in `ptxas a.ptx 2>&1 | ptxspec explain`, or "
        "given as arguments. If the PTX file that a log names can be read, each error is explained by the instruction "
        "in its line. Exit 0: at least one error was recognized, or there was none; 2: none was recognized."
    )
    parser.add_argument("messages", nargs="*", metavar="MESSAGE", help="an error message, instead of standard input")
    parser.add_argument("--all", action="store_true", help="show alternative fixes as well")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db, direct = database(options), bool(options.messages)
    file = next((m for m in options.messages if os.path.isfile(m)), None)
    if file is not None:
        raise PtxspecError(f"'{file}' is a file, not a message; write `ptxspec explain < {file}`")
    if direct:
        log = [line for m in options.messages for line in m.splitlines()]
        # Some of several pasted lines may be no error messages.
        direct = len(log) == len(options.messages)
    else:
        log = BoundedStream(standard_input(), "standard input").read().decode("utf-8", "replace").split("\n")
    found = explanations(db, log, direct)
    if options.format == "json":
        around = surroundings(db, log)
        targets = {"gpus": list(around.gpus), "compiled": list(around.targets)}
        print(json.dumps({"schema": 1, "targets": targets, "explanations": [e.as_json() for e in found]}, indent=2))
    else:
        lines = list(as_text(found, options.all))
        print("\n".join(lines) if lines else "the input has no error message about PTX")
    return OK if not found or any(e.is_known for e in found) else MISUSE
