"""Operands on which recipes and variants are compared: special values in combination, and numbers near each other."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from functools import cache

from ..model import BOOL, Kind, Type, Variant
from ..read.cells import CLASSES, CellError, members, parse_value

_CELLS = (*CLASSES, "+0.0", "-0.0", "1.0", "-1.0", "0.5", "3.0")
# One of each sort. Their number is prime, so that the square of rows has every pair of values of any two among three
# operands.
_CORE = ("+0.0", "-0.0", "-1.5", "+inf", "sNaN", "-maxNormal", "+minSubnormal")
_INTEGERS = (0, 1, 2, -1, -2)


def operand_sets(variant: Variant, at_random: int) -> Iterator[tuple[int, ...]]:
    """Yield registers of the variant's sources: every special value, or of several sources every pair of the most
    special ones; then `at_random` more sets."""
    registers = tuple(s.type for s in variant.sources for _ in s.places)
    yield from _special(registers)
    chosen = random.Random(f"{variant.spelling} {variant.operands}")
    for _ in range(at_random):
        yield tuple(near(registers, chosen))


@cache
def _special(registers: tuple[Type, ...]) -> list[tuple[int, ...]]:
    if len(registers) == 1:
        lanes: list[tuple[int, ...]] = [(x,) for x in specials(registers[0].kind)]
    else:
        columns = [core(t.kind) for t in registers]
        size = len(_CORE)
        square = itertools.product(range(size), repeat=2)
        lanes = [
            tuple(c[n % size] for c, n in zip(columns, (i, j, i + j, i + 2 * j, i + 3 * j, i + 4 * j), strict=False))
            for i, j in square
        ]
    count, found = max(t.lanes for t in registers), []
    for i in range(-(-len(lanes) // count)):
        rows = [lanes[(i + lane * len(lanes) // count) % len(lanes)] for lane in range(count)]
        found.append(tuple(t.pack([row[n] for row in rows[: t.lanes]]) for n, t in enumerate(registers)))
    return found


def near(registers: Sequence[Type], chosen: random.Random) -> Iterator[int]:
    """Yield a register of each type: numbers with exponents so near that none is lost in a sum, many of them the same,
    so that sums end in a half of the last place; and something special among them."""
    place, spread = chosen.random(), chosen.choice((0, 0, 1, 1 << 6))
    for t in registers:
        yield t.pack([_any(t.kind, place, spread, chosen) for _ in range(t.lanes)])


def _any(kind: Kind, place: float, spread: int, chosen: random.Random) -> int:
    f = kind.format
    if f is None:
        # A short number may lie halfway between two of a format.
        length = chosen.choice((kind.width, chosen.randint(1, kind.width)))
        return chosen.getrandbits(length) * chosen.choice((1, -1)) & ((1 << kind.width) - 1)
    if chosen.random() < 0.1:
        return chosen.choice(specials(kind))
    exponents = f.magnitudes >> f.fraction_bits
    apart = min(spread, f.precision)
    exponent = min(exponents - 1, max(0, int(place * exponents) + chosen.randint(-apart, apart)))
    return chosen.choice((0, f.sign_bit)) | exponent << f.fraction_bits | chosen.getrandbits(f.fraction_bits)


@cache
def specials(kind: Kind) -> list[int]:
    """Return encodings for which something special may happen."""
    canonical = [kind.format.canonical_nan] if kind.format and kind.format.nans else []
    return [*_members(kind, _CELLS), *canonical]


@cache
def core(kind: Kind) -> list[int]:
    """Return the most special encodings, equally many for every kind."""
    found = _members(kind, _CORE)
    return [found[i % len(found)] for i in range(len(_CORE))]


def _members(kind: Kind, cells: Sequence[str]) -> list[int]:
    if kind == BOOL:
        return [0, 1]
    if kind.format is None:
        ones = (1 << kind.width) - 1
        return [*(n & ones for n in _INTEGERS), ones >> 1, (ones >> 1) + 1]
    found: list[int] = []
    for cell in cells:
        try:
            every = members(parse_value(cell, ()), kind)
        except CellError:
            # The format does not have it.
            continue
        found += every if cells is _CELLS else every[-1:]
    return list(dict.fromkeys(found))
