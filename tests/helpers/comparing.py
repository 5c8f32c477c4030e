"""Variants that compare and select, and operands for them."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
from oracles import relations
from oracles.relations import FLOATS, Bits, lane, unsigned, width
from ptxspec import Variant

from helpers.grids import near, pairs, special, uniform
from helpers.repository import database

RANDOM = 3_000


def groups() -> dict[str, list[Variant]]:
    """The variants of each form, with and without .ftz."""
    found: dict[str, list[Variant]] = defaultdict(list)
    for opcode in relations.OPCODES:
        for v in database().opcodes[opcode].variants:
            found[".".join((opcode, *(["ftz"] if "ftz" in v.modifiers else []), *v.types))].append(v)
    return found


GROUPS = groups()


@cache
def values(type_: str) -> tuple[Bits, Bits]:
    """Pairs of one type: all of special values, random ones, and random ones near each other."""
    rng = np.random.default_rng([width(type_), type_ in FLOATS])
    if type_ in FLOATS:
        fields = FLOATS[type_]
        columns = pairs(special(*fields))
        more = [np.concatenate([uniform(rng, RANDOM, *fields), n]) for n in near(rng, RANDOM, *fields)]
    else:
        half, whole = 1 << (width(type_) - 1), 1 << width(type_)
        ends = [0, 1, 2, half - 1, half, half + 1, whole - 2, whole - 1]
        columns = pairs(np.array(ends, unsigned(type_)))
        more = [rng.integers(0, 1 << width(type_), RANDOM, unsigned(type_)) for _ in range(2)]
    a, b = (np.concatenate(c) for c in zip(columns, more, strict=True))
    return a[: a.size & ~3], b[: b.size & ~3]


@cache
def predicates(count: int) -> Bits:
    return np.random.default_rng(count).random(count) < 0.5


def operands(v: Variant) -> list[Bits]:
    """Operands of a variant, lane by lane; two lanes beside each other share a predicate."""
    numbers = [lane(s.type) for s in v.sources if s.type != "pred"]
    selects = len(numbers) > 2
    a, b = values(numbers[-1])
    columns = [*(np.resize(x, a.size) for x in values(numbers[0])), a] if selects else [a, b]
    if len(numbers) < len(v.sources):
        columns.append(np.repeat(predicates(a.size // 2), 2))
    return columns


# ptxas folds no comparison of half precision.
FOLDED = [v for g in GROUPS.values() for v in g if {"f16", "bf16"}.isdisjoint(map(lane, (v.result, *v.types)))]
