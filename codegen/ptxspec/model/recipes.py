"""Recipes: short PTX that does a variant's work where the variant is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..basis import Basis
from ..catalog import Requirement
from ..diagnostics import Mark
from .code import Code
from .requirements import Selector
from .variant import Variant

# The possible differences from the variant: none, the bits of NaN results, or no more than the variant's own bound.
NOTHING_DIFFERS, NAN_BITS, WITHIN_BOUND = DIFFERENCES = ("nothing", "NaN bits", "within bound")
_REGISTER = re.compile(r"%\w+")
_DOTTED = re.compile(r"\.([A-Za-z]\w*(?:::\w+)*)")


@dataclass(frozen=True)
class WrittenStatement:
    """A statement as an entry writes it: the spelling in notation, and registers with `#` where a lane's number
    belongs.

    `guard` is the predicate before it, with a `!` if it is negated; empty if there is none. Each operand is a register,
    a constant or `$name`, or several registers if it is a vector; `{%c}` is one that is present if the variant has
    it."""

    guard: str
    spelling: str
    operands: tuple[tuple[str, ...], ...]
    mark: Mark = field(compare=False)


@dataclass(frozen=True)
class RecipeEntry:
    """An entry of `instead`. If there is no recipe, `none` says why, and there are no statements. A recipe may do what
    the variant does `since` a target: on older targets, and without a target, the variant does something else. `where`
    has the text for each `$name`, by modifiers and types: the first that the variant has decides."""

    selector: Selector
    statements: tuple[WrittenStatement, ...]
    differs: str
    none: str
    basis: Basis
    code: Code
    since: str = ""
    where: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Missing:
    """An entry of `missing`: variants that PTX does not have, and the recipe for them."""

    recipe: RecipeEntry
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class RecipeStatement:
    """A statement of a recipe for one variant. `guard` is a predicate and the value that it must have. Registers are
    written with their `%`; an operand without one is a constant. If it `unpacks`, the variant is reversed: its sources
    are the results."""

    variant: Variant
    guard: tuple[str, bool] | None
    results: tuple[str, ...]
    arguments: tuple[str, ...]
    text: str
    unpacks: bool = False


@dataclass(frozen=True)
class Instead:
    """The statements to write instead of one variant. `scratch` are the recipe's own registers, each with the type that
    declares it; `requires` is what all of the statements together need."""

    calls: tuple[RecipeStatement, ...]
    scratch: Mapping[str, str]
    requires: Requirement
    differs: str
    recipe: RecipeEntry | None = None

    @property
    def promise(self) -> str:
        """The difference that is possible, as answers name it: empty where there is none, "NaN bits", "within bound",
        or "as on sm_20 and newer" where only older targets differ."""
        if self.differs != NOTHING_DIFFERS:
            return self.differs
        return f"as on {self.recipe.since} and newer" if self.recipe and self.recipe.since else ""

    @property
    def own_registers(self) -> list[str]:
        """The declarations of its scratch registers."""
        by_type: dict[str, list[str]] = {}
        for name, type_ in self.scratch.items():
            by_type.setdefault(type_, []).append(name)
        return [f".reg .{type_} {', '.join(names)};" for type_, names in by_type.items()]

    @property
    def ptx(self) -> str:
        """The recipe's PTX, ready to paste. If it has scratch registers it is a block, so that they are local. Their
        names begin with an underscore: they must not hide those that replace %d, %a, %b and %c."""
        lines = [c.text for c in self.calls]
        if not self.scratch:
            return "\n".join(lines)
        block = "\n".join(["{", *(f"    {line}" for line in (*self.own_registers, *lines)), "}"])
        return _REGISTER.sub(lambda m: f"%_{m[0][1:]}" if m[0] in self.scratch else m[0], block)

    def template(self, variant: Variant) -> str:
        """Return the PTX for the variant with `.#1` for the first name of its spelling, and so on: it is the same for
        variants that differ in names alone. catalog/known.py fills it in."""
        places = {name: n for n, name in reversed(list(enumerate(variant.spelling.split(".")))) if n}
        return _DOTTED.sub(lambda m: f".#{places[m[1]]}" if m[1] in places else m[0], self.ptx)
