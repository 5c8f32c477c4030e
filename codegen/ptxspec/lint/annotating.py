"""Comments that suppress findings, written into the files on the finding's line, in the syntax of the language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from .findings import Finding
from .ignores import WORD
from .languages import CONTAINERS, CPP, JULIA, PROGRAMS, PTX, PYTHON
from .languages.programs import Program
from .reading import Whole

_IGNORED = re.compile(rf"(?P<before>{WORD} ignore\[)(?P<codes>[^\]\n]*)\]")
_OF_COMMENTS = frozenset(["unused-ignore", "unknown-ignore"])
# MLIR has the comments of C++, LLVM's own assembly does not.
_LLVM = ".ll"
_HASH = frozenset([PYTHON, JULIA])


def ignoring(text: str, file: str, language: str, judge: Callable[[str], Iterable[Finding]]) -> str:
    """Return a text with comments that suppress what `judge` finds in it. The text is unchanged if a comment would
    itself be found, for example where the language has no comments."""
    found = list(judge(text))
    new = annotated(text, found, file, language)
    known = Counter((f.code, f.message) for f in found)
    left = Counter((f.code, f.message) for f in judge(new)) if new != text else known
    return new if left <= known else text


def annotated(text: str, findings: Iterable[Finding], file: str, language: str) -> str:
    """Return a text with comments that suppress the findings in it. A line that cannot have one, such as a line of
    Python continued by a backslash, is unchanged."""
    codes: dict[int, list[str]] = {}
    for f in findings:
        # Findings about comments are to be fixed, not suppressed.
        if f.code not in _OF_COMMENTS:
            codes.setdefault(f.line, []).append(f.code)
    if language in CONTAINERS or not codes:
        return text
    program = PROGRAMS[language](Whole(text)) if language in PROGRAMS else None
    mark = "#" if language in _HASH else ";" if file.lower().endswith(_LLVM) else "//"
    lines, offset = text.split("\n"), 0
    for number, line in enumerate(lines, 1):
        if number in codes:
            lines[number - 1] = _with_comment(
                line, offset + len(line), sorted(set(codes[number])), mark, language, program
            )
        offset += len(line) + 1
    return "\n".join(lines)


def _with_comment(line: str, end: int, codes: list[str], mark: str, language: str, program: Program | None) -> str:
    """Return a line with a comment that suppresses codes; the line ends at `end`, and `mark` begins a comment."""
    if said := _IGNORED.search(line):
        every = sorted({*filter(None, map(str.strip, said["codes"].split(","))), *codes})
        return f"{line[: said.start()]}{said['before']}{', '.join(every)}]{line[said.end() :]}"
    says = f"{WORD} ignore[{', '.join(codes)}]"
    last = program.tree.at(max(end - 1, 0)) if program else None
    goes_on = line.endswith("\\")
    if program is not None and last is not None:
        string = last.within(program.strings)
        if string is not None and string.node.end_byte > end:
            # A string contains PTX, so its comments are PTX's.
            return line if goes_on else f"{line}  // {says}"
        if comment := last.within(program.comments):
            return line if comment.node.end_byte > end or goes_on else f"{line}; {says}"
    if goes_on:
        return f"{line[:-1].rstrip()} /* {says} */ \\" if language == CPP else line
    if language == PTX and "//" in line:
        return f"{line}; {says}"
    return f"{line}  {mark} {says}"
