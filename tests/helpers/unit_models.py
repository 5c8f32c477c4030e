"""Models of units of every kind, with coefficients of no meaning, and operands for them."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from ptxspec.emit.units import fields
from ptxspec.model import Argument, Differences, Fitted, Format, Interpolator, Own, Spec, UnitModel, Word
from ptxspec.semantics.exact import unit

from helpers.made_up_units import special_values


def own_sum(place: int, sum: Fraction) -> Own:
    return Own(None, place, 0, sum)


def own_result(operand: int, result: int) -> Own:
    return Own(operand, 0, result, Fraction(0))


def models(spec: Spec) -> dict[str, UnitModel]:
    rng = np.random.default_rng(7)

    def interpolator(
        rows: int, segments: int, drop: int, columns: bool, bias: Fraction = Fraction(0), unseen: int = 0
    ) -> Interpolator:
        words = (Word(25, 24), Word(16, 15), Word(11, 9))
        columns_ = ((1 << 23, 1 << 25), (-(1 << 15), 1 << 15), (-1000, 1000))
        table = zip(*(rng.integers(low, high, rows).tolist() for low, high in columns_), strict=True)
        return Interpolator(words, drop, columns, bias, segments, tuple(table), unseen)

    def table(function: str, places: int, width: int) -> Differences:
        steps = rng.integers(-100, 100, places).astype(f"<i{width}")
        return Differences(function, "t.txt", width, unit.pack(steps.tobytes()))

    f32, f16, f64 = spec.formats["f32"], spec.formats["f16"], spec.formats["f64"]
    special = {"+zero": 1, "-zero": 2, "+infinity": 3, "-infinity": 4, "nan": 5}
    positive = {**special, "negative": 6}
    third = Fraction(3, 2**26)

    def model(
        format: Format,
        argument: Argument,
        exponent: int | None,
        point: int,
        precision: int,
        core: Any,
        special: dict[str, int] = special,
        rounding: str = "roundTowardNegative",
        own: tuple[Own, ...] = (),
    ) -> UnitModel:
        where, fitted = ("sm_90", "sm_90a"), Fitted("", "", 1)
        return UnitModel(
            "U", "u", where, format, argument, exponent, point, precision, special, core, fitted, rounding, own
        )

    return {
        "significand": model(
            f32, Argument("significand", 23, odd=True), -1, 24, 24, interpolator(64, 64, 9, True, third)
        ),
        "octaves": model(f32, Argument("significand", 20, 2), 1, 23, 24, interpolator(32, 16, 5, False), positive),
        "sum": model(f32, Argument("significand", 23), None, 26, 24, interpolator(16, 16, 12, True, -third)),
        "fixed": model(f32, Argument("fixed", 23), 1, 23, 24, interpolator(32, 32, 0, False, third)),
        "fixed in sign and magnitude": model(
            f32, Argument("fixed", 23, negative="negate"), 1, 23, 24, interpolator(32, 32, 17, True, third)
        ),
        "fixed in ones' complement": model(
            f32, Argument("fixed", 20, negative="complement"), 1, 23, 24, interpolator(32, 32, 9, False, third),
            own=(own_sum(0, Fraction(1)), own_sum(0xFFFFF, Fraction(3, 2))),
        ),
        "sum in sign and magnitude": model(
            f32, Argument("significand", 23), None, 36, 24, interpolator(64, 64, 19, True, -third), positive,
            "roundTowardZero", (own_result(0x3F800000, 0), own_result(0x40000000, 0x3F800001)),
        ),
        "a sum with an exponent in sign and magnitude": model(
            f32, Argument("turns", 25, odd=True, mirror="complement"), 0, 25, 24, interpolator(8, 8, 30, True, third),
            rounding="roundTowardZero",
        ),
        "results of their own": model(
            f32, Argument("significand", 23, 2), -1, 24, 24, interpolator(128, 64, 26, True, third, unseen=5), positive,
            own=(own_sum(0, Fraction(1)), own_sum(1 << 23, Fraction(0)), own_result(0x40490FDB, 0xFFC00001)),
        ),
        "a narrow squarer": model(
            f32, Argument("significand", 23), 1, 25, 24, interpolator(64, 64, 12, False, third, unseen=6)
        ),
        "turns": model(f32, Argument("turns", 24, odd=True, mirror="negate"), 0, 25, 24, interpolator(8, 8, 7, True)),
        "phase": model(
            f32, Argument("turns", 22, phase=1, mirror="complement", factor=Fraction(5, 16), kept=25), 0, 24, 20,
            interpolator(8, 8, 3, True),
        ),
        "range": model(
            f32, Argument("octaves", 23, first=-12, last=3, odd=True), 1, 24, 24, interpolator(64, 4, 8, True)
        ),
        "range of positive numbers": model(
            f32, Argument("octaves", 23, first=-12, last=3), 1, 24, 24, interpolator(64, 4, 8, False), positive
        ),
        "upper word": model(f64, Argument("significand", 20, 2), -1, 24, 21, interpolator(32, 16, 4, True)),
        "table of significands": model(
            f32, Argument("significand", 12, 2, odd=True), -1, 0, 24, table("rSqrt", 2 << 12, 1)
        ),
        "table of fractions": model(f32, Argument("fixed", 13), 1, 0, 24, table("exp2", 1 << 13, 2)),
        "table of upper words": model(
            f64, Argument("significand", 11, odd=True), -1, 0, 21, table("reciprocal", 1 << 11, 1)
        ),
        "table of everything": model(f16, Argument("pattern", 16), 0, 0, 11, table("tanh", 1 << 16, 4), {}),
    }  # fmt: skip


def emulated(model: UnitModel, emulator: ModuleType) -> Any:
    """The emulator's `Unit` of a model."""
    return emulator.unit.Unit(format=getattr(emulator.formats, model.format.name), **fields(model))


def _number(x: Fraction) -> str:
    sign = "-" if x < 0 else ""
    return f"{sign}0x{abs(x.numerator):x}p-{x.denominator.bit_length() - 1}"


def as_yaml(model: UnitModel) -> str:
    """The model's file in spec/units/; results of their own are left out."""
    a, core, digits = model.argument, model.core, model.format.width // 4
    said = {
        "kind": a.kind, "bits": a.bits, "octaves": a.octaves, "odd": "true" if a.odd else None,
        "phase": a.phase or None, "mirror": a.mirror or None, "factor": _number(a.factor) if a.factor != 1 else None,
        "negative": a.negative if a.kind == "fixed" else None, "kept": a.kept or None,
    } | ({"first": a.first, "last": a.last} if a.kind == "octaves" else {})  # fmt: skip
    if a.octaves == 1:
        del said["octaves"]
    rounding = f"rounding: {model.rounding}"
    exponent = "sum" if model.exponent is None else model.exponent
    lines = [
        f"unit: {model.unit}",
        f"within: {'..'.join(model.within)}",
        "fitted: {gpu: Made-up GPU, driver: 1, results: 1}",
        f"argument: {{{', '.join(f'{key}: {value}' for key, value in said.items() if value is not None)}}}",
        f"result: {{exponent: {exponent}, point: {model.point}, precision: {model.precision}, {rounding}}}",
        *(["special:"] if model.special else []),
        *(f"  {key}: 0x{x:0{digits}x}" for key, x in model.special.items()),
    ]
    if isinstance(core, Differences):
        lines.append(f"differences: {{function: {core.function}, file: {core.name}, width: {core.width}}}")
    else:
        lines += [
            "interpolator:",
            f"  words: [{', '.join(f'{{bits: {w.bits}, point: {w.point}}}' for w in core.words)}]",
            f"  squarer: {{drop: {core.drop}, of: {'columns' if core.columns else 'square'}, unseen: {core.unseen}}}",
            f"  bias: {_number(core.bias)}",
            f"  segments: {core.segments}",
            "  coefficients:",
            *(f"    - {list(row)}" for row in core.coefficients),
        ]
    return "\n".join(lines) + "\n"


def operands_of(f: Format) -> Any:
    """Special ones, and numbers of every exponent."""
    rng = np.random.default_rng(8)
    near = rng.integers(0, 1 << f.fraction_bits, 800, dtype=np.uint64)
    exponents = np.clip(f.bias + rng.integers(-16, 9, 800), 1, 2 * f.bias).astype(np.uint64)
    signs = rng.integers(0, 2, 800, dtype=np.uint64)
    numbers = signs << np.uint64(f.width - 1) | exponents << np.uint64(f.fraction_bits) | near
    anywhere = rng.integers(0, 1 << 63, 400, dtype=np.uint64) >> np.uint64(max(0, 63 - f.width))
    return np.concatenate([special_values(f), numbers, anywhere]).astype(f"u{f.width // 8}")
