"""What `diff` answers, as text and JSON: what a PTX version or a target brought."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ..catalog import Requirement
from ..compact import compact, named_in
from .answers import FEW, oldest, table
from .database import Database, Variant


def as_text(db: Database, old: str, new: str, gained: Sequence[Variant], lost: Sequence[Variant]) -> str:
    """The text of `diff`: what requires the same is written as one."""
    lines = []
    for sign, variants in (("+", gained), ("-", lost)):
        rows = [(f"{sign} {form}", oldest(r), f"PTX {r.ptx}") for form, r in _forms(db, variants)]
        lines += table(rows) if rows else []
    named = named_in(lines, db.groups)
    lines += [""] * bool(named)
    lines += [f".{name} is one of {', '.join(f'.{m}' for m in members)}" for name, members in named.items()]
    lines += ["", FEW] * any(v.requires.on for v in (*gained, *lost))
    lines += [""] * bool(lines)
    return "\n".join([*lines, f"{old} to {new}: {len(gained)} more, {len(lost)} fewer"])


def _forms(db: Database, variants: Sequence[Variant]) -> Iterator[tuple[str, Requirement]]:
    """Notations that stand for the variants, each with what they require."""
    found: dict[tuple[str, int, Requirement], list[Variant]] = {}
    for v in variants:
        found.setdefault((v.opcode, v.operands, v.requires), []).append(v)
    for (opcode, operands, r), alike in found.items():
        for text in compact((v.word for v in alike), db.groups):
            yield f"{opcode}{text} ({operands} operand{'s' * (operands != 1)})", r


def as_json(old: str, new: str, gained: Sequence[Variant], lost: Sequence[Variant]) -> str:
    def names(variants: Sequence[Variant]) -> list[dict[str, object]]:
        return [{"variant": v.spelling, "operands": v.operands, "requires": v.requires.as_json()} for v in variants]

    found = {"schema": 2, "from": old, "to": new, "added": names(gained), "removed": names(lost)}
    return json.dumps(found, indent=2)
