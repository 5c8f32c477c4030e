"""The data that every section of an opcode's page is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .....check.checking import Checked
from .....check.packed import Programs
from .....model import Instruction, Spec, Variant
from ..forms import Writer


@dataclass(frozen=True)
class About:
    """An instruction with its checked programs, among all others of the specification."""

    spec: Spec
    checked: Checked
    write: Writer

    @property
    def instruction(self) -> Instruction:
        return self.checked.instruction

    @property
    def programs(self) -> Mapping[Variant, Programs]:
        return self.checked.programs
