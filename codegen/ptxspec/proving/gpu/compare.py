"""Comparison of a GPU's results with the emulator's, as the variant's claim on that target requires."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import Operand, Spec, Variant
from .bounds import Judge
from .registers import by_operand, to_lanes

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One set of operands (of one lane, if a bound was checked), the GPU's results and the emulator's, as bits."""

    operands: tuple[int, ...]
    got: tuple[int, ...]
    want: tuple[int, ...]


@dataclass(frozen=True)
class ComparisonCounts:
    """The counts of a comparison. Of `count` results `unequal` differ from the emulator's, `nan` of them only in bits
    of NaNs. Of a bounded variant's lanes, `outside` are outside of the bound; `excused` of these are no farther out
    than the target's hardware is known to be; `open` differ where there is no bound. `worst` is the largest error of a
    result that differs, as a multiple of the bound. `blocks` counts the differing blocks of a sweep of which only the
    digest is known. `case` is the worst case, else the first that differs."""

    count: int = 0
    unequal: int = 0
    nan: int = 0
    outside: int = 0
    excused: int = 0
    open: int = 0
    worst: float = 0.0
    blocks: int = 0
    case: Case | None = None

    def __add__(self, other: ComparisonCounts) -> ComparisonCounts:
        first, second = (self, other) if self.worst >= other.worst else (other, self)
        return ComparisonCounts(
            self.count + other.count,
            self.unequal + other.unequal,
            self.nan + other.nan,
            self.outside + other.outside,
            self.excused + other.excused,
            self.open + other.open,
            first.worst,
            self.blocks + other.blocks,
            first.case or second.case,
        )

    @property
    def equal(self) -> bool:
        return not self.unequal and not self.blocks

    def as_json(self) -> dict[str, Any]:
        """Return the nonzero fields, as recordings store them."""
        found: dict[str, Any] = {k: v for k in _COUNTS if (v := getattr(self, k))}
        if self.worst:
            found["worst"] = self.worst if math.isfinite(self.worst) else "inf"
        if self.case:
            results = ("|".join(map(hex, xs)) for xs in (self.case.got, self.case.want))
            found["case"] = [*map(hex, self.case.operands), *results]
        return found


_COUNTS = ("count", "unequal", "nan", "outside", "excused", "open", "blocks")


def found_from_json(data: dict[str, Any]) -> ComparisonCounts:
    """Return the result from data that `as_json` returned. Raises KeyError, TypeError and ValueError for anything
    else."""
    case = None
    if "case" in data:
        *operands, got, want = (tuple(int(x, 16) for x in text.split("|")) for text in data["case"])
        case = Case(tuple(x for (x,) in operands), got, want)
    return ComparisonCounts(**{k: int(data.get(k, 0)) for k in _COUNTS}, worst=float(data.get("worst", 0)), case=case)


class Comparison:
    """A comparison of results of one variant on one target, according to its claim there."""

    def __init__(self, spec: Spec, variant: Variant, target: str | None) -> None:
        self.variant = variant
        self.claim = spec.claim(variant, target)
        self._is_hazard = not spec.catalog.is_safe(variant, target)
        # Even if the claim is `measured`: a result that differs may still be within the bound of NVIDIA's manual.
        bounded = variant.claim == "bounded"
        self._judge = Judge(spec, spec.instructions[variant.opcode], variant, target) if bounded else None

    def agrees(self, found: ComparisonCounts) -> bool | None:
        """Return whether the claim is true; None where there is no claim, or a hazard explains the difference. An
        unjudged variant must agree in every bit."""
        # Where the target's hardware is known to break the bound, results are checked against its known errors.
        claim = "bounded" if self.claim == "unspecified" and self._judge else self.claim
        if claim == "unspecified" or (self._is_hazard and not found.equal):
            return None
        if claim != "bounded":
            return found.equal
        # An error that the target's hardware is known to have is the bound's fault, not the result's.
        return found.outside == found.excused

    def compare(self, operands: Sequence[Array], got: Array, want: Array) -> ComparisonCounts:
        """Compare whole registers, as encodings; `got` and `want`, the emulator's, are those of the results."""
        if np.array_equal(got, want):
            return ComparisonCounts(len(got))
        columns = [x.reshape(len(x), -1) for x in (got, want)]
        differ = columns[0][:, 0] != columns[1][:, 0]
        # NumPy takes ten times as long along a short axis.
        for k in range(1, columns[0].shape[1]):
            differ |= columns[0][:, k] != columns[1][:, k]
        rows = np.flatnonzero(differ)
        operands, count = [x[rows] for x in operands], len(got)
        results, wanted = ([*x[rows].T] for x in columns)
        nan = int(self._differ_in_nans_only(results, wanted).sum())
        case = _case(operands, results, wanted, 0)
        if self._judge is None:
            return ComparisonCounts(count, rows.size, nan, case=case)
        v = self.variant
        every = ((v.sources, operands), ((v.result,), results), ((v.result,), wanted))
        lanes = [
            to_lanes(o, own, v.lanes).reshape(-1) for said, registers in every for o, own in by_operand(said, registers)
        ]
        # One of two lanes may be equal.
        apart = lanes[-2] != lanes[-1]
        *lane_operands, lane_got, lane_want = (x[apart] for x in lanes)
        judged = self._judge.judge(lane_operands, lane_got, lane_want)
        i = int(np.argmax(judged.error))
        case = _case(lane_operands, [lane_got], [lane_want], i)
        outside, excused, open = (int(x.sum()) for x in (judged.outside, judged.excused, judged.open))
        return ComparisonCounts(count, rows.size, nan, outside, excused, open, float(judged.error[i]), case=case)

    def _differ_in_nans_only(self, got: Sequence[Array], want: Sequence[Array]) -> Array:
        """Return for each set of results whether all that differ are NaNs."""
        pairs = zip(by_operand(self.variant.results, got), by_operand(self.variant.results, want), strict=True)
        return np.asarray(np.logical_and.reduce([_same_or_nans(o, g, w) for (o, g), (_, w) in pairs]))


def _same_or_nans(o: Operand, got: Sequence[Array], want: Sequence[Array]) -> Array:
    g, w = (to_lanes(o, x, o.lanes) for x in (got, want))
    same, f = g == w, o.kind.format
    if f is not None and f.nans:
        magnitude, first = g.dtype.type(f.magnitudes - 1), g.dtype.type(f.first_nan)
        same |= ((g & magnitude) >= first) & ((w & magnitude) >= first)
    return np.asarray(same.all(axis=1))


def _case(operands: Sequence[Array], got: Sequence[Array], want: Sequence[Array], i: int) -> Case:
    """Return the case in row `i`."""
    return Case(*(tuple(int(x[i]) for x in columns) for columns in (operands, got, want)))
