"""What ptxas makes of a variant, as it was recorded in generated/data/machine_code.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..read.notation import expand
from .database import Database, Variant


def lines(db: Database, path: Path, v: Variant) -> Iterator[str]:
    """A line for each number of machine instructions and the targets where it is that; none where nothing was
    recorded."""
    try:
        recorded = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        # Nothing was recorded of this root, or by another release: everything else is told all the same.
        return
    for entry in recorded["opcodes"].get(v.opcode, ()):
        if entry["operands"] != v.operands or not any(_stands_for(db, form, v) for form in entry["for"]):
            continue
        if any(".*" in code["text"] for code in entry["code"]):
            yield "- in machine code `.*` stands for modifiers that depend on the variant's"
        for code in entry["code"]:
            where = ", ".join(first if first == last else f"{first} to {last}" for first, last in code["on"])
            yield f"- machine code on {where} ({recorded['assembler']}): {_counted(code)}"


def _counted(code: Mapping[str, Any]) -> str:
    count, beyond, text = code["count"], code["beyond"], code["text"]
    number = f"{count} instruction{'s' * (count != 1)}" + (f" and {beyond} in subroutines" if beyond else "")
    return f"{number}, `{text}`" if text else number


def _stands_for(db: Database, form: str, v: Variant) -> bool:
    """Whether a notation has a variant among its spellings."""
    groups = {name: tuple(members) for name, members in db.groups.items()}
    for names in expand(form[len(v.opcode) :], groups):
        modifiers, types = db.split(names)
        if types == v.types and v.modifiers == set(modifiers):
            return True
    return False
