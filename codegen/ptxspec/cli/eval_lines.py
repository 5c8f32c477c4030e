"""eval -: evaluate the variant and operands in each line of standard input."""

from __future__ import annotations

import argparse
import json
import sys

from .. import evaluate as e, roots
from ..diagnostics import PtxspecError
from ..literals import registered
from ..specification import read
from . import MISUSE, OK, lines_given, target_named, waiting
from .eval_variant import as_json, results


def run(options: argparse.Namespace) -> int:
    """Answer each line by a line. A line that cannot be answered gets an error; the others are answered all the
    same."""
    if options.operands or options.file is not None or options.batch is not None or options.trace:
        raise PtxspecError(
            "`eval -` reads variants and operands from standard input; it accepts no options but --target and --format"
        )
    if options.format == "json":
        raise PtxspecError("`eval -` prints an answer for each line; use --format jsonl")
    root, target, code = roots.find_source(options.root), target_named(options), OK
    with waiting("reading the specification"):
        spec = read(root.path)
    for number, line in lines_given():
        spelling, *operands = line.split()
        try:
            found = e.evaluate(root, spelling, operands, target, whole=spec)
        except PtxspecError as error:
            code = MISUSE
            print(f"<stdin>:{number}: error: {error}", file=sys.stderr)
            if options.format == "jsonl":
                print(json.dumps({"schema": 1, "line": number, "error": str(error)}))
            continue
        if options.format == "jsonl":
            print(json.dumps(as_json(found)))
        else:
            made = zip(results(found.variant), found.results, strict=True)
            told = "; ".join(f"{name} = {registered(bits, type_)}" for (name, type_), bits in made)
            print(f"{line}: {told}" + "".join(f" ({note})" for note in found.notes))
    return code
