"""The terminal: its width, whether it has colours, and the one way by which text gets there.

Arguments, logs and files from strangers may contain text that a terminal obeys: a new title, a cleared screen, text
from right to left. Everything that a command prints is therefore escaped on its way out (`escaping`). Answers of the
database import this module, so it needs the standard library only."""

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
    """Return the columns of the terminal, or the variable COLUMNS; 80 if the output is no terminal. The bounds leave
    room for wrapped text."""
    import shutil  # most answers need no wrapping

    return min(max(shutil.get_terminal_size().columns, least), most)


def lines_width(most: int = 1000) -> int | None:
    """Return the width at which lines are broken on a terminal; None in a file or a pipe, whose lines stay whole for
    searches."""
    return width(most=most) if sys.stdout.isatty() else None


def has_colours(stream: TextIO) -> bool:
    """Return whether output to a stream may be coloured. A terminal with colours may, and any stream if FORCE_COLOR or
    CLICOLOR_FORCE is set; none if NO_COLOR is set."""
    set_ = os.environ.get
    if set_("NO_COLOR"):
        return False
    if any(set_(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and set_("TERM") != "dumb" and set_("CLICOLOR") != "0"


def painted(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """Return a text in a colour, bold or dim, if the stream has colours; the default is standard output. The colours
    are visible only if the text is printed within `escaping`."""
    if not text or not has_colours(stream or sys.stdout):
        return text
    return f"{_OURS}{';'.join(_CODES[s] for s in styles)}m{text}{_OURS}0m"


@contextlib.contextmanager
def escaping() -> Iterator[None]:
    """Escape what a terminal would obey in all output to standard output and standard error, until the end of the
    context.

    If standard output is closed, printing raises an OSError: an answer that nobody gets is none."""
    before = sys.stdout, sys.stderr
    out = _Closed() if before[0] is None else before[0]
    # Without standard error only the exit code can report a failure.
    err = open(os.devnull, "w") if before[1] is None else before[1]  # noqa: SIM115 -- until the process ends
    sys.stdout, sys.stderr = (cast(TextIO, _Escaping(stream)) for stream in (out, err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def as_it_is(stream: TextIO) -> TextIO:
    """Return the stream behind `escaping`, for output that controls the terminal itself, such as a progress bar."""
    return cast(TextIO, stream.behind) if isinstance(stream, _Escaping) else stream


# The prefix of our own codes on their way to the stream. Nobody can guess it.
_OURS = f"\033{os.urandom(8).hex()}["
_CODE = re.compile(f"({re.escape(_OURS)}[0-9;]*m)")


def unpainted(text: str) -> str:
    """Return a text without the codes that `painted` added, so that its length is the number of visible characters."""
    return _CODE.sub("", text)


class _Escaping:
    """A text stream that escapes everything written to it."""

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
    """Standard output that the caller of the command has closed."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "standard output is closed")
