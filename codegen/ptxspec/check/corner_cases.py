"""Rows of corner-case tables, and whether a program agrees with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..model import BOOL, CornerRow
from ..read.cells import CellError, agrees, members
from ..semantics.exact.evaluate import run
from ..semantics.program import Program


@dataclass(frozen=True)
class Case:
    """A row on one set of operands, with the program's results for them."""

    operands: tuple[int, ...]
    results: tuple[int, ...]
    agrees: bool


@lru_cache(maxsize=1 << 16)
def cases(row: CornerRow, program: Program) -> tuple[Case, ...]:
    """Return a row's cases: its cells' members in every combination. Equal rows on equal programs are run once. Raises
    CellError."""
    return tuple(_cases(row, program))


def few_cases(row: CornerRow, program: Program) -> Iterator[Case]:
    """Yield as few of a row's cases as include every member of every cell."""
    known = {case.operands: case for case in cases(row, program)}
    columns = _columns(row, program)
    for i in range(max(map(len, columns))):
        yield known[tuple(c[i % len(c)] for c in columns)]


def count(row: CornerRow, program: Program) -> int:
    """Return the number of a row's cases. Raises CellError."""
    return math.prod(map(len, _columns(row, program)))


def _columns(row: CornerRow, program: Program) -> list[tuple[int, ...]]:
    return [members(v, i.kind) for v, i in zip(row.operands, program.inputs, strict=True)]


def _cases(row: CornerRow, program: Program) -> Iterator[Case]:
    if len(row.results) > len(program.results):
        raise CellError(f"there is one result, not '{row.results[1].text}' as well")
    told = [(value, term.kind) for value, term in zip(row.results, program.results, strict=False)]
    for value, kind in told:
        if (value.kind == "bool") != (kind == BOOL):
            wanted = "true or false" if kind == BOOL else "a number"
            raise CellError(f"the result is {wanted}, not '{value.text}'")
    names = [i.name for i in program.inputs]
    for operands in itertools.product(*_columns(row, program)):
        results, named = run(program, operands), dict(zip(names, operands, strict=True))
        yield Case(operands, results, all(agrees(v, r, named, k) for (v, k), r in zip(told, results, strict=False)))
