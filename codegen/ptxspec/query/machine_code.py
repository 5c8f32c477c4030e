"""The machine code that ptxas generates for variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..read.notation import expand
from .database import Database, Variant

Code = Mapping[str, Any]


def codes(db: Database, v: Variant) -> list[Code]:
    """Return the machine code of a variant; `on` are the ranges of targets that have it."""
    for entry in db.machine_code["opcodes"].get(v.opcode, ()):
        if entry["operands"] == v.operands and any(_stands_for(db, form, v) for form in entry["for"]):
            return list(entry["code"])
    return []


def by_target(db: Database, v: Variant) -> dict[str, Code]:
    """Return the machine code of a variant on each recorded target."""
    order = list(db.machine_code["targets"])
    ranges = [(order.index(a), order.index(b), code) for code in codes(db, v) for a, b in code["on"]]
    return {t: code for i, t in enumerate(order) for first, last, code in ranges if first <= i <= last}


def lines(db: Database, v: Variant) -> Iterator[str]:
    """Yield a line for each recorded machine code of a variant, with its targets."""
    found = codes(db, v)
    if any(".*" in code["text"] for code in found):
        yield "- in the machine code, `.*` stands for modifiers that depend on the variant"
    for code in found:
        where = ", ".join(first if first == last else f"{first} to {last}" for first, last in code["on"])
        yield f"- machine code on {where} ({db.machine_code['assembler']}): {_counted(code)}"


def _counted(code: Code) -> str:
    count, beyond, text = code["count"], code["beyond"], code["text"]
    number = f"{count} instruction{'s' * (count != 1)}" + (f" and {beyond} in subroutines" if beyond else "")
    return f"{number}, `{text}`" if text else number


def _stands_for(db: Database, form: str, v: Variant) -> bool:
    """Return whether a notation stands for a variant, among others."""
    groups = {name: tuple(members) for name, members in db.groups.items()}
    for names in expand(form[len(v.opcode) :], groups):
        modifiers, types = db.split(names)
        if types == v.types and v.modifiers == set(modifiers):
            return True
    return False
