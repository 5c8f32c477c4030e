"""Tensor cores: the forms of mma, the lanes that hold the elements, and how their products are summed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from ..matrices.choices import Choices
from ..matrices.forms import Form, Taken
from ..matrices.rows import Apart, Recorded, Row

# The operators that a formula may have.
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
class ElementPosition:
    """The row and the column of an element, as formulas of the lane and of the element's number in it, and the number
    of elements of a lane; 0 if the shape decides."""

    row: str
    column: str
    elements: int = 0

    def at(self, lane: int, i: int, per_register: int, registers_down: int) -> tuple[int, int]:
        """Return the row and the column of the i-th element of a lane, with `per_register` elements in a register and
        registers for `registers_down` rows of A."""
        known = {"lane": lane, "g": lane // 4, "t": lane % 4, "i": i, "r": i // per_register, "j": i % per_register}
        known |= {"E": per_register, "R": registers_down}
        return _value(self.row, known), _value(self.column, known)


@dataclass(frozen=True)
class TensorLayout:
    """The places of the matrices' elements in lanes, for some forms: by the name of a matrix, or of a matrix and what
    sets it apart, as in a_col and c_f32. Without shapes, it is the layout of all other forms. `products` are computed
    at once; a lane belongs to the one that the formula `product` gives."""

    places: Mapping[str, ElementPosition]
    shapes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    products: int = 1
    product: str = ""


@dataclass(frozen=True)
class SuppliedRegister:
    """A register that some of every four lanes supply: the row and the column of an item in it, as formulas of the lane
    and of the item's number, and the constant that selects a lane, as a formula of the lane. Without shapes and inputs,
    it is that of all other forms."""

    row: str
    column: str
    chosen: str
    basis: str
    shapes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    def at(self, lane: int, i: int) -> tuple[int, int]:
        """Return the row and the column of the i-th item in the register of a lane."""
        known = {"lane": lane, "g": lane // 4, "t": lane % 4, "i": i}
        return _value(self.row, known), _value(self.column, known)

    def choice(self, lane: int) -> int:
        """Return the constant that selects a lane."""
        return _value(self.chosen, {"lane": lane, "g": lane // 4, "t": lane % 4})


@dataclass(frozen=True)
class Element:
    """The layout of an element of a type in a register: its bits, and how far above the lowest of its share it
    begins."""

    bits: int
    shift: int = 0


class FormOperand(NamedTuple):
    """An operand of a form: `registers` registers of a type, or constants; in braces if it is a `vector`."""

    name: str
    type: str = ""
    registers: int = 1
    vector: bool = False
    constants: tuple[int, ...] = ()


def written(operands: Iterable[FormOperand], names: Iterator[str]) -> str:
    """Return operands as a statement has them, with names for their registers, as in `{%0, %1}, {%2}, {%3}, 0`."""
    found = []
    for o in operands:
        text = ", ".join(map(str, o.constants) if o.constants else islice(names, o.registers))
        found.append(f"{{{text}}}" if o.vector else text)
    return ", ".join(found)


class MatrixCode(NamedTuple):
    """The machine code that ptxas generates for a form on some targets: how often each computing instruction occurs, by
    its name, and how many `others` there are, which move, select, shuffle or jump."""

    targets: tuple[str, ...]
    instructions: Mapping[str, int]
    others: int

    @property
    def text(self) -> str:
        """The machine code in words, as in `2 HMMA.16816.F32, 12 F2FP, 4 FADD`."""
        named = ", ".join(f"{n} {name}" if n > 1 else name for name, n in self.instructions.items())
        others = f"{self.others} other{'s' * (self.others > 1)}" if self.others else ""
        return " and ".join(part for part in (named, others) if part) or "nothing"


@dataclass(frozen=True)
class MatrixEvidence:
    """The machine code of forms, by their spellings, on `targets`."""

    assembler: str
    disassembler: str
    targets: tuple[str, ...]
    codes: Mapping[str, tuple[MatrixCode, ...]]


# The placeholder in a machine instruction's name for the types of the elements of A and of B.
_ELEMENTS = ".a.b"


def named_for(f: Form, name: str) -> str:
    """Return the name of a machine instruction with a form's types in place of the placeholder."""
    return name.replace(_ELEMENTS, _elements(f))


def named_for_all(f: Form, name: str) -> str:
    """Return the name of a form's machine instruction with the placeholder in place of its types: it fits others,
    too."""
    return name.replace(_elements(f), _ELEMENTS)


def _elements(f: Form) -> str:
    _, a, b, _ = f.types
    return f".{a}.{b}".upper()


def register_type(of: str) -> str:
    """Return the type of the registers that hold elements of a type."""
    return of if of in ("f32", "f64") else "b32"


@dataclass(frozen=True)
class TensorCores:
    """All that is known about mma. `elements` are by type; `packed` are those that some kinds pack differently, by kind
    and type. `loads` are the layouts of instructions that load matrices, by name; `scales` those of the scales of A and
    of B. The first row of `taken` that fits says what the braces of a matrix may contain. The names of a spelling may
    be in any order, except within the groups `ordered`, and may occur once, except those that are `repeatable`.
    `groups` are the numbers of elements in a group of a sparse A, by the bits of an element. `unsigned`: types of
    scales that are another type without its sign."""

    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    forms: tuple[Form, ...] = ()
    layouts: tuple[TensorLayout, ...] = ()
    loads: Mapping[str, ElementPosition] = field(default_factory=dict)
    metadata: tuple[SuppliedRegister, ...] = ()
    scales: Mapping[str, SuppliedRegister] = field(default_factory=dict)
    elements: Mapping[str, Element] = field(default_factory=dict)
    packed: Mapping[str, Mapping[str, Element]] = field(default_factory=dict)
    taken: tuple[Taken, ...] = ()
    ordered: tuple[tuple[str, ...], ...] = ()
    repeatable: tuple[str, ...] = ()
    groups: Mapping[int, int] = field(default_factory=dict)
    choices: Choices = field(default_factory=lambda: Choices({}, {}, {}))
    unsigned: Mapping[str, str] = field(default_factory=dict)
    observed: str = ""
    recorded: tuple[Recorded, ...] = ()
    apart: tuple[Apart, ...] = ()
    machine: MatrixEvidence | None = None

    def element(self, f: Form, of: str) -> Element:
        """Return how an element of a type stands in a register of a form."""
        return self.packed.get(f.kind, {}).get(of) or self.elements[of]

    def operands(self, f: Form) -> tuple[FormOperand, ...]:
        """Return the operands of a form in the order of a statement, with the first of the constants that select
        lanes."""
        found = [
            FormOperand(name, register_type(of), count, vector=True)
            for name, of, count in zip("dabc", f.types, f.registers, strict=True)
        ]
        first = {name: choices[0] for name, choices in self.choices.of(f).items()}
        if f.is_sparse:
            found += [FormOperand("metadata", "b32"), FormOperand("selector", constants=(first["selector"],))]
        for matrix in "ab" if f.is_scaled else "":
            ids = first[f"byte-id-{matrix}"], first[f"thread-id-{matrix}"]
            found += [FormOperand(f"scales of {matrix}", "b32"), FormOperand("ids", vector=True, constants=ids)]
        return tuple(found)
