"""Operands and results as arrays of registers, as they are in a kernel's memory, and as arrays of lanes.

A predicate is a word of 32 bits, 0 or 1. Operands with several registers have an array for each, in the statement's
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model import BOOL, Operand, Type, Variant

Array = NDArray[Any]


def unsigned(width: int) -> np.dtype[Any]:
    return np.dtype(f"u{width // 8}")


def word(type: Type) -> np.dtype[Any]:
    """Return the dtype of the word of memory from which a kernel loads a register, or to which it stores it."""
    return unsigned(32 if type.kind == BOOL else type.width)


def places(operands: Iterable[Operand]) -> list[tuple[str, Type]]:
    """Return the name and the type of each register."""
    return [(name, o.type) for o in operands for name in o.places]


def results(v: Variant) -> tuple[np.dtype[Any], int]:
    """Return the word that can contain any register of a variant's results, and the number of these for each set of
    operands."""
    found = words(v.results)
    return max(found, key=lambda w: w.itemsize), len(found)


def words(operands: Iterable[Operand]) -> list[np.dtype[Any]]:
    """Return the word of each register."""
    return [word(t) for _, t in places(operands)]


def joined(columns: Sequence[Array]) -> Array:
    """Return one array of the registers of all results; if there are several, a row for each set of operands."""
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def by_operand(operands: Iterable[Operand], registers: Sequence[Array]) -> Iterator[tuple[Operand, Sequence[Array]]]:
    """Yield each operand with its registers."""
    at = 0
    for o in operands:
        yield o, registers[at : at + len(o.places)]
        at += len(o.places)


def to_lanes(o: Operand, registers: Sequence[Array], lanes: int) -> Array:
    """Return the lanes of an operand: a row of `lanes` encodings for each element."""
    t, size = o.type, registers[0].size
    dtype, shifts = registers[0].dtype.type, [i * t.lane_width + t.shift for i in range(t.lanes)]
    mask = dtype((1 << t.kind.width) - 1)
    # Lanes with registers of their own are ordered by number, from 0 on.
    order = sorted(range(len(registers)), key=lambda k: o.places[k])
    columns = [registers[k] >> dtype(shift) & mask for k in order for shift in shifts]
    whole = np.stack(columns, axis=1).astype(unsigned(t.kind.storage))
    return np.broadcast_to(whole, (size, lanes))


def to_registers(type: Type, own: Sequence[str], lanes: Array) -> list[Array]:
    """Return the registers of an operand from rows of lanes; `own` are the names of the lanes' own registers, if
    any."""
    if own:
        return [_packed(type, lanes[:, int(name[1:]), None]) for name in own]
    return [_packed(type, lanes)]


def _packed(type: Type, lanes: Array) -> Array:
    dtype = word(type)
    whole = np.zeros(len(lanes), dtype)
    for i in range(type.lanes):
        whole |= lanes[:, i].astype(dtype) << dtype.type(i * type.lane_width + type.shift)
    return whole


def text(bits: int, type: Type) -> str:
    """Return a register as text: a predicate as 0 or 1, else all digits of the bits."""
    return str(bits) if type.kind == BOOL else f"0x{bits:0{type.width // 4}x}"
