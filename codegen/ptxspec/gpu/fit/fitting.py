"""From the results of a unit to a model of it that has them all, and to its file in spec/units/."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from ...diagnostics import PtxspecError
from ...emit.products.units import SPECIAL, fields
from ...literals import describe
from ...model import Argument, Core, Differences, Fitted, Interpolator, Own, Spec, Unit, UnitModel, Variant, float_in
from ...semantics.compile import Compiler
from ...semantics.exact.unit import pack
from ...semantics.program import Program
from ..recording import Recording
from . import recorded
from .arrays import BLOCK, Array, run, unit_operands
from .interpolator import Progress, Results, recover
from .recorded import to_steps

# More bits after the point than any sum is rounded to.
_MOST_POINT = 40
_TURN_BITS = range(22, 29)


@dataclass(frozen=True)
class Outcome:
    """What became of a unit: a model that has every recorded result, or none, and why."""

    unit: Unit
    model: UnitModel | None
    report: tuple[str, ...]


@dataclass(frozen=True)
class _Observed:
    """A core's operands, what the unit was given and what the variant returned; its program, with the unit to come."""

    variant: Variant
    program: Program
    x: Array
    operands: Array
    results: Array


def targets_of(recording: Recording, spec: Spec) -> tuple[str, str]:
    """The first and the last target of the recorded GPU: its own and the kinds that are based on it."""
    found = [t.name for t in spec.targets.values() if recording.target in (t.name, t.base)]
    if not found:
        raise PtxspecError(f"{recording.path}: recorded on {recording.target}, which is no target of spec/targets.yaml")
    return found[0], found[-1]


def fit(
    spec: Spec, unit: Unit, recording: Recording, emulator: ModuleType, progress: Progress | None = None
) -> Outcome:
    """Recover a unit from a recording. Raises PtxspecError for a recording that cannot be read."""
    missing = [c.variant for c in unit.cores if not recorded.has(recording, c)]
    if missing or not unit.cores:
        return Outcome(unit, None, (f"not recorded: {', '.join(missing) or 'units.yaml names no core'}",))
    if unit.argument is None:
        return Outcome(unit, None, ("nothing is known of its structure, and no table can be made of samples",))
    for module in ("formats", "unit"):
        # They become attributes of the package once they are imported.
        importlib.import_module(f"{emulator.__name__}.{module}")
    observed = [_observe(spec, unit, c, recording, emulator) for c in unit.cores]
    reasons: list[str] = []
    arguments = _arguments(unit.argument)
    for argument in arguments if unit.segments and unit.words else ():
        blank = _model(spec, unit, argument, recording, observed)
        found = _interpolator(unit, blank, observed, emulator, len(arguments) == 1, progress)
        if isinstance(found, UnitModel):
            return _judged(unit, found, observed, recording, emulator, progress)
        reasons += found
        if any(line.startswith("contradicted") for line in found):
            # A table would take damaged results for true ones.
            return Outcome(unit, None, tuple(found))
    if unit.function and unit.argument.kind in ("significand", "fixed", "pattern"):
        table = _table(unit, _model(spec, unit, unit.argument, recording, observed), observed, emulator)
        if isinstance(table, UnitModel):
            return _judged(unit, table, observed, recording, emulator, progress)
        reasons.append(table)
    return Outcome(unit, None, tuple(dict.fromkeys(reasons)))


def _observe(spec: Spec, unit: Unit, core: Core, recording: Recording, emulator: ModuleType) -> _Observed:
    opcode = core.variant.partition(".")[0]
    instruction = spec.instructions.get(opcode)
    variants = [v for v in instruction.variants if v.spelling == core.variant] if instruction else []
    path = instruction.hardware_path(variants[0]) if instruction and variants else None
    if instruction is None or path is None or path.units != (unit.name,):
        raise PtxspecError(f"spec/units.yaml: {unit.name} is not what `hardware:` makes {core.variant} of")
    program = Compiler(spec).program(instruction, variants[0], None, path)
    x = recorded.operands(core, unit.format)
    return _Observed(variants[0], program, x, unit_operands(program, x, emulator), recorded.results(recording, core))


def _arguments(expected: Argument) -> list[Argument]:
    """The argument in every way in which what is not known of it can be."""
    every_bits = [expected.bits] if expected.bits else _TURN_BITS
    mirrors = [expected.mirror] if expected.mirror or expected.kind != "turns" else ["complement", "negate"]
    return [replace(expected, bits=bits, mirror=mirror) for bits in every_bits for mirror in mirrors]


def _model(spec: Spec, unit: Unit, argument: Argument, recording: Recording, observed: list[_Observed]) -> UnitModel:
    """A model with everything but its core."""
    within = targets_of(recording, spec)
    gpu, driver = recording.provenance["gpu"], recording.provenance["driver"]
    fitted = Fitted(gpu, driver, sum(len(o.x) for o in observed))
    nothing = Differences(unit.function, "", 1, "")
    return UnitModel(
        unit.name, f"{unit.name}-{within[0]}", within, unit.format, argument, unit.exponent, 0, unit.precision,
        unit.special, nothing, fitted,
    )  # fmt: skip


def emulated(model: UnitModel, emulator: ModuleType) -> Any:
    """The emulator's `Unit` of a model."""
    return emulator.unit.Unit(format=getattr(emulator.formats, model.format.name), **fields(model))


# An interpolator


def _interpolator(
    unit: Unit,
    blank: UnitModel,
    observed: list[_Observed],
    emulator: ModuleType,
    only: bool,
    progress: Progress | None,
) -> UnitModel | list[str]:
    """The model with an interpolator, or why there is none; with an argument that is not the `only` one thinkable, a
    contradiction between results refutes the argument."""
    reduced = _reduced(blank, observed, emulator)
    point = _point(reduced)
    if point is None:
        return ["the results are no numbers in fixed point"]
    results = _results(replace(blank, point=point), reduced)
    if not only and _contradicting(results):
        return [f"{blank.argument.bits} bits, {blank.argument.mirror}: results of one place differ"]
    found = recover(results, blank.argument, unit.segments, unit.words, emulator, progress)
    if isinstance(found, Interpolator):
        return replace(blank, point=point, core=found)
    lines = [f"no interpolator: {found.reason}"]
    if found.contradictions:
        lines = [f"contradicted in {found.failing} of {found.segments} segments; {found.reason}"]
    for c in found.contradictions:
        where = f"segment {c.segment}: the nearest coefficients miss {c.wrong} of {c.results} results"
        lines.append(f"{where}, {_operand(replace(blank, point=point), c.place, observed, reduced)}")
    return lines


@dataclass(frozen=True)
class _Reduced:
    """Every result of a normal operand (`index` among all) as significand * 2**exponent, less the scale where that is
    multiplied. int64, and bool; `fine` where all are numbers of the model's precision."""

    index: Array
    scale: Array
    place: Array
    significand: Array
    exponent: Array
    negative: Array
    fine: bool


def _reduced(model: UnitModel, observed: list[_Observed], emulator: ModuleType) -> _Reduced:
    f, u = model.format, emulated(model, emulator)
    operands = np.concatenate([o.operands for o in observed])
    size = operands & operands.dtype.type(f.sign_bit - 1)
    normal = np.flatnonzero((size >= 1 << f.fraction_bits) & (size < f.infinity))
    operands = operands[normal]
    parts = [emulator.unit.reduce(operands[i : i + BLOCK], u) for i in range(0, len(operands), BLOCK)]
    scale, place, inverted = (np.concatenate(part) for part in zip(*parts, strict=True))
    results = np.concatenate([o.results for o in observed])[normal].astype(np.int64)
    cut = f.precision - model.precision
    magnitude = results & (f.sign_bit - 1)
    fraction = magnitude & ((1 << f.fraction_bits) - 1)
    zero = magnitude == 0
    significand = np.where(zero, 0, (fraction | 1 << f.fraction_bits) >> cut)
    exponent = (magnitude >> f.fraction_bits) - f.bias - (model.precision - 1)
    if model.exponent is not None:
        exponent -= scale * model.exponent
    fine = bool((zero | ((magnitude >= 1 << f.fraction_bits) & (magnitude < f.infinity))).all())
    fine = fine and not (fraction & ((1 << cut) - 1)).any()
    negative = (results != magnitude) ^ inverted
    return _Reduced(normal, scale, place, significand, exponent, negative, fine)


def _point(r: _Reduced) -> int | None:
    """The place of the last bit of any result."""
    some = r.significand != 0
    if not r.fine or not some.any():
        return None
    last = r.significand[some]
    zeros = np.frexp((last & -last).astype(np.float64))[1] - 1
    point = int((-(r.exponent[some] + zeros)).max())
    return max(0, point) if point <= _MOST_POINT else None


def _results(model: UnitModel, r: _Reduced) -> Results:
    """Between what each result says the sum to be, in units of 2**-point."""
    shift = np.where(r.significand == 0, 0, r.exponent + model.point)
    low = np.where(shift >= 0, r.significand << np.maximum(shift, 0), r.significand >> np.maximum(-shift, 0))
    high = low + (np.int64(1) << np.maximum(shift, 0)) - 1
    low, high = np.where(r.negative, -high, low), np.where(r.negative, -low, high)
    if model.exponent is None:
        low -= r.scale << model.point
        high -= r.scale << model.point
    order = None if (np.diff(r.place) >= 0).all() else np.argsort(r.place, kind="stable")
    place = r.place
    if order is not None:
        place, low, high = place[order], low[order], high[order]
    return Results(place, low, high, model.point)


def _contradicting(r: Results) -> bool:
    """Is there no sum that all results of some place allow?"""
    starts = np.flatnonzero(np.diff(r.place, prepend=-1))
    return bool((np.maximum.reduceat(r.low, starts) > np.minimum.reduceat(r.high, starts)).any())


def _operand(model: UnitModel, place: int, observed: list[_Observed], r: _Reduced) -> str:
    """Which operands a place comes from, and what was recorded for them."""
    x = np.concatenate([o.x for o in observed])
    results = np.concatenate([o.results for o in observed])
    at = int(r.index[np.flatnonzero(r.place == place)[0]])
    kind = float_in(model.format)
    return f"first for {describe(int(x[at]), kind)}: {describe(int(results[at]), kind)} was recorded"


# A table of differences


def _table(unit: Unit, blank: UnitModel, observed: list[_Observed], emulator: ModuleType) -> UnitModel | str:
    """The model with a table of differences, or why there is none."""
    assert blank.exponent is not None
    f, u, a = blank.format, emulated(blank, emulator), blank.argument
    cut = f.precision - blank.precision
    every = np.arange(a.octaves << a.bits, dtype=np.int64)
    with np.errstate(all="ignore"):
        parts = [emulator.unit.rounded(every[i : i + BLOCK], u) for i in range(0, len(every), BLOCK)]
    base = np.concatenate(parts)
    steps = np.zeros(len(every), np.int64)
    seen = np.zeros(len(every), bool)
    shorter = replace(f, fraction_bits=f.fraction_bits - cut)
    for o in observed:
        place, results = o.operands.astype(np.int64), o.results.astype(np.int64)
        if a.kind != "pattern":
            scale, place, inverted = emulator.unit.reduce(o.operands, u)
            results = (results ^ np.where(inverted, f.sign_bit, 0)) - (scale * blank.exponent << f.fraction_bits)
        rounded = base[place].astype(np.int64)
        steps[place] = to_steps(results >> cut, shorter) - to_steps(rounded >> cut, shorter)
        seen[place] = True
    # Where all encodings are recorded, what they do not lead to can never be asked for.
    if not seen.all() and a.kind != "pattern":
        return f"no table: {int((~seen).sum())} places were not recorded"
    width = next((w for w in (1, 2, 4) if abs(steps).max() < 1 << (8 * w - 1)), 0)
    if not width:
        return "no table: the results are nowhere near the function"
    text = pack(steps.astype(f"<i{width}").tobytes())
    return replace(blank, core=Differences(unit.function, f"{blank.name}.txt", width, text))


# The verdict


def _judged(
    unit: Unit,
    model: UnitModel,
    observed: list[_Observed],
    recording: Recording,
    emulator: ModuleType,
    progress: Progress | None,
) -> Outcome:
    """The model, if it has every result of the cores, and those of the special and random operands. Where the cores do
    not show it at every place, the digests of the results of all operands must confirm it."""
    u = emulated(model, emulator)
    compared = 0
    for o in observed:
        more, wanted = recorded.samples(recording, o.variant)
        x, results = np.concatenate([o.x, more]), np.concatenate([o.results, wanted])
        got = run(o.program, x, emulator, lambda operands: emulator.unit.unit(operands, u))
        wrong = np.flatnonzero(got != results)
        if len(wrong):
            at = int(wrong[0])
            kind = float_in(model.format)
            line = f"not exact: {len(wrong)} of {len(x)} results differ, first {o.variant.spelling} of"
            line += f" {describe(int(x[at]), kind)}: {describe(int(results[at]), kind)} was recorded, not"
            return Outcome(unit, None, (f"{line} {describe(int(got[at]), kind)}; {_described(model)}",))
        compared += len(x)
    if unseen := _unseen(model, observed, emulator):
        o = observed[0]
        kept = recorded.sweep(recording, o.variant)
        line = f"{unseen} places are in no recorded core; {_described(model)}"
        if kept is None:
            return Outcome(unit, None, (f"not proven: it has all {compared} results, but {line}",))

        def computed(x: Array) -> Array:
            return run(o.program, x, emulator, lambda operands: emulator.unit.unit(operands, u))

        wrong_blocks = recorded.disagreeing(computed, kept, model.format, progress)
        if wrong_blocks:
            share = f"{len(wrong_blocks)} of {len(kept)} digests of all operands differ"
            return Outcome(unit, None, (f"not exact: {share}; {line}",))
        compared += 1 << model.format.width
    model = replace(model, fitted=replace(model.fitted, results=compared))
    return Outcome(unit, model, (f"exact: all {compared} results; {_described(model)}",))


def _unseen(model: UnitModel, observed: list[_Observed], emulator: ModuleType) -> int:
    """How many integers of the argument no core's operands lead to."""
    a = model.argument
    if a.kind == "pattern":
        return 0
    u = emulated(model, emulator)
    octaves = a.last - a.first + 1 if a.kind == "octaves" else a.octaves
    seen = np.zeros((octaves << a.places) + 1, bool)
    for o in observed:
        for i in range(0, len(o.operands), BLOCK):
            seen[emulator.unit.reduce(o.operands[i : i + BLOCK], u)[1]] = True
    return int((~seen[:-1]).sum())


def _described(model: UnitModel) -> str:
    core = model.core
    if isinstance(core, Differences):
        return f"a table of differences from {core.function} of {len(core.text)} bytes"
    words = ", ".join(str(w.bits) for w in core.words)
    of = f"{core.drop} {'columns' if core.columns else 'bits'} of the square dropped"
    return f"{len(core.coefficients)} segments, words of {words} bits, {of}, bias {_hexadecimal(core.bias)}"


def _hexadecimal(x: Fraction) -> str:
    """A number with a power of two below the line, as in 0x3p-26."""
    sign = "-" if x < 0 else ""
    return f"{sign}0x{abs(x.numerator):x}p-{x.denominator.bit_length() - 1}"


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
    }  # fmt: skip
    if a.kind == "octaves":
        said |= {"first": a.first, "last": a.last}
    argument = ", ".join(f"{key}: {value}" for key, value in said.items() if value is not None)
    exponent = "sum" if model.exponent is None else model.exponent
    gpu, driver = json.dumps(model.fitted.gpu), json.dumps(model.fitted.driver)
    lines = [
        "# yaml-language-server: $schema=../schema/unit.schema.json",
        "# Recovered by `ptxspec fit`; it reproduces every result that was recorded.",
        f"unit: {model.unit}",
        f"within: {'..'.join(model.within)}",
        f"fitted: {{gpu: {gpu}, driver: {driver}, results: {model.fitted.results}}}",
        f"argument: {{{argument}}}",
        f"result: {{exponent: {exponent}, point: {model.point}, precision: {model.precision}, rounding: {model.rounding}}}",
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
