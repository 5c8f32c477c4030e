"""Operands on which what the assembler folds may differ from what the semantics says."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxspec.model import BOOL, Variant
from ptxspec.proving.gpu import vectors


def ties(rng: random.Random, exponent_bits: int, fraction_bits: int) -> tuple[int, int]:
    """Two operands whose difference is halfway between two numbers, or next to it."""
    distance, bias = rng.randint(1, fraction_bits), (1 << exponent_bits - 1) - 1
    exponent = rng.randint(bias // 2 + distance, bias + bias // 2)
    small = rng.getrandbits(fraction_bits) >> distance << distance | 1 << distance - 1
    sign = rng.getrandbits(1) << exponent_bits + fraction_bits
    large = exponent << fraction_bits | rng.getrandbits(fraction_bits)
    pair = (sign | large, sign | (exponent - distance) << fraction_bits | small)
    return pair if rng.random() < 0.5 else (pair[1], pair[0])


def columns_of(v: Variant, count: int) -> list[NDArray[Any]]:
    """Special operands in combinations, ones that meet and tie, and ties of sums and of differences."""
    signature = vectors.signature(v)
    size = int(np.prod([len(x) for x in signature.values]))
    chosen = np.random.default_rng(7).permutation(size)[:count]
    columns = [x[chosen] for x in vectors.operands(v, "grid", 0, size)]
    if signature.near and signature.floats:
        chosen = np.random.default_rng(8).permutation(1 << 16)[:count]
        near = vectors.operands(v, "near", 0, 1 << 16)
        columns = [np.concatenate([x, y[chosen]]) for x, y in zip(columns, near, strict=True)]
    kinds = {k.format for k in signature.kinds}
    format = next(iter(kinds))
    compares = v.result.type.kind == BOOL
    if len(columns) == 2 and len(kinds) == 1 and format is not None and signature.lanes == 1 and not compares:
        rng, sign = random.Random(v.spelling), 1 << format.width - 1
        rows = [ties(rng, format.exponent_bits, format.fraction_bits) for _ in range(count)]
        rows += [(x, y ^ sign) for x, y in rows]
        added = np.array(rows, columns[0].dtype).T
        columns = [np.concatenate([x, y]) for x, y in zip(columns, added, strict=True)]
    return columns
