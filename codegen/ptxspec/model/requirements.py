"""Selectors of variants, and what variants require."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..basis import Basis
from .variant import Variant


@dataclass(frozen=True)
class Pattern:
    """Modifiers and types that a variant must have: one type that is in its spelling, or several in which it ends.
    `exact`: it has no others."""

    modifiers: frozenset[str] = frozenset()
    types: tuple[str, ...] = ()
    exact: bool = False

    def is_about(self, types: tuple[str, ...]) -> bool:
        if self.exact or len(self.types) > 1:
            return self.types == types
        return not self.types or self.types[0] in types


@dataclass(frozen=True)
class Selector:
    """The variants that something is about. They match one of the patterns and have no name of `lacks`. If given, these
    conditions hold, too: a result of one of the types `result`, a source of one of the types `source`, the number of
    source `operands`, and the number of `types` at the end of the spelling."""

    text: str
    patterns: tuple[Pattern, ...] = (Pattern(),)
    lacks: frozenset[str] = frozenset()
    operands: int | None = None
    types: int | None = None
    result: tuple[str, ...] = ()
    source: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, object]:
        # To read back what was asked takes longer than to ask it again.
        return {name: value for name, value in vars(self).items() if name != "_asked"}

    def matches(self, variant: Variant) -> bool:
        modifiers, types, operands = variant.form
        asked = self._asked.get((types, operands))
        if asked is None:
            asked = self._asked[types, operands] = self._asked_of(types, operands)
        # A loop, because a large specification calls this a million times.
        for wanted, exact in asked:
            if wanted == modifiers if exact else wanted <= modifiers:
                return not self._has_more or self._fits(variant)
        return False

    @cached_property
    def names(self) -> frozenset[str]:
        """The modifiers that the selector names."""
        return self.lacks.union(*(p.modifiers for p in self.patterns))

    def _asked_of(self, types: tuple[str, ...], operands: int) -> Sequence[tuple[frozenset[str], bool]]:
        """Return the modifiers of the patterns that a spelling with these types and operands may match, each with
        whether it may have no others. Thousands of variants share the result."""
        if self.operands not in (None, operands) or self.types not in (None, len(types)):
            return ()
        return [(p.modifiers, p.exact) for p in self.patterns if p.is_about(types)]

    @cached_property
    def _asked(self) -> dict[tuple[tuple[str, ...], int], Sequence[tuple[frozenset[str], bool]]]:
        return {}

    @cached_property
    def _has_more(self) -> bool:
        return bool(self.lacks or self.result or self.source)

    def _fits(self, variant: Variant) -> bool:
        return (
            not (self.lacks & variant.names)
            and (not self.result or variant.result.type.name in self.result)
            and (not self.source or any(s.type.name in self.source for s in variant.sources))
        )


@dataclass(frozen=True)
class Rule:
    """One line of `requires:`. `within` is the first and the last target it is about. `on` are the targets that it
    names, each with its first PTX version; a family is all of its members there. `entries` is `on` as it was
    written."""

    selector: Selector
    within: tuple[str, str] | None
    ptx: str | None
    target: str | None
    until: str | None
    basis: Basis
    on: tuple[tuple[str, str], ...] = ()
    entries: tuple[tuple[str, str], ...] = ()

    @property
    def targets(self) -> str:
        """The targets as a page names them: "sm_80", or each of `on` with its PTX version."""
        return self.target or ", ".join(f"{target} {ptx}" for target, ptx in self.entries)
