"""Hazards, where the machine code does something other than the spelling says, and their proof."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..basis import Basis
from ..catalog import Hazard
from ..diagnostics import Mark
from .requirements import Selector


@dataclass(frozen=True)
class Proof:
    """The proof of a hazard, found in the machine code that ptxas generates for a variant.

    `drops` and `adds`: the machine code is that of the spelling without the former and with the latter modifiers.
    `holds` and `lacks`: parts of names that some machine instruction in it has, and that none has. `folds`: the bits of
    constant operands, then those of the result to which they are folded. `unknown`: nvdisasm does not know an
    instruction in it."""

    drops: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    folds: tuple[int, ...] = ()
    unknown: bool = False

    def code_of(self, modifiers: frozenset[str]) -> frozenset[str]:
        """Return the modifiers of the spelling whose machine code a spelling with these modifiers gets."""
        return modifiers - self.drops | self.adds


@dataclass(frozen=True)
class HazardRule:
    """Variants whose machine code does something other than they say, so that they are never recommended."""

    selector: Selector
    hazard: Hazard
    basis: Basis
    proof: Proof
    mark: Mark = field(compare=False)
