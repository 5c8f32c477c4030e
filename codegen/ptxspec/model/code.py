"""A piece of semantics and its place."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..diagnostics import Diagnostic, Mark

# The folder of the files that are about one opcode each.
INSTRUCTIONS = "spec/instructions/"
# The folder of the judgements: a file for each opcode, named like the opcode's.
JUDGED = "spec/observed/judged/"


@dataclass(frozen=True)
class Code:
    """A piece of semantics as it stands in a file. `start` is the place of its first character."""

    text: str
    path: str
    start: Mark
    lines: tuple[str, ...] = field(repr=False, compare=False)

    def mark(self, line: int, column: int, length: int = 1) -> Mark:
        """Return the place in the file of a place in the text (line from 1, column from 0, as `ast` counts)."""
        return Mark(self.start.line + line - 1, self.start.column + column, length)

    def error(self, mark: Mark, message: str, help: str = "") -> Diagnostic:
        source = self.lines[mark.line - 1] if mark.line <= len(self.lines) else ""
        return Diagnostic(self.path, mark, message, help, source)
