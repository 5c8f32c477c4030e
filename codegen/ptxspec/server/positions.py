"""A document with the positions that an editor uses: lines, and columns in units of an encoding."""

from __future__ import annotations

import re
from bisect import bisect_right

_END = re.compile(r"\r\n|\n|\r")
# The encodings in which editors count, each with the bytes of a unit.
_ENCODINGS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Lines:
    """The lines of a text. Python's own splitlines splits at more characters than editors do."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text, self._encoding = text, encoding
        self._starts = [0, *(m.end() for m in _END.finditer(text))]
        self._of_lint: list[int] | None = None

    def offset(self, line: int, units: int) -> int:
        """Return the offset of a place. A place behind the end of a line is its end."""
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self.end(self._starts[line])
        inside = self.text[start:end]
        if inside.isascii():
            return min(start + units, end)
        for i, character in enumerate(inside):
            units -= self._units(character)
            if units < 0:
                return start + i
        return end

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line of an offset, and the number of units before it in that line, both from 0."""
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        return line, self._units(before)

    def start(self, line: int) -> int:
        """Return the offset of a line of lint, which counts from 1 and ends no line at a single \\r."""
        if self._of_lint is None:
            self._of_lint = [0, *(m.end() for m in re.finditer("\n", self.text))]
        return self._of_lint[line - 1]

    def end(self, offset: int) -> int:
        """Return the offset of the end of the line that contains an offset."""
        found = _END.search(self.text, offset)
        return found.start() if found else len(self.text)

    def _units(self, text: str) -> int:
        if text.isascii():
            return len(text)
        name, size = _ENCODINGS[self._encoding]
        # Some editors send half a character.
        return len(text.encode(name, "surrogatepass")) // size


class Document:
    """A text in an editor. `source` is the editor's text; `text` is what lint reads, with one character for each end of
    a line, so that lines and columns are the same in both."""

    def __init__(self, source: str, encoding: str = "utf-16", version: int = 0) -> None:
        self.source, self._encoding, self.version = source, encoding, version

    @property
    def text(self) -> str:
        return self.source.replace("\r\n", "\n")

    def changed(self, start: tuple[int, int], end: tuple[int, int], new: str, version: int) -> Document:
        """Return the document with new text from one place to another."""
        lines = Lines(self.source, self._encoding)
        a, b = lines.offset(*start), lines.offset(*end)
        return Document(self.source[:a] + new + self.source[b:], self._encoding, version)
