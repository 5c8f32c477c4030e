"""Accounts of a step's value: what was rounded, compared, chosen and looked up, in the order of evaluation.

An account is made by evaluating the step again with the functions of the exact back end. Of a choice, it covers only
the side that was taken.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model import Format, Kind, UnitModel
from ..program import CONDITION, OPERATION, Apply, Const, Program, Term, Var, variables
from . import unit
from .evaluate import FUNCTIONS, Step, evaluate
from .results import Invalid
from .roundings import Rounding, rounding
from .unrounded import UNROUNDED


@dataclass(frozen=True)
class Nothing:
    """An operation whose result is no number, with the reason and the value that it delivers instead."""

    function: str
    reason: str
    kind: Kind
    result: int


@dataclass(frozen=True)
class Relation:
    """The relation of two compared values: "less", "equal", "greater" or, with a NaN, "unordered". `names` are theirs
    in the specification, or empty."""

    names: tuple[str, str]
    kind: Kind
    values: tuple[int, int]
    holds: str


@dataclass(frozen=True)
class Class:
    """The class of a value that the code asked about, as in IEEE 754-2019, 5.7.2."""

    name: str
    kind: Kind
    bits: int
    found: str


@dataclass(frozen=True)
class Extreme:
    """The choice of a maximum or a minimum between two values. `nans` describes the effect of NaNs among them."""

    function: str
    kind: Kind
    values: tuple[int, int]
    result: int
    nans: str


@dataclass(frozen=True)
class Lookup:
    """The use of a target's unit. `reading` is None for special operands and for a table of differences."""

    model: UnitModel
    kind: Kind
    operand: int
    result: int
    reading: unit.Reading | None


@dataclass(frozen=True)
class Wrapped:
    """An integer out of range of its type, which keeps the lower bits."""

    exact: int
    kind: Kind
    result: int


Account = Rounding | Nothing | Relation | Class | Extreme | Lookup | Wrapped

_CLASSIFYING = (
    "isNormal", "isFinite", "isZero", "isSubnormal", "isInfinite", "isNaN", "isSignaling", "isSignMinus",
)  # fmt: skip
_COMPARING = re.compile(r"compare[A-Z]|(less|same)(Integer|Bits)")
_WRAPPING: Mapping[str, Callable[..., int]] = {
    "congruent": lambda x: x,
    "addIntegers": operator.add,
    "subtractIntegers": operator.sub,
    "multiplyIntegers": operator.mul,
}
_EXTREMES = {
    "maximum": "a NaN operand makes it a NaN",
    "minimum": "a NaN operand makes it a NaN",
    "maximumNumber": "a NaN stands for no operand",
    "minimumNumber": "a NaN stands for no operand",
}


@dataclass(frozen=True)
class Event:
    """An event, and the line of the specification that causes it."""

    path: str
    line: int
    account: Account


def events(program: Program, step: Step) -> tuple[Event, ...]:
    """Return the events in a step."""
    found: list[Event] = []
    labels = {let.name: let.label for let in program.lets}
    _Accounting(step.values, labels, program.origins, found).value(step.let.value, (step.let.path, step.let.mark.line))
    return tuple(dict.fromkeys(found))


def effective(steps: Sequence[Step]) -> list[bool]:
    """Return which steps have an effect: they give a name its first or another value, decide whether such a step is
    reached, or take the side of a choice that changes the value."""
    found = [_does_something(s) for s in steps]
    for i in reversed(range(len(steps))):
        let = steps[i].let
        later = [s.let for s, does in zip(steps[i + 1 :], found[i + 1 :], strict=True) if does]
        if let.label == CONDITION:
            found[i] = any(isinstance(t, Var) and t.name == let.name for other in later for t, _ in other.guard)
        elif steps[i].before is None and let.stage != OPERATION:
            # The step only keeps a value for a later stage.
            found[i] = any(let.name in variables(other.value) for other in later)
    return found


def _does_something(step: Step) -> bool:
    let, term = step.let, step.let.value
    if step.before is None or step.before != step.after or let.guard:
        return True
    if not (isinstance(term, Apply) and term.function == "select"):
        return False
    test, then, other = term.arguments
    return not isinstance(then if evaluate(test, step.values) else other, Var)


class _Accounting:
    """An evaluator of terms that notes the events."""

    def __init__(
        self,
        values: Mapping[str, int],
        labels: Mapping[str, str],
        origins: Mapping[Term, tuple[str, int]],
        found: list[Event],
    ) -> None:
        self.values, self.labels, self.origins, self.found = values, labels, origins, found

    def value(self, term: Term, place: tuple[str, int]) -> int:
        if isinstance(term, Const):
            return term.value
        if isinstance(term, Var):
            return self.values[term.name]
        place = self.origins.get(term, place)
        if term.function == "select":
            test, then, other = term.arguments
            return self.value(then if self.value(test, place) else other, place)
        operands = tuple(self.value(a, place) for a in term.arguments)
        result = int(FUNCTIONS[term.function](term, *operands))
        self.found += (Event(*place, account) for account in self.of(term, operands, result))
        return result

    def of(self, t: Apply, operands: tuple[int, ...], result: int) -> Iterator[Account]:
        if t.function in UNROUNDED:
            unrounded = UNROUNDED[t.function](t, *operands)
            if isinstance(unrounded, Invalid):
                yield Nothing(t.function, unrounded.reason, t.kind, result)
            else:
                yield rounding(t, unrounded, result)
        elif t.function in _CLASSIFYING:
            kind = t.arguments[0].kind
            assert kind.format is not None
            yield Class(self.name(t.arguments[0]), kind, operands[0], _class(operands[0], kind.format))
        elif _COMPARING.match(t.function):
            kind = t.arguments[0].kind
            x, y = operands
            yield Relation((self.name(t.arguments[0]), self.name(t.arguments[1])), kind, (x, y), _relation(kind, x, y))
        elif t.function in _EXTREMES:
            x, y = operands
            has_nan = t.kind.format is not None and (t.kind.format.is_nan(x) or t.kind.format.is_nan(y))
            yield Extreme(t.function, t.kind, (x, y), result, _EXTREMES[t.function] if has_nan else "")
        elif t.function in _WRAPPING and t.kind.fixed is not None:
            numbers = [a.kind.fixed.value(x) for a, x in zip(t.arguments, operands, strict=True) if a.kind.fixed]
            exact = _WRAPPING[t.function](*numbers)
            if exact != t.kind.fixed.value(result):
                yield Wrapped(exact, t.kind, result)
        elif t.model is not None:
            yield Lookup(t.model, t.kind, operands[0], result, unit.reading(t.model, operands[0]))

    def name(self, term: Term) -> str:
        """Return the specification's name for a value; empty for a constant or an intermediate value."""
        if isinstance(term, Var):
            return self.labels.get(term.name) or re.sub(r"_\d+$", "", term.name)
        if isinstance(term, Apply) and len(term.arguments) == 1 and (inner := self.name(term.arguments[0])):
            return f"{term.function}({inner})"
        return ""


def _class(x: int, f: Format) -> str:
    if f.is_nan(x):
        return "a signaling NaN" if f.is_ieee and not x & f.quiet_bit else "a NaN"
    if f.is_infinite(x):
        return "an infinity"
    if f.is_zero(x):
        return "a zero"
    return "a subnormal number" if f.is_subnormal(x) else "a normal number"


def _relation(kind: Kind, x: int, y: int) -> str:
    f, fixed = kind.format, kind.fixed
    if f is not None and (f.is_nan(x) or f.is_nan(y)):
        return "unordered"
    less, greater = x < y, x > y
    if f is not None:
        t = Apply(kind, "", (Const(kind, x), Const(kind, y)), f)
        less, greater = (bool(FUNCTIONS[name](t, x, y)) for name in ("compareLess", "compareGreater"))
    elif fixed is not None:
        less, greater = fixed.value(x) < fixed.value(y), fixed.value(x) > fixed.value(y)
    return "less" if less else "greater" if greater else "equal"
