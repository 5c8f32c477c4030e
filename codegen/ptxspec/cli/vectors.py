"""vectors: operands with results, of a recorded GPU or of the emulator."""

from __future__ import annotations

import argparse
import io
import os
import sys

from .. import roots
from ..diagnostics import PtxspecError
from ..gpu import export as handing
from . import OK, TARGET, target_named


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Operands with results: from the newest recording of a GPU that has the variant, else from the emulator. Every "
        "row says which of the two."
    )
    parser.add_argument("variant", metavar="VARIANT")
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=f"as this target returns them: {TARGET}")
    parser.add_argument("--format", choices=tuple(handing.FORMATS), default="jsonl")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = roots.find(options.root)
    found = handing.vectors_of(root, options.variant, options.operands, target_named(options))
    if options.format != "npz":
        for line in handing.FORMATS[options.format](found):
            print(line)
        return OK
    if sys.stdout.isatty():
        raise PtxspecError("npz is not for a terminal: write it to a file with > vectors.npz")
    buffer = io.BytesIO()
    handing.write_npz(found, buffer)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        out.write(buffer.getvalue())
    return OK
