"""Files as text, and the positions of their characters."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..diagnostics import PtxspecError
from ..files import BoundedStream
from ..ptx.complaints import Position

# The most megabytes read of a file. The limit is lower for streams, which may have no end.
_MEGABYTES = 64
_SHOWN_BEFORE, _SHOWN = 80, 160
# All bytes but control characters that do not occur in text.
_NO_CONTROL = bytes({*range(256)} - {*range(0x09), *range(0x0E, 0x1A), *range(0x1C, 0x20)})
# The beginning of a file reveals its encoding.
_BEGINNING = 1 << 18


class NotTextError(PtxspecError):
    """The error for a file that is not text, or in an unsupported encoding."""


class Whole:
    """The text of a file."""

    embedded = False

    def __init__(self, text: str) -> None:
        self.text = text
        # The last offset, its line and the start of that line: the next one is usually a little further on.
        self._known = (0, 1, 0)

    def place(self, offset: int) -> Position:
        """Return the position of the character at an offset."""
        text = self.text
        known, line, begin = self._known if offset >= self._known[0] else (0, 1, 0)
        line += text.count("\n", known, offset)
        begin = max(begin, text.rfind("\n", known, offset) + 1)
        self._known = (offset, line, begin)
        first = max(begin, offset - _SHOWN_BEFORE) if offset - begin > _SHOWN else begin
        end = text.find("\n", offset, offset + _SHOWN)
        source = text[first : end if end >= 0 else offset + _SHOWN].rstrip("\r")
        return Position(line, offset - begin + 1, source, offset - first)


def read(path: Path | str) -> str:
    """Return a file's text. Raises PtxspecError if it cannot be read, is too long or is not text."""
    return decoded(read_bytes(path), str(path))


def read_bytes(path: Path | str) -> bytes:
    """Return a file's content. Raises PtxspecError if it cannot be read or is too long, as a pipe without an end is."""
    if os.path.isdir(path):
        raise PtxspecError(f"{path} is a folder; name the files in it")
    try:
        with open(path, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return (
                BoundedStream(file, str(path), _MEGABYTES, "file") if is_file else BoundedStream(file, str(path))
            ).read()
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror or e}") from None


def decoded(data: bytes, name: str) -> str:
    """Return bytes as text. Comments are in all kinds of encodings, so a few errors in UTF-8 are tolerated."""
    text = data.decode("utf-8", "replace")
    strange = "\ufffd" in text and 8 * text.count("\ufffd", 0, _BEGINNING) > min(len(text), _BEGINNING)
    if strange or data.translate(None, _NO_CONTROL):
        raise NotTextError(f"{name} is not a text file")
    return text.replace("\r\n", "\n") if "\r" in text else text
