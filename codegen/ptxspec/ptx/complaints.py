"""Complaints about instructions, and positions in a text."""

from __future__ import annotations

from typing import NamedTuple

from ..catalog import Requirement
from ..catalog.explaining import WHOLE

ERROR, WARNING, NOTE = "error", "warning", "note"


class Complaint(NamedTuple):
    """A complaint about an instruction. `name` is the index of a modifier or type, `operand` that of an operand and
    `part` that of a part of it; WHOLE for none. `requires` is the requirement of an unavailable variant. `write` is the
    spelling that fixes it, and `doubt` says why that may not be what was meant; both may be empty."""

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
