"""The record of what exists, by names: opcodes with their variants, types and modifiers. ptxspec's database is one such
record, and ptxemu has another."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from . import Catalog, Hazardous, Requirement
from .outside import Outside


class Existing(Hazardous, Protocol):
    """A variant. `listed`: NVIDIA's manual has it. `means` are modifiers that it behaves as if it had. `crash` says how
    the assembler, having accepted it, crashes on it; None if it does not. `places` are its operands in a statement,
    such as "d, a, b"."""

    @property
    def spelling(self) -> str: ...
    @property
    def opcode(self) -> str: ...
    @property
    def modifiers(self) -> frozenset[str]: ...
    @property
    def types(self) -> tuple[str, ...]: ...
    @property
    def operands(self) -> int: ...
    @property
    def listed(self) -> bool: ...
    @property
    def means(self) -> tuple[str, ...]: ...
    @property
    def claim(self) -> str: ...
    @property
    def crash(self) -> str | None: ...
    @property
    def places(self) -> str: ...


V = TypeVar("V", bound=Existing)


# The most statements in a message of one line.
_SHORT = 4


class Recipe(NamedTuple):
    """PTX that does a variant's work where it is missing, with %d, %a, %b and %c for its operands. `cuda` is the same
    as inline assembly; empty if operands are predicates or it was not requested. `function` is a function of CUDA C++
    around that, if it is too long to be written wherever it is needed.

    `differs` is the possible difference from the variant: empty, "NaN bits", "within bound", or "as on sm_20 and newer"
    if only older targets differ. It `works` on the target and the PTX version that were asked about."""

    requires: Requirement
    differs: str
    ptx: str
    cuda: str = ""
    works: bool = True
    function: str = ""

    @property
    def statements(self) -> int:
        return sum(line.endswith(";") and ".reg" not in line for line in self.ptx.split("\n"))

    @property
    def is_long(self) -> bool:
        """Return whether the recipe has more statements than are shown in one line of advice."""
        return self.statements > _SHORT

    @property
    def difference(self) -> str:
        """The difference in words."""
        words = {
            "": "equal bit for bit",
            "NaN bits": "equal except for the bits of a NaN",
            "within bound": "within the variant's error bound",
        }
        return words.get(self.differs, f"equal bit for bit {self.differs}")

    @property
    def elsewhere(self) -> str:
        """The words to add to the variant's claim if the variant and the recipe differ on older targets."""
        since = self.differs.removeprefix("as ")
        if since == self.differs:
            return ""
        return f"; on older targets, and without a target, the bits differ from those {since}"

    @property
    def line(self) -> str:
        """The recipe in one line."""
        return " ".join(self.ptx.split())


_NUMBERED = re.compile(r"\.#(\d+)")


def filled(template: str, spelling: str) -> str:
    """Return a recipe's PTX for one variant: each `.#1` in its template becomes the name at that place of the spelling,
    where the opcode is at place 0."""
    names = spelling.split(".")
    return _NUMBERED.sub(lambda m: f".{names[int(m[1])]}", template)


class Opcode(ABC, Generic[V]):
    """An opcode and its variants."""

    name: str

    @property
    @abstractmethod
    def variants(self) -> Sequence[V]: ...

    @property
    @abstractmethod
    def assembler(self) -> Mapping[str, Any]:
        """The names that `is_elsewhere` looks up; `refused`, the spellings that NVIDIA's manual lists and the assembler
        accepts nowhere; and `observed`, the assembler."""

    @abstractmethod
    def recipes(self, v: V) -> Sequence[Recipe]:
        """Return the recipes for a variant where it is missing, the best first."""

    @property
    @abstractmethod
    def missing(self) -> Mapping[str, Sequence[Recipe]]:
        """The recipes for spellings that PTX does not have."""

    @abstractmethod
    def why_no_recipe(self, v: V) -> str:
        """Return why there is no recipe for a variant, or none that works everywhere."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All modifiers and types of its variants, in the order in which they first occur."""
        return names_of(self.variants)

    @cached_property
    def by_types(self) -> dict[tuple[str, ...], list[V]]:
        """Its variants by the sequences of types that their spellings end in."""
        found: dict[tuple[str, ...], list[V]] = {}
        for v in self.variants:
            found.setdefault(v.types, []).append(v)
        return found

    @cached_property
    def types(self) -> tuple[tuple[str, ...], ...]:
        """The sequences of types that its spellings end in."""
        return tuple(self.by_types)

    @cached_property
    def _by_key(self) -> dict[tuple[frozenset[str], tuple[str, ...]], list[V]]:
        found: dict[tuple[frozenset[str], tuple[str, ...]], list[V]] = {}
        for v in sorted(self.variants, key=lambda v: v.operands):
            found.setdefault((v.modifiers, v.types), []).append(v)
        return found

    def spelled(self, modifiers: frozenset[str], types: tuple[str, ...]) -> list[V]:
        """Return the variants of one spelling, those with the fewest operands first."""
        return self._by_key.get((modifiers, types), [])


class Known(ABC, Generic[V]):
    """All that exists. `types` are those that are declared here, `floats` the floating-point ones among them, and
    `other_types` those of other instructions. `modifiers` have a sentence each on what they mean. `lists` is the
    command or call that lists all variants. `outside` is what else PTX has, by its opcodes, and `lacks` the end of
    messages about that."""

    catalog: Catalog
    opcodes: Mapping[str, Opcode[V]]
    types: frozenset[str]
    floats: frozenset[str]
    other_types: frozenset[str]
    modifiers: Mapping[str, str]
    lists: str
    lacks: str

    @property
    @abstractmethod
    def outside(self) -> Mapping[str, Outside]:
        """The PTX instructions outside the database, by their opcodes."""

    def split(self, names: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
        """Return the modifiers among the names of a spelling, and its types in their order."""
        names = list(names)
        return [n for n in names if n not in self.types], tuple(n for n in names if n in self.types)

    def find(self, opcode: str, names: Iterable[str], operands: int | None) -> V | None:
        """Return the variant with these modifiers, in any order, and these types, in theirs; if `operands` is None, the
        one with the fewest operands."""
        modifiers, types = self.split(names)
        if opcode not in self.opcodes or len(set(modifiers)) < len(modifiers):
            return None
        same = self.opcodes[opcode].spelled(frozenset(modifiers), types)
        return next((v for v in same if operands in (None, v.operands)), None)

    def stands_for(self, v: V) -> V | None:
        """Return the longer spelling that a variant is short for."""
        same = self.opcodes[v.opcode].spelled(v.modifiers.union(v.means), v.types) if v.means else []
        return next((w for w in same if w.operands == v.operands), None)

    def refused(self, opcode: str, names: Iterable[str]) -> Mapping[str, Any] | None:
        """Return what is known of a spelling that NVIDIA's manual lists and the assembler accepts nowhere."""
        listed = self.opcodes[opcode].assembler["refused"] if opcode in self.opcodes else []
        wanted = sorted(names)
        return next((r for r in listed if sorted(r["variant"].split(".")[1:]) == wanted), None)

    def missing(self, opcode: str, names: Iterable[str]) -> tuple[str, Sequence[Recipe]] | None:
        """Return a spelling that PTX does not have, in the order of its modifiers, with its recipes; None if none are
        known."""
        asked = self.split(names)
        for spelling, found in self.opcodes[opcode].missing.items() if opcode in self.opcodes else ():
            modifiers, types = self.split(spelling.split(".")[1:])
            if types == asked[1] and sorted(modifiers) == sorted(asked[0]):
                return spelling, found
        return None

    def is_type(self, name: str) -> bool:
        """Return whether a name is a type of some instruction, here or elsewhere."""
        return name in self.types or name in self.other_types

    def knows(self, name: str) -> bool:
        """Return whether a type or a modifier of any instruction has this name."""
        return name in self.types or name in self.modifiers

    def form(self, opcode: str, *names: str) -> str:
        """Return an opcode with its types alone, in their order."""
        return ".".join((opcode, *filter(self.is_type, names)))

    def is_elsewhere(self, opcode: str, names: Iterable[str]) -> bool:
        """Return whether an opcode of the database has other instructions with these types, about which nothing is
        known here: those that its file names, or if it names none, all that it does not describe."""
        about = self.opcodes[opcode]
        return is_elsewhere(tuple(names), about.assembler, self.is_type, about.types)

    def takes(self, v: V, target: str | None, ptx: str | None) -> bool:
        """Return whether the assembler compiles a variant for this target and PTX version; None stands for any."""
        return v.crash is None and self.catalog.takes(v.requires, target, ptx)

    def is_advisable(self, v: V, target: str | None = None, ptx: str | None = None) -> bool:
        """Return whether a variant may be recommended there: NVIDIA's manual has it, and its machine code does what it
        says. Without this check no recommendation is safe."""
        return v.crash is None and v.listed and self.catalog.is_safe(v, target, ptx)


def is_elsewhere(
    names: Sequence[str], assembler: Mapping[str, Any], is_type: Callable[[str], bool], own: Collection[tuple[str, ...]]
) -> bool:
    """Return whether other instructions of an opcode have these names: those that its file lists (`elsewhere`,
    `empty_types` and `other_modifiers` of `assembler`), or if it lists none, all that it does not describe. `own` are
    the sequences of types of its variants."""
    if not {*assembler["other_modifiers"]}.isdisjoint(names):
        return True
    # Empty types do nothing beside others, and do not count as types by themselves.
    spelled = tuple(filter(is_type, names))
    types = tuple(t for t in spelled if t not in assembler["empty_types"])
    if types != spelled and types in own:
        return True
    if not types:
        return False
    if assembler["elsewhere"] is None:
        return types not in own
    # A form may name modifiers that only other instructions have, as in .cc.u32.
    forms: Iterable[tuple[str, ...]] = (tuple(form.split(".")) for form in assembler["elsewhere"])
    more = {*names}.difference(types)
    return any(form[-len(types) :] == types and more.issuperset(form[: -len(types)]) for form in forms)


def names_of(variants: Iterable[Existing]) -> tuple[str, ...]:
    """Return all modifiers and types of some variants, in the order in which they first occur."""
    return tuple(dict.fromkeys(n for v in variants for n in v.spelling.split(".")[1:]))
