"""What tensor cores do: the forms of mma, the lanes that hold the elements, and how their products are summed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..catalog import Requirement

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
MATRICES = ("d", "a", "b", "c")


@dataclass(frozen=True)
class TensorRow:
    """What some targets do with elements of some types, in some shapes; without targets or shapes, all. It is about
    forms with scales of blocks where it has their `kinds`, and else about those without.

    `bytes` of a row of A are summed in one step, with `bits` behind the point of the largest term. `zero` are the
    exponents of terms that are zero, by the type of the result, and `kept` the bits of the fraction of a result of f32,
    where it is cut. `group` products are added exactly before they are scaled, and are one term. `halves` is the type
    by which two halves are summed; `chain`: by a fused multiply-add for each product; `exact`: integers."""

    inputs: tuple[str, ...]
    basis: str
    targets: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    bytes: int = 0
    bits: int = 0
    kept: int | None = None
    zero: Mapping[str, int] = field(default_factory=dict)
    group: int = 1
    halves: str = ""
    chain: bool = False
    exact: bool = False


@dataclass(frozen=True)
class TensorForm:
    """A form of mma: a spelling, as `shape`, the types of the elements of D, A, B and C, and the other names in it.
    `registers` are how many each of these has. The manual does not list a form that is not `listed`, and one that does
    not `compute` has no operation."""

    spelling: str
    shape: str
    types: tuple[str, str, str, str]
    names: tuple[str, ...]
    registers: tuple[int, int, int, int]
    requires: Requirement
    listed: bool
    computes: bool

    @cached_property
    def size(self) -> tuple[int, int, int]:
        """M, N and K."""
        m = _SHAPE.fullmatch(self.shape)
        assert m
        return int(m[1]), int(m[2]), int(m[3])

    @property
    def is_sparse(self) -> bool:
        return any(name.partition("::")[0] == "sp" for name in self.names)

    @property
    def kind(self) -> str:
        """The kind, where blocks have scales."""
        kinds = [name.partition("::")[2] for name in self.names if name.startswith("kind::")]
        return kinds[0] if kinds and "block_scale" in self.names else ""


@dataclass(frozen=True)
class Place:
    """The row and the column of an element, as formulas of the lane and of the element's number in it, and how many
    elements a lane has; 0 where the shape decides."""

    row: str
    column: str
    elements: int = 0


@dataclass(frozen=True)
class TensorLayout:
    """Which lane holds what of the matrices of some forms: by the name of a matrix, and of a matrix with what sets it
    apart, as in a_col and c_f32. Without shapes it is that of all others. `products`: so many at once, of which a lane
    belongs to the one that `product` says."""

    places: Mapping[str, Place]
    shapes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    products: int = 1
    product: str = ""


@dataclass(frozen=True)
class Element:
    """How an element of a type stands in a register: its bits, and how far above the lowest of its share it begins."""

    bits: int
    shift: int = 0


@dataclass(frozen=True)
class TensorCores:
    """All that is known of mma. `elements` are by type, those in some kinds packed otherwise by kind and type. `loads`
    are the layouts of instructions that load matrices, by name."""

    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    rows: tuple[TensorRow, ...] = ()
    forms: tuple[TensorForm, ...] = ()
    layouts: tuple[TensorLayout, ...] = ()
    loads: Mapping[str, Place] = field(default_factory=dict)
    elements: Mapping[str, Element] = field(default_factory=dict)
    packed: Mapping[str, Mapping[str, Element]] = field(default_factory=dict)
    observed: str = ""
