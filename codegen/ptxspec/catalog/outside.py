"""The PTX instructions outside the database: their opcodes, and what their forms require."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from . import Catalog, Requirement


class OutsideForm(NamedTuple):
    """The spellings of an opcode that have all of some names. `pattern` is these names, such as ".m16n8k16.bf16"; empty
    for all spellings."""

    pattern: str
    requires: Requirement

    @property
    def names(self) -> frozenset[str]:
        return frozenset(filter(None, self.pattern.split(".")))

    @property
    def ptx(self) -> str:
        return self.requires.ptx

    @property
    def target(self) -> str:
        return self.requires.target


class OutsideOperands(NamedTuple):
    """The facts about an opcode's operands. `labels`: they may be labels, and `only_labels`: nothing else. `written`:
    the first is a register that is written. `vectors` are the places of those whose length .v2, .v4 or .v8 states;
    `single`: without such a name, these are one register."""

    labels: bool = False
    only_labels: bool = False
    written: bool = False
    vectors: tuple[int, ...] = ()
    single: bool = False


class Outside(NamedTuple):
    """An opcode of PTX that is not in the database, or has forms that are not. `section` is that of NVIDIA's manual,
    with its title; empty if it has none. Without `forms`, only the name is known."""

    opcode: str
    section: str
    summary: str
    forms: tuple[OutsideForm, ...] = ()
    operands: OutsideOperands = OutsideOperands()

    @property
    def ptx(self) -> str | None:
        """The first PTX version that has any of it: that of the form without names, if there is one."""
        return self.forms[0].ptx if self.forms else None

    @property
    def target(self) -> str | None:
        """The first target that has any of it."""
        return self.forms[0].target if self.forms else None

    def lacks(self, names: Iterable[str], is_type: Callable[[str], bool]) -> frozenset[str]:
        """Return the modifiers that a spelling lacks: the opcode has its type with these in addition, and has no form
        that is spelled like it. Empty if it lacks none, or if several forms may be meant."""
        asked = frozenset(names)
        own = asked & frozenset().union(*(f.names for f in self.forms))
        covered = frozenset[str]().union(*(f.names for f in self.forms if f.names <= asked))
        if not any(is_type(n) for n in own - covered):
            return frozenset()
        missing = {f.names - asked for f in self.forms if own < f.names}
        fewest = min(map(len, missing), default=0)
        found = [m for m in missing if len(m) == fewest]
        return found[0] if len(found) == 1 and not any(map(is_type, found[0])) else frozenset()

    def requires(self, names: Iterable[str], catalog: Catalog) -> Requirement | None:
        """Return what a spelling with these names needs at least; None if nothing is known of it. If one form has all
        names of another and more, it counts instead of the other."""
        asked = frozenset(names)
        fitting = [(f.names, f.requires) for f in self.forms if f.names <= asked]
        last = [r for own, r in fitting if not any(own < other for other, _ in fitting)]
        return catalog.together(last) if last else None
