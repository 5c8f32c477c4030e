"""eval: one instruction, or a piece of PTX, on given operands."""

from __future__ import annotations

import argparse

from .. import roots, tensor
from ..diagnostics import PtxspecError
from ..query import calls, verdicts
from . import TARGET, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Runs a variant on operands with the emulator. --trace says why the result is what it is: the exact value "
        "before it was rounded, the numbers around it and which one was taken; what was flushed, saturated, compared; "
        "each with its bits and its line of the specification. With --file it runs a piece of PTX, and --trace shows "
        "the registers statement by statement."
    )
    parser.add_argument(
        "variant",
        metavar="VARIANT",
        nargs="?",
        help="a spelling, as in fma.rn.ftz.f32; modifiers may stand in any order. Or a function of CUDA C++, as in "
        "__fadd_rn or 'fma(double)', that nvcc compiles to PTX in a row; or a form of mma, as in m16n8k16.f32.f16, "
        "with a row of A, a column of B and an element of C as OPERANDs, and the scales of both where it has some. "
        "With --file a register, as OPERANDs are then. `-`: each line of standard input is a VARIANT and its "
        "OPERANDs",
    )
    parser.add_argument(
        "operands",
        nargs="*",
        metavar="OPERAND",
        help="1.5, -0.0, inf, nan, 0x1.8p-3, 2^-3, 0f3FC00000, true or bits 0x3fc00000; lanes as low,high; with --file "
        "NAME=1.5",
    )
    parser.add_argument(
        "--file", metavar="FILE", help="run the statements of this file, or of `-`, on registers given as NAME=VALUE"
    )
    parser.add_argument(
        "--batch",
        metavar="FILE",
        help="run VARIANT on each line of this file, or of `-`: OPERANDs between blanks. The bits of operands and "
        "results are printed, a line for each",
    )
    parser.add_argument("--target", metavar="T", help=f"behave as this target, where it is known to differ: {TARGET}")
    parser.add_argument(
        "--trace",
        action="store_const",
        const="effective",
        help="show why: each step that has an effect, with its line of the specification",
    )
    # An option of its own: as a value of --trace, `all` would have to be told from VARIANT.
    parser.add_argument("--trace=all", dest="trace", action="store_const", const="all", help="show all steps")
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    # What runs them reads the specification, and is imported when something runs: --help and completion do without.
    if options.variant == "-":
        from .eval_lines import run as run_lines

        return run_lines(options)
    if options.format == "jsonl":
        raise PtxspecError("--format jsonl is for many answers, of `eval -`; write --format json")
    if options.batch is not None:
        if options.file is not None:
            raise PtxspecError("--file runs a piece of PTX, and --batch a variant: one of them")
        from .eval_batch import run as run_batch

        return run_batch(options)
    if options.file is not None:
        from .eval_file import run as run_file

        return run_file(options)
    if options.variant is None:
        raise PtxspecError("eval takes a VARIANT and its OPERANDs, or --file FILE and registers")
    if cores := tensor.may_be_named(roots.find(options.root).data, options.variant):
        from .eval_tensor import run as run_tensor

        return run_tensor(options, cores)
    if calls.may_be_named(options.variant):
        db = database(options)
        if found := calls.named(db, options.variant):
            from .eval_function import run as run_function

            return run_function(options, found)
        if calls.near(db, options.variant):
            # It is no variant, and what is meant is a function.
            verdicts.variant(db, options.variant)
    from .eval_variant import run as run_variant

    return run_variant(options)
