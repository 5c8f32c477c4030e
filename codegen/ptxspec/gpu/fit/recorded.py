"""What fitting wants of a recording of `ptxspec conformance`: results of one variant on encodings in a row."""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model import Core, Format, Variant
from .. import vectors
from ..recording import Recording
from ..registers import unsigned
from .arrays import Array


def has(recording: Recording, core: Core) -> bool:
    return {(core.variant, part) for part in vectors.core_parts(core)} <= {
        (u.variant[0], u.part) for u in recording.parts
    }


def operands(core: Core, format: Format) -> Array:
    """The encodings of a core's operands."""
    return vectors.encodings(format.width, core.first, core.count, core.shift)


def results(recording: Recording, core: Core) -> Array:
    """The results on a core's operands, which the recording has."""
    found = {u.part: u for u in recording.parts if u.variant == (core.variant, 1)}
    return np.concatenate([found[part].results() for part in vectors.core_parts(core)])


def samples(recording: Recording, v: Variant) -> tuple[Array, Array]:
    """Special and random operands of a variant, and its results."""
    found = [
        (vectors.operands(v, u.part.stream, u.part.start, u.part.kept)[0], u.results())
        for u in recording.parts
        if u.variant == (v.spelling, 1) and u.part.stream in ("grid", "uniform")
    ]
    nothing = np.zeros(0, unsigned(v.sources[0].type.width))
    return np.concatenate([nothing, *(x for x, _ in found)]), np.concatenate([nothing, *(r for _, r in found)])


def sweep(recording: Recording, v: Variant) -> dict[int, int] | None:
    """The digests of a variant's results on all encodings, by the first encoding of each block; None where not all were
    recorded."""
    parts = [u for u in recording.parts if u.variant == (v.spelling, 1) and not u.part.kept]
    blocks = {start: d for u in parts for (start, _), d in zip(u.part.blocks(), u.digests, strict=True)}
    return blocks if len(blocks) * vectors.BLOCK == 1 << v.sources[0].type.width else None


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
