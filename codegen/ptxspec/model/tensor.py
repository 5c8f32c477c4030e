"""What tensor cores do: the forms of mma, the lanes that hold the elements, and how their products are summed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..matrices.choices import Choices
from ..matrices.forms import Form
from ..matrices.rows import Apart, Recorded, Row

# What a formula may do with numbers.
OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def _value(formula: str, known: Mapping[str, int]) -> int:
    def of(node: ast.expr) -> int:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](of(node.left), of(node.right))
        if isinstance(node, ast.Name):
            return known[node.id]
        assert isinstance(node, ast.Constant) and isinstance(node.value, int)
        return node.value

    return of(ast.parse(formula, mode="eval").body)


@dataclass(frozen=True)
class Place:
    """The row and the column of an element, as formulas of the lane and of the element's number in it, and how many
    elements a lane has; 0 where the shape decides."""

    row: str
    column: str
    elements: int = 0

    def at(self, lane: int, i: int, per_register: int, registers_down: int) -> tuple[int, int]:
        """Return the row and the column of an element: the i-th of a lane, with so many in a register, and so many
        registers for the rows of A."""
        known = {"lane": lane, "g": lane // 4, "t": lane % 4, "i": i, "r": i // per_register, "j": i % per_register}
        known |= {"E": per_register, "R": registers_down}
        return _value(self.row, known), _value(self.column, known)


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
class Given:
    """A register that some of each four lanes give: the row and the column of what stands in it, as formulas of the
    lane and of its number there, and the constant that chooses a lane, as a formula of the lane. Without shapes and
    inputs it is that of all others."""

    row: str
    column: str
    chosen: str
    basis: str
    shapes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    def at(self, lane: int, i: int) -> tuple[int, int]:
        """Return the row and the column of what is the i-th in the register of a lane."""
        known = {"lane": lane, "g": lane // 4, "t": lane % 4, "i": i}
        return _value(self.row, known), _value(self.column, known)

    def choice(self, lane: int) -> int:
        """Return the constant that chooses a lane."""
        return _value(self.chosen, {"lane": lane, "g": lane // 4, "t": lane % 4})


@dataclass(frozen=True)
class Element:
    """How an element of a type stands in a register: its bits, and how far above the lowest of its share it begins."""

    bits: int
    shift: int = 0


@dataclass(frozen=True)
class TensorCores:
    """All that is known of mma. `elements` are by type, those in some kinds packed otherwise by kind and type. `loads`
    are the layouts of instructions that load matrices, by name; `scales` those of scales of A and of B. `groups`: by
    the bits of an element of a sparse A, how many are a group. `unsigned`: types of scales that are another one
    without its sign."""

    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    forms: tuple[Form, ...] = ()
    layouts: tuple[TensorLayout, ...] = ()
    loads: Mapping[str, Place] = field(default_factory=dict)
    metadata: tuple[Given, ...] = ()
    scales: Mapping[str, Given] = field(default_factory=dict)
    elements: Mapping[str, Element] = field(default_factory=dict)
    packed: Mapping[str, Mapping[str, Element]] = field(default_factory=dict)
    groups: Mapping[int, int] = field(default_factory=dict)
    choices: Choices = field(default_factory=lambda: Choices({}, {}, {}))
    unsigned: Mapping[str, str] = field(default_factory=dict)
    observed: str = ""
    recorded: tuple[Recorded, ...] = ()
    apart: tuple[Apart, ...] = ()

    def element(self, f: Form, of: str) -> Element:
        """Return how an element of a type stands in a register of a form."""
        return self.packed.get(f.kind, {}).get(of) or self.elements[of]
