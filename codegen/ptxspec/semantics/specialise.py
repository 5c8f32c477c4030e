"""Check the semantics of one variant and reduce it to a straight-line program.

The stages are run in the order in which they act: overrides look at the raw operands, modifiers change the operands,
the body computes, the NaN rule and then the modifiers change the result, the overrides have the last word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from ..catalog import Target
from ..diagnostics import Diagnostic, Mark, SpecError
from ..model import ROUNDINGS, Code, Format, HardwarePath, Instruction, Spec, Variant
from . import parse as tree
from .exact.rounding import encode_exact
from .functions import TABLE, Function
from .program import BOOL, CONDITION, Apply, Const, Kind, Let, Program, Term, Var, bits_of, float_in, live

OPERANDS = ("a", "b", "c")
_VARIANT_NAMES = ("operands", "type", "rounding", "target", "quietNaN", "infinity")
# Operands, an operand in its stage, and results.
_SCOPE = (*OPERANDS, "x", "d", "p")
_MAX_LETS = 2_000
_MAX_VALUES = 20_000
_MAX_DEPTH = 80
_MAX_LITERAL_BITS = 50_000


@dataclass(frozen=True)
class Static:
    """A value known before the program runs. `sort` is "bool", "number", "type", "rounding", "target" or "unit"."""

    sort: str
    value: object


class _Unassigned:
    """Stands for a name that some path leaves without a value."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class _Wrong(Exception):
    """The statement cannot be understood; the complaint is recorded."""


@dataclass(frozen=True)
class _Typed:
    term: Term
    rounded: bool = False


_Value = _Typed | Static
_Scope = dict[str, "_Typed | Static | _Unassigned | None"]


def static_names(spec: Spec) -> frozenset[str]:
    """Names that have a meaning everywhere in the language, so that no code may assign them."""
    own = (*spec.modifiers, *spec.groups, *spec.types, *spec.formats, *spec.targets, *spec.units)
    return frozenset((*own, *ROUNDINGS, *_VARIANT_NAMES, *TABLE))


def fixed_names() -> frozenset[str]:
    """Names that the language itself gives a meaning, whatever the specification holds."""
    return frozenset((*TABLE, *ROUNDINGS, *_VARIANT_NAMES, *_SCOPE))


def assigned_in(code: Code) -> frozenset[str]:
    """The names that a piece of code assigns, helpers aside; none where it cannot be read."""
    try:
        return frozenset(_assigns(tree.parse(code).body))
    except SpecError:
        return frozenset()


def names_read(code: Code) -> frozenset[str]:
    """The names that a piece of code reads; none where it cannot be read."""
    try:
        return frozenset(n.name for n in tree.parse(code).reads)
    except SpecError:
        return frozenset()


def check_text(code: Code, spec: Spec, more: frozenset[str] = frozenset()) -> list[Diagnostic]:
    """What is wrong with a piece of code whichever variant it is for: its text, functions and names."""
    try:
        program = tree.parse(code)
    except SpecError as e:
        return e.diagnostics
    return tree.check_names(program, (static_names(spec) | more).union(_SCOPE) - set(TABLE))


def programs(spec: Spec, instruction: Instruction, variant: Variant) -> dict[str | None, Program]:
    """The variant's program without a target (key None) and on each target that has it and where it differs from that.

    Raises SpecError when the semantics is wrong."""
    default = specialise(spec, instruction, variant, None)
    found: dict[str | None, Program] = {None: default}
    by_target = any(tree.parse(code).mentions("target") for code in _codes(spec, instruction, variant))
    cache: dict[object, Program] = {}
    for target in spec.targets.values():
        if not spec.catalog.takes(variant.requires, target.name):
            continue
        effective = spec.effective_modifiers(variant, target.name)
        path = spec.hardware_path(instruction, variant, target.name)
        if effective == spec.effective_modifiers(variant, None) and not by_target and path is None:
            continue
        models = tuple(spec.model(u, target.name) for u in path.units) if path else ()
        key = (effective, target.name if by_target else "", models)
        if key not in cache:
            cache[key] = specialise(spec, instruction, variant, target.name, path)
        if cache[key] != default:
            found[target.name] = cache[key]
    return found


def _codes(spec: Spec, instruction: Instruction, variant: Variant) -> list[Code]:
    """Every piece of semantics that may take part in the variant."""
    path = instruction.hardware_path(variant)
    codes = [instruction.semantics, instruction.nan_rule(variant).code, path.code if path else None]
    for m in spec.modifiers.values():
        codes += [m.raw, m.operand, m.result, m.override]
    return [c for c in codes if c is not None]


def specialise(
    spec: Spec, instruction: Instruction, variant: Variant, target: str | None, path: HardwarePath | None = None
) -> Program:
    """One lane's program for a variant on a target; None stands for current targets, as documented. With a `path`, that
    code takes the place of the semantics, with the units as far as they are known on the target.

    Raises SpecError with everything that is wrong with the semantics of this variant."""
    return _Specialiser(spec, instruction, variant, target, path).program()


class _Specialiser:
    def __init__(
        self, spec: Spec, instruction: Instruction, variant: Variant, target: str | None, path: HardwarePath | None
    ) -> None:
        self.spec = spec
        self.code = path.code if path else instruction.semantics
        self.models = {u: spec.model(u, target) if target else None for u in path.units} if path else {}
        self.instruction = instruction
        self.variant = variant
        self.format = variant.type.format
        self.errors: list[Diagnostic] = []
        self.lets: list[Let] = []
        self.used: set[str] = set()
        self.stage = ""
        self.guard: tuple[tuple[Term, bool], ...] = ()
        self.calls: list[str] = []
        self.unknown: set[Mark] = set()
        self.depth = self.values = 0
        self.helpers: dict[str, tree.Helper] = {}
        effective = spec.effective_modifiers(variant, target)
        self.modifiers = [m for m in spec.modifiers.values() if m.name in effective]
        self.mode = next((m.mode for m in self.modifiers if m.mode), ROUNDINGS[0])
        self.ftz = any(m.ftz for m in self.modifiers)
        self.reserved = static_names(spec)
        self.statics: dict[str, _Value] = {
            **{name: Static("target", t) for name, t in spec.targets.items()},
            **{name: Static("type", name) for name in (*spec.formats, *spec.types)},
            **{name: Static("rounding", name) for name in ROUNDINGS},
            **{name: Static("unit", name) for name in spec.units},
            **{name: Static("bool", name in effective) for name in spec.modifiers},
            **{name: Static("bool", not effective.isdisjoint(members)) for name, members in spec.groups.items()},
            "operands": Static("number", Fraction(variant.operands)),
            "type": Static("type", variant.type.name),
            "rounding": Static("rounding", self.mode),
            "target": Static("target", spec.targets[target] if target else None),
            "quietNaN": _Typed(Const(float_in(self.format), self.format.canonical_nan)),
            "infinity": _Typed(Const(float_in(self.format), self.format.infinity)),
        }

    def program(self) -> Program:
        kind = float_in(self.format)
        names = OPERANDS[: self.variant.operands]
        self.used.update(names)
        operands: dict[str, _Typed] = {n: _Typed(Var(kind, n)) for n in names}
        overrides: dict[str, _Scope] = {}
        for m in self.modifiers:
            if m.raw:
                overrides[m.name] = self.run(f".{m.name} operands", m.raw, dict(operands))
        for m in self.modifiers:
            if m.operand:
                for n in names:
                    scope = self.run(f".{m.name} {n}", m.operand, {"x": operands[n]}, {"x": n})
                    operands[n] = self.result(scope, m.operand, "x", kind)
        result_name = "p" if self.variant.predicate else "d"
        scope = self.run("operation", self.code, dict(operands))
        result = self.result(scope, self.code, result_name, BOOL if self.variant.predicate else kind)
        if not self.variant.predicate:
            rule = self.instruction.nan_rule(self.variant)
            after: list[tuple[str, Code | None, _Scope]] = [("NaN", rule.code, {**operands})]
            after += [(f".{m.name}", m.result, {}) for m in self.modifiers]
            after += [(f".{m.name}", m.override, overrides.get(m.name, {})) for m in self.modifiers]
            for stage, code, scope in after:
                if code:
                    result = self.result(self.run(stage, code, {**scope, "d": result}), code, "d", kind)
        if self.errors:
            raise SpecError(self.errors)
        return Program(self.format, names, live(self.lets, result.term), result.term)

    def run(self, stage: str, code: Code, scope: _Scope, labels: dict[str, str] | None = None) -> _Scope:
        """Run one stage's code in a scope of its own; what it assigns is in the scope that comes back."""
        program = tree.parse(code)
        names = {*self.reserved, *scope, *OPERANDS, "d", "p"} - set(TABLE)
        unknown = tree.check_names(program, names)
        self.errors += unknown
        self.unknown = {e.mark for e in unknown}
        self.stage, self.helpers, self.labels = stage, program.helpers, labels or {}
        for helper in program.helpers.values():
            for name in (helper.name, *helper.parameters):
                if name in self.reserved:
                    self.complain(code, helper.mark, f"'{name}' has a meaning already", "choose another name")
        self.block(program.body, scope)
        return scope

    def result(self, scope: _Scope, code: Code, name: str, kind: Kind) -> _Typed:
        value = scope.get(name)
        if isinstance(value, _Typed) and value.term.kind == kind:
            return _Typed(value.term)
        if value is None and name in scope:
            pass  # complained about where it was assigned
        elif isinstance(value, _Typed):
            self.complain(code, code.start, f"'{name}' is a {value.term.kind}; {self.variant} needs a {kind}")
        else:
            reason = value.reason if isinstance(value, _Unassigned) else "nothing assigns it"
            self.complain(
                code, code.start, f"{self.variant} has no result: '{name}' is not assigned on every path",
                f"{reason}; every path must assign {name}",
            )  # fmt: skip
        return _Typed(Const(kind, 0))

    # Complaints

    def complain(self, code: Code, mark: Mark, message: str, help: str = "") -> None:
        self.errors.append(code.error(mark, message, help))

    def wrong(self, node: tree.Node, message: str, help: str = "") -> _Wrong:
        self.complain(node.code, node.mark, message, help)
        return _Wrong()

    # Statements

    def bind(self, name: str, value: _Typed, node: tree.Node, label: str | None = None) -> _Typed:
        stem = self.labels.get(name, name)
        fresh, count = stem, 1
        while fresh in self.used or fresh in self.reserved:
            count += 1
            fresh = f"{stem}_{count}"
        self.used.add(fresh)
        if len(self.lets) >= _MAX_LETS:
            raise SpecError([node.code.error(node.mark, f"more than {_MAX_LETS} steps in {self.variant}")])
        label = stem if label is None else label
        self.lets.append(Let(fresh, value.term, label, self.stage, node.code.path, node.mark, self.guard))
        return _Typed(Var(value.term.kind, fresh))

    def block(self, statements: Iterable[tree.Statement], scope: _Scope) -> _Typed | None:
        """Run statements; the value of a `return` among them, else None."""
        for s in statements:
            if isinstance(s, tree.If):
                try:
                    with self.deeper(s):
                        returned = self.branch(s, scope)
                except _Wrong:
                    returned = None
                if returned is not None:
                    return returned
                continue
            try:
                if isinstance(s, tree.Return):
                    return self.typed(self.value(s.value, scope), s.value)
                if s.name in self.reserved or s.name in self.helpers:
                    raise self.wrong(
                        s, f"'{s.name}' has a meaning already and cannot be assigned", "choose another name"
                    )
                want = BOOL if s.name == "p" and self.variant.predicate else None
                value = self.typed(self.value(s.value, scope), s.value, want)
                scope[s.name] = self.bind(s.name, value, s)
            except _Wrong:
                if isinstance(s, tree.Return):
                    return _Typed(Const(float_in(self.format), 0))
                scope[s.name] = None
        return None

    def branch(self, s: tree.If, scope: _Scope) -> _Typed | None:
        try:
            test = self.condition(s.test, scope)
        except _Wrong:
            for name in _assigns((*s.then, *s.other)):
                scope[name] = None
            return None
        if isinstance(test, bool):
            return self.block(s.then if test else s.other, scope)
        if not isinstance(test, (Var, Const)):
            test = self.bind("condition", _Typed(test), s.test, label=CONDITION).term
        outer, guard = dict(scope), self.guard
        self.guard = (*guard, (test, True))
        then_result = self.block(s.then, scope)
        other = dict(outer)
        self.guard = (*guard, (test, False))
        other_result = self.block(s.other, other)
        self.guard = guard
        if then_result is not None or other_result is not None:
            if then_result is None or other_result is None:
                self.complain(
                    s.code, s.mark, "a path through this if returns nothing", "return a value in both branches"
                )
                return then_result or other_result
            return self.merge(test, then_result, other_result, s, "result")
        for name in {**scope, **other}:
            one, two = scope.get(name, _MISSING), other.get(name, _MISSING)
            if one is two:
                continue
            if one is None or two is None:
                scope[name] = None
            elif isinstance(one, _Unassigned) or isinstance(two, _Unassigned):
                if name in outer and outer[name] is not None and not isinstance(outer[name], _Unassigned):
                    continue
                line = s.test.mark.line
                when = "true" if isinstance(one, _Unassigned) else "false"
                inner = one if one is not _MISSING else two
                known = isinstance(inner, _Unassigned) and inner is not _MISSING
                scope[name] = (
                    inner if known else _Unassigned(f"where the condition in line {line} is {when}, it is not")
                )
            else:
                scope[name] = self.join(test, one, two, s, name)
        return None

    def join(self, test: Term, one: _Value, two: _Value, s: tree.If, name: str) -> _Typed | None:
        """A name with a value on both sides, of which one may be a literal that a helper was called with."""
        want = next((v.term.kind for v in (one, two) if isinstance(v, _Typed)), None)
        try:
            typed = [self.typed(v, s, want if isinstance(v, Static) else None) for v in (one, two)]
        except _Wrong:
            return None
        return self.merge(test, typed[0], typed[1], s, name)

    def merge(self, test: Term, one: _Typed, two: _Typed, node: tree.Node, name: str) -> _Typed:
        if one.term.kind != two.term.kind:
            self.complain(
                node.code, node.mark, f"'{name}' is a {one.term.kind} in one branch and a {two.term.kind} in the other"
            )
            return one
        if one.term == two.term:
            return one
        rounded = one.rounded or two.rounded
        merged = _Typed(Apply(one.term.kind, "select", (test, one.term, two.term)), rounded)
        return _Typed(self.bind(name, merged, node, label="").term, rounded)

    # Expressions

    def condition(self, e: tree.Expression, scope: _Scope) -> Term | bool:
        value = self.value(e, scope)
        if isinstance(value, Static):
            if value.sort != "bool":
                raise self.wrong(e, f"a condition must be a bool, this is a {value.sort}")
            return bool(value.value)
        if value.term.kind != BOOL:
            raise self.wrong(e, f"a condition must be a bool, this is a {value.term.kind}", "compare it with something")
        return value.term

    def typed(self, value: _Value, node: tree.Node, want: Kind | None = None) -> _Typed:
        """A value for use in the program; a literal takes the wanted kind, else that of the variant's format."""
        if isinstance(value, _Typed):
            if want is not None and value.term.kind != want:
                raise self.wrong(node, f"expected a {want}, this is a {value.term.kind}")
            return value
        if value.sort == "bool":
            if want not in (None, BOOL):
                raise self.wrong(node, f"expected a {want}, this is a bool")
            return _Typed(Const(BOOL, int(bool(value.value))))
        if value.sort != "number":
            raise self.wrong(node, f"a {value.sort} is no value to compute with", "compare it with another one")
        want = want or float_in(self.format)
        number = value.value
        negative_zero = isinstance(number, _NegativeZero)
        exact = Fraction(0) if not isinstance(number, Fraction) else number
        if want.sort == "float":
            assert want.format is not None
            encoded = encode_exact(exact, want.format, negative_zero)
            if encoded is None:
                raise self.wrong(
                    node, f"this number is not exact in {want.format.name}", "write a number of that format"
                )
            return _Typed(Const(want, encoded))
        if want.sort == "bits" and exact.denominator == 1 and 0 <= exact < 1 << want.width and not negative_zero:
            return _Typed(Const(want, int(exact)))
        raise self.wrong(node, f"expected a {want}, this is a number")

    def value(self, e: tree.Expression, scope: _Scope) -> _Value:
        # Helpers that call helpers make much of little text.
        self.values += 1
        if self.values > _MAX_VALUES:
            raise SpecError([e.code.error(e.mark, f"more than {_MAX_VALUES} values in {self.variant}")])
        with self.deeper(e):
            return self._value(e, scope)

    @contextmanager
    def deeper(self, node: tree.Node) -> Iterator[None]:
        self.depth += 1
        try:
            if self.depth > _MAX_DEPTH:
                raise self.wrong(node, "too deeply nested, with the helpers that are called")
            yield
        finally:
            self.depth -= 1

    def _value(self, e: tree.Expression, scope: _Scope) -> _Value:
        if isinstance(e, tree.Number):
            return Static("number", e.value)
        if isinstance(e, tree.Boolean):
            return Static("bool", e.value)
        if isinstance(e, tree.Name):
            return self.name(e, scope)
        if isinstance(e, tree.Conditional):
            test = self.condition(e.test, scope)
            if isinstance(test, bool):
                return self.value(e.then if test else e.other, scope)
            x, y = self.same_kind([e.then, e.other], scope)
            return _Typed(Apply(x.term.kind, "select", (test, x.term, y.term)), x.rounded or y.rounded)
        if isinstance(e, tree.Call):
            return self.call(e, scope)
        return self.operator(e, scope)

    def name(self, e: tree.Name, scope: _Scope) -> _Value:
        if e.name in scope:
            value = scope[e.name]
            if value is None:
                raise _Wrong  # complained about where it was assigned
            if isinstance(value, _Unassigned):
                raise self.wrong(e, f"'{e.name}' is not assigned on every path to here", value.reason)
            return value
        if e.name in self.statics:
            return self.statics[e.name]
        if e.mark in self.unknown:
            raise _Wrong
        if e.name in OPERANDS[: self.variant.operands] and not self.calls:
            hint = f"here it is {', '.join(sorted(n for n in scope if n in _SCOPE))}"
            raise self.wrong(e, f"this stage does not see '{e.name}'", hint)
        if e.name in OPERANDS and not self.calls:
            count = self.variant.operands
            hint = f"{self.variant} has {', '.join(OPERANDS[:count])}; ask `operands` first"
            raise self.wrong(e, f"'{e.name}' is not an operand of {self.variant}", hint)
        if e.name in self.helpers or e.name in TABLE:
            raise self.wrong(e, f"'{e.name}' is a function", f"call it: {e.name}(...)")
        if self.calls:
            hint = "pass it: a helper sees its parameters only"
            raise self.wrong(e, f"'{e.name}' is not known in '{self.calls[-1]}'", hint)
        raise self.wrong(e, f"'{e.name}' is not assigned before this", "assign it on every path that leads here")

    def same_kind(self, terms: Iterable[tree.Expression], scope: _Scope) -> list[_Typed]:
        """Values of one kind: literals take the kind of the others."""
        nodes = list(terms)
        values = [self.value(n, scope) for n in nodes]
        want = next((v.term.kind for v in values if isinstance(v, _Typed)), None)
        typed = [self.typed(v, n, want if isinstance(v, Static) else None) for v, n in zip(values, nodes, strict=True)]
        for t, n in zip(typed[1:], nodes[1:], strict=True):
            if t.term.kind != typed[0].term.kind:
                raise self.wrong(n, f"this is a {t.term.kind}, the other a {typed[0].term.kind}")
        return typed

    def operator(self, e: tree.Operator, scope: _Scope) -> _Value:
        op = e.operator
        if op in ("and", "or"):
            return self.logical(e, scope)
        if op == "not":
            test = self.condition(e.operands[0], scope)
            return Static("bool", not test) if isinstance(test, bool) else _Typed(Apply(BOOL, "logicalNot", (test,)))
        values = [self.value(o, scope) for o in e.operands]
        statics = [v for v in values if isinstance(v, Static)]
        if len(statics) == len(values):
            return self.static_operator(e, statics)
        if op in ("<<", ">>"):
            return self.shift(e, values)
        if op == "**":
            raise self.wrong(e, "powers are for literals only", "write 2**n, or multiply")
        want = next(v.term.kind for v in values if isinstance(v, _Typed))
        if want == BOOL and statics and statics[0].sort != "bool":
            raise self.wrong(e, f"a bool and a {statics[0].sort} do not go together")
        typed = [
            self.typed(v, n, want if isinstance(v, Static) else None) for v, n in zip(values, e.operands, strict=True)
        ]
        if len(typed) == 2 and typed[0].term.kind != typed[1].term.kind:
            raise self.wrong(e, f"'{op}' of a {typed[0].term.kind} and a {typed[1].term.kind}")
        return self.apply_operator(e, op, typed)

    def apply_operator(self, e: tree.Operator, op: str, operands: list[_Typed]) -> _Typed:
        sort = operands[0].term.kind.sort
        wanted = f"unary {op}" if op == "-" and len(operands) == 1 else op
        for f in TABLE.values():
            if f.operator == wanted and f.parameters[0] == sort:
                return self.apply(e, f, operands)
        swap = {">": "<", "<=": ">=", "!=": "==", ">=": "<"}
        if sort == "bits" and op == ">":
            return self.apply(e, TABLE["lessBits"], operands[::-1])
        if (sort == "bits" and op in ("!=", ">=")) or (sort == "bool" and op == "=="):
            opposite = "!=" if sort == "bool" else swap[op]
            return _Typed(Apply(BOOL, "logicalNot", (self.apply_operator(e, opposite, operands).term,)))
        if sort == "bits" and op == "<=":
            return _Typed(Apply(BOOL, "logicalNot", (self.apply(e, TABLE["lessBits"], operands[::-1]).term,)))
        raise self.wrong(e, f"'{op}' is not defined on a {operands[0].term.kind}", _operator_help(op, sort))

    def shift(self, e: tree.Operator, values: list[_Value]) -> _Typed:
        x, count = values
        if not isinstance(x, _Typed) or x.term.kind.sort != "bits":
            raise self.wrong(e, f"'{e.operator}' shifts bits", "take bits(x) of a float first")
        if not isinstance(count, Static) or not isinstance(count.value, Fraction):
            raise self.wrong(e.operands[1], "a shift is by a literal number of places")
        places = count.value
        if places.denominator != 1 or not 0 <= places < x.term.kind.width:
            raise self.wrong(e.operands[1], f"a shift of {x.term.kind} is by 0 to {x.term.kind.width - 1} places")
        name = "shiftLeft" if e.operator == "<<" else "shiftRight"
        return _Typed(Apply(x.term.kind, name, (x.term,), count=int(places)))

    def logical(self, e: tree.Operator, scope: _Scope) -> _Value:
        stop = e.operator == "or"
        left = self.condition(e.operands[0], scope)
        if isinstance(left, bool):
            # As in Python, the right side is not looked at when the left decides.
            if left == stop:
                return Static("bool", left)
            right = self.condition(e.operands[1], scope)
            return Static("bool", right) if isinstance(right, bool) else _Typed(right)
        right = self.condition(e.operands[1], scope)
        if isinstance(right, bool):
            return Static("bool", right) if right == stop else _Typed(left)
        return _Typed(Apply(BOOL, "logicalOr" if stop else "logicalAnd", (left, right)))

    def static_operator(self, e: tree.Operator, values: list[Static]) -> Static:
        op, sorts = e.operator, {v.sort for v in values}
        if len(sorts) > 1:
            raise self.wrong(e, f"'{op}' of a {values[0].sort} and a {values[1].sort}")
        sort = sorts.pop()
        x, y = values[0].value, values[-1].value
        if sort == "target" and (x is None or y is None):
            return Static("bool", False)
        if isinstance(x, Target) and isinstance(y, Target) and op in _ORDER:
            return Static("bool", _ORDER[op](x.order, y.order))
        if sort != "number" and op in ("==", "!="):
            return Static("bool", (x == y) == (op == "=="))
        if sort != "number":
            raise self.wrong(e, f"'{op}' is not defined on a {sort}")
        zero = isinstance(x, _NegativeZero) or isinstance(y, _NegativeZero)
        p = x if isinstance(x, Fraction) else Fraction(0)
        q = y if isinstance(y, Fraction) else Fraction(0)
        if op in ("==", "!="):
            return Static("bool", (p == q) == (op == "=="))
        if op in _ORDER:
            return Static("bool", _ORDER[op](p, q))
        if op == "-" and len(values) == 1:
            return Static("number", -p if p else Fraction(0) if zero else _NegativeZero())
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

    def call(self, e: tree.Call, scope: _Scope) -> _Value:
        if e.function in self.helpers:
            return self.inline(e, self.helpers[e.function], scope)
        f = TABLE[e.function]
        most, least = len(f.parameters), len(f.parameters) - f.optional
        if not least <= len(e.arguments) <= most:
            takes = str(most) if least == most else f"{least} to {most}"
            raise self.wrong(e, f"{f.name} takes {takes} arguments, not {len(e.arguments)}", _usage(f))
        if f.name == "convert":
            return self.convert(e, f, scope)
        if "count" in f.parameters:
            return self.shift(
                tree.Operator(e.code, e.mark, f.operator, e.arguments), [self.value(a, scope) for a in e.arguments]
            )
        if f.name == "select":
            return self.value(tree.Conditional(e.code, e.mark, *e.arguments), scope)
        if f.parameters[0] == "bool":
            return self.value(tree.Operator(e.code, e.mark, f.operator, e.arguments), scope)
        if f.name == "float_of":
            return self.float_of(e, f, scope)
        if f.name == "unit":
            return self.unit(e, f, scope)
        return self.apply(e, f, self.same_kind(e.arguments, scope))

    def apply(self, e: tree.Node, f: Function, arguments: list[_Typed]) -> _Typed:
        kind = arguments[0].term.kind
        if any(kind.sort != p for p in f.parameters):
            raise self.wrong(e, f"{f.name} takes a {f.parameters[0]}, this is a {kind}", _usage(f))
        if f.rounds and any(a.rounded for a in arguments):
            raise self.wrong(
                e, "this rounds twice in one expression",
                "name the first result, or compute it in one rounding with fusedMultiplyAdd(a, b, c)",
            )  # fmt: skip
        terms = tuple(a.term for a in arguments)
        format = kind.format if kind.sort == "float" else None
        assert format is not None or kind.sort != "float"
        if f.result == "float":
            result = float_in(format or self.format)
        else:
            result = BOOL if f.result == "bool" else bits_of(kind.width)
        if f.rounds:
            return _Typed(Apply(result, f.name, terms, format, self.mode, self.ftz), True)
        return _Typed(Apply(result, f.name, terms, format), any(a.rounded for a in arguments))

    def convert(self, e: tree.Call, f: Function, scope: _Scope) -> _Typed:
        x = self.typed(self.value(e.arguments[0], scope), e.arguments[0])
        format = self.named_format(e.arguments[1], scope)
        how = self.value(e.arguments[2], scope) if len(e.arguments) > 2 else Static("rounding", self.mode)
        source = x.term.kind.format
        if source is None:
            raise self.wrong(e.arguments[0], f"convert takes a float, this is a {x.term.kind}", _usage(f))
        if not (isinstance(how, Static) and how.sort == "rounding"):
            raise self.wrong(
                e.arguments[2], "the third argument is a rounding direction", "one of " + ", ".join(ROUNDINGS)
            )
        exact = _contains(format, source)
        if x.rounded and not exact:
            raise self.wrong(e, "this rounds twice in one expression", "name the first result")
        applied = Apply(float_in(format), f.name, (x.term,), format, str(how.value), self.ftz and not exact)
        return _Typed(applied, x.rounded or not exact)

    def float_of(self, e: tree.Call, f: Function, scope: _Scope) -> _Typed:
        format = self.named_format(e.arguments[1], scope) if len(e.arguments) > 1 else self.format
        x = self.typed(self.value(e.arguments[0], scope), e, bits_of(format.width))
        return _Typed(Apply(float_in(format), f.name, (x.term,), format), x.rounded)

    def unit(self, e: tree.Call, f: Function, scope: _Scope) -> _Typed:
        name = self.value(e.arguments[0], scope)
        if not (isinstance(name, Static) and name.sort == "unit"):
            raise self.wrong(e.arguments[0], "the first argument is a unit", "one of " + ", ".join(self.spec.units))
        if name.value not in self.models:
            raise self.wrong(e, "a unit is called under `hardware:` only", "the semantics holds on every target")
        format = self.spec.units[str(name.value)].format
        x = self.typed(self.value(e.arguments[1], scope), e.arguments[1], float_in(format))
        return _Typed(Apply(x.term.kind, f.name, (x.term,), format, model=self.models[str(name.value)]), x.rounded)

    def named_format(self, e: tree.Expression, scope: _Scope) -> Format:
        to = self.value(e, scope)
        if not (isinstance(to, Static) and to.sort == "type" and to.value in self.spec.formats):
            raise self.wrong(e, "the second argument is a format", "one of " + ", ".join(self.spec.formats))
        return self.spec.formats[str(to.value)]

    def inline(self, e: tree.Call, helper: tree.Helper, scope: _Scope) -> _Value:
        if helper.name in self.calls:
            raise self.wrong(e, f"'{helper.name}' calls itself", "helpers are written out at each call: no recursion")
        if len(e.arguments) != len(helper.parameters):
            raise self.wrong(
                e, f"{helper.name} takes {len(helper.parameters)} arguments, not {len(e.arguments)}",
                f"def {helper.name}({', '.join(helper.parameters)})",
            )  # fmt: skip
        inner: _Scope = {}
        for p, a in zip(helper.parameters, e.arguments, strict=True):
            value = self.value(a, scope)
            # A name or a literal is passed as it is; only what has to be computed gets a step of its own.
            simple = isinstance(value, Static) or isinstance(value.term, (Var, Const))
            inner[p] = value if simple else self.bind(p, value, a)  # type: ignore[arg-type]
        self.calls.append(helper.name)
        result = self.block(helper.body, inner)
        self.calls.pop()
        if result is None:
            raise self.wrong(helper, f"helper '{helper.name}' returns nothing on some path", "end it with a return")
        return result


class _NegativeZero:
    """The literal -0, which no fraction can hold."""


_MISSING = _Unassigned("it is assigned in one branch only")
_ORDER = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}
_LITERAL = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}


def _contains(wide: Format, narrow: Format) -> bool:
    """Every number of `narrow` is one of `wide`."""
    return wide.fraction_bits >= narrow.fraction_bits and wide.exponent_bits >= narrow.exponent_bits


def _assigns(statements: Iterable[tree.Statement]) -> set[str]:
    names: set[str] = set()
    for s in statements:
        if isinstance(s, tree.Assign):
            names.add(s.name)
        elif isinstance(s, tree.If):
            names |= _assigns((*s.then, *s.other))
    return names


def _usage(f: Function) -> str:
    return f"{f.name}({', '.join(f'{n}: {p}' for n, p in zip(f.names, f.parameters, strict=True))}) -> {f.result}"


def _operator_help(op: str, sort: str) -> str:
    sorts = sorted({f.parameters[0] for f in TABLE.values() if f.operator == op and f.parameters[0] != sort})
    return f"it is defined on {' and '.join(sorts)}" if sorts else ""
