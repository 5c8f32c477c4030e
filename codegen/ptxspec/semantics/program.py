"""The checked, specialised form of a variant's semantics: a straight line of single assignments.

Every back end (the emulator's emitter, the exact evaluator) starts from this form and knows nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..diagnostics import Mark
from ..model import Format, UnitModel


@dataclass(frozen=True)
class Kind:
    """`sort` is "bool", "bits" or "float"."""

    sort: str
    width: int = 1
    format: Format | None = None

    def __str__(self) -> str:
        if self.sort == "float":
            return f"{self.format.name} float" if self.format else "float"
        return f"{self.width} bits" if self.sort == "bits" else "bool"


BOOL = Kind("bool")
# The label of a condition that decides between branches: it is nobody's variable.
CONDITION = "if"


def bits_of(width: int) -> Kind:
    return Kind("bits", width)


def float_in(format: Format) -> Kind:
    return Kind("float", format.width, format)


@dataclass(frozen=True)
class Const:
    """`value` is the encoding of a float, the integer of bits, 0 or 1 of a bool."""

    kind: Kind
    value: int


@dataclass(frozen=True)
class Var:
    kind: Kind
    name: str


@dataclass(frozen=True)
class Apply:
    """A function of the table. `format` is the format it works in: the result's of one that rounds, else the operands'.
    `mode` and `ftz` are set where it rounds; `count` is a shift's, `model` a unit's: None where it is not known."""

    kind: Kind
    function: str
    arguments: tuple[Term, ...]
    format: Format | None = None
    mode: str = ""
    ftz: bool = False
    count: int = 0
    model: UnitModel | None = None


Term = Const | Var | Apply


@dataclass(frozen=True)
class Let:
    """name = value. `label` is the name that the specification uses, `guard` the conditions (with the outcome) under
    which its line is reached; what is computed elsewhere is harmless and unused. A merge of branches has no label."""

    name: str
    value: Term
    label: str = field(compare=False)
    stage: str = field(compare=False)
    path: str = field(compare=False)
    mark: Mark = field(compare=False)
    guard: tuple[tuple[Term, bool], ...] = field(compare=False, default=())


@dataclass(frozen=True)
class Program:
    """One lane of a variant. `inputs` are operands of `format`."""

    format: Format
    inputs: tuple[str, ...]
    lets: tuple[Let, ...]
    result: Term


def variables(term: Term) -> set[str]:
    if isinstance(term, Var):
        return {term.name}
    if isinstance(term, Apply):
        return set().union(*map(variables, term.arguments))
    return set()


def live(lets: list[Let], result: Term) -> tuple[Let, ...]:
    """The assignments that the result depends on."""
    needed = variables(result)
    kept: list[Let] = []
    for let in reversed(lets):
        if let.name in needed:
            needed |= variables(let.value)
            kept.append(let)
    return tuple(reversed(kept))
