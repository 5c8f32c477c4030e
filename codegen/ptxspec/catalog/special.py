"""The special registers: what they hold, and from where on the assembler takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from . import Requirement

_SEVERAL = re.compile(r"\{(\d+)\.\.(\d+)\}")
FIELDS = ("x", "y", "z", "w")


class SpecialRegister(NamedTuple):
    """A special register, or several that differ in a number, as `text` has them: %pm{0..3}. An operand of as many
    `bits` may be one; a predicate has one bit. Of one that has `fields` each of them is read, as in %tid.x, or all four
    together. `manual` is what the manual asks for."""

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
        """Return whether a name, with a field or without, is one of its."""
        name, dot, field = text.partition(".")
        return name in self.names and (not dot or (self.fields and field in FIELDS))

    @property
    def reads(self) -> str:
        """How it is read, in words."""
        if self.bits == (1,):
            return "as a predicate"
        *rest, last = map(str, self.bits)
        bits = f"{', '.join(rest)} or {last}" if rest else last
        return (
            f"by its fields {', '.join(FIELDS)} of {bits} bits, or all four at once"
            if self.fields
            else f"as {bits} bits"
        )
