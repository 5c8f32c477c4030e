"""Comments that suppress findings, written into the files on the finding's line, in the syntax of the language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from .findings import Finding
from .ignores import WORD
from .languages import CONTAINERS, CPP, JULIA, MARKDOWN, PROGRAMS, PTX, PYTHON
from .languages.programs import ParsedProgram
from .reading import Whole

_IGNORED = re.compile(rf"(?P<before>{WORD} ignore\[)(?P<codes>[^\]\n]*)\]")
_OF_COMMENTS = frozenset(["unused-ignore", "unknown-ignore"])
# MLIR has the comments of C++, LLVM's own assembly does not.
_LLVM = ".ll"
_HASH = frozenset([PYTHON, JULIA])
# Before a fence that follows the mark of a list, a comment would be another item.
_OWN_LINE = re.compile(r"(?P<before>[ \t>]*+)(?:`{3}|~{3})")


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
    Python continued by a backslash, is unchanged. In Markdown, a comment is about the whole block."""
    codes: dict[int, list[str]] = {}
    for f in findings:
        # Findings about comments are to be fixed, not suppressed.
        if f.code not in _OF_COMMENTS:
            codes.setdefault(f.line, []).append(f.code)
    if language == MARKDOWN:
        return _in_markdown(text, codes)
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


def _in_markdown(text: str, codes: Mapping[int, Sequence[str]]) -> str:
    """Return Markdown with a comment of HTML before each block that has findings."""
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    lines = text.split("\n")
    for _, block in reversed(list(CONTAINERS[MARKDOWN](Whole(text)))):
        first, last = (bisect_right(starts, block.outside(at)) for at in (0, len(block.text) - 1))
        wanted = sorted({code for number in range(first, last + 1) for code in codes.get(number, ())})
        fence = first - 2
        if wanted and (m := _OWN_LINE.match(lines[fence])):
            if fence and lines[fence - 1].lstrip(" \t>").startswith("<!--") and _IGNORED.search(lines[fence - 1]):
                lines[fence - 1] = _with_more(lines[fence - 1], wanted)
            else:
                lines.insert(fence, f"{m['before']}<!-- {WORD} ignore[{', '.join(wanted)}] -->")
    return "\n".join(lines)


def _with_more(line: str, codes: Iterable[str]) -> str:
    """Return a line in which the comment that suppresses codes suppresses these too; as it is without such a one."""

    def more(said: re.Match[str]) -> str:
        every = sorted({*filter(None, map(str.strip, said["codes"].split(","))), *codes})
        return f"{said['before']}{', '.join(every)}]"

    return _IGNORED.sub(more, line, count=1)


def _with_comment(
    line: str, end: int, codes: list[str], mark: str, language: str, program: ParsedProgram | None
) -> str:
    """Return a line with a comment that suppresses codes; the line ends at `end`, and `mark` begins a comment."""
    if _IGNORED.search(line):
        return _with_more(line, codes)
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
