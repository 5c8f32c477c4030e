"""The checked, specialised form of a variant's semantics: a straight line of single assignments.

All back ends (the emulator's emitter, the exact evaluator) start from this form alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import is_

from ..diagnostics import Mark
from ..model import Format, Kind, UnitModel

# The label of a condition that decides between branches: it is no variable of the specification.
CONDITION = "if"
# The stage of an instruction's own semantics.
OPERATION = "operation"


@dataclass(frozen=True)
class Const:
    """A constant. `value` is the encoding of a number, the integer of bits, or 0 or 1 for a bool."""

    kind: Kind
    value: int


@dataclass(frozen=True)
class Var:
    kind: Kind
    name: str


@dataclass(frozen=True)
class Apply:
    """A call of a function of the table. `format` is the format that it computes in: the result's if it rounds, else
    the operands'; None if that is no float. `mode` and `ftz` are set if it rounds. `count` is that of a shift; `model`
    is that of a unit, None if unknown. An operation of arithmetic is `mixed` if some operand has another format than
    the result.

    Rewriting sets `daz` where subnormal operands count as zeros of the same sign, and `passes_nans` where the first
    NaN among the operands, made quiet, is the result.
    """

    kind: Kind
    function: str
    arguments: tuple[Term, ...]
    format: Format | None = None
    mode: str = ""
    ftz: bool = False
    count: int = 0
    model: UnitModel | None = None
    daz: bool = False
    passes_nans: bool = False

    @property
    def mixed(self) -> bool:
        takes_several = self.mode != "" and self.function != "convert"
        return takes_several and any(a.kind != self.kind for a in self.arguments)

    def of(self, arguments: Iterable[Term]) -> Apply:
        """Return the same call with other arguments."""
        new = tuple(arguments)
        if all(map(is_, new, self.arguments)):
            return self
        how = self.format, self.mode, self.ftz, self.count, self.model, self.daz, self.passes_nans
        return Apply(self.kind, self.function, new, *how)


Term = Const | Var | Apply


@dataclass(frozen=True)
class Let:
    """An assignment, name = value. `label` is the name in the specification. `guard` has the conditions, each with the
    outcome, under which its line is reached; a value computed without them is harmless and unused. A merge of branches
    has no label."""

    name: str
    value: Term
    label: str = field(compare=False)
    stage: str = field(compare=False)
    path: str = field(compare=False)
    mark: Mark = field(compare=False)
    guard: tuple[tuple[Term, bool], ...] = field(compare=False, default=())

    def of(self, value: Term) -> Let:
        """Return the same assignment of another value."""
        if value is self.value:
            return self
        return Let(self.name, value, self.label, self.stage, self.path, self.mark, self.guard)


@dataclass(frozen=True)
class Program:
    """One lane of a variant. `inputs` are its source operands; `results` are the result and, for p|q, the second one.
    `origins` are the file and line of the values that helpers return."""

    inputs: tuple[Var, ...]
    lets: tuple[Let, ...]
    results: tuple[Term, ...]
    origins: Mapping[Term, tuple[str, int]] = field(compare=False, repr=False, default_factory=dict)

    # Programs are looked up much more often than they are created.
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
    """Return the variables in a term, each as often as it occurs."""
    if isinstance(term, Apply):
        return [name for a in term.arguments for name in mentions(a)]
    return [term.name] if isinstance(term, Var) else []


def live(lets: Iterable[Let], results: Iterable[Term]) -> tuple[Let, ...]:
    """Return the assignments that the results depend on."""
    needed = set[str]().union(*map(variables, results))
    kept: list[Let] = []
    for let in reversed(tuple(lets)):
        if let.name in needed:
            needed |= variables(let.value)
            kept.append(let)
    return tuple(reversed(kept))
