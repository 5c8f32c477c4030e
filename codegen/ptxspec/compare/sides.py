"""A way to compute something: what it takes and gives, what it makes of arrays, and what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import PtxspecError
from ..gpu import registers
from ..model import BOOL, Kind, Operand, Type
from .differing import FLUSHED, INFINITE, NAN_BITS, VALUE

Array = NDArray[Any]
Registers = list[Array]


class Misfit(PtxspecError):
    """Two sides that cannot be compared."""


@dataclass(frozen=True)
class Face:
    """Sources and results, with the lanes in them."""

    sources: tuple[Operand, ...]
    results: tuple[Operand, ...]

    @property
    def lanes(self) -> int:
        return max(o.lanes for o in (*self.results, *self.sources))

    def registers(self) -> list[tuple[str, Type]]:
        return registers.places(self.sources)

    def result_registers(self) -> list[tuple[str, Type]]:
        return registers.places(self.results)

    def operands(self, columns: Sequence[Array]) -> list[Array]:
        """The lanes of the sources, one behind the other, from their registers."""
        return _lanes(self.sources, columns, self.lanes)

    def values(self, columns: Sequence[Array]) -> list[Array]:
        """As `operands`, of the results."""
        return _lanes(self.results, columns, self.lanes)

    @property
    def kinds(self) -> list[Kind]:
        return [o.type.kind for o in self.sources]


def _lanes(operands: Sequence[Operand], columns: Sequence[Array], lanes: int) -> list[Array]:
    return [
        np.ascontiguousarray(registers.to_lanes(o, own, lanes)).reshape(-1)
        for o, own in registers.by_operand(operands, columns)
    ]


@dataclass(frozen=True)
class Open:
    """Results that somebody leaves open: `holds` says where, of operands and what results differ in, for each lane. Where
    it is `of_operands` alone, results may differ that happen to be equal here."""

    why: str
    holds: Callable[[Sequence[Kind], Sequence[Array], Array], Array]
    of_operands: bool = False


@dataclass(frozen=True)
class Side:
    """`about` are facts for people, `rank` how much its face tells: of two the higher one's names and types are told.
    `run` takes and gives registers as words of memory, in the statement's order; it is told the face that is asked
    about. What is `loose` may have other results on a GPU than here."""

    name: str
    about: tuple[str, ...]
    face: Face
    rank: int
    run: Callable[[Face, Sequence[Array]], Registers]
    open: tuple[Open, ...] = ()
    loose: bool = False


def of_lanes(function: Callable[..., Sequence[Array]]) -> Callable[[Face, Sequence[Array]], Registers]:
    """What runs a function of lanes on registers."""

    def run(face: Face, columns: Sequence[Array]) -> Registers:
        found = function(*face.operands(columns))
        made: Registers = []
        for o, x in zip(face.results, found, strict=True):
            made += registers.to_registers(o.type, o.registers, np.asarray(x).reshape(-1, face.lanes))
        return made

    return run


def which_nan(who: str) -> Open:
    return Open(f"{who} does not say which NaN", lambda kinds, columns, differ: differ == NAN_BITS)


def accuracy(why: str) -> Open:
    """Numbers next to the right one, for finite operands."""

    def holds(kinds: Sequence[Kind], columns: Sequence[Array], differ: Array) -> Array:
        found = np.isin(differ, (VALUE, FLUSHED, INFINITE))
        for kind, x in zip(kinds, columns, strict=True):
            f = kind.format
            if f is not None and f.has_infinity:
                found &= (x & x.dtype.type(f.magnitudes - 1)) < f.infinity
        return np.asarray(found)

    return Open(why, holds)


def common_face(a: Side, b: Side) -> Face:
    """What both take and give, under the names and the types of the one that tells more. Raises Misfit."""
    told, other = (a, b) if a.rank >= b.rank else (b, a)
    for what, mine, theirs in (
        ("takes", told.face.registers(), other.face.registers()),
        ("gives", told.face.result_registers(), other.face.result_registers()),
    ):
        if len(mine) != len(theirs) or not all(_alike(x, y) for (_, x), (_, y) in zip(mine, theirs, strict=True)):
            message = f"{told.name} {what} {_types(mine)}, {other.name} {what} {_types(theirs)}"
            raise Misfit(f"{message}: only what has the same types can be compared")
    return told.face


def _alike(x: Type, y: Type) -> bool:
    """The same type, or bits of the same size as one."""
    return x.name == y.name or (x.width == y.width and BOOL not in (x.kind, y.kind) and "bits" in (x.kind.sort, y.kind.sort))


def _types(places: Sequence[tuple[str, Type]]) -> str:
    return ", ".join(f".{t.name}" for _, t in places)
