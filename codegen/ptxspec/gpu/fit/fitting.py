"""From the results of a unit to a model of it that has them all."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import ModuleType

import numpy as np

from ...literals import describe
from ...model import Argument, Differences, Interpolator, Own, Spec, Unit, UnitModel, float_in
from ...semantics.program import Program
from . import native, recorded
from .arrays import BLOCK, Array, run
from .interpolator import Progress, recover
from .observed import (
    Observed,
    Reduced,
    contradicting,
    emulated,
    maybe_own,
    observe,
    operands_at,
    point_of,
    reduced,
    sums,
)
from .recorded import Evidence
from .tables import table
from .writing import described

_TURN_BITS = range(22, 29)
# How what is negative may be in fixed point, and how sums may be rounded; the likely one first.
_NEGATIVE = ("complement", "floor", "negate")
_ROUNDINGS = ("roundTowardZero", "roundTowardNegative")
# Results that most wrong assumptions contradict already: so many in each of so many places of a core.
_FEW, _PLACES = 1 << 15, 8
_REFUTED = "contradicted"


@dataclass(frozen=True)
class Outcome:
    """What became of a unit: a model that has every recorded result, or none, and why."""

    unit: Unit
    model: UnitModel | None
    report: tuple[str, ...]


def fit(spec: Spec, unit: Unit, evidence: Evidence, emulator: ModuleType, progress: Progress | None = None) -> Outcome:
    """Recover a unit from what was recorded. Raises PtxspecError for a recording that cannot be read."""
    cores = evidence.cores(unit)
    if isinstance(cores, str):
        return Outcome(unit, None, (cores,))
    if unit.argument is None:
        return Outcome(unit, None, ("nothing is known of its structure, and no table can be made of samples",))
    for module in ("formats", "unit"):
        # They become attributes of the package once they are imported.
        importlib.import_module(f"{emulator.__name__}.{module}")
    observed = [observe(spec, unit, c, evidence, emulator) for c in cores]
    reasons: list[str] = []
    judged: list[str] = []
    arguments = list(_arguments(unit.argument))
    for argument in arguments if unit.segments and unit.words else ():
        blank = _blank(unit, argument, evidence, observed)
        found = _interpolator(unit, blank, observed, emulator, len(arguments) == 1, progress)
        if isinstance(found, UnitModel):
            outcome = _judged(unit, found, observed, evidence, emulator, progress)
            if outcome.model is not None:
                return outcome
            # Another assumption may have those results, too, that the cores do not show.
            judged += [f"{_shown(argument)}{line}" if len(arguments) > 1 else line for line in outcome.report]
            continue
        reasons += found
        if any(line.startswith(_REFUTED) for line in found):
            # A table would take damaged results for true ones.
            return Outcome(unit, None, tuple(found))
    if judged:
        return Outcome(unit, None, (*judged, *reasons))
    if unit.function and unit.argument.kind in ("significand", "fixed", "pattern"):
        for argument in arguments:
            made = table(unit, _blank(unit, argument, evidence, observed), observed, emulator)
            if isinstance(made, UnitModel):
                outcome = _judged(unit, made, observed, evidence, emulator, progress)
                if outcome.model is not None:
                    return outcome
                reasons += outcome.report
            else:
                reasons.append(f"{_shown(argument)}{made}")
    return Outcome(unit, None, tuple(dict.fromkeys(reasons)))


def _arguments(expected: Argument) -> Iterator[Argument]:
    """The argument in every way in which what is not known of it can be."""
    for bits in [expected.bits] if expected.bits else _TURN_BITS:
        for mirror in [expected.mirror] if expected.mirror or expected.kind != "turns" else ["complement", "negate"]:
            for negative in [expected.negative] if expected.negative else _NEGATIVE:
                yield replace(expected, bits=bits, mirror=mirror, negative=negative)


def _shown(a: Argument) -> str:
    """What is assumed of an argument, where there was a choice."""
    if a.kind == "turns":
        return f"{a.bits} bits, {a.mirror}: "
    return f"negative numbers by {a.negative}: " if a.kind == "fixed" else ""


def _blank(unit: Unit, argument: Argument, evidence: Evidence, observed: Sequence[Observed]) -> UnitModel:
    """A model with everything but its core."""
    fitted = replace(evidence.fitted, results=sum(len(o.x) for o in observed))
    nothing = Differences(unit.function, "", 1, "")
    return UnitModel(
        unit.name, f"{unit.name}-{evidence.within[0]}", evidence.within, unit.format, argument, unit.exponent, 0,
        unit.precision, unit.special, nothing, fitted, unit.rounding or _ROUNDINGS[1],
    )  # fmt: skip


# An interpolator


def _interpolator(
    unit: Unit,
    blank: UnitModel,
    observed: Sequence[Observed],
    emulator: ModuleType,
    only: bool,
    progress: Progress | None,
) -> UnitModel | list[str]:
    """The model with an interpolator, or why there is none; with an argument that is not the `only` one thinkable, a
    contradiction between results refutes the argument."""
    if not only and (reason := _refuted(blank, observed, emulator)):
        return [reason]
    r = reduced(blank, observed, emulator)
    # Powers of two and zeros may be their operands' own.
    own = maybe_own(r)
    point = point_of(r.at(~own)) if r.fine else None
    if point is None:
        return [f"{_shown(blank.argument)}the results are no numbers in fixed point"]
    lines: list[str] = []
    # With a scale that is multiplied, sums have one sign as a rule: nothing tells the roundings apart.
    roundings = [unit.rounding] if unit.rounding or unit.exponent is not None else list(_ROUNDINGS)
    for rounding in roundings:
        model = replace(blank, point=point, rounding=rounding or blank.rounding)
        s = sums(model, r.at(~own))
        assumed = _shown(blank.argument) + (f"sums by {rounding}: " if len(roundings) > 1 else "")
        place = contradicting(s)
        if place is not None and (len(roundings) > 1 or not only):
            here = operands_at(place, observed, r, model.format)
            lines.append(f"{assumed}results of one place differ: {here}")
            continue
        found = recover(s, blank.argument, unit.segments, unit.words, emulator, progress)
        if isinstance(found, Interpolator):
            model = replace(model, core=found)
            return replace(model, own=_own(model, r.at(own), observed, emulator))
        if found.contradictions:
            lines.append(f"{_REFUTED} in {found.failing} of {found.segments} segments; {found.reason}")
        else:
            lines.append(f"{assumed}no interpolator: {found.reason}")
        for c in (*found.contradictions, *([found.nearest] if found.nearest else [])):
            where = f"segment {c.segment}: the nearest coefficients miss {c.wrong} of {c.results} results"
            lines.append(f"{where}, first {operands_at(c.place, observed, r, model.format)}")
    return lines


def _refuted(model: UnitModel, observed: Sequence[Observed], emulator: ModuleType) -> str:
    """How a few results contradict an argument; empty where they do not."""
    some = []
    for o in observed:
        step = max(_FEW, len(o.x) // _PLACES)
        few = np.concatenate([np.arange(i, min(i + _FEW, len(o.x))) for i in range(0, len(o.x), step)])
        some.append(replace(o, x=o.x[few], operands=o.operands[few], results=o.results[few]))
    r = reduced(model, some, emulator)
    own = maybe_own(r)
    point = point_of(r.at(~own)) if r.fine else None
    if point is None or model.exponent is None:
        return ""
    place = contradicting(sums(replace(model, point=point), r.at(~own)))
    here = operands_at(place, some, r, model.format) if place is not None else ""
    return f"{_shown(model.argument)}results of one place differ: {here}" if here else ""


def _own(model: UnitModel, r: Reduced, observed: Sequence[Observed], emulator: ModuleType) -> tuple[Own, ...]:
    """What of results that may be operands' own the polynomial does not give: of a place, as far as can be seen."""
    operands = np.concatenate([o.operands for o in observed])[r.index]
    results = np.concatenate([o.results for o in observed])[r.index]
    with np.errstate(all="ignore"):
        wrong = np.flatnonzero(emulator.unit.unit(operands, emulated(model, emulator)) != results)
    found: dict[int, Own] = {}
    for i in wrong:
        number = Fraction(int(r.significand[i])) * Fraction(2) ** int(r.exponent[i])
        if model.exponent is None:
            number -= int(r.scale[i])
        number = -number if r.negative[i] else number
        found.setdefault(int(r.place[i]), Own(None, int(r.place[i]), 0, number))
    return tuple(found.values())


# The verdict


def _judged(
    unit: Unit,
    model: UnitModel,
    observed: Sequence[Observed],
    evidence: Evidence,
    emulator: ModuleType,
    progress: Progress | None,
) -> Outcome:
    """The model, if it has every result of the cores, and those of the special and random operands. Where the cores do
    not show it at every place, the digests of the results of all operands must confirm it; where there are any, they
    must in any case."""
    model = _with_own_operands(model, observed, emulator)
    u = emulated(model, emulator)

    def in_numpy(operands: Array) -> Array:
        found: Array = emulator.unit.unit(operands, u)
        return found

    compared, swept = 0, False
    variants = {o.variant: o.program for o in observed}
    for variant, program in variants.items():
        more, wanted = evidence.samples(variant)
        x = np.concatenate([*(o.x for o in observed if o.variant is variant), more])
        results = np.concatenate([*(o.results for o in observed if o.variant is variant), wanted])
        got = run(program, x, emulator, in_numpy)
        wrong = np.flatnonzero(got != results)
        if len(wrong):
            at, kind = int(wrong[0]), float_in(model.format)
            line = f"not exact: {len(wrong)} of {len(x)} results differ, first {variant.spelling} of"
            line += f" {describe(int(x[at]), kind)}: {describe(int(results[at]), kind)} was recorded, not"
            return Outcome(unit, None, (f"{line} {describe(int(got[at]), kind)}; {described(model)}",))
        compared += len(x)
    quick = native.function(model, emulator)
    for variant, program in variants.items():
        kept = evidence.sweep(variant)
        if kept is None:
            continue

        def computed(x: Array, program: Program = program) -> Array:
            return run(program, x, emulator, quick)

        wrong_blocks = recorded.disagreeing(computed, kept, model.format, progress)
        if wrong_blocks:
            share = f"{len(wrong_blocks)} of {len(kept)} digests of all operands differ, first of {variant.spelling}"
            first = f"the block from 0x{wrong_blocks[0]:08x} on"
            return Outcome(unit, None, (f"not exact: {share}, {first}; {described(model)}",))
        compared, swept = compared + (1 << model.format.width), True
    unseen = 0 if swept else _unseen(model, observed, emulator)
    if unseen:
        line = f"{unseen} places are in no recorded core; {described(model)}"
        return Outcome(unit, None, (f"not proven: it has all {compared} results, but {line}",))
    model = replace(model, fitted=replace(model.fitted, results=compared))
    return Outcome(unit, model, (f"exact: all {compared} results; {described(model)}",))


def _with_own_operands(model: UnitModel, observed: Sequence[Observed], emulator: ModuleType) -> UnitModel:
    """The model where what other operands of a place contradict belongs to single operands."""
    if not model.own:
        return model
    u, places = emulated(model, emulator), {o.place for o in model.own}
    singles: list[Own] = []
    for o in observed:
        with np.errstate(all="ignore"):
            near = np.isin(emulator.unit.reduce(o.operands, u)[1], list(places))
            bare = emulated(replace(model, own=()), emulator)
            operands, results = o.operands[near], o.results[near]
            by_place, without = (emulator.unit.unit(operands, which) for which in (u, bare))
        if (by_place != results).any():
            own = np.flatnonzero(without != results)
            singles += [Own(int(operands[i]), 0, int(results[i]), Fraction(0)) for i in own]
    return replace(model, own=tuple(dict.fromkeys(singles))) if singles else model


def _unseen(model: UnitModel, observed: Sequence[Observed], emulator: ModuleType) -> int:
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
