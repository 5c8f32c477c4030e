"""The manual's bound as what leaves results of an approximation open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..check.claims import basis
from ..gpu.bounds import Judge
from ..model import Kind
from .sides import Open, Origin

Array = NDArray[Any]


def within_bound(origin: Origin, target: str | None, own_is_judged: bool) -> tuple[Open, ...]:
    """What may differ between a variant and the side that this is of: its results are judged, or are what the others
    are judged by. Empty where there is no bound."""
    spec, v, _ = origin
    instruction = spec.instructions[v.opcode]
    if v.claim != "bounded":
        return ()
    judge = Judge(spec, instruction, v, target)

    def holds(kinds: Sequence[Kind], operands: Sequence[Array], differ: Array, own: Array, other: Array) -> Array:
        judged = judge.judge(operands, *((own, other) if own_is_judged else (other, own)))
        return np.asarray((~judged.outside | judged.excused) & ~judged.open)

    return (Open(basis(instruction, v), holds),)
