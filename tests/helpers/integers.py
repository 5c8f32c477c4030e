"""Variants of integers, bits and predicates, and operands for them."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracles.integers import OPCODES, width
from ptxspec import Variant

from helpers.repository import database

_INTEGER = re.compile(r"pred|imm32|[bsu]\d+(x\d)?")
VARIANTS = [
    v
    for opcode in OPCODES
    for v in database().opcodes[opcode].variants
    if all(_INTEGER.fullmatch(t) for t in (v.result, *(s.type for s in v.sources))) or opcode == "mov"
    # Other conversions have oracles of their own.
    if opcode != "cvt" or "pack" in v.modifiers
]
# On sm_90. There are no moves of 8 bits that could bring ptxas constants.
FOLDED = [v for v in VARIANTS if database().takes(v, "sm_90", "8.8") and all(s.type != "b8" for s in v.sources)]


def registers(v: Variant) -> list[str]:
    """The types of the source registers."""
    return [s.type for s in v.sources for _ in range(s.registers)]


def rows_of(v: Variant, count: int) -> list[tuple[int, ...]]:
    """Operands: ends of their types, small numbers, which are shifts too, and any others."""
    rng = random.Random(str(v))

    def one(type_: str) -> int:
        bits = width(type_)
        chosen = rng.choice([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, rng.randrange(70)])
        return (chosen if rng.random() < 0.6 else rng.getrandbits(bits)) & ((1 << bits) - 1)

    return [tuple(map(one, registers(v))) for _ in range(count)]


def columns_of(v: Variant, rows: list[tuple[int, ...]]) -> list[NDArray[Any]]:
    dtypes = ("?" if t == "pred" else f"u{width(t) // 8}" for t in registers(v))
    return [np.array(x, dtype) for x, dtype in zip(zip(*rows, strict=True), dtypes, strict=True)]
