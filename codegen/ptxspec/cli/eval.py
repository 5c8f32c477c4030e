"""eval: evaluate one instruction, or a piece of PTX, on given operands."""

from __future__ import annotations

import argparse

from .. import roots, tensor
from ..diagnostics import PtxspecError
from ..query import calls, verdicts
from . import TARGET, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Evaluate a variant on operands with the emulator. --trace explains the result: it shows the exact value "
        "before rounding, the representable numbers next to it and which one was chosen, and every value that was "
        "flushed, saturated or compared, with its bits and the line of the specification. With --file, run a piece of "
        "PTX; --trace then shows the registers after each statement."
    )
    parser.add_argument(
        "variant",
        metavar="VARIANT",
        nargs="?",
        help="a variant, such as fma.rn.ftz.f32; its modifiers can be in any order. Or a function of CUDA C++, such as "
        "__fadd_rn or 'fma(double)', that nvcc compiles to PTX without branches. Or a form of mma, such as "
        "m16n8k16.f32.f16; its OPERANDs are a row of A, a column of B, an element of C, and the scales of both if it "
        "has any. With --file, VARIANT and OPERANDs are registers. With `-`, each line of standard input is a VARIANT "
        "and its OPERANDs",
    )
    parser.add_argument(
        "operands",
        nargs="*",
        metavar="OPERAND",
        help="a number (1.5, -0.0, inf, nan, 0x1.8p-3, 2^-3 or 0f3FC00000), true, or bits (0x3fc00000); lanes as "
        "low,high; with --file, NAME=1.5",
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        help="run the statements in this file, or in standard input (`-`), on registers given as NAME=VALUE",
    )
    parser.add_argument(
        "--batch",
        metavar="FILE",
        help="run VARIANT on the OPERANDs in each line of this file, or of standard input (`-`), and print the bits of "
        "operands and results in a line each",
    )
    parser.add_argument(
        "--target", metavar="T", help=f"behave as this target does, where it is known to differ: {TARGET}"
    )
    parser.add_argument(
        "--trace",
        action="store_const",
        const="effective",
        help="explain the result: show each step that has an effect, with its line of the specification",
    )
    # This is a separate option because argparse could not tell `all` as a value of --trace from VARIANT.
    parser.add_argument("--trace=all", dest="trace", action="store_const", const="all", help="show all steps")
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    # The modules that evaluate read the specification; they are imported here so that --help and completion are fast.
    if options.variant == "-":
        from .eval_lines import run as run_lines

        return run_lines(options)
    if options.format == "jsonl":
        raise PtxspecError("--format jsonl is for `eval -`, which gives several answers; use --format json")
    if options.batch is not None:
        if options.file is not None:
            raise PtxspecError("--file and --batch cannot be used together: --file runs PTX, and --batch a variant")
        from .eval_batch import run as run_batch

        return run_batch(options)
    if options.file is not None:
        from .eval_file import run as run_file

        return run_file(options)
    if options.variant is None:
        raise PtxspecError("eval requires a VARIANT and its OPERANDs, or --file FILE and registers")
    if cores := tensor.named_in(roots.find(options.root).data, options.variant):
        from .eval_tensor import run as run_tensor

        return run_tensor(options, cores)
    if calls.may_be_named(options.variant):
        db = database(options)
        if found := calls.named(db, options.variant):
            from .eval_function import run as run_function

            return run_function(options, found)
        if calls.near(db, options.variant):
            # The name is no variant; this raises the error that suggests the function.
            verdicts.variant(db, options.variant)
    from .eval_variant import run as run_variant

    return run_variant(options)
