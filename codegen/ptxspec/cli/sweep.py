"""sweep: two ways to compute something on all operands, or on millions, on all processors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .. import roots, terminal
from . import NO, OK, TARGET, progress_bar, target_named


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Holds a variant against another one, a recording of a GPU or MPFR on millions of operands, or on all of them, "
        "on all processors or on a Dask cluster; `ptxspec compare` asks the same of some thousands at once. A sweep "
        "with --state that was stopped goes on where it was. Exit 0: they are equal on all that was tried, but for "
        "what one of them leaves open; 1: they differ."
    )
    parser.add_argument("variant", metavar="VARIANT", help="a variant, or whatever else `ptxspec compare` takes")
    parser.add_argument(
        "--against",
        required=True,
        metavar="B",
        help="the same; the folder of a recording, whose operands are taken then; or mpfr, which rounds what the "
        "variant rounds",
    )
    parser.add_argument("--target", metavar="T", help=f"as this target computes it, where that is known: {TARGET}")
    parser.add_argument(
        "--exhaustive",
        action="store_true",
        help="all operands, where there are 2^32 of them at most; else special ones and 2^24 of each random stream",
    )
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="keep in FILE what is done; with the same FILE a sweep goes on"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="on the Dask cluster of this scheduler, as in tcp://10.0.0.1:8786"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ..sweep.blocks import Job
    from ..sweep.state import kept_in
    from ..sweep.sweeping import sweep
    from ..sweep.telling import as_json, as_text

    root = roots.find_source(options.root)
    job = Job(root.path, root.packaged, options.variant, options.against, target_named(options), options.exhaustive)
    # The file that the user's own link leads to is kept, not the link replaced.
    state = options.state and (options.state.resolve() if options.state.is_symlink() else options.state)
    try:
        with progress_bar("sweeping") as progress:
            swept, total = sweep(job, state, options.scheduler, progress)
    except KeyboardInterrupt:
        print(f"stopped: {kept_in(options.state)}", file=sys.stderr)
        raise
    if options.format == "json":
        print(as_json(swept, total))
    else:
        for line in as_text(swept, total, terminal.width()):
            print(line)
    return OK if swept.found(total).equal else NO
