"""Hints beside instructions of PTX: the PTX version that they need.

Every module for a target needs at least the target's own PTX version. Only instructions that need a newer one get a
hint: these keep the module from older compilers and drivers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..lint.languages import PTX
from ..query.answers import requirement
from ..query.database import Database
from .judged import CheckedText


class Hint(NamedTuple):
    """A hint after a spelling, which ends `at` an offset."""

    at: int
    label: str
    about: str


def hints(db: Database, judged: CheckedText, start: int, end: int) -> Iterator[Hint]:
    """Yield the hints for the instructions in a part of a text."""
    if judged.language != PTX:
        return
    for m in judged.met:
        if m.variant is None or not start <= m.end <= end:
            continue
        needs = m.variant.requires
        # If the target does not support the instruction, lint reports that.
        target = m.target if m.target and db.takes(m.variant, m.target, None) else needs.target
        version, own = db.catalog.window(needs, target)[0], db.targets[target].ptx
        if db.versions[version].order > db.versions[own].order:
            about = f"{m.variant} requires {requirement(db, needs)}; {target} itself requires PTX {own}"
            yield Hint(m.end, f"PTX {version}", about)
