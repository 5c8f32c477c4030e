"""Peers' results held against PTX's, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scoreboard.operations import Operation
from scoreboard.packages import Peer
from scoreboard.rules import Asked, classify, verdict
from scoreboard.values import numbers, shown

Bits = NDArray[Any]
# Formats between two others through which a conversion may round twice.
BETWEEN = ("f32", "f16", "bf16")


@dataclass(frozen=True)
class Kind:
    """Differences of one kind: how many there are in each set of operands, and one of them."""

    name: str
    counts: dict[str, int]
    operands: list[str]
    ptx: str
    peer: str

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def verdict(self) -> str:
        return verdict(self.name)


@dataclass
class Row:
    """An operation's comparison: the peers whose results are all equal, the differences of others, and why the rest
    have none."""

    operation: Operation
    sets: dict[str, int]
    equal: list[str] = field(default_factory=list)
    differ: dict[str, list[Kind]] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)

    def cell(self, peer: str) -> str:
        """Return what the table says of a peer."""
        if peer in self.equal:
            return "equal"
        if peer not in self.differ:
            return f"- {self.lacking[peer]}"
        totals: dict[str, int] = {}
        for kind in sorted(self.differ[peer], key=lambda k: k.verdict != "wrong"):
            name = "wrong" if kind.verdict == "wrong" else kind.name
            totals[name] = totals.get(name, 0) + kind.count
        return ", ".join(f"{name}: {n:,}" for name, n in totals.items())


class NotOurs(Exception):
    """PTX's results are not those of who judges them, so that nothing can be said of others."""


def compare(
    asked: Sequence[Operation], peers: Sequence[Peer], done: Callable[[Row], None], every: Sequence[Operation]
) -> list[Row]:
    """Return a row for each operation that is asked for, and call `done` on it as soon as it is made."""
    rows = []
    for operation in asked:
        rows.append(_row(operation, peers, every))
        done(rows[-1])
    return rows


def _row(operation: Operation, peers: Sequence[Peer], every: Sequence[Operation]) -> Row:
    sets = {name: columns[0].size for name, columns in operation.operands.items()}
    operands = [np.concatenate(columns) for columns in zip(*operation.operands.values(), strict=True)]
    ptx = operation.compute(operands)
    judged = operation.judged(operands)
    if unequal := np.flatnonzero(ptx != judged).tolist():
        given = ", ".join(f"0x{int(x[unequal[0]]):x}" for x in operands)
        message = f"{operation.spelling} of {given}: {len(unequal):,} results are not those of {operation.judge}"
        raise NotOurs(message)
    twice = dict(_rounded_twice(operation, operands, every))
    asked = Asked(operation.sources, operation.to, operation.rounding, operation.selects, operation.saturates)
    row = Row(operation, sets)
    for peer in peers:
        way = peer.way(operation)
        if isinstance(way, str):
            row.lacking[peer.package] = way
            continue
        answer = way(operands)
        kinds = classify(asked, operands, ptx, answer.bits, answer.refused, twice)
        if not kinds:
            row.equal.append(peer.package)
            continue
        row.differ[peer.package] = [
            _kind(name, where, operation, sets, operands, ptx, answer.bits, answer.refused)
            for name, where in kinds.items()
        ]
    return row


def _kind(
    name: str,
    where: NDArray[np.bool_],
    operation: Operation,
    sets: dict[str, int],
    operands: Sequence[Bits],
    ptx: Bits,
    peer: Bits,
    refused: NDArray[np.bool_],
) -> Kind:
    ends = np.cumsum([0, *sets.values()]).tolist()
    counts = {s: int(np.count_nonzero(where[a:b])) for s, (a, b) in zip(sets, pairwise(ends), strict=True)}
    at = _simplest(np.flatnonzero(where), operands[0], operation)
    return Kind(
        name,
        {s: n for s, n in counts.items() if n},
        [shown(int(x[at]), f) for x, f in zip(operands, operation.sources, strict=True)],
        shown(int(ptx[at]), operation.to),
        "an error" if refused[at] else shown(int(peer[at]), operation.to),
    )


def _simplest(places: NDArray[Any], first: Bits, operation: Operation) -> int:
    """Return the place whose first operand is nearest to one, a NaN last."""
    with np.errstate(all="ignore"):
        distance = np.abs(np.log2(np.abs(numbers(first[places], operation.sources[0]))))
    return int(places[np.argmin(np.where(np.isnan(distance), np.inf, distance))])


def _rounded_twice(
    operation: Operation, operands: Sequence[Bits], every: Sequence[Operation]
) -> Iterator[tuple[str, Bits]]:
    """Yield the results of PTX's conversions to a format between and from there to the result's."""
    if operation.opcode != "cvt":
        return
    source, to = operation.sources[0].name, operation.to.name
    found = {(o.sources[0].name, o.to.name, o.rounding): o for o in every if o.opcode == "cvt"}
    for via in BETWEEN:
        first = found.get((source, via, operation.rounding))
        second = found.get((via, to, operation.rounding))
        if first and second:
            yield via, second.compute([first.compute(operands)])
