"""eval: one instruction on given operands."""

from __future__ import annotations

import argparse
import json
from typing import Any

from .. import evaluate as e, roots
from ..diagnostics import PtxspecError
from ..evaluate import Evaluation
from ..literals import describe, hexadecimal
from ..model import BOOL, Kind, Type, Variant
from . import OK, TARGET, eval_file, target_named


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("variant", metavar="VARIANT", nargs="?", help="with --file a register, as OPERANDs are then")
    parser.add_argument(
        "operands",
        nargs="*",
        metavar="OPERAND",
        help="1.5, -0.0, inf, nan, 0x1.8p-3 or bits 0x3fc00000; lanes as low,high; with --file NAME=1.5",
    )
    parser.add_argument(
        "--file", metavar="FILE", help="run the statements of this file, or of `-`, on registers given as NAME=VALUE"
    )
    parser.add_argument("--target", metavar="T", help=f"behave as this target, where it is known to differ: {TARGET}")
    parser.add_argument("--trace", action="store_true", help="show each step with its line of the specification")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.file is not None:
        return eval_file.run(options)
    if options.variant is None:
        raise PtxspecError("eval takes a VARIANT and its OPERANDs, or --file FILE and registers")
    target = target_named(options)
    found = e.evaluate(roots.find(options.root), options.variant, options.operands, target, options.trace)
    if options.format == "json":
        print(json.dumps(_as_json(found), indent=2))
        return OK
    v = found.variant
    print(f"{v}{' on ' + found.target if found.target else ''}, {found.claim}")
    places = [(place, s.type) for s in v.sources for place in s.places]
    for (name, type_), bits in zip(places, found.operands, strict=True):
        print(f"  {name}  {_value(bits, type_)}")
    for t in found.trace:
        lane = f"lane {t.lane}  " if v.lanes > 1 else ""
        print(f"\n  {lane}{t.stage}  {t.path}:{t.line}  {t.text}")
        if t.before is not None:
            print(f"    before  {t.name} = {describe(t.before, t.kind)}")
        print(f"    after   {t.name} = {describe(t.after, t.kind)}")
    if found.trace:
        print()
    for (name, type_), bits in zip(_results(v), found.results, strict=True):
        whole = f"  {hexadecimal(bits, type_.width)}" if type_.width != type_.kind.width else ""
        print(f"  {name}  {_value(bits, type_)}{whole}")
    return OK


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

    def value(bits: int | None, kind: Kind) -> str | bool | None:
        if bits is None:
            return None
        return bool(bits) if kind == BOOL else hexadecimal(bits, kind.width)

    return {
        "schema": 1,
        "variant": v.spelling,
        "operands": [_json(o, type_) for o, type_ in zip(found.operands, sources, strict=True)],
        "result": results[0] if len(results) == 1 else results,
        "claim": found.claim,
        "trace": [
            {
                "lane": t.lane, "stage": t.stage, "name": t.name, "line": f"{t.path}:{t.line}",
                "before": value(t.before, t.kind), "after": value(t.after, t.kind),
            }
            for t in found.trace
        ],
    }  # fmt: skip
