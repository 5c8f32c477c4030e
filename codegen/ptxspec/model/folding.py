"""Constant folding: what the assembler computes instead of the hardware, where operands are constants."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..basis import Basis
from ..diagnostics import Mark
from .code import Code
from .formats import NanRule
from .requirements import Selector


@dataclass(frozen=True)
class Folding:
    """Variants that the assembler folds to other results than their semantics gives. `semantics` and `nan` are what it
    computes with instead of the instruction's own; None where that is the same. `shown` are the registers of operands,
    each row with that of the result behind them, as bits."""

    selector: Selector
    text: str
    basis: Basis
    semantics: Code | None
    nan: NanRule | None
    shown: tuple[tuple[int, ...], ...]
    mark: Mark = field(compare=False)
