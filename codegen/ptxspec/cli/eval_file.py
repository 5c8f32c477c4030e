"""eval --file: run a piece of PTX on given registers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from .. import piece, roots
from ..files import BoundedStream, standard_input
from ..lint.linter import Linter
from ..lint.reading import decoded, read
from ..literals import hexadecimal, registered
from ..model import BOOL, Type
from . import MISUSE, OK, counted, database, target_named


def run(options: argparse.Namespace) -> int:
    given = [*([options.variant] if options.variant is not None else []), *options.operands]
    file = str(options.file)
    text = decoded(BoundedStream(standard_input(), file).read(), "standard input") if file == "-" else read(file)
    return run_text(options, "<stdin>" if file == "-" else file, text, given)


def run_text(options: argparse.Namespace, file: str, text: str, given: Sequence[str]) -> int:
    """Run a text on registers given as NAME=VALUE, and print the results. `file` is the name under which it is
    shown."""
    try:
        found = piece.run(roots.find_source(options.root), text, file, given, target_named(options))
    except piece.RefusedError as e:
        print(e, file=sys.stderr)
        print(f"{counted(len(e.diagnostics), 'statement')} cannot be run", file=sys.stderr)
        return MISUSE
    # The linter knows the hazards of this PTX.
    findings = Linter(database(options), found.target).lint(text, file)
    hazards = [(f.line, f.message) for f in findings if f.code == "hazard"]
    if options.format == "json":
        print(json.dumps(_as_json(file, found, hazards, bool(options.trace)), indent=2))
        return OK
    print(f"{file}{' on ' + found.target if found.target else ''}, {found.claim}")
    for line, message in hazards:
        print(f"  {line}: {message}")
    for r in found.inputs:
        print(f"  {r.name}  {registered(r.bits, r.type)}")
    if options.trace:
        _print_trace(found)
    for r in found.results:
        print(f"  {r.name}  {registered(r.bits, r.type)}")
    return OK


def _print_trace(found: piece.Piece) -> None:
    last = None
    for t in found.trace:
        # A statement may write several registers.
        if (t.line, t.text) != last:
            print(f"\n  {t.line}  {t.text}")
        last = (t.line, t.text)
        if t.before is not None:
            print(f"    before  {t.register} = {registered(t.before, t.type)}")
        print(f"    after   {t.register} = {registered(t.after, t.type)}")
    print()


def _json(bits: int | None, type_: Type) -> str | bool | None:
    if bits is None:
        return None
    return bool(bits) if type_.kind == BOOL else hexadecimal(bits, type_.width)


def _as_json(file: str, found: piece.Piece, hazards: Sequence[tuple[int, str]], with_trace: bool) -> dict[str, Any]:
    return {
        "schema": 1,
        "file": file,
        "target": found.target,
        "inputs": {r.name: _json(r.bits, r.type) for r in found.inputs},
        "results": {r.name: _json(r.bits, r.type) for r in found.results},
        "claim": found.claim,
        "hazards": [{"line": line, "message": message} for line, message in hazards],
        "trace": [
            {
                "line": t.line, "statement": t.text, "register": t.register, "type": t.type.name,
                "before": _json(t.before, t.type), "after": _json(t.after, t.type),
            }
            for t in (found.trace if with_trace else ())
        ],
    }  # fmt: skip
