"""The coefficients of a quadratic interpolator, recovered exactly from its results.

A result is a sum C0 + C1 x + C2 x**2 + bias rounded down, or toward zero, so it says between which two integers the sum
lay (in units of its own last place). With C1, C2 and the way of squaring assumed, every result of a segment so bounds
C0 + bias from both sides, and the assumption holds if and only if the largest lower bound is not above the smallest
upper one. That much follows from the structure alone (Oberman and Siu, ARITH 2005); which function is approximated does
not matter, nor how its makers chose the coefficients (Pineiro, Oberman, Muller and Bruguera, IEEE TC 54(3), 2005: a
minimax polynomial, C1 rounded, C2 fitted again).

Where to look for C1 and C2 is told by the results too: their least-squares quadratic misses the one behind them by the
noise of rounding, uniform over one unit, which averages out over the tens of thousands of results of a segment. It
leaves a few hundredths of a unit at the segment's end, where one step of C1 or C2 makes about a unit. A handful of
neighbours are tried, first on some hundred results, the survivors on all.

Word lengths and the squarer are assumed at first as published, and searched where that fails: with words long enough
that they do not matter the squarer shows itself, then C2's and C1's words are shortened as far as the results allow. A
few segments are probes; a segment that fails later joins them. The bias of all segments is the same number: modulo the
last place of C0, the bounds of every segment must leave room for it; whole such places are indistinguishable from C0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, log2, sqrt
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ...model import Argument, Interpolator, Word
from ...semantics.exact.unit import shifts
from .arrays import Array

Progress = Callable[[int, int], None]
# How far C1 and C2 may be from the least-squares ones, in units of the result at the end of a segment: at first, and
# before a segment is given up.
_NEAR, _FAR = 0.25, 2.0
_SAMPLE = 512
# Steps by which words are longer than published where a squarer is looked for, and the most probes.
_LONG = 6
_MOST_PROBES = 8
_ROUNDS_UP = 1 - 2.0**-10


@dataclass(frozen=True)
class Results:
    """What is known of the sums: at `place` the integer of the argument, the sum rounded to 2**-point lies between
    `low` and `high`, both included. int64 [n], in order of places. `upward` are those that were rounded up, the others
    were rounded down."""

    place: Array
    low: Array
    high: Array
    point: int
    upward: Array


class Squarer(NamedTuple):
    drop: int
    columns: bool
    unseen: int = 0

    def __str__(self) -> str:
        of = f"{self.drop} {'columns' if self.columns else 'bits'} of the square dropped"
        return of + (f", {self.unseen} bits of the place not squared" if self.unseen else "")


class Points(NamedTuple):
    """The weights 2**-point of the last bits of C1 and C2."""

    c1: int
    c2: int


class Candidate(NamedTuple):
    """Coefficients with which a segment's results are as recorded, for C0 + bias from `low` to `high`, in units of the
    sum's last place."""

    c1: int
    c2: int
    low: int
    high: int


@dataclass(frozen=True)
class Contradiction:
    """A segment without coefficients: the nearest ones reproduce all but `wrong` of its results; `place` is where the
    first of these is, `wanted` what they give there instead."""

    segment: int
    wrong: int
    results: int
    place: int
    wanted: int


@dataclass(frozen=True)
class NotFound:
    """No interpolator was found: `failing` segments of `segments` have no coefficients. `nearest` is what comes of the
    expected words with a whole square."""

    failing: int
    segments: int
    contradictions: tuple[Contradiction, ...]
    reason: str
    nearest: Contradiction | None = None


@dataclass(frozen=True)
class _Segment:
    number: int
    x: Array
    low: Array
    high: Array
    upward: Array


def recover(
    results: Results,
    argument: Argument,
    segments: int,
    words: tuple[int, ...],
    emulator: ModuleType,
    progress: Progress | None = None,
) -> Interpolator | NotFound:
    """The interpolator of `segments` segments in each octave that has all these results; `words` are the lengths that
    C0, C1 and C2 are expected to have."""
    return _Search(results, argument, segments, words, emulator, progress).interpolator()


class _Search:
    def __init__(
        self,
        results: Results,
        argument: Argument,
        segments: int,
        words: tuple[int, ...],
        emulator: ModuleType,
        progress: Progress | None,
    ) -> None:
        self.argument, self.segments, self.point = argument, segments, results.point
        self.progress = progress or (lambda done, total: None)
        self.local = argument.places - (segments.bit_length() - 1)
        self.emulator = emulator
        count = segments * (argument.last - argument.first + 1 if argument.kind == "octaves" else argument.octaves)
        # A place that is a whole quarter lies at the end of the last segment.
        number = np.minimum(results.place >> self.local, count - 1)
        ends = np.searchsorted(number, np.arange(count + 1))
        self.parts = [
            _Segment(
                i, (results.place[a:b] - (i << self.local)).astype(np.int64), results.low[a:b], results.high[a:b],
                results.upward[a:b],
            )
            for i, (a, b) in enumerate(pairwise(ends))
        ]  # fmt: skip
        # Where no assumption explains all segments and one nearly all, something is wrong with the rest of the results.
        self.few = max(1, count // 16)
        # Sums are computed in 64 bits; this is how many of them can stand after the point.
        largest = int(max(np.abs(results.low).max(), np.abs(results.high).max()))
        self.most = 61 - max(0, largest.bit_length() - results.point)
        self._squares: dict[Squarer, Array] = {}
        self.estimates: dict[tuple[int, Squarer], Array] = {}
        exact = Squarer(0, False)
        sizes = np.array([self.estimate(s, exact) if len(s.x) >= 3 else np.zeros(3) for s in self.parts])
        # Of a coefficient that just reaches a power of two, that may be the error of the estimate.
        tops = [ceil(log2(max(size, 2.0**-60) * _ROUNDS_UP)) for size in np.abs(sizes).max(axis=0)]
        self.expected = [bits - top for bits, top in zip(words, tops, strict=True)]

    # What is sought, from coarse to fine

    def interpolator(self) -> Interpolator | NotFound:
        count = len(self.parts)
        unseen = [s.number for s in self.parts if len(s.x) < 3]
        if unseen:
            return NotFound(len(unseen), count, (), f"segment {unseen[0]} was not recorded")
        exact = Squarer(0, False)
        nearest = self.contradiction(self.parts[0], Points(*self.expected[1:]), exact)
        best = NotFound(count, count, (), "no words and squarer suit the first segments tried", nearest)
        # Should one segment be damaged, the second pair of probes is without it.
        for start in ((0, count // 2), (count // 3, count - 1)):
            probes = [self.parts[i] for i in start]
            while len(probes) <= _MOST_PROBES and (assumption := self.assumption(probes)):
                failing = self.failing(*assumption)
                if not failing:
                    made = self.complete(*assumption)
                    return made or NotFound(0, count, (), "no bias is common to all segments")
                if len(failing) <= self.few and len(failing) < best.failing:
                    seen = tuple(self.contradiction(s, *assumption) for s in failing)
                    best = NotFound(len(failing), count, seen, "the others have coefficients")
                probes.append(failing[0])
        return best

    def assumption(self, probes: list[_Segment]) -> tuple[Points, Squarer] | None:
        """Points and a squarer with which the probes have coefficients: as expected, else the shortest words."""

        def holds(points: Points, squarer: Squarer, near: float = _NEAR) -> bool:
            return all(any(self.candidates(s, points, squarer, near)) for s in probes)

        expected = Points(*self.expected[1:])
        squarers = self.squarers()
        for squarer in squarers:
            if holds(expected, squarer, _FAR):
                return expected, squarer
        shortest: list[tuple[int, int, Points, Squarer]] = []
        for squarer in squarers:
            room = self.most - 2 * self.argument.bits + squarer.drop
            points = Points(expected.c1 + _LONG, min(expected.c2 + _LONG, room))
            if not holds(points, squarer):
                continue
            while holds(points._replace(c2=points.c2 - 1), squarer):
                points = points._replace(c2=points.c2 - 1)
            while holds(points._replace(c1=points.c1 - 1), squarer):
                points = points._replace(c1=points.c1 - 1)
            shortest.append((sum(points), -squarer.drop, points, squarer))
        return min(shortest)[2:] if shortest else None

    def squarers(self) -> list[Squarer]:
        """From the most that may be dropped, a few units of the result, to nothing."""
        size = max(abs(self.estimate(s, Squarer(0, False))[2]) for s in self.parts)
        # Of sums that are truncated to a significand, most are not known to their last place.
        known = np.concatenate([np.log2(s.high - s.low + 1.0) for s in self.parts]).mean()
        unit = size * 2.0 ** (self.point - 2 * self.argument.bits - known)
        most = max(0, min(2 * self.local, ceil(log2(16 / unit)))) if unit > 0 else 0
        dropping = [Squarer(drop, columns) for drop in range(most, 0, -1) for columns in (True, False)]
        narrow = [Squarer(2 * unseen, False, unseen) for unseen in range(most // 2, 0, -1)]
        return [*dropping, Squarer(0, False), *narrow]

    def failing(self, points: Points, squarer: Squarer) -> list[_Segment]:
        """Segments without coefficients; once they are more than a few, the others are not looked at."""
        failing = []
        for i, s in enumerate(self.parts):
            self.progress(i, len(self.parts))
            if not any(self.candidates(s, points, squarer)) and not any(self.candidates(s, points, squarer, _FAR)):
                failing.append(s)
            if len(failing) > self.few:
                break
        return failing

    # One segment

    def squares(self, squarer: Squarer) -> Array:
        """The squares of all places in a segment. The last squarer's alone are kept: a hundred are tried, and those of
        few segments have megabytes each."""
        if squarer not in self._squares:
            every = np.arange((1 << self.local) + 1, dtype=np.int64)
            self._squares = {squarer: self.emulator.unit.square(every, *squarer)}
        return self._squares[squarer]

    def estimate(self, s: _Segment, squarer: Squarer) -> Array:
        """The least-squares coefficients of a segment as numbers."""
        key = (s.number, squarer)
        if key not in self.estimates:
            # All of them: with a slope near a fraction of few digits, any regular choice sees a rhythm in the rounding.
            u = s.x * 2.0**-self.local
            square = self.squares(squarer)[s.x] * 2.0 ** (squarer.drop - 2 * self.local)
            middle = (s.low + s.high + 1.0 - 2 * s.upward) * 2.0 ** -(self.point + 1)
            found, *_ = np.linalg.lstsq(np.stack([np.ones(len(u)), u, square], axis=1), middle, rcond=None)
            self.estimates[key] = found * 2.0 ** (np.arange(3) * (self.argument.bits - self.local))
        return self.estimates[key]

    def shape(self, points: Points, squarer: Squarer, c0: int = 0) -> Interpolator:
        """An interpolator without a table, for its shifts."""
        words = (Word(0, c0), Word(0, points.c1), Word(0, points.c2))
        return Interpolator(words, squarer.drop, squarer.columns, Fraction(0), self.segments, (), squarer.unseen)

    def neighbours(self, s: _Segment, points: Points, squarer: Squarer, near: float = _NEAR) -> tuple[Array, Array]:
        """C1 and C2 near the least-squares ones, the nearest first."""
        estimate = self.estimate(s, squarer)
        # What is known of the sums less exactly, or at fewer places, leaves more room.
        width = (float(np.mean(s.high - s.low)) + 1) * max(1.0, 48 / sqrt(len(s.x)))
        sides = []
        for power, point in ((1, points.c1), (2, points.c2)):
            middle = estimate[power] * 2.0**point
            # One step of the coefficient in units of the result, at the segment's end.
            step = 2.0 ** (self.point - point + power * (self.local - self.argument.bits))
            reach = min(64, ceil(near * width / step))
            sides.append((np.arange(-reach, reach + 1) + round(middle), middle, step))
        (c1, middle1, step1), (c2, middle2, step2) = sides
        all1, all2 = (a.ravel() for a in np.meshgrid(c1, c2, indexing="ij"))
        order = np.argsort(np.abs(all1 - middle1) * step1 + np.abs(all2 - middle2) * step2)
        return all1[order].astype(np.int64), all2[order].astype(np.int64)

    def bounds(
        self, s: _Segment, c1: Array, c2: Array, points: Points, squarer: Squarer, some: slice
    ) -> tuple[Array, Array]:
        """Between what each result allows C0 + bias to lie, for each pair of coefficients: int64 [pairs, results]."""
        h = shifts(self.shape(points, squarer), self.argument, self.point)
        x = s.x[some]
        rest = (c1 << h.c1)[:, None] * x + (c2 << h.c2)[:, None] * self.squares(squarer)[x]
        rest += s.upward[some] * ((1 << h.out) - 1)
        return (s.low[some] << h.out) - rest, ((s.high[some] + 1) << h.out) - 1 - rest

    def candidates(self, s: _Segment, points: Points, squarer: Squarer, near: float = _NEAR) -> Iterator[Candidate]:
        """Coefficients that all results of a segment allow, the nearest to the least-squares ones first."""
        if shifts(self.shape(points, squarer), self.argument, self.point).point > self.most:
            return
        c1, c2 = self.neighbours(s, points, squarer, near)
        some = slice(None, None, max(1, len(s.x) // _SAMPLE))
        low, high = self.bounds(s, c1, c2, points, squarer, some)
        for i in np.flatnonzero(low.max(axis=1) <= high.min(axis=1)):
            low, high = self.bounds(s, c1[i : i + 1], c2[i : i + 1], points, squarer, slice(None))
            if low.max() <= high.min():
                yield Candidate(int(c1[i]), int(c2[i]), int(low.max()), int(high.min()))

    def contradiction(self, s: _Segment, points: Points, squarer: Squarer) -> Contradiction:
        """The coefficients that contradict the fewest results of a segment."""
        best: Contradiction | None = None
        shape = self.shape(points, squarer)
        out = shifts(shape, self.argument, self.point).out
        for c1, c2 in zip(*self.neighbours(s, points, squarer), strict=True):
            low, high = (b[0] for b in self.bounds(s, c1[None], c2[None], points, squarer, slice(None)))
            # C0 where most intervals overlap.
            ends = np.concatenate([low, high + 1])
            order = np.argsort(ends, kind="stable")
            depth = np.cumsum(np.where(order < len(low), 1, -1))
            c0 = ends[order[int(depth.argmax())]]
            wrong = np.flatnonzero((c0 < low) | (c0 > high))
            if best is None or len(wrong) < best.wrong:
                at = int(wrong[0])
                value = int((c0 - low[at] + (int(s.low[at]) << out)) >> out)
                place = (s.number << self.local) + int(s.x[at])
                best = Contradiction(s.number, len(wrong), len(low), place, value)
        assert best is not None
        return best

    # All segments

    def complete(self, points: Points, squarer: Squarer) -> Interpolator | None:
        """The table, with the shortest C0, from the expected length on, that leaves room for a bias."""
        every = [
            list(self.candidates(s, points, squarer)) or list(self.candidates(s, points, squarer, _FAR))
            for s in self.parts
        ]
        coarse = shifts(self.shape(points, squarer), self.argument, self.point).point
        # What was rounded up says nothing simple of places beyond the sum's last.
        most = coarse if any(s.upward.any() for s in self.parts) else self.most
        for c0 in range(self.expected[0], most):
            shape = self.shape(points, squarer, c0)
            h = shifts(shape, self.argument, self.point)
            # A long C0 refines the sum's last place.
            finer = h.point - coarse
            refined = [
                [c._replace(low=c.low << finer, high=((c.high + 1) << finer) - 1) for c in candidates]
                for candidates in every
            ]
            bias = common_residue(([(c.low, c.high) for c in candidates] for candidates in refined), 1 << h.c0)
            if bias is not None:
                rows = tuple(_row(candidates, bias, h.c0) for candidates in refined)
                c0_, c1_, c2_ = (
                    Word(max(1, *(abs(r[i]).bit_length() for r in rows)), shape.words[i].point) for i in range(3)
                )
                return replace(shape, words=(c0_, c1_, c2_), bias=Fraction(bias, 1 << h.point), coefficients=rows)
        return None


def _row(candidates: list[Candidate], bias: int, shift: int) -> tuple[int, int, int]:
    """The first coefficients that have room for the bias, with the C0 in the middle of what they allow."""
    for c in candidates:
        least, most = -((bias - c.low) >> shift), (c.high - bias) >> shift
        if least <= most:
            return (least + most) // 2, c.c1, c.c2
    raise AssertionError("the bias is common to all segments")


def common_residue(choices: Iterable[list[tuple[int, int]]], modulus: int) -> int | None:
    """A number below `modulus` to which, for each list of intervals, some number in one of them is congruent: of all
    such the one with the most zeros at its end. None where there is none."""
    allowed = [(0, modulus - 1)]
    for intervals in choices:
        arcs: list[tuple[int, int]] = []
        for low, high in intervals:
            if high - low + 1 >= modulus:
                arcs = [(0, modulus - 1)]
                break
            start = low % modulus
            end = start + high - low
            arcs += [(start, end)] if end < modulus else [(start, modulus - 1), (0, end - modulus)]
        merged: list[tuple[int, int]] = []
        for low, high in sorted(arcs):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        allowed = [(max(a, c), min(b, d)) for a, b in allowed for c, d in merged if max(a, c) <= min(b, d)]
    return max((_roundest(a, b) for a, b in allowed), key=lambda n: (n & -n) or modulus, default=None)


def _roundest(low: int, high: int) -> int:
    """The number from low to high with the most zeros at its end."""
    zeros = high.bit_length()
    while -(-low >> zeros) << zeros > high:
        zeros -= 1
    return -(-low >> zeros) << zeros
