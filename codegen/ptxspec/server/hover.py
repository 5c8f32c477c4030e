"""What is known of an instruction, in a few lines of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..lint.linter import Met
from ..query.answers import told
from ..query.database import Database
from ..query.show import section
from ..query.verdicts import query
from .judged import Judged

# What Markdown would take for more than a character.
_MARKS = re.compile(r"([\\`*_\[\]<>#|])")


def hover(db: Database, judged: Judged, offset: int, manual: Path) -> tuple[int, int, str] | None:
    """Return the part of a text that an instruction's spelling takes, and what is known of it; None where none is.
    `manual` is the folder of the manual."""
    found = judged.at(offset)
    return (found[0].start, found[0].end, "\n".join(_lines(db, found, manual))) if found else None


def _lines(db: Database, found: list[Met], manual: Path) -> Iterator[str]:
    v = found[0].variant
    assert v is not None
    yield from (f"**{v}**: {_plain(db.opcodes[v.opcode].summary)}", "")
    meanings = {**db.modifiers, **{name: about["summary"] for name, about in db.data["types"].items()}}
    yield from (f"- `.{n}` {_plain(meanings[n])}" for n in v.spelling.split(".")[1:] if n in meanings)
    yield ""
    said: dict[str, None] = {}
    for m in found:
        if m.variant is None:
            continue
        answer = told(db, query(db, m.variant.spelling, m.variant.operands, m.target, m.ptx), m.target, m.ptx)
        said |= dict.fromkeys((f"- **{_plain(answer.head)}**", *(f"  - {_plain(r)}" for r in answer.reasons)))
        said |= dict.fromkeys(f"- {name}: {_plain(fact)}" for name, fact in answer.facts if name != "help")
        if answer.recipe:
            title, recipe = answer.recipe
            said |= dict.fromkeys((f"- {_plain(title)}\n  ```ptx\n  " + recipe.ptx.replace("\n", "\n  ") + "\n  ```",))
    yield from said
    page, _, anchor = section(v, v.operands).partition("#")
    if (manual / page).is_file():
        yield from ("", f"[The manual]({(manual / page).as_uri()}#{anchor})")


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)
