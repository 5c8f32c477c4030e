"""The messages that the specification answers: those of tools that compile, link and load PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ..query.database import Database


class MessageRow(NamedTuple):
    """A row of spec/messages.yaml: its schema says what each field is."""

    tool: str
    pattern: re.Pattern[str]
    name: str
    number: str
    alone: bool
    warns: bool
    says: Mapping[str, Mapping[str, str]]
    feature: str
    computed: str
    change: str
    why: tuple[str, ...]
    others: tuple[str, ...]

    def parts(self, m: re.Match[str]) -> dict[str, str]:
        """Return the parts of a message by name, as they are written in an answer."""
        return {name: self.says.get(name, {}).get(part or "", part or "") for name, part in m.groupdict().items()}


@lru_cache(maxsize=1)
def rows(db: Database) -> tuple[MessageRow, ...]:
    return tuple(
        MessageRow(
            r["tool"],
            re.compile(r["message"]),
            r.get("name", ""),
            r.get("number", ""),
            r.get("alone", False),
            r.get("warns", False),
            r.get("says", {}),
            r.get("feature", ""),
            r.get("computed", ""),
            r.get("change", ""),
            tuple(r.get("why", ())),
            tuple(r.get("others", ())),
        )
        for r in db.data["messages"]
    )


def fitting(db: Database, text: str) -> Iterator[tuple[MessageRow, re.Match[str]]]:
    """Yield the rows that match a message."""
    for row in rows(db):
        if (m := row.pattern.search(text)) is not None:
            yield row, m


def first(db: Database, text: str) -> tuple[MessageRow, re.Match[str]] | None:
    return next(fitting(db, text), None)
