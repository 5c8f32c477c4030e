"""Variants that compute the same, and each such group against its judge on all paths."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import ptxemu
import pytest
from numpy.typing import NDArray
from oracles import judge
from ptxemu.binary import Array

from helpers.grids import pairs, small, special, triples


def groups() -> dict[tuple[str, frozenset[str], str, int], list[str]]:
    """Variants that compute the same, lane for lane: an explicit .rn is the default, two lanes are two of one."""
    found: dict[tuple[str, frozenset[str], str, int], list[str]] = defaultdict(list)
    for v in ptxemu.variants():
        if judge.judged(v.spelling):
            opcode, *names, type_ = v.spelling.split(".")
            default = {"rn"} if opcode in ("add", "sub", "mul") else set()
            found[opcode, frozenset(names) - default, judge.lane(type_), v.operands].append(v.spelling)
    return dict(found)


GROUPS = groups()


def in_order_of_arithmetic(group: tuple[str, frozenset[str], str, int]) -> tuple[object, ...]:
    """A key for sorting, so that MPFR's results are shared by the variants that differ in what happens around them."""
    opcode, names, format_, _ = group
    mode = next((n for n in judge.MODES if n in names), "of sm_1x" if opcode == "mad" else "rn")
    return format_, judge.ROUNDED.get(opcode, opcode), opcode == "rcp", mode, "ftz" in names, opcode, sorted(names)


IN_ORDER = sorted(GROUPS, key=in_order_of_arithmetic)


def ids(group: tuple[str, frozenset[str], str, int]) -> str:
    return f"{GROUPS[group][0]}-{group[3]}"


def grid(format_: str, operands: int) -> list[Array]:
    fields = judge.FIELDS[format_]
    if operands == 1:
        return [special(*fields)]
    return pairs(special(*fields)) if operands == 2 else triples(small(*fields))


def assert_equal(spelling: str, operands: list[Array], got: Array, want: Array) -> None:
    wrong = np.flatnonzero(got != want)
    if wrong.size:
        i = wrong[0]
        shown = ", ".join(f"0x{int(x[i]):x}" for x in operands)
        pytest.fail(
            f"{spelling} of {shown} is 0x{int(got[i]):x}, not 0x{int(want[i]):x}; {wrong.size} of {got.size} wrong"
        )


def check(group: tuple[str, frozenset[str], str, int], operands: list[Array]) -> None:
    # Two lanes need an even number.
    operands = [x[: x.size & ~1] for x in operands]
    want = judge.expected(GROUPS[group][0], operands, judge.shared_arithmetic)
    for spelling in GROUPS[group]:
        kernel = ptxemu.compile(spelling, group[3])
        if not spelling.endswith("x2"):
            assert_equal(spelling, operands, kernel(*operands), want)
            continue
        # The lanes of an element hold unrelated operands, so that a lane that sees the other shows.
        packed: NDArray[np.unsignedinteger] = kernel(*(x.view(f"u{x.dtype.itemsize * 2}") for x in operands))
        assert_equal(spelling, operands, packed.view(want.dtype), want)
