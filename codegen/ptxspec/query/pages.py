"""Answers as HTML for notebooks: the facts that a terminal gets in words, in tables."""

from __future__ import annotations

from collections.abc import Sequence

from .. import notebook
from .answers import Told, requirement
from .database import Database
from .variant import Variant


def verdict(found: Told) -> str:
    parts = [notebook.text(*found.reasons), notebook.facts(found.facts)]
    if found.recipe:
        title, offer = found.recipe
        parts += [notebook.text(title), notebook.code(offer.ptx)]
        parts += [notebook.text("in CUDA:"), notebook.code(offer.function or offer.cuda)] if offer.cuda else []
    if found.none:
        parts.append(notebook.text(*found.none))
    if found.alike:
        title, rows = found.alike
        parts += [notebook.text(title), notebook.facts(rows)]
    return notebook.block(found.head, *parts)


def function(told: str) -> str:
    head, _, rest = told.partition("\n")
    return notebook.block(head, notebook.code(rest) if rest else "")


def variants(db: Database, count: int, few: Sequence[Variant | None]) -> str:
    """Return the HTML of a number of variants, of which `few` are shown; None is in the place of the rest."""
    header = ("variant", "operands", "needs", "claim")
    rows = [
        (v.spelling, str(v.operands), requirement(db, v.requires), v.claim + ", hazard" * bool(v.hazards))
        if v
        else ("...", "", "", "")
        for v in few
    ]
    return notebook.block(_counted(count, "variant"), notebook.table(header, rows) if rows else "")


def findings(count: int, told: str) -> str:
    return notebook.block(_counted(count, "finding"), notebook.code(told) if count else "")


def database(db: Database, told: str) -> str:
    rows = [(o.name, o.summary) for o in db.opcodes.values()]
    return notebook.block(told.strip("<>"), notebook.table(("opcode", "what it does"), rows))


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
