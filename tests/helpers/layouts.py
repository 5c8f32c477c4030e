"""Operands in every layout that a call may meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import ptxemu


class Subclass(np.ndarray):
    """A subclass of NumPy's array that no result belongs to, whatever the operands are."""


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "one": lambda x: x[:1],
    "a number": lambda x: x[3],
    "an array of no dimension": lambda x: np.array(x[3]),
    "some": lambda x: x[:24],
    "in several dimensions": lambda x: x[:24].reshape(2, 3, 4),
    "in Fortran's order": lambda x: x[:24].reshape(4, 6).T,
    "with gaps": lambda x: x[:24:3],
    "backward": lambda x: x[:24][::-1],
    "not aligned": lambda x: np.frombuffer(b"x" + x[:24].tobytes(), x.dtype, offset=1),
    "read-only": lambda x: np.broadcast_to(x[:1], (5,)),
    "of a subclass": lambda x: x[:24].view(Subclass),
    "none": lambda x: x[:0],
    "in the other byte order": lambda x: x[:24].astype(x.dtype.newbyteorder("S")),
}


def operands(kernel: ptxemu.Kernel, native: bool) -> list[Any]:
    """Columns of bits, or of the types that NumPy has for them."""
    values = np.array([0x3FC00000, 0, 1, 0x7F800000, 0xFFC00001, 0x7F7FFFFF, 0x80000001, 0x7C017E01], np.uint64)
    values = np.tile(values | values << np.uint64(32), 4)
    found = [np.roll(values, i).astype(t.bits) for i, (_, t) in enumerate(kernel._signature.registers)]
    types = [t.native if native else None for _, t in kernel._signature.registers]
    return [x if t is None else x.view(t) for x, t in zip(found, types, strict=True)]
