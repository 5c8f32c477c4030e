"""Sparse matrices of forms of mma, drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxemu.matrices.forms import Form

# How many elements are a group, and how many of them stand together.
_GROUPS = {"tf32": (2, 1), "s4": (8, 2), "u4": (8, 2)}


def drawn(f: Form, rng: np.random.Generator, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what is stored of a matrix, the place of each element in its group, and the whole matrix with its zeros.
    Elements are among `values`."""
    of, together = _GROUPS.get(f.types[1], (8, 2) if f.kind.startswith("mxf4") and f.is_scaled else (4, 1))
    m, _, k = f.size
    stored, places = np.zeros((m, k // 2), values.dtype), np.zeros((m, k // 2), np.int64)
    whole = np.zeros((m, k), values.dtype)
    for row in range(m):
        n = 0
        for start in range(0, k, of):
            chosen = rng.permutation(of // together)[: max(1, of // 2 // together)]
            for part in sorted(chosen) if f.is_ordered else chosen:
                for place in range(part * together, (part + 1) * together):
                    stored[row, n] = whole[row, start + place] = rng.choice(values)
                    places[row, n] = place
                    n += 1
    return stored, places, whole


def integers(of: str) -> NDArray[Any]:
    """All integers of a type."""
    bits = int(of[1:])
    low = -(2 ** (bits - 1)) if of[0] == "s" else 0
    return np.arange(low, low + 2**bits).astype(np.int8 if low else np.uint8)
