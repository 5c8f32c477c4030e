"""What the terminal can show: how wide it is, and whether it has colours. Answers of the database import this, and with
it the standard library only."""

from __future__ import annotations

import os
import sys
from typing import TextIO

# Codes of the terminal's own colours, which its theme keeps readable.
_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


def width(least: int = 40, most: int = 1000) -> int:
    """The columns of the terminal, or what the variable COLUMNS says; 80 where the output is no terminal. Within
    bounds: what is wrapped must have room."""
    import shutil  # nothing is wrapped in most answers

    return min(max(shutil.get_terminal_size().columns, least), most)


def lines_width(most: int = 1000) -> int | None:
    """Where lines are broken on a terminal; None in a file or a pipe, where lines are searched and stay whole."""
    return width(most=most) if sys.stdout.isatty() else None


def has_colours(stream: TextIO) -> bool:
    """Whether what goes there may be coloured: on a terminal that has colours, unless NO_COLOR is set; anywhere where
    FORCE_COLOR or CLICOLOR_FORCE is."""
    set_ = os.environ.get
    if set_("NO_COLOR"):
        return False
    if any(set_(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and set_("TERM") != "dumb" and set_("CLICOLOR") != "0"


def painted(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """A text in a colour, bold or dim, where the stream has colours; standard output unless told."""
    if not text or not has_colours(stream or sys.stdout):
        return text
    return f"\033[{';'.join(_CODES[s] for s in styles)}m{text}\033[0m"
