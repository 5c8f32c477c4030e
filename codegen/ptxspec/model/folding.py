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
    """Variants that the assembler folds to results other than their semantics gives. `semantics` and `nan` are what it
    computes with instead of the instruction's own; None if they are the same. Each row of `shown` has the bits of the
    operands' registers and, last, of the result's."""

    selector: Selector
    text: str
    basis: Basis
    semantics: Code | None
    nan: NanRule | None
    shown: tuple[tuple[int, ...], ...]
    mark: Mark = field(compare=False)
