"""Complaints about instructions, and positions in a text."""

from __future__ import annotations

from typing import NamedTuple

from ..catalog import Requirement
from ..catalog.explaining import WHOLE

ERROR, WARNING, NOTE = "error", "warning", "note"


class Complaint(NamedTuple):
    """A complaint about an instruction. `name` is the index of the modifier or type meant, `operand` that of the
    operand and `part` that of a part of it; WHOLE for none of these. `requires` is what the variant needs, where it is
    not available. `write` is the spelling that mends it in the place of the whole one, and `doubt` why it may be
    another one than was meant; both are empty where there is none."""

    severity: str
    code: str
    message: str
    help: str = ""
    name: int = WHOLE
    operand: int = WHOLE
    part: int = WHOLE
    requires: Requirement | None = None
    write: str = ""
    doubt: str = ""


class Position(NamedTuple):
    """Line and column count from 1. `source` is the line, or part of a long one, and `at` the column's index in it."""

    line: int
    column: int
    source: str
    at: int
