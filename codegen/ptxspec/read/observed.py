"""spec/observed/ -> what machines found out about the specification. No result depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Entry, Evidence, Key, Recording, Speed, SpeedTable
from .context import Context, words
from .positioned import Document


def read_evidence(doc: Document | None) -> Evidence | None:
    if doc is None:
        return None
    d = doc.data
    ledger = tuple(Entry(e["variant"], int(e["operands"]), e["manual"], e["assembler"]) for e in d.get("ledger") or ())
    return Evidence(d["assembler"], int(d["pairs"]), int(d["variants"]), int(d["spellings"]), ledger)


def read_speed(doc: Document | None, context: Context) -> Speed | None:
    if doc is None:
        return None
    tables = []
    for i, t in enumerate(doc.data["tables"]):
        for j, row in enumerate(t["rows"]):
            if len(row) != len(t["columns"]):
                message = f"{len(row)} cells under {len(t['columns'])} columns"
                context.errors.append(doc.error(("tables", i, "rows", j), message, 'an empty cell is written as ""'))
        rows = tuple(map(tuple, t["rows"]))
        tables.append(SpeedTable(words(t["title"]), words(t["note"]), tuple(t["columns"]), rows))
    return Speed(doc.data["command"], doc.data["date"], doc.data["machine"], tuple(tables))


def read_recordings(doc: Document | None, context: Context) -> tuple[Recording, ...]:
    """Variants that are no longer in the specification say nothing, and are left alone."""
    if doc is None:
        return ()
    return tuple(
        Recording(
            path=r["path"],
            gpu=r["gpu"],
            target=r["target"],
            driver=str(r["driver"]),
            compiler=r["compiler"],
            date=str(r["date"]),
            equal=_keys(r["equal"]),
            inside=_keys(r["inside"]),
            unequal=_keys(r["unequal"]),
        )
        for i, r in enumerate(doc.data["recordings"])
        if context.known(doc, ("recordings", i, "target"), r["target"], context.targets, "target")
    )


def _keys(entries: list[Mapping[str, Any]]) -> frozenset[Key]:
    return frozenset((e["variant"], int(e["operands"])) for e in entries)
