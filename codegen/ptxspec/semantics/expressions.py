"""Fold expressions for one variant: operators and calls, on known and computed values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ..catalog import Target
from ..model import BOOL, ROUNDINGS, FixedPoint, Format, bits_of, float_in, number_in
from . import tree
from .exact.rounding import decode
from .functions import SORTS, TABLE, Function
from .program import Apply, Term
from .resolve import usage
from .values import NegativeZero, Scope, Static, Typed, Unassigned, Values, Wrong

_MAX_LITERAL_BITS = 50_000
_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_LITERAL: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip
# The function behind each operator on values of a sort.
_OPERATORS = {
    (f.operator, sort): f
    for f in reversed(TABLE.values()) if f.operator
    for sort in SORTS.get(f.parameters[0], (f.parameters[0],))
}  # fmt: skip
# The properties that functions need, and what a format without them lacks.
_LACKS: Mapping[str, tuple[Callable[[Format], bool], str]] = {
    "": (lambda f: True, ""),
    "sign": (lambda f: f.signed, "has no sign"),
    "quiet bit": (lambda f: f.is_ieee, "does not tell quiet NaNs from signaling ones"),
    "IEEE": (lambda f: f.is_ieee, "is not a format of IEEE 754"),
}


class Expressions(Values):
    """Folds the expressions of one variant's code."""

    def inline(self, e: tree.Inline, scope: Scope) -> Static | Typed:
        """Return the value of a helper's call."""
        raise NotImplementedError

    def evaluate(self, e: tree.Expression, scope: Scope) -> Static | Typed:
        # The most frequent expressions come first.
        if isinstance(e, tree.Operator):
            return self.operator(e, scope)
        if isinstance(e, tree.StaticName):
            found = self.statics[e.name]
            if isinstance(found, Static) and found.sort == "missing":
                raise self.wrong(e, str(found.value))
            return found
        if isinstance(e, tree.Text):
            return Static("member", e.value)
        if isinstance(e, tree.Name):
            return self.name(e, scope)
        if isinstance(e, tree.Apply):
            return self.call(e, scope)
        if isinstance(e, tree.Number):
            return Static("number", e.value)
        if isinstance(e, tree.Conditional):
            return self.choice(e, e.test, e.then, e.other, scope)
        if isinstance(e, tree.Inline):
            return self.inline(e, scope)
        assert isinstance(e, tree.Boolean)
        return Static("bool", e.value)

    def name(self, e: tree.Name, scope: Scope) -> Static | Typed:
        if e.name in scope:
            value = scope[e.name]
            if value is None:
                raise Wrong
            if isinstance(value, Unassigned):
                raise self.wrong(e, f"'{e.name}' is not assigned on every path to here", value.reason)
            return value
        operands = [s.name for s in self.variant.sources]
        if e.name in operands and not self.calls:
            hint = f"here it is {', '.join(sorted(n for n in scope if n in (*operands, 'x', 'd', 'p', 'q')))}"
            raise self.wrong(e, f"this stage does not see '{e.name}'", hint)
        if e.name in self.others and not self.calls:
            hint = f"{self.variant} has {', '.join(operands)}; ask `operands` first"
            raise self.wrong(e, f"'{e.name}' is not an operand of {self.variant}", hint)
        raise self.wrong(e, f"'{e.name}' is not assigned before this", "assign it on every path that leads here")

    def choice(
        self, e: tree.Node, test: tree.Expression, then: tree.Expression, other: tree.Expression, scope: Scope
    ) -> Static | Typed:
        condition = self.condition(test, scope)
        if isinstance(condition, bool):
            return self.value(then if condition else other, scope)
        x, y = self.same_kind([then, other], scope)
        return Typed(Apply(x.term.kind, "select", (condition, x.term, y.term)), x.rounded or y.rounded)

    # Operators

    def operator(self, e: tree.Operator, scope: Scope) -> Static | Typed:
        op = e.operator
        if op in ("and", "or"):
            return self.logical(e, scope)
        if op == "not":
            test = self.condition(e.operands[0], scope)
            return Static("bool", not test) if isinstance(test, bool) else Typed(Apply(BOOL, "logicalNot", (test,)))
        values = [self.value(o, scope) for o in e.operands]
        statics = [v for v in values if isinstance(v, Static)]
        if len(statics) == len(values):
            return self.static_operator(e, statics)
        if op in ("<<", ">>"):
            return self.shift(e, op, e.operands, values)
        if op == "**":
            raise self.wrong(e, "powers are for literals only", "write 2**n, or multiply")
        want = next(v.term.kind for v in values if isinstance(v, Typed))
        if want == BOOL and statics and statics[0].sort != "bool":
            raise self.wrong(e, f"a bool and a {statics[0].sort} do not go together")
        typed = [
            self.typed(v, n, want if isinstance(v, Static) else None) for v, n in zip(values, e.operands, strict=True)
        ]
        if len(typed) == 2 and typed[0].term.kind != typed[1].term.kind:
            raise self.wrong(e, f"'{op}' of a {typed[0].term.kind} and a {typed[1].term.kind}")
        return self.apply_operator(e, op, typed)

    def apply_operator(self, e: tree.Operator, op: str, operands: list[Typed]) -> Typed:
        sort = operands[0].term.kind.sort
        wanted = f"unary {op}" if op == "-" and len(operands) == 1 else op
        if f := _OPERATORS.get((wanted, sort)):
            return self.apply(e, f, operands)
        # The table has == and < of integers and bits, and != of bools. The other comparisons follow from these.
        if sort in ("bits", "integer") and op == ">":
            return self.apply_operator(e, "<", operands[::-1])
        opposite = {("bits", "!="): "==", ("integer", "!="): "==", ("bool", "=="): "!="}.get((sort, op))
        if sort in ("bits", "integer"):
            opposite = {">=": "<", "<=": ">"}.get(op, opposite)
        if opposite is None:
            raise self.wrong(e, f"'{op}' is not defined on a {operands[0].term.kind}", _operator_help(op, sort))
        return Typed(Apply(BOOL, "logicalNot", (self.apply_operator(e, opposite, operands).term,)))

    def shift(
        self, e: tree.Node, op: str, nodes: tuple[tree.Expression, ...], values: list[Static | Typed]
    ) -> Static | Typed:
        x, count = values
        if not isinstance(x, Typed) or x.term.kind.sort != "bits":
            raise self.wrong(e, f"'{op}' shifts bits", "take bits(x) of a number first")
        if isinstance(count, Typed) and count.term.kind.fixed:
            if count.term.kind.fixed.signed or count.term.kind.fixed.point:
                raise self.wrong(nodes[1], f"a shift is by an unsigned integer, this is a {count.term.kind}")
            name = "shiftLeftBy" if op == "<<" else "shiftRightBy"
            return Typed(Apply(x.term.kind, name, (x.term, count.term)))
        if not isinstance(count, Static) or not isinstance(count.value, Fraction):
            raise self.wrong(nodes[1], "a shift is by a literal number of places, or by an unsigned integer")
        places = count.value
        if places.denominator != 1 or not 0 <= places < x.term.kind.width:
            raise self.wrong(nodes[1], f"a shift of {x.term.kind} is by 0 to {x.term.kind.width - 1} places")
        name = "shiftLeft" if op == "<<" else "shiftRight"
        return Typed(Apply(x.term.kind, name, (x.term,), count=int(places)))

    def logical(self, e: tree.Operator, scope: Scope) -> Static | Typed:
        stop = e.operator == "or"
        left = self.condition(e.operands[0], scope)
        if isinstance(left, bool):
            # As in Python, the right side is not evaluated if the left decides.
            if left == stop:
                return Static("bool", left)
            right = self.condition(e.operands[1], scope)
            return Static("bool", right) if isinstance(right, bool) else Typed(right)
        right = self.condition(e.operands[1], scope)
        if isinstance(right, bool):
            return Static("bool", right) if right == stop else Typed(left)
        return Typed(Apply(BOOL, "logicalOr" if stop else "logicalAnd", (left, right)))

    def static_operator(self, e: tree.Operator, values: list[Static]) -> Static:
        op, (sort, x), (other, y) = e.operator, values[0], values[-1]
        if sort != other:
            raise self.wrong(e, f"'{op}' of a {sort} and a {other}")
        if sort == "target" and (x is None or y is None):
            return Static("bool", False)
        if isinstance(x, Target) and isinstance(y, Target) and op in _ORDER:
            return Static("bool", _ORDER[op](x.order, y.order))
        if sort != "number" and op in ("==", "!="):
            return Static("bool", (x == y) == (op == "=="))
        if sort != "number":
            raise self.wrong(e, f"'{op}' is not defined on a {sort}")
        return self.arithmetic(e, x, y, len(values))

    def arithmetic(self, e: tree.Operator, x: object, y: object, count: int) -> Static:
        """Return the value of an operator on literals."""
        op = e.operator
        zero = isinstance(x, NegativeZero) or isinstance(y, NegativeZero)
        p = x if isinstance(x, Fraction) else Fraction(0)
        q = y if isinstance(y, Fraction) else Fraction(0)
        if op in ("==", "!="):
            return Static("bool", (p == q) == (op == "=="))
        if op in _ORDER:
            return Static("bool", _ORDER[op](p, q))
        if op == "-" and count == 1:
            return Static("number", -p if p else Fraction(0) if zero else NegativeZero())
        if op in ("**", "<<"):
            if (op == "**" and p != 2) or q.denominator != 1:
                raise self.wrong(e, "a literal power is 2**n", "write 2**n with a whole n")
            if abs(q) > _MAX_LITERAL_BITS:
                raise self.wrong(e, "this literal is beyond every format")
            found = p * Fraction(2) ** int(q) if op == "<<" else Fraction(2) ** int(q)
        elif op in _LITERAL and not zero:
            found = _LITERAL[op](p, q)
        else:
            raise self.wrong(e, f"'{op}' is not defined on literals")
        if max(found.numerator.bit_length(), found.denominator.bit_length()) > _MAX_LITERAL_BITS:
            raise self.wrong(e, "this literal is beyond every format")
        return Static("number", found)

    # Calls

    def call(self, e: tree.Apply, scope: Scope) -> Static | Typed:
        f = e.function
        if f.is_static:
            return self.about_format(e, f, scope)
        if f.name == "convert":
            return self.convert(e, f, scope)
        if f.name == "convertStochastic":
            return self.convert_stochastic(e, f, scope)
        if f.name in ("congruent", "convertNaN"):
            return self.reencoded(e, f, scope)
        if f.operator in ("<<", ">>"):
            return self.shift(e, f.operator, e.arguments, [self.value(a, scope) for a in e.arguments])
        if f.name == "select":
            test, then, other = e.arguments
            return self.choice(e, test, then, other, scope)
        if f.parameters[0] == "bool":
            return self.operator(tree.Operator(e.code, e.mark, f.operator, e.arguments), scope)
        if f.name == "float_of":
            return self.float_of(e, f, scope)
        if f.name == "unit":
            return self.unit(e, f, scope)
        if f.parameters[-1] == "format" and len(e.arguments) == len(f.parameters):
            return self.delivered(e, f, scope)
        return self.apply(e, f, self.same_kind(e.arguments, scope))

    def delivered(self, e: tree.Apply, f: Function, scope: Scope) -> Typed:
        """Return an operation on numbers of any formats. Its last argument names the format of the result."""
        *nodes, last = e.arguments
        to = self.named_format(last, scope)
        if isinstance(to, FixedPoint):
            raise self.wrong(last, f"{f.name} delivers a float, and {to.name} is none", usage(f))
        operands = []
        for n in nodes:
            value = self.value(n, scope)
            operand = self.typed(value, n, float_in(to) if isinstance(value, Static) else None)
            if operand.term.kind.format is None:
                raise self.wrong(n, f"{f.name} takes a float, this is a {operand.term.kind}", usage(f))
            operands.append(operand)
        # For operands that are exact in the result's format, the operation of one format does the same.
        if to.is_ieee and all(o.term.kind.format and holds_all(to, o.term.kind.format) for o in operands):
            operands = [o._replace(term=self.widened(o.term, to)) for o in operands]
        return self.apply(e, f, operands, to)

    def widened(self, term: Term, to: Format) -> Term:
        kind = float_in(to)
        return term if term.kind == kind else Apply(kind, "convert", (term,), to, self.mode)

    def apply(self, e: tree.Node, f: Function, arguments: list[Typed], to: Format | None = None) -> Typed:
        """Return a call of a function. `to` is the format of the result if it may differ from the operands'."""
        kind = arguments[0].term.kind if to is None else float_in(to)
        if kind.sort not in SORTS.get(f.parameters[0], (f.parameters[0],)):
            raise self.wrong(e, f"{f.name} takes a {f.parameters[0]}, this is a {kind}", usage(f))
        has, lack = _LACKS[f.needs]
        if kind.format is not None and not has(kind.format):
            raise self.wrong(e, f"{f.name}: {kind.format.name} {lack}", "convert to a format that does")
        if f.rounds and any(a.rounded for a in arguments):
            raise self.wrong(
                e, "this rounds twice in one expression",
                "name the first result, or compute it in one rounding with fusedMultiplyAdd(a, b, c)",
            )  # fmt: skip
        terms = tuple(a.term for a in arguments)
        result = {"bool": BOOL, "bits": bits_of(kind.width)}.get(f.result, kind)
        if f.rounds:
            ftz = self.flushes(kind.format) and f.name != "roundToIntegral"
            return Typed(Apply(result, f.name, terms, kind.format, self.mode, ftz), True)
        return Typed(Apply(result, f.name, terms, kind.format), any(a.rounded for a in arguments))

    def about_format(self, e: tree.Apply, f: Function, scope: Scope) -> Static:
        """Return a fact about a format, or the format of a value."""
        if f.result == "format":
            kind = self.typed(self.value(e.arguments[0], scope), e.arguments[0]).term.kind
            format = kind.format or kind.fixed
            return Static("type", format.name if format else "")
        asked = self.named_format(e.arguments[0], scope)
        if f.name == "isInteger":
            return Static("bool", isinstance(asked, FixedPoint))
        if f.name == "widthOf":
            return Static("number", Fraction(asked.width))
        if isinstance(asked, FixedPoint):
            return Static("number", Fraction(asked.largest, 1 << asked.point))
        return Static("number", decode(asked.largest, asked))

    def reencoded(self, e: tree.Apply, f: Function, scope: Scope) -> Typed:
        """Return an integer or a NaN in another format. Nothing is rounded."""
        x = self.typed(self.value(e.arguments[0], scope), e.arguments[0])
        to = self.named_format(e.arguments[1], scope)
        sort = f.parameters[0]
        named = {"integer": "an integer"}.get(sort, f"a {sort}")
        if x.term.kind.sort != sort:
            raise self.wrong(e.arguments[0], f"{f.name} takes {named}, this is a {x.term.kind}", usage(f))
        if number_in(to).sort != sort:
            raise self.wrong(e.arguments[1], f"{f.name} gives {named}, {to.name} is none", usage(f))
        has, lack = _LACKS[f.needs]
        for format in (x.term.kind.format, to):
            if isinstance(format, Format) and not has(format):
                raise self.wrong(e, f"{f.name}: {format.name} {lack}", "convert to a format that does")
        points = {n.point for n in (x.term.kind.fixed, to) if isinstance(n, FixedPoint)}
        if len(points) > 1:
            raise self.wrong(e, f"{f.name} does not move the point", "convert to a format with the same one")
        return Typed(Apply(number_in(to), f.name, (x.term,), number_in(to).format), x.rounded)

    def convert(self, e: tree.Apply, f: Function, scope: Scope) -> Typed:
        x = self.typed(self.value(e.arguments[0], scope), e.arguments[0])
        to = self.named_format(e.arguments[1], scope)
        how = self.value(e.arguments[2], scope) if len(e.arguments) > 2 else Static("rounding", self.mode)
        if not (isinstance(how, Static) and how.sort == "rounding"):
            directions = "one of " + ", ".join(ROUNDINGS)
            raise self.wrong(e.arguments[2], "the third argument is a rounding direction", directions)
        source = x.term.kind.format or x.term.kind.fixed
        if source is None:
            raise self.wrong(e.arguments[0], f"convert takes a number, this is a {x.term.kind}", usage(f))
        exact = holds_all(to, source)
        if x.rounded and not exact:
            raise self.wrong(e, "this rounds twice in one expression", "name the first result")
        format, ftz = (to, self.flushes(to) and not exact) if isinstance(to, Format) else (None, False)
        applied = Apply(number_in(to), f.name, (x.term,), format, str(how.value), ftz)
        return Typed(applied, x.rounded or not exact)

    def convert_stochastic(self, e: tree.Apply, f: Function, scope: Scope) -> Typed:
        x = self.typed(self.value(e.arguments[0], scope), e.arguments[0])
        to = self.named_format(e.arguments[1], scope)
        random = self.typed(self.value(e.arguments[2], scope), e.arguments[2])
        if x.term.kind.sort != "float" or random.term.kind.sort != "bits":
            given = f"these are a {x.term.kind} and {random.term.kind}"
            raise self.wrong(e, f"{f.name} takes a float and random bits, {given}", usage(f))
        if not isinstance(to, Format) or not to.has_subnormals:
            raise self.wrong(e.arguments[1], f"{f.name}: {to.name} is no format with subnormal numbers")
        if x.rounded:
            raise self.wrong(e, "this rounds twice in one expression", "name the first result")
        return Typed(Apply(float_in(to), f.name, (x.term, random.term), to), True)

    def float_of(self, e: tree.Apply, f: Function, scope: Scope) -> Typed:
        home = self.variant.home
        format = self.named_format(e.arguments[1], scope) if len(e.arguments) > 1 else home.format or home.fixed
        if format is None:
            raise self.wrong(e, f"{self.variant} has no format of its own", "write the format as the second argument")
        x = self.typed(self.value(e.arguments[0], scope), e, bits_of(format.width))
        return Typed(Apply(number_in(format), f.name, (x.term,), number_in(format).format), x.rounded)

    def unit(self, e: tree.Apply, f: Function, scope: Scope) -> Typed:
        name = self.value(e.arguments[0], scope)
        assert isinstance(name, Static)
        format = self.meanings.units[str(name.value)].format
        x = self.typed(self.value(e.arguments[1], scope), e.arguments[1], float_in(format))
        return Typed(Apply(x.term.kind, f.name, (x.term,), format, model=self.models[str(name.value)]), x.rounded)

    def named_format(self, e: tree.Expression, scope: Scope) -> Format | FixedPoint:
        to = self.value(e, scope)
        if isinstance(to, Static) and to.sort == "type":
            name = str(to.value)
            if name in self.meanings.formats:
                return self.meanings.formats[name]
            kind = self.meanings.types[name].kind
            if found := kind.format or kind.fixed:
                return found
        known = "one of " + ", ".join(self.meanings.formats)
        raise self.wrong(e, "the second argument is a format", known)


def holds_all(wide: Format | FixedPoint, narrow: Format | FixedPoint) -> bool:
    """Return whether every number of `narrow` is also a number of `wide`."""
    if isinstance(wide, FixedPoint):
        if isinstance(narrow, Format) or narrow.point > wide.point:
            return False
        shift = wide.point - narrow.point
        return wide.least <= narrow.least << shift and narrow.largest << shift <= wide.largest
    if isinstance(narrow, FixedPoint):
        digits = narrow.width - narrow.signed
        in_range = wide.emax >= digits - narrow.point and _finest(wide) <= -narrow.point
        return wide.precision >= digits and in_range and wide.signed >= narrow.signed and wide.has_zero
    return (
        wide.precision >= narrow.precision
        and wide.emax >= narrow.emax
        and _finest(wide) <= _finest(narrow)
        and wide.signed >= narrow.signed
        and wide.has_zero >= narrow.has_zero
        and wide.has_infinity >= narrow.has_infinity
    )


def _finest(f: Format) -> int:
    """Return the exponent of the smallest number."""
    return f.emin - f.fraction_bits if f.has_subnormals else f.emin


def _operator_help(op: str, sort: str) -> str:
    sorts = sorted({f.parameters[0] for f in TABLE.values() if f.operator == op and f.parameters[0] != sort})
    return f"it is defined on {' and '.join(sorts)}" if sorts else ""
