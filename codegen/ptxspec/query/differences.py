"""The answers of `diff` as text and JSON: the variants that a PTX version or a target added or removed."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence

from .. import terminal
from ..catalog import Requirement
from ..compact import compact, named_in
from .database import Database, Variant
from .lists import FEW, broken, oldest, table


def as_text(db: Database, old: str, new: str, gained: Sequence[Variant], lost: Sequence[Variant]) -> str:
    """Return the text of `diff`. Variants with the same requirement are written as one line."""
    width = terminal.width()
    lines = []
    for sign, variants in (("+", gained), ("-", lost)):
        rows = []
        for form, operands, r in _forms(db, variants):
            ptx = f"PTX {r.ptx}{f' to {r.until}' if r.until else ''}"
            rows.append((f"{sign} {form}", f"{operands} operand{'s' * (operands != 1)}", oldest(r), ptx))
        lines += _fitting(rows, width)
    named = named_in(lines, db.groups)
    lines += [""] * bool(named)
    for name, members in named.items():
        text = f".{name} is one of {', '.join(f'.{m}' for m in members)}"
        lines += textwrap.wrap(text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    lines += ["", *broken(FEW)] * any(v.requires.on for v in (*gained, *lost))
    lines += [""] * bool(lines)
    number = f"{len(gained):,} variant{'s' * (len(gained) != 1)}"
    return "\n".join([*lines, f"{old} to {new}: {number} added, {len(lost):,} removed"])


def _fitting(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the rows of a table. On a terminal, the cells beside a notation that is too long go to a line of their
    own. In a file or a pipe, every row stays one line for searches."""
    if not rows:
        return []
    lines = table([row[1:] for row in rows])
    most = width - 2 - max(map(len, lines))
    column = max((len(form) for form, *_ in rows if len(form) <= most), default=most)
    found = []
    for (form, *_), line in zip(rows, lines, strict=True):
        if len(form) > most and sys.stdout.isatty():
            found += [form, f"{'':{column}}  {line}"]
        else:
            found.append(f"{form:{column}}  {line}")
    return found


def _forms(db: Database, variants: Sequence[Variant]) -> Iterator[tuple[str, int, Requirement]]:
    """Yield notations that stand for the variants, each with the number of operands and the requirement."""
    found: dict[tuple[str, int, Requirement], list[Variant]] = {}
    for v in variants:
        found.setdefault((v.opcode, v.operands, v.requires), []).append(v)
    for (opcode, operands, r), alike in found.items():
        for text in compact((v.word for v in alike), db.groups):
            yield f"{opcode}{text}", operands, r


def as_json(old: str, new: str, gained: Sequence[Variant], lost: Sequence[Variant]) -> str:
    def names(variants: Sequence[Variant]) -> list[dict[str, object]]:
        return [{"variant": v.spelling, "operands": v.operands, "requires": v.requires.as_json()} for v in variants]

    found = {"schema": 2, "from": old, "to": new, "added": names(gained), "removed": names(lost)}
    return json.dumps(found, indent=2)
