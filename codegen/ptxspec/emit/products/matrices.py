"""Forms of mma -> CUDA test programs: one source per opcode, one kernel per form, and matrices of ones to multiply.

Kernels with the same registers share a macro: a shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import count

from ...check.checking import Checked
from ...matrices.forms import Form
from ...model import Format, Spec
from ...model.tensor import FormOperand, written
from ...semantics.exact.rounding import round_to
from ..parts import NONE, Parts
from ..text import Files, Templates
from .cuda import KernelGuards, cell

# The letters by which inline assembly names registers, and those of types with as many bits in memory.
_LETTERS = {"b32": "r", "f32": "f", "f64": "d"}
_MEMORY = {"b32": "r", "f32": "r", "f64": "l"}


@dataclass(frozen=True)
class Shape:
    """The operands of forms, D first."""

    operands: tuple[FormOperand, ...]

    @property
    def name(self) -> str:
        """The registers of each operand, as in 4f_4r_2r_4f, and the constants unchanged."""
        found = ("".join(map(str, o.constants)) or f"{o.registers}{_LETTERS[o.type]}" for o in self.operands)
        return "_".join(found)

    @property
    def results(self) -> list[tuple[str, str]]:
        """The letters of each register of D and of its memory."""
        return [(_LETTERS[o.type], _MEMORY[o.type]) for o in self.operands[:1] for _ in range(o.registers)]

    @property
    def sources(self) -> list[tuple[str, str]]:
        """The letters of all other registers and of their memory."""
        every = (o for o in self.operands[1:] if o.type)
        return [(_LETTERS[o.type], _MEMORY[o.type]) for o in every for _ in range(o.registers)]

    @property
    def statement(self) -> str:
        """The operands of a statement, as in `{%0, %1}, {%2}, {%3}, {%4, %5}`."""
        return written(self.operands, (f"%{n}" for n in count()))

    @property
    def cells(self) -> str:
        """The cell in a row of each register and the type of its memory, for A, B, C and D."""
        results, *sources = self.operands
        every = enumerate((*sources, results))
        return ", ".join(f"b{o.type[1:]}({n})" for n, o in every for _ in range(o.registers))


@dataclass(frozen=True)
class Test:
    """A form's kernel. `row` is the number of the row that the runner runs it on; None if there is none."""

    form: Form
    name: str
    shape: str
    architecture: int
    ptx: int
    row: int | None


@dataclass
class MatrixTestFile:
    """The content of one file. A row has a word of A, B, C and D."""

    guards: KernelGuards
    tests: list[Test] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    rows: dict[tuple[int, ...], int] = field(default_factory=dict)

    @property
    def cells(self) -> list[str]:
        """The cells of each row."""
        return [", ".join(map(cell, row)) for row in self.rows]

    @property
    def letters(self) -> list[str]:
        """The letters of all registers that are read."""
        return sorted({letter for s in self.shapes.values() for letter, _ in s.sources})

    @property
    def run(self) -> list[Shape]:
        """The shapes of the kernels that are run."""
        return [self.shapes[name] for name in dict.fromkeys(t.shape for t in self.tests if t.row is not None)]


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the sources in generated/cuda that multiply matrices."""
    return parts.of("matrices", NONE, "cuda", partial(_files, spec, templates))


def _files(spec: Spec, templates: Templates) -> Files:
    by_opcode: dict[str, list[Form]] = {}
    for f in spec.tensor.forms:
        by_opcode.setdefault(f.spelling.partition(".")[0], []).append(f)
    sources = ["spec/tensor/mma.yaml", "spec/types.yaml"]
    return {
        f"cuda/{opcode}.cu": templates.render(
            "cuda/matrices.cu.j2", sources, comment="// {}", opcode=opcode, source=_source(spec, forms)
        )
        for opcode, forms in by_opcode.items()
    }


def _source(spec: Spec, forms: Sequence[Form]) -> MatrixTestFile:
    source = MatrixTestFile(KernelGuards(spec.catalog))
    for f, name in zip(forms, identifiers(forms), strict=True):
        shape, row = Shape(spec.tensor.operands(f)), ones(spec, f)
        source.shapes[shape.name] = shape
        number = source.rows.setdefault(row, len(source.rows)) if row else None
        source.tests.append(Test(f, name, shape.name, *source.guards.of(f.requires), number))
    return source


def identifiers(forms: Sequence[Form]) -> Iterator[str]:
    """Yield the names of the forms' kernels: their spellings without the parts that all have, and without the most
    common orders."""
    every = [f.spelling.split(".") for f in forms]
    common = set[str]().union(*every[:1]).intersection(*every)
    usual, _ = Counter(f.orders for f in forms).most_common(1)[0]
    for f, names in zip(forms, every, strict=True):
        left_out = common | ({*usual} if f.orders == usual else set())
        yield "_".join(n for n in names if n not in left_out).replace("::", "_")


def ones(spec: Spec, f: Form) -> tuple[int, ...]:
    """Return a word of A, B, C and D with all elements of A, B and C one: a sum of so few ones is exact in every
    arithmetic. Empty for a form with metadata or scales, which would also need values, and for one that leaves the
    registers of D unchanged."""
    if f.is_sparse or f.is_scaled or not f.computes:
        return ()
    d, *others = f.types
    return *(_word(spec, f, of, 1) for of in others), _word(spec, f, d, f.size[2] * _product(f) + 1)


def _product(f: Form) -> int:
    """Return the result for two elements that are one; for bits, that of their operation."""
    operation = next((n for n in f.names if hasattr(int, f"__{n}__")), None)
    return int(getattr(int, f"__{operation}__")(1, 1)) if operation else 1


def _word(spec: Spec, f: Form, of: str, value: int) -> int:
    """Return a register with the same number in all elements."""
    format, element = spec.formats.get(of), spec.tensor.element(f, of)
    bits = value
    if isinstance(format, Format):
        bits = round_to(Fraction(value), format, "roundTiesToEven", False) << format.shift
    return sum(bits << element.shift + i for i in range(0, max(32, element.bits), element.bits))
