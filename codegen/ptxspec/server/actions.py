"""Changes of a text that an editor offers: those that mend what was found, and comments that ignore it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..lint.findings import Finding
from ..lint.languages import JULIA, MARKDOWN, MLIR, PYTHON
from ..lint.mending import Edit, edit
from .judged import Judged

_IGNORE = re.compile(r"ptxspec:[ \t]*ignore[ \t]*\[[^\]\n]*(?P<end>\])")
_LONGEST = 60


class Action(NamedTuple):
    """A change that an editor may make. `mends`: the finding is gone because what it is about is right."""

    title: str
    finding: Finding
    change: Edit
    mends: bool


def actions(
    judged: Judged, start: int, end: int, span: Callable[[Finding], tuple[int, int]], again: Callable[[str], Judged]
) -> Iterator[Action]:
    """Yield the changes for what was found in a part of a text. `span` tells where a finding stands, and `again` judges
    a text in its place: a comment is offered where that shows that it is heard."""
    for f in judged.findings:
        first, last = span(f)
        if last < start or first > end:
            continue
        if change := edit(f, judged.text):
            yield Action(_title(change), f, change, True)
        if f.code not in ("unused-ignore", "unknown-ignore") and (change := _ignored(judged, f, first, again)):
            yield Action(f"Ignore {f.code} here", f, change, False)


def _title(change: Edit) -> str:
    if not change.new:
        return "Remove it"
    new = change.new if len(change.new) <= _LONGEST else f"{change.new[:_LONGEST]}..."
    return f"Write {new}" + (f", {change.doubt}" if change.doubt else "")


def _ignored(judged: Judged, f: Finding, at: int, again: Callable[[str], Judged]) -> Edit | None:
    """Return the change by which a comment on the line ignores a finding, and nothing else becomes of it."""
    text = judged.text
    line, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    end = len(text) if end < 0 else end
    if said := _IGNORE.search(text, line, end):
        tries = [Edit(said.start("end"), said.start("end"), f", {f.code}")]
    elif text[line:end].rstrip().endswith("\\") or judged.language == MARKDOWN:
        # A comment would end what goes on in the next line; in Markdown it is of a whole block.
        return None
    else:
        marks = {PYTHON: "#", JULIA: "#", MLIR: ";" if judged.path.endswith(".ll") else "//"}
        tries = [
            Edit(end, end, f"  {mark} ptxspec: ignore[{f.code}]")
            for mark in dict.fromkeys((marks.get(judged.language, "//"), "//"))
        ]
    before = _said(judged, f)
    for change in tries:
        after = again(text[: change.start] + change.new + text[change.end :])
        is_gone = not after.unread and (f.line, f.code) not in {(g.line, g.code) for g in after.findings}
        # What else is said of the same statement may come to light.
        if is_gone and not _said(after, f) - before:
            return change
    return None


def _said(judged: Judged, f: Finding) -> Counter[tuple[int, str]]:
    return Counter((g.line, g.code) for g in judged.findings if g.line != f.line)
