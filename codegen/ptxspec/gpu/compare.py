"""Results of a GPU held against the emulator's, as the variant's claim on that target asks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import BOOL, Spec, Variant
from .bounds import Judge

Array = NDArray[Any]

# Claims that promise every bit.
BITWISE = ("exact", "measured")


@dataclass(frozen=True)
class Case:
    """One set of operands (of one lane, where a bound was judged), the GPU's result and the emulator's, as bits."""

    operands: tuple[int, ...]
    got: int
    want: int


@dataclass(frozen=True)
class Found:
    """What a comparison found: of `count` results, `unequal` differ from the emulator's, `nan` of them in bits of NaNs
    alone. Of a bounded variant's lanes, `outside` are outside of its bound, `open` differ where it has none, `worst` is
    the largest error of a result that differs, as a part of the bound. `blocks` of a sweep, known by their digests
    only, differ. `case` is the worst, else the first that differs."""

    count: int = 0
    unequal: int = 0
    nan: int = 0
    outside: int = 0
    open: int = 0
    worst: float = 0.0
    blocks: int = 0
    case: Case | None = None

    def __add__(self, other: Found) -> Found:
        first, second = (self, other) if self.worst >= other.worst else (other, self)
        return Found(
            self.count + other.count,
            self.unequal + other.unequal,
            self.nan + other.nan,
            self.outside + other.outside,
            self.open + other.open,
            first.worst,
            self.blocks + other.blocks,
            first.case or second.case,
        )

    @property
    def equal(self) -> bool:
        return not self.unequal and not self.blocks

    def as_json(self) -> dict[str, Any]:
        """Without what is zero, as recordings keep it."""
        found: dict[str, Any] = {k: v for k in _COUNTS if (v := getattr(self, k))}
        if self.worst:
            found["worst"] = self.worst if math.isfinite(self.worst) else "inf"
        if self.case:
            found["case"] = [*map(hex, self.case.operands), hex(self.case.got), hex(self.case.want)]
        return found


_COUNTS = ("count", "unequal", "nan", "outside", "open", "blocks")


def found_from_json(data: dict[str, Any]) -> Found:
    """Raises KeyError, TypeError and ValueError for what `as_json` did not write."""
    case = None
    if "case" in data:
        *operands, got, want = (int(x, 16) for x in data["case"])
        case = Case(tuple(operands), got, want)
    return Found(**{k: int(data.get(k, 0)) for k in _COUNTS}, worst=float(data.get("worst", 0)), case=case)


class Comparison:
    """Compares results of one variant on one target, by its claim there."""

    def __init__(self, spec: Spec, variant: Variant, target: str | None) -> None:
        self.variant = variant
        self.claim = spec.claim(variant, target)
        # Also where the claim is `measured`: a result that differs may still be inside of the manual's bound.
        bounded = variant.claim == "bounded"
        self._judge = Judge(spec, spec.instructions[variant.opcode], variant, target) if bounded else None

    def agrees(self, found: Found) -> bool | None:
        """Whether the claim holds; None where there is no claim."""
        if self.claim == "unspecified":
            return None
        return found.equal if self.claim in BITWISE else not found.outside

    def compare(self, operands: Sequence[Array], got: Array, want: Array) -> Found:
        """All arrays are encodings of whole results; `want` is the emulator's."""
        if np.array_equal(got, want):
            return Found(got.size)
        rows = np.flatnonzero(got != want)
        operands, got, want, count = [x[rows] for x in operands], got[rows], want[rows], got.size
        nan = 0 if self.variant.result.kind == BOOL else int(self._differ_in_nans_only(got, want).sum())
        first = Case(tuple(int(x[0]) for x in operands), int(got[0]), int(want[0]))
        if self._judge is None:
            return Found(count, rows.size, nan, case=first)
        lane = np.dtype(f"u{self.variant.sources[0].kind.width // 8}")
        columns = [x.view(lane) for x in (*operands, got, want)]
        # A lane of two may be equal.
        differ = columns[-2] != columns[-1]
        *operands, got, want = (x[differ] for x in columns)
        judged = self._judge.judge(operands, got, want)
        i = int(np.argmax(judged.error))
        case = Case(tuple(int(x[i]) for x in operands), int(got[i]), int(want[i]))
        outside, open = int(judged.outside.sum()), int(judged.open.sum())
        return Found(count, rows.size, nan, outside, open, float(judged.error[i]), case=case)

    def _differ_in_nans_only(self, got: Array, want: Array) -> Array:
        f = self.variant.sources[0].kind.format
        assert f is not None
        lane = np.dtype(f"u{f.width // 8}")
        magnitude, infinity = lane.type(f.sign_bit - 1), lane.type(f.infinity)
        g, w = (x.view(lane).reshape(-1, self.variant.sources[0].type.lanes) for x in (got, want))
        both = ((g & magnitude) > infinity) & ((w & magnitude) > infinity)
        return np.asarray(((g == w) | both).all(axis=1))
