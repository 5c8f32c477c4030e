"""spec/special_registers.yaml -> the special registers, and what they need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..catalog import Requirement
from ..catalog.special import SpecialRegister
from .context import Context, words
from .positioned import Document, Where


def read_special_registers(doc: Document, context: Context) -> tuple[SpecialRegister, ...]:
    """Return the special registers whose targets and PTX versions exist; report the others."""
    found = []
    for text, about in doc.data["registers"].items():
        where: Where = ("registers", text)
        requires = _requirement(doc, where, about, context)
        manual = _requirement(doc, (*where, "manual"), about["manual"], context) if "manual" in about else requires
        if requires and manual:
            bits = tuple(map(int, about["bits"]))
            found.append(
                SpecialRegister(text, bits, about.get("fields", False), requires, manual, words(about["summary"]))
            )
    return tuple(found)


def _requirement(doc: Document, where: Where, about: Mapping[str, Any], context: Context) -> Requirement | None:
    ptx, target = str(about["ptx"]), str(about["target"])
    known = context.known(doc, (*where, "ptx"), ptx, context.versions, "PTX version")
    known &= context.known(doc, (*where, "target"), target, context.targets, "target")
    return Requirement(ptx, target) if known else None
