"""Resolve the names of a piece of code once, for all variants: the meaning of each name and each call.

This also finds a misspelt name in a branch that no variant takes. fold.py checks what depends on a variant, mainly
kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..catalog import Target
from ..catalog.likeness import suggest
from ..diagnostics import Diagnostic, Mark, SpecError
from ..model import ROUNDINGS, Code, FixedPoint, Format, Modifier, Type, Unit
from . import tree
from .functions import TABLE, Function
from .parse import parse

_VARIANT_NAMES = ("operands", "type", "sourceType", "rounding", "target", "quietNaN", "infinity")
# The operands of most variants, the operand in an operand's stage, and the results.
VARIABLES = frozenset(("a", "b", "c", "x", "d", "p", "q"))
_MAX_DEPTH = 80


@dataclass(frozen=True)
class Meanings:
    """The parts of a specification that give names a meaning."""

    formats: Mapping[str, Format | FixedPoint]
    types: Mapping[str, Type]
    modifiers: Mapping[str, Modifier]
    groups: Mapping[str, tuple[str, ...]]
    targets: Mapping[str, Target]
    units: Mapping[str, Unit]

    def static_names(self) -> frozenset[str]:
        """Return the names that mean the same everywhere, so that no code may assign them."""
        # A single letter is the name of an operand. For .l and .r, code asks their group.
        modifiers = (name for name in self.modifiers if len(name) > 1)
        own = (*modifiers, *self.groups, *self.types, *self.formats, *self.targets, *self.units)
        return frozenset((*own, *ROUNDINGS, *_VARIANT_NAMES))


def fixed_names() -> frozenset[str]:
    """Return the names that the language itself defines, whatever the specification contains."""
    return frozenset((*TABLE, *ROUNDINGS, *_VARIANT_NAMES, *VARIABLES))


def names_read(code: Code) -> frozenset[str]:
    """Return the names that a piece of code reads; empty if it cannot be parsed."""
    try:
        return frozenset(n.name for n in parse(code).reads)
    except SpecError:
        return frozenset()


def assigned_in(code: Code) -> frozenset[str]:
    """Return the names that a piece of code assigns outside helpers; empty if it cannot be parsed."""
    try:
        return frozenset(tree.assigns(parse(code).body))
    except SpecError:
        return frozenset()


def resolve(code: Code, meanings: Meanings, variables: Iterable[str] = (), units: bool = False) -> tree.Program:
    """Return the code with its names resolved. It may read `variables` besides the names of operands and results, and
    with `units` it may call units.

    Raises SpecError with all errors that do not depend on the variant."""
    return _Resolver(parse(code), meanings, VARIABLES.union(variables), units).program()


class _Resolver:
    def __init__(self, program: tree.Program, meanings: Meanings, variables: frozenset[str], units: bool) -> None:
        self.read = program
        self.meanings = meanings
        self.static = meanings.static_names()
        self.variables = variables
        self.units = units
        self.errors: list[Diagnostic] = []
        self.helpers: dict[str, tree.Helper] = {}
        self.calling: list[str] = []
        # The names that the current piece of code may read. Helpers see only their parameters and what they assign.
        self.scope: frozenset[str] = frozenset()

    def complain(self, mark: Mark, message: str, help: str = "") -> None:
        self.errors.append(self.read.code.error(mark, message, help))

    def program(self) -> tree.Program:
        for helper in self.read.helpers.values():
            for name in (helper.name, *helper.parameters):
                self.free(name, helper.mark, "")
            if helper.name not in self.helpers:
                self.helper(helper)
        self.scope = self.variables | tree.assigns(self.read.body)
        body = self.block(self.read.body)
        if self.errors:
            raise SpecError(self.errors)
        return replace(self.read, helpers=self.helpers, body=body)

    def helper(self, helper: tree.Helper) -> tree.Helper:
        """Return a helper with the names in its body resolved, after those of the helpers that it calls."""
        outer = self.scope
        self.scope = frozenset(helper.parameters) | tree.assigns(helper.body)
        self.calling.append(helper.name)
        found = self.helpers[helper.name] = replace(helper, body=self.block(helper.body))
        self.calling.pop()
        self.scope = outer
        return found

    def free(self, name: str, mark: Mark, more: str) -> None:
        if name in self.static or name in TABLE:
            self.complain(mark, f"'{name}' has a meaning already{more}", "choose another name")

    # Statements

    def block(self, statements: tuple[tree.Statement, ...]) -> tuple[tree.Statement, ...]:
        return tuple(map(self.statement, statements))

    def statement(self, s: tree.Statement) -> tree.Statement:
        if isinstance(s, tree.If):
            return replace(s, test=self.value(s.test), then=self.block(s.then), other=self.block(s.other))
        if isinstance(s, tree.Assign):
            if s.name in self.read.helpers:
                self.complain(s.mark, f"'{s.name}' has a meaning already and cannot be assigned", "choose another name")
            else:
                self.free(s.name, s.mark, " and cannot be assigned")
        return replace(s, value=self.value(s.value))

    # Expressions

    def value(self, e: tree.Expression) -> tree.Expression:
        if isinstance(e, tree.Name):
            return self.name(e)
        if isinstance(e, tree.Text):
            self.complain(e.mark, f"'{e.value}' stands alone", 'a name in quotes is compared with a group: cmp == "lt"')
        if isinstance(e, tree.Conditional):
            return replace(e, test=self.value(e.test), then=self.value(e.then), other=self.value(e.other))
        if isinstance(e, tree.Operator):
            return self.operator(e)
        if isinstance(e, tree.Call):
            return self.call(e)
        return e

    def name(self, e: tree.Name) -> tree.Expression:
        if e.name in self.static:
            return tree.StaticName(e.code, e.mark, e.name)
        if e.name in self.scope:
            return e
        if e.name in TABLE or e.name in self.read.helpers:
            self.complain(e.mark, f"'{e.name}' is a function", f"call it: {e.name}(...)")
        elif self.calling and e.name in self.variables | self.read.assigned:
            message = f"'{e.name}' is not known in '{self.calling[-1]}'"
            self.complain(e.mark, message, "pass it: a helper sees its parameters only")
        else:
            known = sorted(self.scope | self.static | set(TABLE))
            self.complain(e.mark, f"unknown name '{e.name}'", suggest(e.name, known))
        return e

    def operator(self, e: tree.Operator) -> tree.Operator:
        texts = [o for o in e.operands if isinstance(o, tree.Text)]
        names = [o.name for o in e.operands if isinstance(o, tree.Name) and o.name in self.meanings.groups]
        if not texts or e.operator not in ("==", "!=") or not names:
            return replace(e, operands=tuple(map(self.value, e.operands)))
        (text,), (group,) = texts, names
        members = self.meanings.groups[group]
        if text.value not in members:
            self.complain(text.mark, f"'{text.value}' is not in the group '{group}'", suggest(text.value, members))
        return replace(e, operands=tuple(o if o is text else self.value(o) for o in e.operands))

    def call(self, e: tree.Call) -> tree.Expression:
        if e.function in self.read.helpers:
            return self.inlined(e, self.read.helpers[e.function])
        f = TABLE[e.function]
        most, least = len(f.parameters), len(f.parameters) - f.optional
        if not least <= len(e.arguments) <= most:
            takes = str(most) if least == most else f"{least} to {most}"
            self.complain(e.mark, f"{f.name} takes {takes} arguments, not {len(e.arguments)}", usage(f))
        for parameter, argument in zip(f.parameters, e.arguments, strict=False):
            if parameter == "unit":
                self.unit(e, argument)
        return tree.Apply(e.code, e.mark, f, tuple(map(self.value, e.arguments)))

    def unit(self, e: tree.Call, name: tree.Expression) -> None:
        if not (isinstance(name, tree.Name) and name.name in self.meanings.units):
            known = "one of " + ", ".join(self.meanings.units)
            self.complain(name.mark, "the first argument is a unit", known)
        elif not self.units:
            self.complain(e.mark, "a unit is called under `hardware:` only", "the semantics holds on every target")

    def inlined(self, e: tree.Call, helper: tree.Helper) -> tree.Expression:
        if helper.name in self.calling:
            message = f"'{helper.name}' calls itself"
            self.complain(e.mark, message, "helpers are written out at each call: no recursion")
            return e
        if len(e.arguments) != len(helper.parameters):
            message = f"{helper.name} takes {len(helper.parameters)} arguments, not {len(e.arguments)}"
            self.complain(e.mark, message, f"def {helper.name}({', '.join(helper.parameters)})")
            return e
        if len(self.calling) > _MAX_DEPTH:
            raise SpecError([e.code.error(e.mark, "too deeply nested, with the helpers that are called")])
        resolved = self.helpers.get(helper.name) or self.helper(helper)
        return tree.Inline(e.code, e.mark, resolved, tuple(map(self.value, e.arguments)))


def usage(f: Function) -> str:
    """Return the signature of a function, for help texts."""
    return f"{f.name}({', '.join(f'{n}: {p}' for n, p in zip(f.names, f.parameters, strict=True))}) -> {f.result}"
