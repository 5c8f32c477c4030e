"""eval: evaluate one element of a tensor core's result from a row of A, a column of B and an element of C."""

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
_BEFORE = "before"


def run(options: argparse.Namespace, cores: Cores) -> int:
    target = target_named(options)
    if target is None:
        raise PtxspecError("--target is required: the results of tensor cores depend on the target")
    try:
        form = form_named(options.variant, cores.forms, cores.elements)
    except ValueError as error:
        raise PtxspecError(str(error)) from None
    db = database(options)
    types = tensor.types(db, cores, form)
    of_d = types.pop("d")
    if len(options.operands) != len(types):
        last = (
            "an element of C, the scales of the row and the scales of the column"
            if form.is_scaled
            else "and an element of C"
        )
        raise PtxspecError(
            f"{form} takes a row of A, a column of B (each in the form 1,2.5,0x3c), {last}; missing elements are zero"
        )
    operands = {
        name: [e.parse_operand(x, of) for x in given.split(",")]
        for given, (name, of) in zip(options.operands, types.items(), strict=True)
    }
    if len(operands["c"]) > 1:
        raise PtxspecError(f"operand '{options.operands[2]}': expected one element of C")
    try:
        why = tensor.steps(e.emulator(roots.find(options.root)), form, types, operands, target)
    except (LookupError, ValueError, TypeError) as error:
        raise PtxspecError(str(error)) from None
    (sums,) = tensor.query(db, cores, form.spelling, target, None).sums
    if options.format == "json":
        print(json.dumps(_as_json(why, of_d, sums.claim), indent=2))
        return OK
    print(f"{form} on {why.target}, {sums.claim}")
    column = max(map(len, types))
    for name, of in types.items():
        print("\n".join(_wrapped(name, ", ".join(registered(x, of) for x in operands[name]), column)))
    if options.trace:
        print("\n".join(_steps(why, of_d, sums.how)))
    print("\n".join(_wrapped("d", registered(why.result, of_d), column)))
    return OK


def _steps(why: Any, of: Type, how: str) -> list[str]:
    """Return the lines about the steps of a sum, or a line about how it is computed if no step truncates."""
    if not why.steps:
        return ["", *_wrapped("how", how), ""]
    lines = [""]
    for n, step in enumerate(why.steps, 1):
        if not step.unit:
            lines += [f"  step {n}: a NaN or an infinity makes the result {registered(step.result, of)}"]
            continue
        lines.append(f"  step {n}, truncated to multiples of {_number(step.unit)}")
        names = [_term(t.k, why.group) for t in step.terms]
        column = max(map(len, (*names, _BEFORE)))
        for name, t in zip(names, step.terms, strict=True):
            cut = "" if t.kept == t.value else f", truncated to {_number(t.kept)}"
            lines += _wrapped(name, f"{_number(t.value)}{cut}", column, "    ")
        lines += _wrapped("sum", f"{_number(step.total)}, which becomes {registered(step.result, of)}", column, "    ")
    if why.last is not None:
        lines += _wrapped("last", f"C, {_number(why.last)}, is added, and the sum is rounded to nearest")
    return [*lines, ""]


def _term(k: int | None, group: int) -> str:
    """Return the name of a term: the sum so far, a product, or a sum of several products."""
    if k is None:
        return _BEFORE
    return f"k = {k}" if group == 1 else f"k = {k} to {k + group - 1}"


def _number(x: Fraction) -> str:
    return decimal_number(x, _DIGITS)


def _wrapped(name: str, told: str, column: int = 0, indent: str = "  ") -> list[str]:
    return text.wrapped(name, told, column or len(name), indent, terminal.width(60))


def _as_json(why: Any, of: Type, claim: str) -> dict[str, Any]:
    return {
        "schema": 1,
        "form": why.form.spelling,
        "target": why.target,
        "claim": claim,
        "result": hexadecimal(why.result, of.width),
        "group": why.group,
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
