"""Matrices for forms of mma, as bits: of the sorts on which sums differ."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxemu import formats, matrices_in_c
from ptxemu.index import CATALOG
from ptxemu.matrices.forms import Form
from ptxemu.matrices.rows import row_of
from ptxemu.tensor import stored
from ptxemu.tensor_cores import FORMS, ROWS

# Exponents near that of 1, over a wide range, and the least ones; and any bits.
SORTS = ("near", "wide", "tiny", "any")
_UNSIGNED = {"f64": np.uint64, "f32": np.uint32, "tf32": np.uint32, "f16": np.uint16, "bf16": np.uint16}
_INTEGERS = {
    "s32": (-(2**31), 2**31 - 1), "s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15), "b1": (0, 1),
}  # fmt: skip
# Scales near 1.
_SCALES = {"ue8m0": (120, 134), "ue4m3": (0x20, 0x50)}


@contextmanager
def installed(extension: AbstractContextManager[None]) -> Iterator[None]:
    """Have matrices be computed by an extension, or without one, as the manager has it installed."""
    with extension:
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    matrices_in_c.ufunc.cache_clear()
    matrices_in_c._module.cache_clear()


def drawn(rng: np.random.Generator, of: str, size: tuple[int, ...], sort: str) -> NDArray[Any]:
    """Elements or scales of a type: encodings of a sort, or any integers."""
    if of in _INTEGERS:
        low, high = _INTEGERS[of]
        return rng.integers(low, high, size, endpoint=True).astype(f"{'i' if low else 'u'}{4 if of == 's32' else 1}")
    if of in _SCALES:
        low, high = (0, 255) if sort == "any" else _SCALES[of]
        return rng.integers(low, high, size, endpoint=True).astype(np.uint8)
    f = getattr(formats, "f32" if of == "tf32" else of)
    width, fraction = 1 + f.exponent_bits + f.fraction_bits, np.uint64(f.fraction_bits)
    if sort == "any":
        return rng.integers(0, 2**width - 1, size, np.uint64, endpoint=True).astype(_UNSIGNED.get(of, np.uint8))
    spread = {"near": 3, "wide": min(20, f.bias - 1), "tiny": 0}[sort]
    exponent = rng.integers(0, 3, size) if sort == "tiny" else f.bias + rng.integers(-spread, spread + 1, size)
    exponent = np.clip(exponent, 0, 2**f.exponent_bits - 2).astype(np.uint64)
    sign = rng.integers(0, 2, size).astype(np.uint64) << np.uint64(width - 1)
    bits = sign | exponent << fraction | rng.integers(0, 2**f.fraction_bits, size).astype(np.uint64)
    bits = np.where(rng.random(size) < 0.1, sign, bits)
    return bits.astype(_UNSIGNED.get(of, np.uint8))


def operands(
    rng: np.random.Generator, f: Form, sort: str, rows: tuple[int, ...], columns: tuple[int, ...]
) -> tuple[list[NDArray[Any]], dict[str, NDArray[Any]]]:
    """Stacks of A, B and C, and metadata and scales as keywords: A's of one shape, B's of another, and C's of both
    together."""
    m, n, _ = f.size
    stacks = zip(f.types[1:], (rows, columns, np.broadcast_shapes(rows, columns)), f.sizes[1:], strict=True)
    matrices = [drawn(rng, of, (*stack, *size), sort) for of, stack, size in stacks]
    sizes = {"scale_a": (*rows, m, f.scales), "scale_b": (*columns, f.scales, n)} if f.is_scaled else {}
    more = {name: drawn(rng, f.scale_type, size, sort) for name, size in sizes.items()}
    if f.is_sparse:
        how = stored(f)
        codes = rng.choice([0b0100, 0b1110], (*rows, m, how.size[1] // how.each))
        more["metadata"] = how.of_codes(codes)
    return matrices, more


def computed() -> Iterator[tuple[Form, str]]:
    """Yield forms, each with a target: one of all that are computed alike and have matrices of the same types."""
    seen = set()
    for f in FORMS:
        names = [n for n in f.names if n.partition("::")[0] != "kind"]
        for target, known in CATALOG.targets.items():
            row = row_of(f, known.base or target, ROWS) if CATALOG.takes(f.requires, target) else None
            if row is None:
                continue
            through = row.halves and known.base
            key = ROWS.index(row), f.shape, f.types, f.kind * f.is_scaled, *names, through
            if key not in seen:
                seen.add(key)
                yield f, target
