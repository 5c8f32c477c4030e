"""Which variants something is about, and what they require."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..grounds import Grounds

if TYPE_CHECKING:
    from .instruction import Variant

# A variant's modifiers, the types that its spelling ends in, and the number of its source registers.
Form = tuple[frozenset[str], tuple[str, ...], int]


@dataclass(frozen=True)
class Pattern:
    """Modifiers that a variant must have, and types: one that its spelling has, or several that it ends in. `exact`: it
    has no others."""

    modifiers: frozenset[str] = frozenset()
    types: tuple[str, ...] = ()
    exact: bool = False

    def matches(self, variant: Variant) -> bool:
        modifiers, types, _ = variant.form
        if self.exact:
            return self.modifiers == modifiers and self.types == types
        several = len(self.types) > 1
        spelled = self.types == types if several else not self.types or self.types[0] in types
        return spelled and self.modifiers <= modifiers


@dataclass(frozen=True)
class Selector:
    """Which variants something is about: those of any of the patterns, without any name of `lacks`; with a result of
    one of the types `result`, and a source of one of the types `source`; with so many source `operands`, and so many
    `types` at the end of the spelling: where these are given."""

    text: str
    patterns: tuple[Pattern, ...] = (Pattern(),)
    lacks: frozenset[str] = frozenset()
    operands: int | None = None
    types: int | None = None
    result: tuple[str, ...] = ()
    source: tuple[str, ...] = ()

    def matches(self, variant: Variant) -> bool:
        return (
            (self.operands is None or self.operands == variant.operands)
            and (self.types is None or self.types == len(variant.types))
            and not (self.lacks & variant.names)
            and (not self.result or variant.result.type.name in self.result)
            and (not self.source or any(s.type.name in self.source for s in variant.sources))
            and any(p.matches(variant) for p in self._about(variant.form[1]))
        )

    def _about(self, types: tuple[str, ...]) -> Iterator[Pattern]:
        """The patterns whose types these types can be."""
        for key in {types, *((t,) for t in types), ()}:
            yield from self._by_types.get(key, ())

    @cached_property
    def _by_types(self) -> Mapping[tuple[str, ...], Sequence[Pattern]]:
        found: dict[tuple[str, ...], list[Pattern]] = {}
        for p in self.patterns:
            found.setdefault(p.types, []).append(p)
        return found


@dataclass(frozen=True)
class Rule:
    """One line of `requires:`. `within` is the first and the last target it is about; `on` are the targets that it
    names, families by all of their members, and the first PTX version of each; `entries` is `on` as it was written."""

    selector: Selector
    within: tuple[str, str] | None
    ptx: str | None
    target: str | None
    until: str | None
    rests_on: Grounds
    on: tuple[tuple[str, str], ...] = ()
    entries: tuple[tuple[str, str], ...] = ()

    @property
    def targets(self) -> str:
        """What a page says of the targets: "sm_80", or each of `on` with its PTX version."""
        return self.target or ", ".join(f"{target} {ptx}" for target, ptx in self.entries)
