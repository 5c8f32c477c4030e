"""The checked, specialised form of a variant's semantics: a straight line of single assignments.

Every back end (the emulator's emitter, the exact evaluator) starts from this form and knows nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import is_

from ..diagnostics import Mark
from ..model import Format, Kind, UnitModel

# The label of a condition that decides between branches: it is nobody's variable.
CONDITION = "if"
# The stage of an instruction's own semantics.
OPERATION = "operation"


@dataclass(frozen=True)
class Const:
    """A constant. `value` is the encoding of a number, the integer of bits, 0 or 1 of a bool."""

    kind: Kind
    value: int


@dataclass(frozen=True)
class Var:
    kind: Kind
    name: str


@dataclass(frozen=True)
class Apply:
    """A function of the table. `format` is the format it works in: the result's of one that rounds, else the operands';
    None where that is no float. `mode` and `ftz` are set where it rounds; `count` is a shift's, `model` a unit's: None
    where it is not known. An operation of arithmetic is `mixed` where the result's format is not that of all operands.
    """

    kind: Kind
    function: str
    arguments: tuple[Term, ...]
    format: Format | None = None
    mode: str = ""
    ftz: bool = False
    count: int = 0
    model: UnitModel | None = None

    @property
    def mixed(self) -> bool:
        takes_several = self.mode != "" and self.function != "convert"
        return takes_several and any(a.kind != self.kind for a in self.arguments)

    def of(self, arguments: Iterable[Term]) -> Apply:
        """The same of other arguments."""
        new = tuple(arguments)
        return self if all(map(is_, new, self.arguments)) else replace(self, arguments=new)


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

    def of(self, value: Term) -> Let:
        """The same with another value."""
        return self if value is self.value else replace(self, value=value)


@dataclass(frozen=True)
class Program:
    """One lane of a variant. `inputs` are its source operands; `results` the result and, of p|q, the second one.
    `origins` are the file and line of what helpers return."""

    inputs: tuple[Var, ...]
    lets: tuple[Let, ...]
    results: tuple[Term, ...]
    origins: Mapping[Term, tuple[str, int]] = field(compare=False, repr=False, default_factory=dict)

    # Programs are looked up by what they are much more often than they are made.
    @cached_property
    def _hash(self) -> int:
        return hash((self.inputs, self.lets, self.results))

    def __hash__(self) -> int:
        return self._hash


def variables(term: Term) -> set[str]:
    if isinstance(term, Var):
        return {term.name}
    if isinstance(term, Apply):
        return set[str]().union(*map(variables, term.arguments))
    return set()


def mentions(term: Term) -> list[str]:
    """The variables in a term, each as often as it stands there."""
    if isinstance(term, Apply):
        return [name for a in term.arguments for name in mentions(a)]
    return [term.name] if isinstance(term, Var) else []


def live(lets: Iterable[Let], results: Iterable[Term]) -> tuple[Let, ...]:
    """The assignments that the results depend on."""
    needed = set[str]().union(*map(variables, results))
    kept: list[Let] = []
    for let in reversed(tuple(lets)):
        if let.name in needed:
            needed |= variables(let.value)
            kept.append(let)
    return tuple(reversed(kept))
