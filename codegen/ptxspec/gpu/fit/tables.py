"""What no interpolator computes: a table of differences from correctly rounded results."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

import numpy as np

from ...model import Differences, Unit, UnitModel
from ...semantics.exact.unit import pack
from .arrays import BLOCK
from .observed import Observed, emulated, operands_at, reduced
from .recorded import to_steps


def table(unit: Unit, blank: UnitModel, observed: Sequence[Observed], emulator: ModuleType) -> UnitModel | str:
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
            results = results ^ np.where(inverted, f.sign_bit, 0)
            results -= scale.astype(np.int64) * (blank.exponent << f.fraction_bits)
        rounded = base[place].astype(np.int64)
        found = to_steps(results >> cut, shorter) - to_steps(rounded >> cut, shorter)
        fresh = ~seen[place]
        steps[place[fresh]] = found[fresh]
        seen[place] = True
        if (wrong := np.flatnonzero(steps[place] != found)).size:
            here = operands_at(int(place[wrong[0]]), observed, reduced(blank, observed, emulator), f)
            return f"no table: results of one place differ: {here}"
    # Where all encodings are recorded, what they do not lead to can never be asked for.
    if not seen.all() and a.kind != "pattern":
        return f"no table: {int((~seen).sum())} places were not recorded"
    width = next((w for w in (1, 2, 4) if abs(steps).max() < 1 << (8 * w - 1)), 0)
    if not width:
        return "no table: the results are nowhere near the function"
    text = pack(steps.astype(f"<i{width}").tobytes())
    # Named by what it holds: beside the model that was there before, one that takes its place changes nothing.
    name = f"{blank.name}-{zlib.crc32(text.encode()):08x}.txt"
    return replace(blank, core=Differences(unit.function, name, width, text))
