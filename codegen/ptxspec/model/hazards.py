"""Hazards, where the machine code does something else than the spelling says, and their proof."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..basis import Basis
from ..catalog import Hazard
from ..diagnostics import Mark
from .requirements import Selector


@dataclass(frozen=True)
class Proof:
    """The proof of a hazard, found in what ptxas makes of a variant.

    `drops` and `adds`: the machine code is that of the spelling without these and with those modifiers. `holds` and
    `lacks`: parts of names that machine instructions in it have, and that none has. `folds`: the bits of constant
    operands, and those of the result that it is folded to. `unknown`: nvdisasm does not know an instruction in it."""

    drops: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    folds: tuple[int, ...] = ()
    unknown: bool = False

    def code_of(self, modifiers: frozenset[str]) -> frozenset[str]:
        """The modifiers of the spelling that has the machine code of the one with these."""
        return modifiers - self.drops | self.adds


@dataclass(frozen=True)
class HazardRule:
    """Variants whose machine code does something else than they say, so that nobody is to be told to write them."""

    selector: Selector
    hazard: Hazard
    basis: Basis
    proof: Proof
    mark: Mark = field(compare=False)
