"""Modules of ptxemu as they are written: functions, and what they need around them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..model import Kind
from .lowering import Function

_LINE = 120


@dataclass(frozen=True)
class NumPyFunction(Function):
    """`decorator`: what makes another function of it, if anything."""

    result: str
    decorator: str

    @property
    def key(self) -> str:
        """All but the name."""
        return "\n".join((self.decorator, self.result, *self.parameters, *(line.text for line in self.lines)))


@dataclass
class Module:
    """The imports, constants and functions of a module as it is written."""

    names: dict[str, set[str]] = field(default_factory=lambda: {"..binary": {"Array"}})
    constants: dict[str, tuple[str, str]] = field(default_factory=dict)
    functions: dict[str, NumPyFunction] = field(default_factory=dict)
    # The names of functions that end others, by what they are: of all modules of an opcode.
    tails: dict[str, str] = field(default_factory=dict)

    def take(self, other: Module, functions: Iterable[NumPyFunction]) -> None:
        """Add functions of another module, with what they need."""
        for module, names in other.names.items():
            self.names.setdefault(module, set()).update(names)
        self.constants |= other.constants
        for f in functions:
            self.functions.setdefault(f"{f.name} {f.key}", f)

    def use(self, module: str, name: str, alias: str = "") -> str:
        """Return the name under which a name of a module is imported. An alias keeps out of the way of what a
        specification calls its variables."""
        self.names.setdefault(f"..{module}", set()).add(f"{name} as {alias}" if alias else name)
        return alias or name

    def number(self, kind: Kind) -> str:
        """Return the format of a kind of numbers."""
        number = kind.format or kind.fixed
        assert number is not None
        return self.use("formats", number.name)

    def constant(self, name: str, value: str, dtype: str) -> str:
        self.constants[name] = (value, dtype)
        return name

    def imports(self) -> list[tuple[str, str]]:
        """Return the modules and what is imported from each, on lines of their own where they are many."""
        found = []
        for module, names in sorted(self.names.items()):
            ordered = sorted(names, key=_natural)
            listed = ", ".join(ordered)
            fits = len(f"from {module} import {listed}") <= _LINE
            lines = "".join(f"    {name},\n" for name in ordered)
            found.append((module, listed if fits else f"(\n{lines})"))
        return found


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key to sort a text by, with its numbers by their size."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]
