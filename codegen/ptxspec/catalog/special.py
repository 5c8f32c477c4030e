"""The special registers: their contents, and what they require."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from . import Requirement

_SEVERAL = re.compile(r"\{(\d+)\.\.(\d+)\}")
FIELDS = ("x", "y", "z", "w")


class SpecialRegister(NamedTuple):
    """A special register, or several whose names differ in a number, as in the `text` %pm{0..3}. `bits` are the widths
    in which it can be read; a predicate has one bit. A register with `fields` is read by field, as in %tid.x, or all
    four at once. `manual` is the requirement that NVIDIA's manual states."""

    text: str
    bits: tuple[int, ...]
    fields: bool
    requires: Requirement
    manual: Requirement
    summary: str

    @property
    def names(self) -> Iterator[str]:
        """The names without fields: %pm0, %pm1."""
        m = _SEVERAL.search(self.text)
        if m is None:
            yield self.text
            return
        yield from (f"{self.text[: m.start()]}{i}{self.text[m.end() :]}" for i in range(int(m[1]), int(m[2]) + 1))

    def has(self, text: str) -> bool:
        """Return whether a name, with or without a field, belongs to this register."""
        name, dot, field = text.partition(".")
        return name in self.names and (not dot or (self.fields and field in FIELDS))

    @property
    def reads(self) -> str:
        """The ways to read it, in words."""
        if self.bits == (1,):
            return "as a predicate"
        *rest, last = map(str, self.bits)
        bits = f"{', '.join(rest)} or {last}" if rest else last
        return (
            f"by its fields {', '.join(FIELDS)} of {bits} bits, or all four at once"
            if self.fields
            else f"as {bits} bits"
        )
