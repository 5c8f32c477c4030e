"""The terminal: how wide it is, whether it has colours, and the one way by which text goes there.

Names that were given, logs and files of strangers may hold what a terminal obeys: a new title, a cleared screen, text
from right to left. All that a command prints is escaped on its way out (`escaping`), whoever prints it. Answers of the
database import this, and with it the standard library only."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from .diagnostics import escaped

# Codes of the terminal's own colours, which its theme keeps readable.
_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


def width(least: int = 40, most: int = 1000) -> int:
    """The columns of the terminal, or what the variable COLUMNS says; 80 where the output is no terminal. Within
    bounds: what is wrapped must have room."""
    import shutil  # nothing is wrapped in most answers

    return min(max(shutil.get_terminal_size().columns, least), most)


def lines_width(most: int = 1000) -> int | None:
    """Return where lines are broken on a terminal; None in a file or a pipe, where lines are searched and stay
    whole."""
    return width(most=most) if sys.stdout.isatty() else None


def has_colours(stream: TextIO) -> bool:
    """Return whether a stream may be coloured: a terminal that has colours, or any stream where FORCE_COLOR or
    CLICOLOR_FORCE is set; none where NO_COLOR is."""
    set_ = os.environ.get
    if set_("NO_COLOR"):
        return False
    if any(set_(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and set_("TERM") != "dumb" and set_("CLICOLOR") != "0"


def painted(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """Return a text in a colour, bold or dim, where the stream has colours; standard output unless told. The colours
    are seen where it is printed within `escaping`."""
    if not text or not has_colours(stream or sys.stdout):
        return text
    return f"{_OURS}{';'.join(_CODES[s] for s in styles)}m{text}{_OURS}0m"


@contextlib.contextmanager
def escaping() -> Iterator[None]:
    """Standard output and standard error show, until the end, what a terminal would obey, and do not send it.

    Where standard output is closed, whoever prints gets an OSError: an answer that nobody gets is none."""
    before = sys.stdout, sys.stderr
    out = _Closed() if before[0] is None else before[0]
    # What is wrong cannot be told without standard error: the exit code remains.
    err = open(os.devnull, "w") if before[1] is None else before[1]  # noqa: SIM115 -- until the process ends
    sys.stdout, sys.stderr = (cast(TextIO, _Escaping(stream)) for stream in (out, err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def as_it_is(stream: TextIO) -> TextIO:
    """Return the stream behind `escaping`, for what steers the terminal itself, as a progress bar does."""
    return cast(TextIO, stream.behind) if isinstance(stream, _Escaping) else stream


# What begins our own codes on their way to the stream. Nobody can guess it.
_OURS = f"\033{os.urandom(8).hex()}["
_CODE = re.compile(f"({re.escape(_OURS)}[0-9;]*m)")


def unpainted(text: str) -> str:
    """Return a text without what `painted` has put there: as many letters as are seen."""
    return _CODE.sub("", text)


class _Escaping:
    """A stream of text, with what is written to it escaped."""

    def __init__(self, behind: Any) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        parts = _CODE.split(text)
        self.behind.write("".join(escaped(p) if i % 2 == 0 else _sent(p) for i, p in enumerate(parts)))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def _sent(code: str) -> str:
    return f"\033[{code.removeprefix(_OURS)}"


class _Closed:
    """Standard output that whoever started the command has closed."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "standard output is closed")
