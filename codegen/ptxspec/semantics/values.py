"""Values while code is folded for one variant: known before the program runs, or computed by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from ..diagnostics import Diagnostic, TooLargeError
from ..model import BOOL, Format, Kind, UnitModel, Variant
from . import tree
from .exact.rounding import encode_exact
from .program import Const, Term
from .resolve import Meanings

_MAX_VALUES = 5_000
MAX_DEPTH = 80


class Static(NamedTuple):
    """A value known before the program runs. `sort` is "bool", "number", "type", "rounding", "target", "unit" or, for a
    group, "member". "missing" is a constant that the variant's format lacks; its value is the message."""

    sort: str
    value: object


class Typed(NamedTuple):
    """A value that the program computes. `rounded`: an operation of the expression being folded has rounded it."""

    term: Term
    rounded: bool = False


class Unassigned:
    """A name without a value on some path."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Wrong(Exception):
    """The error for a statement that cannot be understood. Its complaint is already recorded."""


# None is a value about which its assignment has already complained.
Scope = dict[str, Typed | Static | Unassigned | None]


class NegativeZero:
    """The literal -0, which a fraction cannot represent."""


@dataclass
class Values:
    """An evaluator of one variant's code. `statics` are the values of the static names, `ftz` the formats whose tiny
    results are flushed, `models` the known models of the units that the code calls, and `others` the operands that some
    variant of the instruction has."""

    meanings: Meanings
    variant: Variant
    statics: Mapping[str, Static | Typed]
    mode: str
    ftz: frozenset[str]
    models: Mapping[str, UnitModel | None]
    others: frozenset[str]
    errors: list[Diagnostic] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    depth: int = 0
    values: int = 0

    def flushes(self, format: Format | None) -> bool:
        return format is not None and format.name in self.ftz

    def evaluate(self, e: tree.Expression, scope: Scope) -> Static | Typed:
        """Return the value of an expression. `value` calls this after checking the nesting."""
        raise NotImplementedError

    def wrong(self, node: tree.Node, message: str, help: str = "") -> Wrong:
        self.errors.append(node.code.error(node.mark, message, help))
        return Wrong()

    def too_deep(self, node: tree.Node) -> Wrong:
        return self.wrong(node, "too deeply nested, with the helpers that are called")

    def value(self, e: tree.Expression, scope: Scope) -> Static | Typed:
        # Helpers that call helpers turn a short text into many values.
        self.values += 1
        if self.values > _MAX_VALUES:
            raise TooLargeError([e.code.error(e.mark, f"more than {_MAX_VALUES} values in {self.variant}")])
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise self.too_deep(e)
            return self.evaluate(e, scope)
        finally:
            self.depth -= 1

    def condition(self, e: tree.Expression, scope: Scope) -> Term | bool:
        """Return a condition's term, or its truth value if that is known."""
        value = self.value(e, scope)
        if isinstance(value, Static):
            if value.sort == "member":
                return value.value is not None
            if value.sort != "bool":
                raise self.wrong(e, f"a condition must be a bool, this is a {value.sort}")
            return bool(value.value)
        if value.term.kind != BOOL:
            raise self.wrong(e, f"a condition must be a bool, this is a {value.term.kind}", "compare it with something")
        return value.term

    def typed(self, value: Static | Typed, node: tree.Node, want: Kind | None = None) -> Typed:
        """Return a value for use in the program. A literal gets the wanted kind, by default that of the variant's
        numbers."""
        if isinstance(value, Typed):
            if want is not None and value.term.kind != want:
                raise self.wrong(node, f"expected a {want}, this is a {value.term.kind}")
            return value
        if value.sort == "bool":
            if want not in (None, BOOL):
                raise self.wrong(node, f"expected a {want}, this is a bool")
            return Typed(Const(BOOL, int(bool(value.value))))
        if value.sort != "number":
            raise self.wrong(node, f"a {value.sort} is no value to compute with", "compare it with another one")
        return Typed(self.literal(value.value, node, want or self.variant.home))

    def literal(self, number: object, node: tree.Node, want: Kind) -> Const:
        exact = number if isinstance(number, Fraction) else Fraction(0)
        negative_zero = isinstance(number, NegativeZero)
        if want.format is not None:
            encoded = encode_exact(exact, want.format, negative_zero)
            if encoded is None:
                message = f"this number is not exact in {want.format.name}"
                raise self.wrong(node, message, "write a number of that format")
            return Const(want, encoded)
        least, largest, point = 0, (1 << want.width) - 1, 0
        if want.fixed is not None:
            least, largest, point = want.fixed.least, want.fixed.largest, want.fixed.point
        scaled = exact * (1 << point)
        if want.sort != "bool" and scaled.denominator == 1 and least <= scaled <= largest and not negative_zero:
            return Const(want, int(scaled) & ((1 << want.width) - 1))
        raise self.wrong(node, f"expected a {want}, this is a number")

    def same_kind(self, terms: Iterable[tree.Expression], scope: Scope) -> list[Typed]:
        """Return values of one kind: literals get the kind of the others."""
        nodes = list(terms)
        values = [self.value(n, scope) for n in nodes]
        want = next((v.term.kind for v in values if isinstance(v, Typed)), None)
        typed = [self.typed(v, n, want if isinstance(v, Static) else None) for v, n in zip(values, nodes, strict=True)]
        for t, n in zip(typed[1:], nodes[1:], strict=True):
            if t.term.kind != typed[0].term.kind:
                raise self.wrong(n, f"this is a {t.term.kind}, the other a {typed[0].term.kind}")
        return typed
