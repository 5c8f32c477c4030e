"""Modules of ptxemu while they are written: functions, and the names that they need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..model import Kind
from .lowering import LoweredFunction

_LINE = 120


@dataclass(frozen=True)
class NumPyFunction(LoweredFunction):
    """A function in NumPy and its decorator, if any."""

    result: str
    decorator: str

    @property
    def key(self) -> str:
        """Everything except the name."""
        return "\n".join((self.decorator, self.result, *self.parameters, *(line.text for line in self.lines)))


@dataclass
class PythonModule:
    """The imports, constants and functions of a module."""

    names: dict[str, set[str]] = field(default_factory=lambda: {"..binary": {"Array"}})
    constants: dict[str, tuple[str, str]] = field(default_factory=dict)
    functions: dict[str, NumPyFunction] = field(default_factory=dict)
    # The names of functions that compute ends of others, by content, for all modules of an opcode.
    tails: dict[str, str] = field(default_factory=dict)

    def take(self, other: PythonModule, functions: Iterable[NumPyFunction]) -> None:
        """Add functions of another module, with the names that they need."""
        for module, names in other.names.items():
            self.names.setdefault(module, set()).update(names)
        self.constants |= other.constants
        for f in functions:
            self.functions.setdefault(f"{f.name} {f.key}", f)

    def use(self, module: str, name: str, alias: str = "") -> str:
        """Return the name under which a name of a module is imported. An alias avoids conflicts with the variables of a
        specification."""
        self.names.setdefault(f"..{module}", set()).add(f"{name} as {alias}" if alias else name)
        return alias or name

    def number(self, kind: Kind) -> str:
        """Return the name of the format of a kind of numbers, and import it."""
        number = kind.format or kind.fixed
        assert number is not None
        return self.use("formats", number.name)

    def constant(self, name: str, value: str, dtype: str) -> str:
        self.constants[name] = (value, dtype)
        return name

    def imports(self) -> list[tuple[str, str]]:
        """Return the modules and the names imported from each, one per line if they do not fit in one."""
        found = []
        for module, names in sorted(self.names.items()):
            ordered = sorted(names, key=_natural)
            listed = ", ".join(ordered)
            fits = len(f"from {module} import {listed}") <= _LINE
            lines = "".join(f"    {name},\n" for name in ordered)
            found.append((module, listed if fits else f"(\n{lines})"))
        return found


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a sorting key that compares numbers in a text by value."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]
