"""query: say where a variant is available, or why it does not exist."""

from __future__ import annotations

import argparse
import json

from .. import tensor, terminal
from ..diagnostics import PtxspecError
from ..query import answers, calls, functions, verdicts
from ..query.database import Database
from . import NO, OK, TARGET, database, lines_given


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Say where a variant is available and what it requires, or why it does not exist and what to write instead. "
        "For a function of CUDA C++ or Triton, an LLVM intrinsic or an operation of MLIR, show the PTX that it "
        "compiles to. Exit 0: the answer is yes; 1: no."
    )
    parser.add_argument(
        "variant",
        metavar="VARIANT|FUNCTION",
        help="a variant, such as fma.rn.ftz.f32; a function of CUDA C++ or libdevice, such as __hmul2 or "
        "'fma(double)'; one of Triton, such as tl.exp2; an LLVM intrinsic, such as llvm.nvvm.fma.rn.f; an operation of "
        "MLIR, such as math.exp; a special register, such as %%tid.x; or a form of mma, such as m16n8k16.f32.f16. With "
        "`-`, each line of standard input is one of these and is answered by one line",
    )
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument("--ptx", metavar="V", help="a PTX version, such as 8.6")
    parser.add_argument("--driver", action="store_true", help="also name the oldest driver that supports it")
    parser.add_argument("--format", choices=("text", "json", "jsonl"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    db = database(options)
    target = db.target(options.target) if options.target is not None else None
    if options.variant != "-":
        return _answer(db, options, options.variant, target)
    if options.format == "json":
        raise PtxspecError("`query -` prints an answer for each line; use --format jsonl")
    codes = [_answer(db, options, line, target, in_a_line=True) for _, line in lines_given()]
    return max(codes, default=OK)


def _answer(db: Database, options: argparse.Namespace, asked: str, target: str | None, in_a_line: bool = False) -> int:
    """Print the answer about a variant, a function of CUDA C++, a special register or a form of mma."""
    if found := calls.named(db, asked):
        for option in ("operands", "ptx"):
            if getattr(options, option) is not None:
                raise PtxspecError(f"--{option} applies to variants only; {found[0].name} is a function")
        name = calls.name(db, asked, found)
        answer = functions.as_json(db, name, found, target)
        text = functions.as_text(db, name, found, target)
        colour = "green" if answer["available"] else "red"
        text = " ".join(text.split()) if in_a_line else text
    elif cores := tensor.named(db, asked):
        if options.operands is not None:
            raise PtxspecError(f"--operands applies to variants only; {asked} is a form of a matrix instruction")
        form = tensor.query(db, cores, asked, target, options.ptx)
        answer, text = form.as_json(db), tensor.as_text(db, form)
        colour = "green" if form.verdict.available else "red"
        text = " ".join(text.split()) if in_a_line else text
    else:
        verdict = verdicts.query(db, asked, options.operands, target, options.ptx)
        answer = verdict.as_json(db)
        colour = "red" if not verdict.available else "yellow" if verdict.hazard else "green"
        if in_a_line:
            told = answers.told(db, verdict, target, options.ptx)
            text = ": ".join([told.head, *["; ".join(told.reasons)][: len(told.reasons)]])
        else:
            text = answers.verdict_as_text(db, verdict, target, options.ptx, options.driver)
    if options.format == "text":
        head, colon, rest = text.partition(":")
        print(terminal.painted(head, colour, "bold") + colon + rest)
    else:
        print(json.dumps(answer, indent=2 if options.format == "json" else None))
    return OK if answer["available"] else NO
