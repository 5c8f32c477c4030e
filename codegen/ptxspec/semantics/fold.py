"""Fold resolved code for one variant: statements and branches, until only a straight line of assignments remains.

Values known before the program runs, mainly modifiers and types, decide the branches here. expressions.py folds values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..diagnostics import Mark, TooLargeError
from ..model import BOOL, Code, Kind
from . import tree
from .expressions import Expressions
from .program import CONDITION, Apply, Const, Let, Term, Var
from .values import MAX_DEPTH, Scope, Static, Typed, Unassigned, Wrong

# The longest program of an instruction has about ten steps.
_MAX_LETS = 500
_MISSING = Unassigned("it is assigned in one branch only")


@dataclass
class Folder(Expressions):
    """Folds the pieces of code of one variant, stage after stage, into one list of assignments."""

    lets: list[Let] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    stage: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    guard: tuple[tuple[Term, bool], ...] = ()
    origins: dict[Term, tuple[str, int]] = field(default_factory=dict)

    def run(self, stage: str, program: tree.Program, scope: Scope, labels: Mapping[str, str] | None = None) -> Scope:
        """Run one stage's code in a scope of its own. Return the scope with what the code assigned."""
        self.stage, self.labels = stage, labels or {}
        self.block(program.body, scope)
        return scope

    def assigned(self, scope: Scope, code: Code, name: str, kind: Kind) -> Typed:
        """Return the value that a stage's code leaves in a name that it must assign."""
        value = scope.get(name)
        if isinstance(value, Typed) and value.term.kind == kind:
            return Typed(value.term)
        if value is None and name in scope:
            pass  # the assignment has already complained
        elif isinstance(value, Typed):
            self.complain(code, code.start, f"'{name}' is a {value.term.kind}; {self.variant} needs a {kind}")
        else:
            reason = value.reason if isinstance(value, Unassigned) else "nothing assigns it"
            message = f"{self.variant} has no result: '{name}' is not assigned on every path"
            self.complain(code, code.start, message, f"{reason}; every path must assign {name}")
        return Typed(Const(kind, 0))

    def complain(self, code: Code, mark: Mark, message: str, help: str = "") -> None:
        self.errors.append(code.error(mark, message, help))

    # Statements

    def bind(self, name: str, value: Typed, node: tree.Node, label: str | None = None) -> Typed:
        stem = self.labels.get(name, name)
        count = self.numbers.get(stem, 1)
        fresh = stem if count == 1 else f"{stem}_{count}"
        while fresh in self.used or fresh in self.statics:
            count += 1
            fresh = f"{stem}_{count}"
        self.numbers[stem] = count
        self.used.add(fresh)
        if len(self.lets) >= _MAX_LETS:
            raise TooLargeError([node.code.error(node.mark, f"more than {_MAX_LETS} steps in {self.variant}")])
        label = stem if label is None else label
        self.lets.append(Let(fresh, value.term, label, self.stage, node.code.path, node.mark, self.guard))
        return Typed(Var(value.term.kind, fresh))

    def block(self, statements: Iterable[tree.Statement], scope: Scope) -> Typed | None:
        """Run statements. Return the value of a `return` among them, else None."""
        for s in statements:
            if isinstance(s, tree.If):
                self.depth += 1
                try:
                    if self.depth > MAX_DEPTH:
                        raise self.too_deep(s)
                    returned = self.branch(s, scope)
                except Wrong:
                    returned = None
                finally:
                    self.depth -= 1
                if returned is not None:
                    return returned
                continue
            try:
                if isinstance(s, tree.Return):
                    returned = self.typed(self.value(s.value, scope), s.value)
                    if isinstance(returned.term, Apply):
                        self.origins.setdefault(returned.term, (s.code.path, s.mark.line))
                    return returned
                value = self.value(s.value, scope)
                want = self.wanted(s.name)
                value = self.typed(value, s.value, want if isinstance(value, Static) or want == BOOL else None)
                scope[s.name] = self.bind(s.name, value, s)
            except Wrong:
                if isinstance(s, tree.Return):
                    return Typed(Const(self.variant.home, 0))
                scope[s.name] = None
        return None

    def wanted(self, name: str) -> Kind | None:
        """Return the kind of the result of this name, which a literal assigned to the name gets."""
        if self.calls or name not in ("d", "p", "q"):
            return None
        return next((r.kind for r in self.variant.results if r.name == name), None)

    def branch(self, s: tree.If, scope: Scope) -> Typed | None:
        try:
            test = self.condition(s.test, scope)
        except Wrong:
            for name in tree.assigns((*s.then, *s.other)):
                scope[name] = None
            return None
        if isinstance(test, bool):
            return self.block(s.then if test else s.other, scope)
        if not isinstance(test, (Var, Const)):
            test = self.bind("condition", Typed(test), s.test, label=CONDITION).term
        outer, guard = dict(scope), self.guard
        self.guard = (*guard, (test, True))
        then_result = self.block(s.then, scope)
        other = dict(outer)
        self.guard = (*guard, (test, False))
        other_result = self.block(s.other, other)
        self.guard = guard
        if then_result is not None or other_result is not None:
            if then_result is None or other_result is None:
                message, help = "a path through this if returns nothing", "return a value in both branches"
                self.complain(s.code, s.mark, message, help)
                return then_result or other_result
            return self.merge(test, then_result, other_result, s, "result")
        for name in {**scope, **other}:
            self.rejoin(test, name, scope, other, outer, s)
        return None

    def rejoin(self, test: Term, name: str, scope: Scope, other: Scope, outer: Scope, s: tree.If) -> None:
        """Give a name its value after an if. `scope` is that of one branch and becomes the scope after both."""
        one, two = scope.get(name, _MISSING), other.get(name, _MISSING)
        if one is two:
            return
        if one is None or two is None:
            scope[name] = None
        elif isinstance(one, Unassigned) or isinstance(two, Unassigned):
            if name in outer and outer[name] is not None and not isinstance(outer[name], Unassigned):
                return
            inner = one if one is not _MISSING else two
            if isinstance(inner, Unassigned) and inner is not _MISSING:
                scope[name] = inner
            else:
                when = "true" if isinstance(one, Unassigned) else "false"
                scope[name] = Unassigned(f"where the condition in line {s.test.mark.line} is {when}, it is not")
        else:
            scope[name] = self.join(test, one, two, s, name)

    def join(self, test: Term, one: Static | Typed, two: Static | Typed, s: tree.If, name: str) -> Typed | None:
        """Return the value of a name that has one in both branches. One of them may be a literal argument of a
        helper."""
        want = next((v.term.kind for v in (one, two) if isinstance(v, Typed)), None)
        try:
            typed = [self.typed(v, s, want if isinstance(v, Static) else None) for v in (one, two)]
        except Wrong:
            return None
        return self.merge(test, typed[0], typed[1], s, name)

    def merge(self, test: Term, one: Typed, two: Typed, node: tree.Node, name: str) -> Typed:
        if one.term.kind != two.term.kind:
            message = f"'{name}' is a {one.term.kind} in one branch and a {two.term.kind} in the other"
            self.complain(node.code, node.mark, message)
            return one
        if one.term == two.term:
            return one
        rounded = one.rounded or two.rounded
        merged = Typed(Apply(one.term.kind, "select", (test, one.term, two.term)), rounded)
        return Typed(self.bind(name, merged, node, label="").term, rounded)

    def inline(self, e: tree.Inline, scope: Scope) -> Static | Typed:
        inner: Scope = {}
        for p, a in zip(e.helper.parameters, e.arguments, strict=True):
            value = self.value(a, scope)
            # Only a value that must be computed gets a step of its own; a name or a literal is passed as it is.
            simple = isinstance(value, Static) or isinstance(value.term, (Var, Const))
            inner[p] = value if simple else self.bind(p, value, a)  # type: ignore[arg-type]
        self.calls.append(e.helper.name)
        result = self.block(e.helper.body, inner)
        self.calls.pop()
        if result is None:
            message = f"helper '{e.helper.name}' returns nothing on some path"
            raise self.wrong(e.helper, message, "end it with a return")
        return result
