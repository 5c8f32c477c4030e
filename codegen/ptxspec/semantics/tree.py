"""Semantics as a tree, which parse.py makes from the text and resolve.py completes with the meanings of names."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..diagnostics import Mark
from ..model import Code
from .functions import Function


@dataclass(frozen=True)
class Node:
    code: Code
    mark: Mark


@dataclass(frozen=True)
class Number(Node):
    value: Fraction


@dataclass(frozen=True)
class Boolean(Node):
    value: bool


@dataclass(frozen=True)
class Text(Node):
    """The name of a modifier, in quotes."""

    value: str


@dataclass(frozen=True)
class Name(Node):
    """A name as written; after names are resolved, a variable."""

    name: str


@dataclass(frozen=True)
class StaticName(Node):
    """A name whose value is known before the program runs."""

    name: str


@dataclass(frozen=True)
class Call(Node):
    """A call as written."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Apply(Node):
    """A call of a function of the table."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Inline(Node):
    """A call of a helper. The helper's statements replace it."""

    helper: Helper
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Operator(Node):
    """A unary, binary or comparison operator, or `and`, `or` (of two operands) or `not`."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Conditional(Node):
    test: Expression
    then: Expression
    other: Expression


Expression = Number | Boolean | Text | Name | StaticName | Call | Apply | Inline | Operator | Conditional


@dataclass(frozen=True)
class Assign(Node):
    name: str
    value: Expression


@dataclass(frozen=True)
class If(Node):
    test: Expression
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True)
class Return(Node):
    value: Expression


Statement = Assign | If | Return


@dataclass(frozen=True)
class Helper(Node):
    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Program(Node):
    """A piece of code. `reads` and `assigned` are all names that it and its helpers read and assign."""

    helpers: dict[str, Helper]
    body: tuple[Statement, ...]
    reads: tuple[Name, ...]
    assigned: frozenset[str]


def assigns(statements: tuple[Statement, ...]) -> set[str]:
    """Return the names that statements assign in any branch."""
    names: set[str] = set()
    for s in statements:
        if isinstance(s, Assign):
            names.add(s.name)
        elif isinstance(s, If):
            names |= assigns((*s.then, *s.other))
    return names
