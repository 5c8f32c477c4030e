"""Straight-line PTX as steps, each with the values that it takes and gives; and what is said of PTX that is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .binary import Array
from .signature import Signature, Type

# How many refusals an error names.
_SHOWN = 20


class Refused(NamedTuple):
    """What cannot be run, and where it stands: line and column count from 1, `source` is the line."""

    line: int
    column: int
    source: str
    message: str

    def __str__(self) -> str:
        caret = re.sub(r"[^\t]", " ", self.source[: self.column - 1]) + "^"
        return f"{self.line}:{self.column}: {self.message}\n    {self.source}\n    {caret}"


class StatementError(ValueError):
    """PTX that cannot be run; `refused` says which statements, and why."""

    def __init__(self, refused: Iterable[Refused]) -> None:
        self.refused = tuple(sorted(refused))
        shown = [*map(str, self.refused[:_SHOWN])]
        more = len(self.refused) - _SHOWN
        super().__init__("\n".join([*shown, *[f"and {more} more"] * (more > 0)]))


@dataclass(frozen=True, eq=False)
class Step:
    """A statement. `sources` are values, some of them `negated`, and `results` those that it makes, None where one is
    discarded. Under a `guard`, a value and what it must be, `before` are the values that its results have elsewhere."""

    line: int
    text: str
    opcode: str
    function: Callable[..., Array]
    signature: Signature
    sources: tuple[int, ...]
    negated: tuple[bool, ...]
    results: tuple[int | None, ...]
    guard: tuple[int, bool] | None = None
    before: tuple[int | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Named:
    """A register that goes in or comes out: its name, its value, and the types that its bits are read or written as."""

    name: str
    value: int
    types: tuple[Type, ...]

    @property
    def type(self) -> Type:
        """What its bits are taken for: a number rather than bits."""
        order = ("float", "integer", "bool", "bits")
        return min(self.types, key=lambda t: (not t.native_name, order.index(t.sort)))


@dataclass(frozen=True, eq=False)
class Program:
    """`constants` are values that are known: the bits."""

    inputs: tuple[Named, ...]
    results: tuple[Named, ...]
    constants: Mapping[int, np.generic]
    steps: tuple[Step, ...]
