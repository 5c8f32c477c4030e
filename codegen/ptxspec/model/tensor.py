"""What tensor cores do with the formats of mma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TensorRow:
    """What some targets do with elements of some types, in some shapes; without targets or shapes, all.

    `bytes` of a row of A are summed in one step, with `bits` behind the point of the largest term. `zero` are the
    exponents of terms that are zero, by the type of the result, and `kept` the bits of the fraction of a result of f32,
    where it is cut. `halves` is the type by which two halves are summed; `chain`: by a fused multiply-add for each
    product; `exact`: integers."""

    inputs: tuple[str, ...]
    basis: str
    targets: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    bytes: int = 0
    bits: int = 0
    kept: int | None = None
    zero: Mapping[str, int] = field(default_factory=dict)
    halves: str = ""
    chain: bool = False
    exact: bool = False
