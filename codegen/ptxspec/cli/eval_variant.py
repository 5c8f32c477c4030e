"""eval: evaluate a variant on given operands."""

from __future__ import annotations

import argparse
import json
from typing import Any

from .. import evaluate as e, roots, terminal
from ..evaluate import Evaluation
from ..literals import hexadecimal, registered
from ..model import BOOL, Type, Variant
from ..tracing import shape, text
from . import OK, target_named


def run(options: argparse.Namespace) -> int:
    root, target = roots.find_source(options.root), target_named(options)
    found = e.evaluate(root, options.variant, options.operands, target, options.trace is not None)
    if options.format == "json":
        print(json.dumps(as_json(found), indent=2))
        return OK
    v = found.variant
    print(f"{v}{' on ' + found.target if found.target else ''}, {found.claim}")
    if found.hazard:
        print(f"  hazard: {found.hazard}")
    places = [(place, s.type) for s in v.sources for place in s.places]
    for note in found.notes:
        print(f"  note: {note}")
    for (name, type_), bits in zip(places, found.operands, strict=True):
        print("\n".join(text.wrapped(name, registered(bits, type_), len(name), "  ", _width())))
    if found.trace and found.implied:
        print(f"\n  {found.target or 'the spelling'} implies .{' and .'.join(found.implied)}")
    if found.trace:
        print("\n".join(trace_as_text(found, options.trace == "all")) + "\n")
    for (name, type_), bits in zip(results(v), found.results, strict=True):
        print("\n".join(text.wrapped(name, registered(bits, type_), len(name), "  ", _width())))
    return OK


def trace_as_text(found: Evaluation, everything: bool) -> list[str]:
    """Return the lines of a trace, as wide as the terminal."""
    v = found.variant
    headings = [text.lane_heading(v.sources, lane, operands) for lane, operands in enumerate(found.lanes)]
    return text.blocks(found.trace, found.rules, _width(), everything, headings if v.lanes > 1 else [])


def _width() -> int:
    return terminal.width(60)


def results(v: Variant) -> list[tuple[str, Type]]:
    """Return the registers of the results, each with its type."""
    return [(place, r.type) for r in v.results for place in r.places]


def _json(bits: int, type_: Type) -> str | bool:
    return bool(bits) if type_.kind == BOOL else hexadecimal(bits, type_.width)


def as_json(found: Evaluation) -> dict[str, Any]:
    v = found.variant
    sources = [s.type for s in v.sources for _ in s.places]
    made = [_json(bits, type_) for (_, type_), bits in zip(results(v), found.results, strict=True)]
    return {
        "schema": 1,
        "variant": v.spelling,
        "notes": found.notes,
        "operands": [_json(o, type_) for o, type_ in zip(found.operands, sources, strict=True)],
        "result": made[0] if len(made) == 1 else made,
        "claim": found.claim,
        "hazard": found.hazard,
        "trace": [shape.as_json(t, found.rules) for t in found.trace],
    }
