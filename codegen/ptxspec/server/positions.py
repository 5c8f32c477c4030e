"""A document with the positions that an editor uses: lines, and columns in units of an encoding."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

_END = re.compile(r"\r\n|\n|\r")
# The encodings in which editors count, each with the bytes of a unit and the characters that take more than one.
_ENCODINGS = {
    "utf-8": ("utf-8", 1, re.compile(r"[^\0-\x7f]")),
    "utf-16": ("utf-16-le", 2, re.compile(r"[^\0-\uffff]")),
    "utf-32": ("utf-32-le", 4, re.compile(r"(?!)")),
}


class Lines:
    """The lines of a text. Python's own splitlines splits at more characters than editors do."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        if "\r" in text:
            self._starts = [0, *(m.end() for m in _END.finditer(text))]
        else:
            self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))][:-1]
        self._of_lint: list[int] | None = None
        name, size, wide = _ENCODINGS[encoding]
        # A line may have a megabyte and thousands of findings: no place is counted from the beginning of its line.
        self._wide = [] if text.isascii() else [m.start() for m in wide.finditer(text)]
        # Some editors send half a character.
        units = (len(text[i].encode(name, "surrogatepass")) // size for i in self._wide)
        self._more = [0, *accumulate(n - 1 for n in units)]

    def offset(self, line: int, units: int) -> int:
        """Return the offset of a place. A place behind the end of a line is its end."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        offsets = range(start, self.end(start) + 1)
        return start + bisect_right(offsets, units, key=lambda offset: self._units(start, offset)) - 1

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line of an offset, and the number of units before it in that line, both from 0."""
        line = bisect_right(self._starts, offset) - 1
        return line, self._units(self._starts[line], offset)

    def start(self, line: int) -> int:
        """Return the offset of a line of lint, which counts from 1 and ends no line at a single \\r."""
        if self._of_lint is None:
            self._of_lint = [0, *(m.end() for m in re.finditer("\n", self.text))]
        return self._of_lint[line - 1]

    def end(self, offset: int) -> int:
        """Return the offset of the end of the line that contains an offset."""
        line = bisect_right(self._starts, offset)
        if line == len(self._starts):
            return len(self.text)
        end = self._starts[line]
        return end - (2 if self.text.startswith("\r\n", end - 2) else 1)

    def _units(self, start: int, end: int) -> int:
        """Return the number of units between two offsets."""
        if not self._wide:
            return end - start
        return end - start + self._more[bisect_left(self._wide, end)] - self._more[bisect_left(self._wide, start)]


class TextDocument:
    """A text in an editor. `source` is the editor's text; `text` is what lint reads, with one character for each end of
    a line, so that lines and columns are the same in both."""

    def __init__(self, source: str, encoding: str = "utf-16", version: int = 0) -> None:
        self.source, self._encoding, self.version = source, encoding, version

    @property
    def text(self) -> str:
        return self.source.replace("\r\n", "\n")

    def changed(self, start: tuple[int, int], end: tuple[int, int], new: str, version: int) -> TextDocument:
        """Return the document with new text from one place to another."""
        lines = Lines(self.source, self._encoding)
        a, b = lines.offset(*start), lines.offset(*end)
        return TextDocument(self.source[:a] + new + self.source[b:], self._encoding, version)
