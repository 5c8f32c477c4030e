"""eval --batch: evaluate a variant on the operands in each line of a file."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

from .. import roots
from ..batch import Batch
from ..diagnostics import PtxspecError
from ..files import standard_input
from . import OK, target_named

# The number of lines that are written at once.
_TOGETHER = 1 << 14


def run(options: argparse.Namespace) -> int:
    if options.variant is None or options.operands:
        raise PtxspecError("eval --batch FILE requires a VARIANT, and reads its operands from the file")
    if options.trace:
        raise PtxspecError("--trace and --batch cannot be used together: a trace shows one set of operands")
    file = str(options.batch)
    batch = Batch(roots.find_source(options.root), options.variant, None, target_named(options))
    name = "<stdin>" if file == "-" else file
    try:
        with standard_input() if file == "-" else open(file, "rb") as given:
            read = io.TextIOWrapper(given, "utf-8", "replace")
            lines = _written(batch, read, name, options.format == "json")
            while part := list(islice(lines, _TOGETHER)):
                sys.stdout.write("\n".join(part) + "\n")
    except OSError as e:
        raise PtxspecError(f"{name}: {e.strerror or e}") from None
    return OK


def _written(batch: Batch, read: Iterable[str], name: str, in_json: bool) -> Iterator[str]:
    for operands, results in batch.lines(read, name):
        if in_json:
            given, made = (
                [w == "true" if w in ("true", "false") else w for w in words] for words in (operands, results)
            )
            yield json.dumps({"operands": given, "result": made if len(made) > 1 else made[0]})
        else:
            yield " ".join((*operands, *results))
