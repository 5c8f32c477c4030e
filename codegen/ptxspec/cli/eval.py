"""eval: one instruction on given operands."""

from __future__ import annotations

import argparse
import json
from typing import Any

from .. import evaluate as e, roots
from ..evaluate import Evaluation
from ..literals import describe
from ..model import Variant
from ..semantics.program import Kind
from . import OK


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("variant", metavar="VARIANT")
    parser.add_argument(
        "operands",
        nargs="*",
        metavar="OPERAND",
        help="1.5, -0.0, inf, nan, 0x1.8p-3 or bits 0x3fc00000; lanes as low,high",
    )
    parser.add_argument("--target", metavar="T", help="behave as this target does, where it is known to differ")
    parser.add_argument("--trace", action="store_true", help="show each step with its line of the specification")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = e.evaluate(roots.find(options.root), options.variant, options.operands, options.target, options.trace)
    if options.format == "json":
        print(json.dumps(_as_json(found), indent=2))
        return OK
    v, digits = found.variant, found.variant.type.width // 4
    print(f"{v}{' on ' + found.target if found.target else ''}, {found.claim}")
    for name, bits in zip("abc", found.operands, strict=False):
        print(f"  {name}  {_lanes(v, bits)}")
    for t in found.trace:
        lane = f"lane {t.lane}  " if v.type.lanes > 1 else ""
        print(f"\n  {lane}{t.stage}  {t.path}:{t.line}  {t.text}")
        if t.before is not None:
            print(f"    before  {t.name} = {e.describe_value(t.before, t.kind)}")
        print(f"    after   {t.name} = {e.describe_value(t.after, t.kind)}")
    if found.trace:
        print()
    if v.predicate:
        print(f"  p  {str(bool(found.result)).lower()}")
    else:
        print(f"  d  {_lanes(v, found.result)}{f'  0x{found.result:0{digits}x}' if v.type.lanes > 1 else ''}")
    return OK


def _lanes(variant: Variant, bits: int) -> str:
    width, format = variant.type.format.width, variant.type.format
    lanes = [bits >> (i * width) & ((1 << width) - 1) for i in range(variant.type.lanes)]
    return ", ".join(describe(x, format) for x in lanes)


def _as_json(found: Evaluation) -> dict[str, Any]:
    v = found.variant
    digits = v.type.width // 4

    def value(bits: int | None, kind: Kind) -> str | bool | None:
        if bits is None:
            return None
        return bool(bits) if kind.sort == "bool" else f"0x{bits:0{kind.width // 4}x}"

    return {
        "schema": 1,
        "variant": v.spelling,
        "operands": [f"0x{o:0{digits}x}" for o in found.operands],
        "result": bool(found.result) if v.predicate else f"0x{found.result:0{digits}x}",
        "claim": found.claim,
        "trace": [
            {
                "lane": t.lane, "stage": t.stage, "name": t.name, "line": f"{t.path}:{t.line}",
                "before": value(t.before, t.kind), "after": value(t.after, t.kind),
            }
            for t in found.trace
        ],
    }  # fmt: skip
