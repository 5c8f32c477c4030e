"""eval --batch: a variant on the operands of each line of a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from .. import roots
from ..batch import Batch
from ..diagnostics import PtxspecError
from ..files import standard_input
from ..lint.windows import decode, read
from . import OK, target_named

# Lines that are written together.
_TOGETHER = 1 << 14


def run(options: argparse.Namespace) -> int:
    if options.variant is None or options.operands:
        raise PtxspecError("eval --batch FILE takes a VARIANT, and its operands from the file")
    if options.trace:
        raise PtxspecError("--trace shows one set of operands, and --batch has many")
    file = str(options.batch)
    windows = decode(standard_input(), "standard input") if file == "-" else read(Path(file))
    batch = Batch(roots.find_source(options.root), options.variant, None, target_named(options))
    lines = _written(batch, windows, "<stdin>" if file == "-" else file, options.format == "json")
    while part := list(islice(lines, _TOGETHER)):
        sys.stdout.write("\n".join(part) + "\n")
    return OK


def _lines(windows: Iterator[str]) -> Iterator[str]:
    rest = ""
    for text in windows:
        *whole, rest = (rest + text).split("\n")
        yield from whole
    yield rest


def _written(batch: Batch, windows: Iterator[str], name: str, in_json: bool) -> Iterator[str]:
    for operands, results in batch.lines(_lines(windows), name):
        if in_json:
            given, made = (
                [w == "true" if w in ("true", "false") else w for w in words] for words in (operands, results)
            )
            yield json.dumps({"operands": given, "result": made if len(made) > 1 else made[0]})
        else:
            yield " ".join((*operands, *results))
