"""The key `folding` of an instruction file: what the assembler folds constants to where that differs from the
semantics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..basis import FOLDING, Basis
from ..model import Code, Folding, NanRule, Selector
from .context import Context, words
from .positioned import Document, Where


def read_folding(
    doc: Document,
    context: Context,
    entries: Iterable[dict[str, Any]],
    rules: Mapping[str, NanRule],
    selector: Callable[[Where, dict[str, Any]], Selector],
    code: Callable[[Where, str], Code | None],
) -> tuple[Folding, ...]:
    """Return the entries of one file. `selector` and `code` read selectors and semantics as elsewhere in the file."""
    found = []
    for i, entry in enumerate(entries):
        where: Where = ("folding", i)
        name = entry.get("nan")
        if name is not None and not context.known(doc, (*where, "nan"), name, rules, "NaN rule"):
            continue
        text = entry.get("semantics")
        found.append(
            Folding(
                selector=selector(where, entry),
                text=words(entry["text"]),
                basis=Basis((FOLDING,)),
                semantics=None if text is None else code((*where, "semantics"), text),
                nan=None if name is None else rules[name],
                shown=tuple(tuple(int(x, 16) for x in row) for row in entry["shown"]),
                mark=doc.marks[where],
            )
        )
    return tuple(found)
