"""eval: one element of what a tensor core computes, of a row of A, a column of B and an element of C."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from typing import Any

from .. import evaluate as e, roots, tensor, terminal
from ..diagnostics import PtxspecError
from ..literals import decimal_number, hexadecimal, registered
from ..matrices.forms import form_named
from ..model import Type
from ..tensor import Cores
from ..tracing import text
from . import OK, database, target_named

_DIGITS = 17
# The width of the names of terms.
_NAME = 6


def run(options: argparse.Namespace, cores: Cores) -> int:
    target = target_named(options)
    if target is None:
        raise PtxspecError("--target is missing: what a tensor core computes is known by target only")
    if len(options.operands) != 3:
        raise PtxspecError("write a row of A, a column of B, each as 1,2.5,0x3c, and an element of C; the rest is zero")
    try:
        form = form_named(options.variant, cores.forms, cores.elements)
    except ValueError as error:
        raise PtxspecError(str(error)) from None
    types = tensor.types(database(options), form)
    emulator = e.emulator(roots.find(options.root))
    row, column, c = (
        [e.parse_operand(x, t) for x in given.split(",")] for given, t in zip(options.operands, types[1:], strict=True)
    )
    if len(c) > 1:
        raise PtxspecError(f"operand '{options.operands[2]}': C is one element here")
    try:
        why = tensor.steps(emulator, form, row, column, c[0], target)
    except (LookupError, ValueError, TypeError) as error:
        raise PtxspecError(str(error)) from None
    (sums,) = tensor.query(database(options), cores, form.spelling, target, None).sums
    if options.format == "json":
        print(json.dumps(_as_json(why, types[0], sums.claim), indent=2))
        return OK
    print(f"{form} on {why.target}, {sums.claim}")
    for name, bits, t in zip("abc", (row, column, c), types[1:], strict=True):
        print("\n".join(_wrapped(name, ", ".join(registered(x, t) for x in bits))))
    if options.trace:
        print("\n".join(_steps(why, types[0], sums.how)))
    print("\n".join(_wrapped("d", registered(why.result, types[0]))))
    return OK


def _steps(why: Any, of: Type, how: str) -> list[str]:
    """The steps of a sum; where none of them is cut, how it is computed."""
    if not why.steps:
        return ["", *_wrapped("how", how), ""]
    lines = [""]
    for n, step in enumerate(why.steps, 1):
        if not step.unit:
            lines += [f"  step {n}: a NaN or an infinity makes it {registered(step.result, of)}"]
            continue
        lines.append(f"  step {n}, cut to multiples of {_number(step.unit)}")
        for t in step.terms:
            cut = "" if t.kept == t.value else f", cut to {_number(t.kept)}"
            lines += _wrapped("before" if t.k is None else f"k = {t.k}", f"{_number(t.value)}{cut}", "    ")
        lines += _wrapped("sum", f"{_number(step.total)}, which becomes {registered(step.result, of)}", "    ")
    if why.last is not None:
        lines += _wrapped("last", f"C, {_number(why.last)}, is added, and the sum rounded to the nearest")
    return [*lines, ""]


def _number(x: Fraction) -> str:
    return decimal_number(x, _DIGITS)


def _wrapped(name: str, told: str, indent: str = "  ") -> list[str]:
    return text.wrapped(name, told, len(name) if indent == "  " else _NAME, indent, terminal.width(60))


def _as_json(why: Any, of: Type, claim: str) -> dict[str, Any]:
    return {
        "schema": 1,
        "form": why.form.spelling,
        "target": why.target,
        "claim": claim,
        "result": hexadecimal(why.result, of.width),
        "steps": [
            {
                "terms": [{"k": t.k, "value": str(t.value), "kept": str(t.kept)} for t in step.terms],
                "unit": str(step.unit),
                "total": str(step.total),
                "result": hexadecimal(step.result, of.width),
            }
            for step in why.steps
        ],
        "last": None if why.last is None else str(why.last),
    }
