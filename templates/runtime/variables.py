"""The variables that a module of PTX declares: in constant or global memory, with their initial values, and in the
local memory of each thread."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .memory import address_of
from .ptx import constants
from .signature import type_named
from .statements import bits_of

# Declarations of variables, not loads and stores: there the space follows an opcode.
DECLARED = re.compile(r"(?<![\w.])(?:\.(?:extern|visible|weak|common)\s+)?\.(?:const|global)\b[^;]*+(?:;|\Z)")
LOCAL = re.compile(r"\.local\b[^;]*+;")
_READ = re.compile(
    r"(?:\.(?P<linkage>\w+)\s++)?\.(?P<space>const|global|local)\s++(?:\.align\s++\d+\s++)?\.(?P<type>[bsuf](?:8|16|32|64))\s++"
    r"(?P<name>[A-Za-z_$%][\w$]*+)\s*+(?P<array>\[\s*+(?P<count>\w*+)\s*+\]\s*+)?(?:=(?P<values>[^;]*+))?;"
)
_ADDRESS = re.compile(
    r"\s*+(?:generic\s*+\(\s*+(?P<generic>[A-Za-z_$%][\w$]*+)\s*+\)|(?P<name>[A-Za-z_$%][\w$]*+))\s*+"
)
# The most bytes of a variable, and of one in local memory.
_LARGEST, _LARGEST_LOCAL = 1 << 30, 1 << 19


class UnreadError(Exception):
    """An error for a variable whose declaration is not supported: the reason, and the position in the text."""

    def __init__(self, message: str, start: int = 0) -> None:
        super().__init__(message)
        self.start = start


class Variable(NamedTuple):
    """A variable: its name and its bytes."""

    name: str
    data: NDArray[np.uint8]


class Local(NamedTuple):
    """A variable in local memory, of which each thread has its own: its size in bytes, and the value that is its
    address."""

    name: str
    size: int
    value: int


def local_size(text: str) -> tuple[str, int]:
    """Return the name and the size of a variable in local memory from its declaration. Raises UnreadError."""
    m = _READ.fullmatch(text)
    if m is None or m["values"]:
        raise UnreadError("this declaration is not supported; write .local .align 8 .b8 name[64];")
    kind, count = constants.value(m["count"] or "") if m["array"] else (constants.INTEGER, 1)
    size = int(count) * type_named(m["type"]).bits.itemsize
    if kind != constants.INTEGER or not 0 < size <= _LARGEST_LOCAL:
        raise UnreadError(f"{m['name']} requires a size; a thread has up to {_LARGEST_LOCAL} bytes")
    return m["name"], size


class Variables:
    """The variables of a module. Those that are used have addresses, in the order of their first use."""

    def __init__(self) -> None:
        self._declared: dict[str, re.Match[str]] = {}
        self._places: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    def take(self, text: str, start: int) -> None:
        """Add a declaration, and its position in the text."""
        if m := _READ.fullmatch(text):
            self._declared.setdefault(m["name"], m)
            self._places.setdefault(m["name"], start)

    def space(self, name: str) -> str:
        """Return the memory space of a variable. Raises UnreadError."""
        return self._found(name)["space"]

    def _found(self, name: str) -> re.Match[str]:
        if name not in self._declared:
            raise UnreadError(f"the declaration of {name} is not supported")
        return self._declared[name]

    def address(self, name: str) -> int:
        """Return the address of a variable. Raises UnreadError."""
        m = self._found(name)
        if m["linkage"] == "extern":
            raise UnreadError(f"{name} has its values in another module")
        return address_of(self._numbers.setdefault(name, len(self._numbers)))

    def used(self) -> tuple[Variable, ...]:
        """Return the variables that have addresses, in the order of these. Raises UnreadError with the position."""
        found: list[Variable] = []
        while len(found) < len(self._numbers):
            name = list(self._numbers)[len(found)]
            # Initial values may contain addresses of further variables.
            try:
                data = self._data(self._declared[name]).view(np.uint8)
            except UnreadError as e:
                raise UnreadError(str(e), self._places[name]) from None
            data.flags.writeable = False
            found.append(Variable(name, data))
        return tuple(found)

    def _data(self, m: re.Match[str]) -> NDArray[Any]:
        """Return the elements of a variable; those without values are zeros."""
        name, t = m["name"], type_named(m["type"])
        text = (m["values"] or "").strip()
        if text.startswith("{") != (m["array"] is not None) and text:
            raise UnreadError(f"the values of {name} do not fit its declaration")
        inside = text[1:-1] if text.startswith("{") else text
        parts = inside.split(",") if inside.strip() else []
        known = {x: self._element(x, m) for x in set(parts)}
        given = [known[x] for x in parts]
        kind, count = constants.value(m["count"]) if m["count"] else (constants.INTEGER, max(1, len(given)))
        if kind != constants.INTEGER or not len(given) <= count <= _LARGEST // t.bits.itemsize:
            raise UnreadError(f"the number of elements of {name} does not fit its values")
        data = np.zeros(int(count), t.bits)
        data[: len(given)] = given
        return data

    def _element(self, text: str, m: re.Match[str]) -> np.generic:
        kind, value = constants.value(text)
        named = _ADDRESS.fullmatch(text)
        if named is not None:
            kind, value = constants.INTEGER, self.address(named["generic"] or named["name"])
        if kind not in (constants.INTEGER, constants.SINGLE, constants.DOUBLE):
            raise UnreadError(f"{text.strip()} among the values of {m['name']} is not a number")
        return bits_of(kind, value, type_named(m["type"]))
