"""compare: where two ways to compute something differ."""

from __future__ import annotations

import argparse

from .. import roots, tensor, terminal
from ..diagnostics import PtxspecError
from . import NO, OK, TARGET, progress_bar, target_named


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Where two ways to compute something differ, by class of operands: NaNs, infinities, zeros, subnormal and "
        "normal numbers. Exit 0: they are equal on all that was tried, but for what one of them leaves open; 1: they "
        "differ. Numbers are as many ulp apart as there are steps from one number of the format to the next. "
        "`ptxspec sweep` asks the same of all operands, or of millions."
    )
    for name in ("a", "b"):
        parser.add_argument(
            name,
            metavar=name.upper(),
            help="a variant, which @sm_90 ties to a target; PTX, whose registers are %%a, %%b, %%c and %%d, or a file "
            "of it; or a function: of C (fmaxf), CUDA (__fadd_rz, cuda.fmaxf), ieee754.maximum, numpy.fmin; or "
            "mpfr, which rounds what the other, a variant, rounds; or a form of mma on a target, as in "
            "m16n8k16.f32.f16@H100",
        )
    parser.add_argument("--target", metavar="T", help=f"as this target computes it, where that is known: {TARGET}")
    parser.add_argument(
        "--samples", type=int, default=1 << 18, metavar="N", help="random operands of each sort; 262144 unless told"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ..compare.comparing import compare
    from ..compare.reading import Reader
    from ..compare.telling import as_json, as_text

    if not 0 < options.samples <= 1 << 32:
        raise PtxspecError(f"--samples {options.samples}: 1 or more, up to 2^32, as in --samples 1000000")
    name = options.a.partition("@")[0]
    if cores := tensor.may_be_named(roots.find(options.root).data, name):
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
