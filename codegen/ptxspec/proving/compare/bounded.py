"""The bound in NVIDIA's manual, within which results of an approximation may differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...check.claims import claim_basis
from ...model import Kind
from ..gpu.bounds import Judge
from .sides import Open, Origin

Array = NDArray[Any]


def within_bound(origin: Origin, target: str | None, own_is_judged: bool) -> tuple[Open, ...]:
    """Return the results that a variant's bound leaves open: one entry, or none where the claim is not `bounded`.
    `own_is_judged` says whose results must be within the bound: those of the side that gets the entry, or the other
    side's."""
    spec, v, _ = origin
    instruction = spec.instructions[v.opcode]
    if v.claim != "bounded":
        return ()
    judge = Judge(spec, instruction, v, target)

    def holds(kinds: Sequence[Kind], operands: Sequence[Array], differ: Array, own: Array, other: Array) -> Array:
        judged = judge.judge(operands, *((own, other) if own_is_judged else (other, own)))
        return np.asarray((~judged.outside | judged.excused) & ~judged.open)

    return (Open(claim_basis(instruction, v), holds),)
