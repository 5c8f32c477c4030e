"""eval: evaluate a function of CUDA C++ on given arguments, by running the PTX that nvcc generates for it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from ..diagnostics import PtxspecError
from ..query import calls, functions
from . import counted, database, target_named
from .eval_file import run_text

# Arguments and their parts. `%d` is the result.
_ARGUMENT = re.compile(r"%([a-ce-k][xyzw]?)\b")


def run(options: argparse.Namespace, found: Sequence[calls.FunctionCall]) -> int:
    """Run the function, of which `found` has the overloads."""
    db, target = database(options), target_named(options)
    if len(found) > 1:
        some = ", ".join(f"'{c.text}'" for c in found[:4])
        raise PtxspecError(f"{found[0].name} has {len(found)} overloads; name one of them: {some}")
    (call,) = found
    # Without a target, the PTX of the newest target is run.
    on = [target] if target else [t for t in db.calls["targets"] if any(calls.is_on(db, b, t) for b in call.becomes)]
    became = calls.on(db, call, on[-1]).becomes if on else ()
    if not became:
        where = f"`ptxspec query '{call.text}'` says where it is available"
        raise PtxspecError(f"{call.text} does not compile for {target or 'any target'}; {where}")
    if not became[0].ptx:
        where = functions.places(db, became[0].on)
        raise PtxspecError(
            f"{call.text} compiles to {functions.number(became[0])} on {where}; eval runs only PTX without branches"
        )
    names = sorted({m[1] for m in _ARGUMENT.finditer(became[0].ptx)})
    if len(names) != len(options.operands):
        raise PtxspecError(
            f"{call.text} takes {', '.join(names) or 'no arguments'}, not {counted(len(options.operands), 'operand')}"
        )
    given = [f"{name}={value}" for name, value in zip(names, options.operands, strict=True)]
    return run_text(options, call.text, "\n".join(functions.lines_of(became[0].ptx)), given)
