"""The advice in an emulator's error where a target lacks a variant: what it says to write runs and does the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.sizes import each_size, spread
from ptxemu.index import CATALOG, OPCODES
from ptxemu.refusing import KNOWN
from ptxemu.rows import rows_of
from ptxemu.signature import Type

SPECIAL = [0, 1, 0x8000, 0x3C00, 0x3F80, 0x7C00, 0x7F80, 0x7E00, 0x7FC1, 0xFC00, 0xFF80, 0x0400, 0x0080, 0x83FF, 0x7BFF]


def missing() -> Iterator[tuple[str, int, str, str]]:
    """Each variant that there is a recipe for, with the newest target that needs the recipe and the newest that does
    not."""
    for row in (row for opcode in OPCODES for row in rows_of(opcode)):
        r = row.requires
        lacking = [t for t in CATALOG.targets if not CATALOG.takes(r, t) and not CATALOG.siblings(r, t)]
        for recipe in KNOWN.opcodes[row.opcode].recipes(row):
            there = [t for t in lacking if CATALOG.takes(recipe.requires, t)]
            if there:
                own = [t for t in CATALOG.targets if CATALOG.takes(r, t)][-1]
                yield row.variant.spelling, row.operands, there[-1], own
                break


def numbers(t: Type, seed: int) -> Any:
    """Special values of every width, side by side, and random bits."""
    random = np.random.default_rng(seed)
    size = t.bits.itemsize
    if t.sort == "bool":
        return random.integers(0, 2, 400).astype(bool)
    words = random.choice(np.array(SPECIAL, np.uint16), (400, 4))
    words[200:] = random.integers(0, 1 << 16, (200, 4))
    return np.ascontiguousarray(words).view(np.uint8)[:, -size:].copy().view(t.bits).ravel()


@each_size
def test_what_is_said_to_write_does_the_same(whole: bool) -> None:
    every = list(missing())
    assert len(every) > 200
    for spelling, count, target, own in every if whole else spread(every, 60):
        with pytest.raises(ptxemu.UnknownTargetError) as raised:
            ptxemu.compile(spelling, count, target)
        said = str(raised.value)
        assert re.search("; (?:instead: |on .*, write )", said) and "\n" not in said
        kernel = ptxemu.compile(spelling, count, own)
        function = ptxemu.function(
            raised.value.recipe, target, results=[name for name, _ in kernel._signature.places[0]]
        )
        registers = kernel._signature.registers
        operands = {name: numbers(t, i) for i, (name, t) in enumerate(registers)}
        result = kernel(*operands.values())
        made = function(**operands)
        if ", within the variant's error bound" in said:
            # The bound is judged where recipes are proved.
            continue
        for (_, t), x, y in zip(kernel._signature.places[0], *map(registers_of, (result, made)), strict=True):
            for one, other in zip(t.unpack(x), t.unpack(y), strict=True):
                same = one == other
                if ", equal except for the bits of a NaN" in said:
                    same |= is_nan(one, t) & is_nan(other, t)
                assert same.all(), f"{spelling} on {target}"


def registers_of(found: Any) -> list[Any]:
    return [np.ascontiguousarray(x) for x in (found if isinstance(found, tuple) else (found,))]


def is_nan(x: Any, t: Type) -> Any:
    f: Any = t.number
    return x & ((1 << (f.width - 1)) - 1) > ((1 << f.exponent_bits) - 1) << f.fraction_bits
