"""A way to compute something: its operands and results, its function on arrays, and the results that it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...model import BOOL, Kind, Operand, Spec, Type, Variant
from ..gpu import registers
from .differing import NAN_BITS

Array = NDArray[Any]
Registers = list[Array]

# The most operands: more have too many combinations of special values to try.
MOST = 4

# The emulator's behaviour where a GPU may have other results.
CORRECTLY = "rounds correctly"
FOLLOWING = "follows a model of the target's hardware"
# The same for several statements.
AS_KNOWN = f"{FOLLOWING} where there is one, and {CORRECTLY} elsewhere"

# The ranks of faces, the least specific first.
PIECE, FUNCTION, VARIANT = range(3)


class Misfit(PtxspecError):
    """Two sides that cannot be compared."""


@dataclass(frozen=True)
class Face:
    """Sources and results, with their lanes."""

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
        """Return the lanes of the sources from their registers, one array for each source."""
        return _lanes(self.sources, columns, self.lanes)

    def values(self, columns: Sequence[Array]) -> list[Array]:
        """Return the lanes of the results, as `operands` does for the sources."""
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
    """Results that a side leaves open. `holds` decides for each lane, from the operands, the kind of difference, the
    side's own results and the other's. If only the operands decide (`of_operands`), equal results are counted too."""

    why: str
    holds: Callable[[Sequence[Kind], Sequence[Array], Array, Array, Array], Array]
    of_operands: bool = False


class Origin(NamedTuple):
    """The variant that a side runs, on the target if one is named."""

    spec: Spec
    variant: Variant
    target: str | None


@dataclass(frozen=True)
class Side:
    """A way to compute something. `about` are facts for people. Of two sides, names and types are those of the one with
    the higher `rank`. `run` maps registers, as words of memory in the statement's order; its first argument is the face
    of the comparison. A `loose` side may have other results on a GPU than here: `computed` says what is computed
    here."""

    name: str
    about: tuple[str, ...]
    face: Face
    rank: int  # PIECE, FUNCTION or VARIANT
    run: Callable[[Face, Sequence[Array]], Registers]
    open: tuple[Open, ...] = ()
    loose: bool = False
    computed: str = CORRECTLY
    origin: Origin | None = None


def of_lanes(function: Callable[..., Sequence[Array]]) -> Callable[[Face, Sequence[Array]], Registers]:
    """Return a function of registers that applies a function of lanes."""

    def run(face: Face, columns: Sequence[Array]) -> Registers:
        found = function(*face.operands(columns))
        made: Registers = []
        for o, x in zip(face.results, found, strict=True):
            made += registers.to_registers(o.type, o.registers, np.asarray(x).reshape(-1, face.lanes))
        return made

    return run


def which_nan(who: str) -> Open:
    return Open(f"{who} does not say which NaN", lambda kinds, columns, differ, own, other: differ == NAN_BITS)


def common_face(a: Side, b: Side) -> Face:
    """Return the face of both sides, with the names and the types of the more specific one. Raises Misfit."""
    told, other = (a, b) if a.rank >= b.rank else (b, a)
    for what, mine, theirs in (
        ("takes", told.face.registers(), other.face.registers()),
        ("gives", told.face.result_registers(), other.face.result_registers()),
    ):
        fits = [_fits(x, y, min(a.rank, b.rank) == PIECE) for (_, x), (_, y) in zip(mine, theirs, strict=False)]
        if len(mine) != len(theirs) or not all(fits):
            message = f"{told.name} {what} {_types(mine)}, {other.name} {what} {_types(theirs)}"
            way = "; PTX can convert the results to one type first" if what == "gives" else ""
            raise Misfit(f"{message}: only functions of the same types can be compared{way}")
    operands = len(told.face.sources)
    if not 0 < operands <= MOST:
        has = f"takes {operands} operands" if operands else "takes no operands"
        raise Misfit(f"{told.name} {has}: only functions of 1 to {MOST} operands can be compared")
    if told.rank > PIECE:
        return told.face
    # Each of two pieces of PTX may know the types of other registers.
    sources, results = (
        tuple(x if x.kind.sort == "float" else replace(x, type=y.type) for x, y in zip(mine, theirs, strict=True))
        for mine, theirs in ((told.face.sources, other.face.sources), (told.face.results, other.face.results))
    )
    return Face(sources, results)


def _fits(x: Type, y: Type, pieces: bool) -> bool:
    """Return whether two types fit: the same type, or bits of the same size. A piece of PTX may also declare a register
    for integers as bits."""
    bits = ("bits", "integer") if pieces else ("bits",)
    one_is = x.kind.sort in bits or y.kind.sort in bits
    return x.name == y.name or (one_is and x.width == y.width and BOOL not in (x.kind, y.kind))


def _types(places: Sequence[tuple[str, Type]]) -> str:
    return ", ".join(f".{t.name}" for _, t in places) or "nothing"
