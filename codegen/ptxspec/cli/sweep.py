"""sweep: compare two ways to compute something on all operands, or on millions, on all processors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .. import roots, terminal
from . import NO, OK, TARGET, progress_bar, target_named


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare a variant with another one, a recording of a GPU or MPFR on millions of operands, or on all of them. "
        "The sweep uses all processors, or a Dask cluster. `ptxspec compare` gives a quick answer from some hundred "
        "thousand operands. A sweep with --state can be stopped and continued. MPFR requires gmpy2 (pip install "
        "'ptxspec[mpfr]'), and --scheduler requires Dask (pip install 'ptxspec[dask]'). Exit 0: both are equal on all "
        "operands tried, except where one leaves the result open; 1: they differ."
    )
    parser.add_argument("variant", metavar="VARIANT", help="a variant, or anything else that `ptxspec compare` accepts")
    parser.add_argument(
        "--against",
        required=True,
        metavar="B",
        help="the same; or the folder of a recording, whose operands are then used; or mpfr, which rounds in the place "
        "of the variant",
    )
    parser.add_argument("--target", metavar="T", help=f"compute as this target does, where that is known: {TARGET}")
    parser.add_argument(
        "--exhaustive",
        action="store_true",
        help="try all operands, of which there can be at most 2^32; by default, special ones and 2^24 of each random "
        "stream are tried",
    )
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="save progress in FILE; the same FILE continues a stopped sweep"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="use the Dask cluster of this scheduler, such as tcp://10.0.0.1:8786"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ..proving.sweep.blocks import Job
    from ..proving.sweep.state import kept_in
    from ..proving.sweep.sweeping import sweep
    from ..proving.sweep.telling import as_json, as_text

    root = roots.find_source(options.root)
    job = Job(root.path, root.packaged, options.variant, options.against, target_named(options), options.exhaustive)
    # The file behind a symbolic link is written; the link itself is not replaced.
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
