"""Diagnostics of files: the error, its place, and the help that says what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .catalog.likeness import suggest

# Tuples rather than dataclasses: queries import this module, and start in half the time without `dataclasses`.


class Mark(NamedTuple):
    """A place in a text: line and column count from 1, `length` is the number of characters meant."""

    line: int
    column: int
    length: int = 1


class Diagnostic(NamedTuple):
    """One diagnostic. `path` is as the user would write it, `source` is the text of the whole line."""

    path: str
    mark: Mark
    message: str
    help: str = ""
    source: str = ""

    def __str__(self) -> str:
        head = f"{visible(self.path)}:{self.mark.line}:{self.mark.column}: error: {visible(_short(self.message))}"
        lines = [head]
        if self.source:
            # A line of a megabyte would hide the message: show the part around the column.
            start = max(0, self.mark.column - 100) if len(self.source) > 200 else 0
            shown = "".join(c if c.isprintable() else " " for c in self.source[start : start + 200])
            length = max(1, min(self.mark.length, len(shown) - (self.mark.column - 1 - start)))
            lines += [f"    {shown}", "    " + " " * (self.mark.column - 1 - start) + "^" * length]
        if self.help:
            lines.append(f"    help: {visible(_short(self.help))}")
        return "\n".join(lines)


def visible(text: str) -> str:
    """Return a text with escapes for what a terminal would not show, or would obey: a newline in the name of a file, an
    escape sequence, a change of the direction of writing."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


# Characters other than the plainly harmless ones, which are most of any text.
_OTHERS = re.compile(r"[^\n\t -~]")


def escaped(text: str) -> str:
    """Return a text of lines with escapes for all that a terminal would not show, or would obey."""
    return _OTHERS.sub(lambda m: m[0] if m[0].isprintable() else _escape(m[0]), text)


def _escape(c: str) -> str:
    # Python reads a byte of a file's name that is not text as one of these; a shell writes the byte.
    return f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode()


def _short(text: str) -> str:
    """Return a text, shortened if it is a name so long that it would hide what is said about it."""
    return text if len(text) <= 600 else f"{text[:300]} ... {text[-200:]}"


class PtxspecError(Exception):
    """An error for the user: its text is complete and needs no traceback."""


class SpecError(PtxspecError):
    """The specification has errors; `diagnostics` holds all of them."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = sorted(set(diagnostics))
        super().__init__("\n".join(map(str, self.diagnostics)))


class TooLargeError(SpecError):
    """The specification makes more work than any meaningful one; the rest of it is not checked."""


def unknown(what: str, name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the message about a rejected name, with help if there is any."""
    help = suggest(name, known, otherwise=otherwise)
    return f"unknown {what} '{visible(name)}'" + (f"; {help}" if help else "")


def display_path(path: Path, root: Path) -> str:
    """Return `path` relative to `root` with forward slashes if it is inside, else as it is."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return str(path)
