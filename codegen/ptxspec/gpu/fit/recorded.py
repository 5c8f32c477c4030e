"""What fitting wants: results of variants on encodings in a row, on samples, and digests of those on all encodings.
Here are those that a recording of `ptxspec conformance` has."""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ...diagnostics import PtxspecError
from ...model import Core, Fitted, Format, Spec, Unit, Variant
from .. import vectors
from ..recording import Recording
from ..registers import unsigned
from .arrays import Array


class Evidence(Protocol):
    """What a GPU computed, or is told to compute. `within` are the targets for which it stands, `fitted` is where it
    comes from."""

    within: tuple[str, str]
    fitted: Fitted

    def cores(self, unit: Unit) -> tuple[Core, ...] | str:
        """The operands with results on which a unit is determined; text where there are none, and why."""

    def results(self, core: Core) -> Array:
        """The results on a core's operands."""

    def samples(self, v: Variant) -> tuple[Array, Array]:
        """Special and random operands of a variant, and its results."""

    def sweep(self, v: Variant) -> dict[int, int] | None:
        """The digests of a variant's results on all encodings, by the first encoding of each block; None where not all
        are there."""


class Recorded:
    """A recording of a GPU."""

    def __init__(self, recording: Recording, spec: Spec) -> None:
        self.recording, self.within = recording, targets_of(recording, spec)
        self.fitted = Fitted(recording.provenance["gpu"], recording.provenance["driver"], 1)

    def cores(self, unit: Unit) -> tuple[Core, ...] | str:
        there = {(u.variant[0], u.part) for u in self.recording.parts}
        missing = [c.variant for c in unit.cores if not {(c.variant, p) for p in vectors.core_parts(c)} <= there]
        if missing or not unit.cores:
            named = ", ".join(dict.fromkeys(missing))
            return f"not recorded: {named or 'units.yaml names no core'}"
        return unit.cores

    def results(self, core: Core) -> Array:
        found = {u.part: u for u in self.recording.parts if u.variant == (core.variant, 1)}
        return np.concatenate([found[part].results() for part in vectors.core_parts(core)])

    def samples(self, v: Variant) -> tuple[Array, Array]:
        found = [
            (vectors.operands(v, u.part.stream, u.part.start, u.part.kept)[0], u.results())
            for u in self.recording.parts
            if u.variant == (v.spelling, 1) and u.part.stream in ("grid", "uniform")
        ]
        nothing = np.zeros(0, unsigned(v.sources[0].type.width))
        return np.concatenate([nothing, *(x for x, _ in found)]), np.concatenate([nothing, *(r for _, r in found)])

    def sweep(self, v: Variant) -> dict[int, int] | None:
        parts = [u for u in self.recording.parts if u.variant == (v.spelling, 1) and not u.part.kept]
        blocks = {start: d for u in parts for (start, _), d in zip(u.part.blocks(), u.digests, strict=True)}
        return blocks if len(blocks) * vectors.BLOCK == 1 << v.sources[0].type.width else None


def targets_of(recording: Recording, spec: Spec) -> tuple[str, str]:
    """The first and the last target of the recorded GPU: its own and the kinds that are based on it."""
    found = [t.name for t in spec.targets.values() if recording.target in (t.name, t.base)]
    if not found:
        raise PtxspecError(f"{recording.path}: recorded on {recording.target}, which is no target of spec/targets.yaml")
    return found[0], found[-1]


def operands(core: Core, format: Format) -> Array:
    """The encodings of a core's operands."""
    return vectors.encodings(format.width, core.first, core.count, core.shift)


def disagreeing(
    computed: Callable[[Array], Array],
    digests: dict[int, int],
    format: Format,
    progress: Callable[[int, int], None] | None = None,
) -> list[int]:
    """The first encodings of the blocks for which what is computed has other digests."""
    wrong = []
    for i, (start, wanted) in enumerate(sorted(digests.items())):
        if progress:
            progress(i, len(digests))
        if vectors.digest(computed(vectors.encodings(format.width, start, vectors.BLOCK, 0))) != wanted:
            wrong.append(start)
    return wrong


def to_steps(bits: Array, format: Format) -> Array:
    """Encodings as integers in the order of their numbers, one step between neighbours across zero too: int64."""
    signed = bits.astype(np.int64)
    return np.where(signed < format.sign_bit, signed, format.sign_bit - 1 - signed)
