"""Forms of several types that compute the same, and each such group against MPFR on all paths."""

from __future__ import annotations

from collections import defaultdict
from math import prod

import numpy as np
import ptxemu
from oracles import mixed
from oracles.mixed import lane, lanes, width
from ptxemu.binary import Array
from ptxspec.check.claims import FIXED

from helpers.grids import ragged, special
from helpers.groups import assert_equal
from helpers.rounding import seeded

# Opcode, modifiers without a default .rn, formats of result and operands.
Group = tuple[str, frozenset[str], tuple[str, ...]]


def groups() -> dict[Group, list[str]]:
    """Variants that compute the same, lane for lane."""
    found: dict[Group, list[str]] = defaultdict(list)
    for v in ptxemu.variants():
        if mixed.judged(v.spelling) and v.claim in FIXED and v.spelling not in mixed.READ_IN_TWO_WAYS:
            opcode, modifiers, (result, *_) = mixed.split(v.spelling)
            formats = (lane(result), *map(lane, mixed.sources(v.spelling)))
            default = {"rn"} if opcode != "fma" or lanes(result) == 4 else set()
            found[opcode, frozenset(modifiers) - default, formats].append(v.spelling)
    return dict(found)


GROUPS = groups()


def ids(group: Group) -> str:
    return GROUPS[group][0]


def size(format_: str) -> int:
    """Return the number of encodings that a format has."""
    return {"e2m1": 16, "e2m3": 64, "e3m2": 64, "f16": 1 << 16, "bf16": 1 << 16, "f32": 1 << 32}.get(format_, 256)


def special_encodings(format_: str) -> Array:
    """All of 8 bits and fewer; else those where rounding goes wrong."""
    if size(format_) > 256:
        return special(*mixed.FIELDS[format_])
    return np.arange(size(format_), dtype=np.uint8)


def random_encodings(format_: str, count: int, *key: object) -> Array:
    rng = seeded(format_, count, *key)
    if size(format_) > 256:
        return ragged(rng, count, *mixed.FIELDS[format_])
    return rng.integers(0, size(format_), count).astype(np.uint8)


def operands(group: Group, count: int) -> list[Array]:
    """Pairs and triples of special encodings and random ones, so many of them."""
    formats = group[2][1:]
    rng = seeded(ids(group), count)
    picked = [rng.choice(special_encodings(f), count // 2) for f in formats]
    others = [random_encodings(f, count - count // 2, i) for i, f in enumerate(formats)]
    return [np.concatenate(x) for x in zip(picked, others, strict=True)]


def rows(group: Group) -> int:
    """Return the number of pairs or triples of encodings that a group has."""
    return prod(map(size, group[2][1:]))


def everything(group: Group) -> list[Array]:
    """Every pair or triple of encodings of 8 bits and fewer."""
    return [np.ascontiguousarray(x.ravel()) for x in np.meshgrid(*map(special_encodings, group[2][1:]), indexing="ij")]


def packed(encodings: Array, type_: str) -> Array:
    """Registers of the type, the first lane lowest."""
    count, bits = lanes(type_), width(type_)
    parts = encodings.reshape(-1, count).astype(np.uint64) << (np.arange(count, dtype=np.uint64) * np.uint64(bits))
    return np.bitwise_or.reduce(parts, axis=1).astype(f"u{count * bits // 8}")


def unpacked(registers: Array, type_: str) -> Array:
    count, bits = lanes(type_), width(type_)
    parts = registers.astype(np.uint64)[:, None] >> (np.arange(count, dtype=np.uint64) * np.uint64(bits))
    return (parts & np.uint64((1 << bits) - 1)).ravel()


def check(group: Group, given: list[Array]) -> None:
    # Four lanes need a multiple of four.
    given = [x[: x.size & ~3] for x in given]
    want = mixed.expected(GROUPS[group][0], given)
    for spelling in GROUPS[group]:
        _, _, (result, *_) = mixed.split(spelling)
        registers = [packed(x, t) for x, t in zip(given, mixed.sources(spelling), strict=True)]
        kernel = ptxemu.compile(spelling, len(given))
        assert_equal(spelling, given, unpacked(kernel(*registers), result), want)
