"""The names of machine instructions (SASS), which are not PTX."""

from __future__ import annotations

from .database import Database

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
                words = [w.split(".") for w in code["text"].replace(";", " ").split()]
                occurs = occurs or any(w[0] == name for w in words)
                if code["count"] == 1 and words and words[0][0] == name:
                    for form in entry["for"]:
                        alone[form] = alone.get(form, False) or {*modifiers} <= {*words[0]}
    if not occurs:
        return ""
    forms = [form for form, has_all in alone.items() if has_all] or list(alone)
    more = f" and {len(forms) - _FORMS} more" if len(forms) > _FORMS else ""
    what = (
        f"ptxas writes {name} alone for {', '.join(forms[:_FORMS])}{more}" if forms else f"{name} does part of the work"
    )
    return f"{asked.strip()} is machine code (SASS), not PTX; {what}"
