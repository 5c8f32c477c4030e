"""The names of machine instructions (SASS), which are not PTX."""

from __future__ import annotations

import re

from ..diagnostics import visible
from .database import Database

_NAME = re.compile(r"(?:^|;)\s*(?:@!?\w+\s+)?([\w.*]+)")
_FORMS = 4


def instruction(db: Database, asked: str) -> str:
    """Return what is known of an instruction of machine code, such as MUFU.EX2: the variants for which ptxas writes it
    alone. Empty if the name is not one."""
    name, *modifiers = asked.strip().split(".")
    if not name.isalnum() or asked != asked.upper():
        return ""
    alone: dict[str, bool] = {}
    occurs = False
    for entries in db.machine_code["opcodes"].values():
        for entry in entries:
            for code in entry["code"]:
                # A predicate may stand before a name, and operands stand behind it.
                found = [m[1].split(".") for m in _NAME.finditer(code["text"])]
                occurs = occurs or any(parts[0] == name for parts in found)
                if code["count"] == 1 and found and found[0][0] == name:
                    for form in entry["for"]:
                        alone[form] = alone.get(form, False) or {*modifiers} <= {*found[0]}
    if not occurs:
        return ""
    forms = [form for form, has_all in alone.items() if has_all] or list(alone)
    more = f" and {len(forms) - _FORMS} more" if len(forms) > _FORMS else ""
    what = (
        f"ptxas writes {name} alone for {', '.join(forms[:_FORMS])}{more}" if forms else f"{name} does part of the work"
    )
    return f"{visible(asked.strip())} is machine code (SASS), not PTX; {what}"
