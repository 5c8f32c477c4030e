"""spec/messages.yaml -> messages of the tools that compile, link and load PTX, and the remedies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

from .context import Context, words
from .positioned import Document, Where

# The names that an answer about a feature may contain besides parts of the message.
_OF_FEATURES = frozenset(["target", "ptx"])


def read_messages(doc: Document | None, context: Context) -> tuple[Mapping[str, Any], ...]:
    """Return each row as queries read it; none without the file."""
    return tuple(_row(doc, i, row, context) for i, row in enumerate(doc.data["messages"])) if doc else ()


def _row(doc: Document, place: int, row: Mapping[str, Any], context: Context) -> Mapping[str, Any]:
    where = ("messages", place)
    try:
        parts = {*re.compile(row["message"]).groupindex}
    except re.error as e:
        context.errors.append(doc.error((*where, "message"), f"not a pattern: {e}"))
        return {}
    known = parts | (_OF_FEATURES if "feature" in row else set())
    for part in row.get("says", ()):
        context.known(doc, (*where, "says", part), part, parts, "part of the message")
    written: list[tuple[Where, str]] = [(("change",), row.get("change", "")), (("feature",), row.get("feature", ""))]
    written += [((key, i), text) for key in ("why", "others") for i, text in enumerate(row.get(key, ()))]
    for key, text in written:
        try:
            named = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        except ValueError as e:
            help = "parts of the message stand in braces, as in {name}; a brace itself is written twice"
            context.errors.append(doc.error((*where, *key), f"not a text with parts: {e}", help))
            continue
        for name in sorted(named - known):
            context.known(doc, (*where, *key), name, known, "part of the message")
    lines = {key: [words(text) for text in row[key]] for key in ("why", "others") if key in row}
    return {**row, **lines, **({"change": words(row["change"])} if "change" in row else {})}
