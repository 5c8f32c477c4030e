"""eval: a function of CUDA C++ on given arguments, by the PTX that nvcc makes of it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from ..diagnostics import PtxspecError
from ..query import calls, functions
from . import counted, database, target_named
from .eval_file import run_text

# Arguments and their parts; `%d` is the result.
_ARGUMENT = re.compile(r"%([a-ce-k][xyzw]?)\b")


def run(options: argparse.Namespace, found: Sequence[calls.Call]) -> int:
    """Run the one function among `found` that is meant."""
    db, target = database(options), target_named(options)
    if len(found) > 1:
        some = ", ".join(f"'{c.text}'" for c in found[:4])
        raise PtxspecError(f"{found[0].name} is {len(found)} functions; name one of them, as in {some}")
    (call,) = found
    # Without a target it is what newer ones have.
    became = calls.on(db, call, target or db.calls["targets"][-1]).becomes
    if not became:
        raise PtxspecError(f"{call.text} is not compiled for {target}: `ptxspec query '{call.text}'` says where it is")
    if not became[0].ptx:
        where = functions.places(db, became[0].on)
        raise PtxspecError(f"{call.text} is {functions.number(became[0])}, on {where}: too much to run here")
    names = sorted({m[1] for m in _ARGUMENT.finditer(became[0].ptx)})
    if len(names) != len(options.operands):
        raise PtxspecError(
            f"{call.text} takes {', '.join(names) or 'nothing'}, not {counted(len(options.operands), 'operand')}"
        )
    given = [f"{name}={value}" for name, value in zip(names, options.operands, strict=True)]
    return run_text(options, call.text, "\n".join(functions.lines_of(became[0].ptx)), given)
