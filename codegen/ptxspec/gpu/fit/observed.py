"""From results to what they say of a unit's sums, under one assumption of how its argument is reduced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from ...diagnostics import PtxspecError
from ...emit.units import fields
from ...literals import describe
from ...model import Core, Format, Spec, Unit, UnitModel, Variant, float_in
from ...semantics.compile import Compiler
from ...semantics.program import Program
from . import recorded
from .arrays import BLOCK, Array, unit_operands
from .interpolator import Results
from .recorded import Evidence

# More bits after the point than any sum is rounded to.
_MOST_POINT = 40
# Of so many operands at most a result that is a power of two or zero may be one of their own.
_MOST_OWN = 64


@dataclass(frozen=True)
class Observed:
    """A core's operands, what the unit was given and what the variant returned; its program, with the unit to come."""

    variant: Variant
    program: Program
    x: Array
    operands: Array
    results: Array


def observe(spec: Spec, unit: Unit, core: Core, evidence: Evidence, emulator: ModuleType) -> Observed:
    """What was recorded on a core. Raises PtxspecError where the core's variant is not made of the unit."""
    found = {v.spelling: (v, p) for v, p in programs(spec, unit, evidence.within[0])}
    if core.variant not in found:
        raise PtxspecError(f"spec/units.yaml: {unit.name} is not what `hardware:` makes {core.variant} of")
    variant, program = found[core.variant]
    x = recorded.operands(core, unit.format)
    return Observed(variant, program, x, unit_operands(program, x, emulator), evidence.results(core))


def programs(spec: Spec, unit: Unit, target: str) -> list[tuple[Variant, Program]]:
    """The variants of one operand that are made of this unit and of no other on a target, with their machine code."""
    compiler, found = Compiler(spec), []
    for instruction in spec.instructions.values():
        for v in instruction.variants:
            path = spec.path(instruction.hardware_paths(v), target)
            if path is not None and path.units == (unit.name,) and len(v.sources) == v.lanes == 1:
                found.append((v, compiler.program(instruction, v, None, path)))
    return found


def emulated(model: UnitModel, emulator: ModuleType) -> Any:
    """The emulator's `Unit` of a model."""
    return emulator.unit.Unit(format=getattr(emulator.formats, model.format.name), **fields(model))


@dataclass(frozen=True)
class Reduced:
    """Every result of a normal operand (`index` among all) as significand * 2**exponent, less the scale where that is
    multiplied. `fine` where all are numbers of the model's precision; of `sole` ones, no bit but the first is set."""

    index: Array
    scale: Array
    place: Array
    significand: Array
    exponent: Array
    negative: Array
    sole: Array
    fine: bool

    def at(self, chosen: Array) -> Reduced:
        """Some of them."""
        names = ("index", "scale", "place", "significand", "exponent", "negative", "sole")
        return replace(self, **{n: getattr(self, n)[chosen] for n in names})


def reduced(model: UnitModel, observed: Sequence[Observed], emulator: ModuleType) -> Reduced:
    """The results, of all places in their order."""
    f, u = model.format, emulated(model, emulator)
    operands = np.concatenate([o.operands for o in observed])
    size = operands & operands.dtype.type(f.sign_bit - 1)
    normal = np.flatnonzero((size >= 1 << f.fraction_bits) & (size < f.infinity))
    if "negative" in model.special:
        normal = normal[operands[normal] < f.sign_bit]
    operands = operands[normal]
    with np.errstate(all="ignore"):
        parts = [emulator.unit.reduce(operands[i : i + BLOCK], u) for i in range(0, len(operands), BLOCK)]
    scale, place, inverted = (np.concatenate(part) for part in zip(*parts, strict=True))
    scale, place = (x.astype(np.int32) for x in (scale, place))
    results = np.concatenate([o.results for o in observed])[normal]
    cut = f.precision - model.precision
    magnitude = results & results.dtype.type(f.sign_bit - 1)
    fraction = magnitude & magnitude.dtype.type((1 << f.fraction_bits) - 1)
    zero = magnitude == 0
    significand = np.where(zero, 0, (fraction | fraction.dtype.type(1 << f.fraction_bits)) >> cut).astype(np.int64)
    exponent = (magnitude >> f.fraction_bits).astype(np.int32) - (f.bias + model.precision - 1)
    if model.exponent is not None:
        exponent -= scale * np.int32(model.exponent)
    fine = bool((zero | ((magnitude >= 1 << f.fraction_bits) & (magnitude < f.infinity))).all())
    fine = fine and not (fraction & fraction.dtype.type((1 << cut) - 1)).any()
    negative = (results != magnitude) ^ inverted
    found = Reduced(normal, scale, place, significand, exponent, negative, fraction == 0, fine)
    return found if (np.diff(place) >= 0).all() else found.at(np.argsort(place, kind="stable"))


def maybe_own(r: Reduced) -> Array:
    """Which results may be their operands' own: powers of two and zeros, where these are few."""
    return r.sole if r.sole.sum() <= _MOST_OWN else np.zeros(len(r.sole), bool)


def point_of(r: Reduced) -> int | None:
    """The place of the last bit of any result; None where they are no numbers in fixed point."""
    some = r.significand != 0
    if not r.fine or not some.any():
        return None
    last = r.significand[some]
    zeros = np.frexp((last & -last).astype(np.float64))[1] - 1
    point = int((-(r.exponent[some] + zeros)).max())
    return max(0, point) if point <= _MOST_POINT else None


def sums(model: UnitModel, r: Reduced) -> Results:
    """Between what each result says the sum to be, in units of 2**-point."""
    shift = np.where(r.significand == 0, 0, r.exponent + model.point)
    low = np.where(shift >= 0, r.significand << np.maximum(shift, 0), r.significand >> np.maximum(-shift, 0))
    high = low + (np.int64(1) << np.maximum(shift, 0)) - 1
    low, high = np.where(r.negative, -high, low), np.where(r.negative, -low, high)
    upward = r.negative if model.rounding == "roundTowardZero" else np.zeros(len(low), bool)
    if model.exponent is None:
        low -= r.scale.astype(np.int64) << model.point
        high -= r.scale.astype(np.int64) << model.point
    keep = slice(None)
    if model.rounding == "roundTowardZero":
        # On which side of zero a sum lay that was rounded to it is not known.
        keep = r.significand != 0
    return Results(r.place[keep], low[keep], high[keep], model.point, upward[keep])


def contradicting(s: Results) -> int | None:
    """The first place of which no sum is what all results there allow."""
    if len(s.place) == 0:
        return None
    starts = np.flatnonzero(np.diff(s.place, prepend=-1))
    # Twice the sum, so that one that was rounded up is a half below.
    low = np.maximum.reduceat(2 * s.low - s.upward, starts)
    high = np.minimum.reduceat(2 * s.high + 1 - s.upward, starts)
    wrong = np.flatnonzero(low > high)
    return int(s.place[starts[wrong[0]]]) if len(wrong) else None


def operands_at(place: int, observed: Sequence[Observed], r: Reduced, f: Format) -> str:
    """Which operands are reduced to a place, the first two, and what was recorded for them."""
    x = np.concatenate([o.x for o in observed])
    results = np.concatenate([o.results for o in observed])
    kind = float_in(f)
    ats = r.index[np.flatnonzero(r.place == place)[:2]]
    told = (f"for {describe(int(x[at]), kind)}: {describe(int(results[at]), kind)}" for at in ats)
    return f"{' and '.join(told)} was recorded"
