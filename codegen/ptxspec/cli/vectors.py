"""vectors: print operands with their results, from a recorded GPU or from the emulator."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterable

from .. import roots
from ..diagnostics import PtxspecError
from . import OK, TARGET, positive, progress_bar, target_named

FORMATS = ("jsonl", "json", "csv", "npz")
# Rows between two updates of the progress bar.
_TOLD = 1 << 10


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print operands with their results. They come from the newest recording of a GPU that has the variant, or from "
        "the emulator if there is none. Every row says which of the two."
    )
    parser.add_argument("variant", metavar="VARIANT")
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=f"give this target's results: {TARGET}")
    parser.add_argument(
        "--grid", action="store_true", help="all combinations of special values, without random operands"
    )
    parser.add_argument(
        "--rows",
        type=positive,
        metavar="N",
        help="compute N rows with the emulator: special values first, then random ones",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="print at most the first N rows")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="jsonl",
        help="jsonl: a line of JSON for each row (the default); json: one document; csv; npz: NumPy arrays",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ..proving.gpu import export as handing

    root = roots.find_source(options.root)
    if options.grid and options.rows:
        raise PtxspecError("--rows and --grid cannot be used together: --grid excludes the random operands of --rows")
    found = handing.vectors_of(
        root, options.variant, options.operands, target_named(options), options.grid, options.rows
    )
    if options.limit is not None:
        found = found.first(options.limit)
    if options.format != "npz":
        _print(handing.FORMATS[options.format](found), found.rows)
        return OK
    if sys.stdout.isatty():
        raise PtxspecError("npz cannot be printed on a terminal; write it to a file, as in > vectors.npz")
    buffer = io.BytesIO()
    handing.write_npz(found, buffer)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        out.write(buffer.getvalue())
    return OK


def _print(lines: Iterable[str], rows: int) -> None:
    """Print lines, with a progress bar if standard output is not a terminal."""
    with progress_bar("writing") if not sys.stdout.isatty() else contextlib.nullcontext() as progress:
        for i, line in enumerate(lines):
            print(line)
            if progress and i % _TOLD == 0:
                progress(i, rows)
