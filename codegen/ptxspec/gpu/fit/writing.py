"""A model in words, and as its file in spec/units/."""

from __future__ import annotations

import json
from fractions import Fraction

from ...emit.units import SPECIAL
from ...model import Differences, Fitted, Own, UnitModel


def described(model: UnitModel) -> str:
    core = model.core
    if isinstance(core, Differences):
        return f"a table of differences from {core.function} of {len(core.text)} bytes"
    words = ", ".join(str(w.bits) for w in core.words)
    places = [f"operand 0x{o.operand:x}" if o.operand is not None else f"place 0x{o.place:x}" for o in model.own]
    own = f", results of their own: {', '.join(places)}" if places else ""
    of = f"{core.drop} {'columns' if core.columns else 'bits'} of the square dropped"
    return f"{len(core.coefficients)} segments, words of {words} bits, {of}, bias {_hexadecimal(core.bias)}{own}"


def _hexadecimal(x: Fraction) -> str:
    """A number with a power of two below the line, as in 0x3p-26."""
    sign = "-" if x < 0 else ""
    return f"{sign}0x{abs(x.numerator):x}p-{x.denominator.bit_length() - 1}"


def _provenance(f: Fitted) -> str:
    if f.reported:
        return f"reported: {{model: {f.reported}, results: {f.results}}}"
    return f"fitted: {{gpu: {json.dumps(f.gpu)}, driver: {json.dumps(f.driver)}, results: {f.results}}}"


def _own(own: Own, digits: int) -> str:
    if own.operand is not None:
        return f"{{operand: 0x{own.operand:0{digits}x}, result: 0x{own.result:0{digits}x}}}"
    return f"{{place: 0x{own.place:x}, sum: {_hexadecimal(own.sum)}}}"


def as_yaml(model: UnitModel) -> str:
    """The model's file in spec/units/."""
    a, core, digits = model.argument, model.core, model.format.width // 4
    said = {
        "kind": a.kind, "bits": a.bits, "octaves": a.octaves if a.octaves > 1 else None,
        "odd": "true" if a.odd else None, "phase": a.phase or None, "mirror": a.mirror or None,
        "negative": a.negative if a.kind == "fixed" else None,
        "factor": _hexadecimal(a.factor) if a.factor != 1 else None,
        "kept": a.kept or None,
    }  # fmt: skip
    if a.kind == "octaves":
        said |= {"first": a.first, "last": a.last}
    argument = ", ".join(f"{key}: {value}" for key, value in said.items() if value is not None)
    result = f"point: {model.point}, precision: {model.precision}, rounding: {model.rounding}"
    exponent = "sum" if model.exponent is None else model.exponent
    lines = [
        "# yaml-language-server: $schema=../schema/unit.schema.json",
        "# Recovered by `ptxspec fit`; it reproduces every result that it was fitted to.",
        f"unit: {model.unit}",
        f"within: {'..'.join(model.within)}",
        _provenance(model.fitted),
        f"argument: {{{argument}}}",
        f"result: {{exponent: {exponent}, {result}}}",
    ]
    if model.special:
        lines.append("special:")
        lines += [f"  {key}: 0x{model.special[key]:0{digits}x}" for key in SPECIAL if key in model.special]
    if model.own:
        lines += ["own:", *(f"  - {_own(own, digits)}" for own in model.own)]
    if isinstance(core, Differences):
        lines.append(f"differences: {{function: {core.function}, file: {core.name}, width: {core.width}}}")
        return "\n".join(lines) + "\n"
    words = ", ".join(f"{{bits: {w.bits}, point: {w.point}}}" for w in core.words)
    unseen = f", unseen: {core.unseen}" if core.unseen else ""
    lines += [
        "interpolator:",
        f"  words: [{words}]",
        f"  squarer: {{drop: {core.drop}, of: {'columns' if core.columns else 'square'}{unseen}}}",
        f"  bias: {_hexadecimal(core.bias)}",
        f"  segments: {core.segments}",
        "  coefficients:",
        *(f"    - [{c0}, {c1}, {c2}]" for c0, c1, c2 in core.coefficients),
    ]
    return "\n".join(lines) + "\n"
