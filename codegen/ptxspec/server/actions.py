"""Changes of a text that an editor offers: those that fix findings, and comments that ignore them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..lint.annotating import annotated
from ..lint.findings import Finding
from ..lint.mending import Edit, edit
from .judged import CheckedText

_LONGEST = 60
# The most findings about one statement that are ignored together.
_MOST_REVEALED = 4


class Action(NamedTuple):
    """A change that an editor may make. `mends`: it fixes the cause of the finding."""

    title: str
    finding: Finding
    change: Edit
    mends: bool


def actions(
    judged: CheckedText,
    start: int,
    end: int,
    span: Callable[[Finding], tuple[int, int]],
    again: Callable[[str], CheckedText],
) -> Iterator[Action]:
    """Yield the changes for the findings in a part of a text. `span` returns the place of a finding. `again` checks a
    changed text: a comment is offered only if the check shows that it works."""
    for f in judged.findings:
        first, last = span(f)
        if last < start or first > end:
            continue
        if change := edit(f, judged.text):
            yield Action(_title(change), f, change, True)
        if f.code not in ("unused-ignore", "unknown-ignore") and (ignored := _ignored(judged, f, again)):
            change, codes = ignored
            yield Action(f"Ignore {' and '.join(codes)} here", f, change, False)


def _title(change: Edit) -> str:
    if not change.new:
        return "Remove it"
    new = change.new if len(change.new) <= _LONGEST else f"{change.new[:_LONGEST]}..."
    return f"Write {new}" + (f", {change.doubt}" if change.doubt else "")


def _ignored(judged: CheckedText, f: Finding, again: Callable[[str], CheckedText]) -> tuple[Edit, list[str]] | None:
    """Return the change that adds a comment to ignore a finding, and the codes that this ignores; None if it would not
    work or has other effects. Ignoring one finding may reveal another about the same statement, which is ignored too:
    otherwise the statement would still be underlined."""
    here, ignored = {g.code for g in judged.findings if g.line == f.line}, [f]
    for _ in range(_MOST_REVEALED):
        new = annotated(judged.text, ignored, judged.path, judged.language)
        if new == judged.text:
            return None
        after = again(new)
        left = {g.code: g for g in after.findings if g.line == f.line}
        if after.unread or f.code in left or _said(after, f) - _said(judged, f):
            return None
        revealed = [g for code, g in left.items() if code not in here]
        if not revealed:
            return _difference(judged.text, new), [g.code for g in ignored]
        ignored += revealed
    return None


def _difference(text: str, new: str) -> Edit:
    """Return the change from one text to another."""
    start = _common(text, new)
    behind = _common(text[start:][::-1], new[start:][::-1])
    return Edit(start, len(text) - behind, new[start : len(new) - behind])


def _common(a: str, b: str) -> int:
    """Return the length of the common beginning of two texts."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _said(judged: CheckedText, f: Finding) -> Counter[tuple[int, str]]:
    return Counter((g.line, g.code) for g in judged.findings if g.line != f.line)
