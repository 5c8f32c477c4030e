"""Findings -> the changes of the text that fix them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .findings import Finding

_COMMENT = re.compile(r"//|/\*")
# A code in an ignore comment, with its separator.
_IGNORED = re.compile(r"ptxspec:[ \t]*ignore(?:-file)?[ \t]*\[(?P<codes>[^\]\n]*)\]")
_CODE = re.compile(r"[^\s,]+")


class Edit(NamedTuple):
    """A change of a text: `new` replaces the text from `start` to `end`. `doubt` says what may be different then, such
    as "but for the bits of a NaN"; it is empty if nothing is."""

    start: int
    end: int
    new: str
    doubt: str = ""


# A fix may reveal further errors.
_MOST_PASSES = 10


def mended(text: str, judge: Callable[[str], Iterable[Finding]]) -> str:
    """Return a text with those findings fixed whose fixes are certain. `judge` finds them; a change that causes another
    finding is not made."""
    found = list(judge(text))
    for _ in range(_MOST_PASSES):
        edits = [e for f in found if (e := edit(f, text)) is not None and not e.doubt]
        for some in (_apart(edits), *([e] for e in edits)):
            new = _changed(text, some)
            left = list(judge(new)) if some else found
            if len(left) < len(found) and _kinds(left) <= _kinds(found):
                text, found = new, left
                break
        else:
            break
    return text


def _kinds(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(f.code for f in findings)


def _apart(edits: Iterable[Edit]) -> list[Edit]:
    """Return those changes that do not overlap an earlier one."""
    found: list[Edit] = []
    for e in sorted(edits):
        if not found or e.start >= found[-1].end:
            found.append(e)
    return found


def _changed(text: str, edits: Iterable[Edit]) -> str:
    for e in sorted(edits, reverse=True):
        text = text[: e.start] + e.new + text[e.end :]
    return text


def edit(finding: Finding, text: str) -> Edit | None:
    """Return the change that fixes a finding in the text that was checked, or None if no safe one is known."""
    if finding.code == "unused-ignore":
        return _without_ignore(finding, text)
    mend = finding.mend
    if mend is None or _COMMENT.search(mend.old):
        return None
    # Any other text there is escaped, or in several strings.
    if "".join(text[mend.start : mend.end].split()) != "".join(mend.old.split()):
        return None
    return Edit(mend.start, mend.end, mend.new, mend.doubt)


def _without_ignore(finding: Finding, text: str) -> Edit | None:
    """Return the change that removes a code from an ignore comment, or the whole comment if it has no other."""
    line = 0
    for _ in range(finding.line - 1):
        line = text.index("\n", line) + 1
    stop = text.find("\n", line)
    stop = len(text) if stop < 0 else stop
    at = line + finding.column - 1
    said = next((m for m in _IGNORED.finditer(text, line, stop) if m.start("codes") <= at < m.end("codes")), None)
    if said is None:
        return None
    codes = [m.span() for m in _CODE.finditer(text, *said.span("codes"))]
    i = next((i for i, (start, _) in enumerate(codes) if start == at), None)
    if i is None:  # if there are brackets within the brackets
        return None
    if len(codes) > 1:
        return Edit(at, codes[i + 1][0], "") if i + 1 < len(codes) else Edit(codes[i - 1][1], codes[i][1], "")
    before, behind = text[line : said.start()].rstrip(), text[said.end() : stop].strip()
    for mark, end in (("//", ""), ("#", ""), ("/*", "*/"), ("<!--", "-->")):
        if before.endswith(mark) and behind == end:
            before = before.removesuffix(mark).rstrip()
            # A line with only the comment is removed completely.
            return Edit(line + len(before), stop, "") if before else Edit(line, min(stop + 1, len(text)), "")
    return None
