"""eval: one instruction on given operands."""

from __future__ import annotations

import argparse
import json
import shutil
from typing import Any

from .. import evaluate as e, roots
from ..diagnostics import PtxspecError
from ..evaluate import Evaluation
from ..literals import describe, hexadecimal
from ..model import BOOL, Type, Variant
from ..tracing import shape, text
from . import OK, TARGET, eval_file, target_named


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
        help="a spelling, as in fma.rn.ftz.f32; modifiers may stand in any order. With --file a register, as OPERANDs "
        "are then",
    )
    parser.add_argument(
        "operands",
        nargs="*",
        metavar="OPERAND",
        help="1.5, -0.0, inf, nan, 0x1.8p-3, true or bits 0x3fc00000; lanes as low,high; with --file NAME=1.5",
    )
    parser.add_argument(
        "--file", metavar="FILE", help="run the statements of this file, or of `-`, on registers given as NAME=VALUE"
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
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.file is not None:
        return eval_file.run(options)
    if options.variant is None:
        raise PtxspecError("eval takes a VARIANT and its OPERANDs, or --file FILE and registers")
    target = target_named(options)
    found = e.evaluate(roots.find(options.root), options.variant, options.operands, target, options.trace is not None)
    if options.format == "json":
        print(json.dumps(_as_json(found), indent=2))
        return OK
    v = found.variant
    print(f"{v}{' on ' + found.target if found.target else ''}, {found.claim}")
    if found.hazard:
        print(f"  hazard: {found.hazard}")
    places = [(place, s.type) for s in v.sources for place in s.places]
    for (name, type_), bits in zip(places, found.operands, strict=True):
        print("\n".join(text.wrapped(name, _value(bits, type_), len(name), "  ", _width())))
    if found.trace and found.implied:
        print(f"\n  as with .{' and .'.join(found.implied)}, which {found.target or 'the spelling'} implies")
    if found.trace:
        print("\n".join(trace_as_text(found, options.trace == "all")) + "\n")
    for (name, type_), bits in zip(_results(v), found.results, strict=True):
        whole = f"  {hexadecimal(bits, type_.width)}" if type_.width != type_.kind.width else ""
        print("\n".join(text.wrapped(name, f"{_value(bits, type_)}{whole}", len(name), "  ", _width())))
    return OK


def trace_as_text(found: Evaluation, everything: bool) -> list[str]:
    """The lines of a trace, for the terminal that is there."""
    v = found.variant
    headings = [text.lane_heading(v.sources, lane, operands) for lane, operands in enumerate(found.lanes)]
    return text.blocks(found.trace, found.rules, _width(), everything, headings if v.lanes > 1 else [])


def _width() -> int:
    return max(shutil.get_terminal_size().columns, 60)


def _results(v: Variant) -> list[tuple[str, Type]]:
    """The registers of the results, each with its type."""
    return [(place, r.type) for r in v.results for place in r.places]


def _value(bits: int, type_: Type) -> str:
    """A register's lanes for people."""
    return ", ".join(describe(x, type_.kind) for x in type_.unpack(bits))


def _json(bits: int, type_: Type) -> str | bool:
    return bool(bits) if type_.kind == BOOL else hexadecimal(bits, type_.width)


def _as_json(found: Evaluation) -> dict[str, Any]:
    v = found.variant
    sources = [s.type for s in v.sources for _ in s.places]
    results = [_json(bits, type_) for (_, type_), bits in zip(_results(v), found.results, strict=True)]

    return {
        "schema": 1,
        "variant": v.spelling,
        "operands": [_json(o, type_) for o, type_ in zip(found.operands, sources, strict=True)],
        "result": results[0] if len(results) == 1 else results,
        "claim": found.claim,
        "hazard": found.hazard,
        "trace": [shape.as_json(t, found.rules) for t in found.trace],
    }
