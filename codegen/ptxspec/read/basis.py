"""The keys `basis`, `section` and `ieee754` of an entry -> its basis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..basis import DERIVED, MANUAL, READING, Basis
from ..diagnostics import Diagnostic
from .positioned import Document, Where

_OF_THE_MANUAL = {MANUAL, DERIVED, READING}


def read_basis(
    doc: Document, where: Where, entry: Mapping[str, Any], errors: list[Diagnostic], default: Basis
) -> Basis:
    """Return the basis of the entry at `where`; `default` if it has none of the keys. Without `basis`, a section means
    NVIDIA's manual, and a clause of IEEE 754 means derived."""
    section, ieee754, said = entry.get("section", ""), entry.get("ieee754", ""), entry.get("basis")
    if not (section or ieee754 or said):
        return default
    kinds = (said,) if isinstance(said, str) else tuple(said or (DERIVED if ieee754 else MANUAL,))
    at = (*where, "basis")
    if section and _OF_THE_MANUAL.isdisjoint(kinds):
        help = f"remove it, or add {MANUAL}, {DERIVED} or {READING} to basis"
        errors.append(
            doc.error((*where, "section"), "nothing here is based on a section of the manual", help, key=True)
        )
    if ieee754 and DERIVED not in kinds:
        help = f"remove it, or add {DERIVED} to basis"
        errors.append(doc.error((*where, "ieee754"), "nothing here is derived from IEEE 754", help, key=True))
    if MANUAL in kinds and not section:
        errors.append(doc.error(at, "where does the manual say it?", "add its section, as in section: 9.7.3.12"))
    if DERIVED in kinds and not (section or ieee754):
        help = "add section, a section of the manual, or ieee754, a clause of IEEE 754-2019"
        errors.append(doc.error(at, "what is it derived from?", help))
    return Basis(kinds, section, ieee754)
