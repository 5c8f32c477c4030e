"""compare: show where two ways to compute something differ."""

from __future__ import annotations

import argparse

from .. import roots, tensor, terminal
from ..diagnostics import PtxspecError
from . import NO, OK, TARGET, progress_bar, target_named

SIDES = (
    "a variant, to which @sm_90 adds a target; or PTX with the registers %%a, %%b, %%c and %%d, or a file of it; or a "
    "function: of C (fmaxf), CUDA (__fadd_rz, cuda.fmaxf), ieee754.maximum or numpy.fmin; or mpfr, which rounds in "
    "the place of the variant on the other side; or a form of mma on a target, such as m16n8k16.f32.f16@H100"
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show where two ways to compute something differ, by class of operands: NaNs, infinities, zeros, subnormal and "
        "normal numbers. Two results that are n ulp apart are n representable numbers apart. `ptxspec sweep` makes the "
        "same comparison on millions of operands, or on all. Comparing with mpfr requires gmpy2 (pip install "
        "'ptxspec[mpfr]'). Exit 0: both are equal on all operands tried, except where one leaves the result open; 1: "
        "they differ."
    )
    for name in ("a", "b"):
        parser.add_argument(
            name,
            metavar=name.upper(),
            help=SIDES if name == "a" else "the other side, in any of these forms",
        )
    parser.add_argument("--target", metavar="T", help=f"compute as this target does, where that is known: {TARGET}")
    parser.add_argument(
        "--samples",
        type=int,
        default=1 << 18,
        metavar="N",
        help="the number of random operands of each kind; 262144 by default",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ..proving.compare.comparing import compare
    from ..proving.compare.reading import Reader
    from ..proving.compare.telling import as_json, as_text

    if not 0 < options.samples <= 1 << 32:
        raise PtxspecError(f"--samples {options.samples}: expected a number from 1 to 2^32, such as 1000000")
    name = options.a.partition("@")[0]
    if cores := tensor.named_in(roots.find(options.root).data, name):
        from .compare_tensor import run as run_tensor

        return run_tensor(options, cores)
    reader = Reader(roots.find_source(options.root), target_named(options))
    a, b = reader.both(options.a, options.b)
    with progress_bar("comparing") as progress:
        found = compare(a, b, options.samples, progress)
    if options.format == "json":
        print(as_json(found))
    else:
        for line in as_text(found, terminal.width()):
            print(line)
    return OK if found.equal else NO
