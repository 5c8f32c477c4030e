"""A text of any length, seen through a window: what was read of it and not yet consumed, and where that stands."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..diagnostics import PtxspecError
from ..files import Bounded
from ..ptx.complaints import Position

CHUNK = 1 << 18
# The longest statement, comment or string that is still read as a whole.
LIMIT = 1 << 20
_SHOWN_BEFORE, _SHOWN = 80, 160
# So much is known of what was used: what a string is may depend on what stands before it.
LOOKED_BACK = 400
# All bytes but the control characters that no text has.
_NO_CONTROL = bytes({*range(256)} - {*range(0x09), *range(0x0E, 0x1A), *range(0x1C, 0x20)})


class NotTextError(PtxspecError):
    """What was read is no text, or in an encoding that is not read."""


class Window:
    """`text` begins at `line` and, from 0, `column` of the file, behind `before`. The reader sets `used`, the length it
    is done with."""

    embedded = False

    def __init__(self) -> None:
        self.text = self.before = ""
        self.final = False
        self.used = 0
        self.line = 1
        self.column = 0
        # The place last asked for, its line and where that begins: mostly the next one is a little further on.
        self._known = (0, 1, 0)

    @property
    def full(self) -> bool:
        """Too long to wait for more: the reader must move on."""
        return len(self.text) >= LIMIT

    def advance(self, more: str, final: bool) -> None:
        """Drop what was used, take more in."""
        newlines = self.text.count("\n", 0, self.used)
        if newlines:
            self.line += newlines
            self.column = self.used - 1 - self.text.rindex("\n", 0, self.used)
        else:
            self.column += self.used
        self.before = (self.before + self.text[max(0, self.used - LOOKED_BACK) : self.used])[-LOOKED_BACK:]
        self.text = self.text[self.used :] + more
        self.final = final
        self.used = 0
        self._known = (0, self.line, 0)

    def place(self, offset: int) -> Position:
        """Where the character at an offset of `text` stands in the file."""
        text = self.text
        known, line, begin = self._known
        if offset < known:
            known, line, begin = 0, self.line, 0
        line += text.count("\n", known, offset)
        begin = text.rfind("\n", known, offset) + 1 or begin
        self._known = (offset, line, begin)
        column = offset - begin + (self.column if begin == 0 else 0)
        first = max(begin, offset - _SHOWN_BEFORE) if offset - begin > _SHOWN else begin
        end = text.find("\n", offset, offset + _SHOWN)
        source = text[first : end if end >= 0 else offset + _SHOWN].rstrip("\r")
        return Position(line, column + 1, source, offset - first)


def windows(chunks: Iterable[str]) -> Iterator[Window]:
    """The same window again and again, further on each time; the last one is `final`."""
    window = Window()
    before = ""
    for chunk in chunks:
        if before:
            window.advance(before, final=False)
            yield window
        before = chunk
    window.advance(before, final=True)
    yield window


def chunks(text: str) -> Iterator[str]:
    """A text in memory, in pieces as a file would come."""
    for i in range(0, len(text), CHUNK):
        yield text[i : i + CHUNK]


def read(path: Path) -> Iterator[str]:
    """A file in pieces. Raises PtxspecError for one that cannot be read or is not text."""
    if path.is_dir():
        raise PtxspecError(f"{path}: is a folder; name the files in it")
    try:
        with path.open("rb") as file:
            yield from decode(file, str(path))
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror or e}") from None


def decode(file: BinaryIO | Bounded, name: str) -> Iterator[str]:
    """Bytes as text, in pieces. Comments come in all kinds of encodings, so that what is not UTF-8 is no error by
    itself."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    first = True
    while chunk := file.read(CHUNK):
        yield _checked(chunk, decoder.decode(chunk), name, first)
        first = False
    if rest := decoder.decode(b"", final=True):
        yield rest


def decoded(data: bytes, name: str) -> str:
    """The same at once."""
    return _checked(data, data.decode("utf-8", "replace"), name, True)


def _checked(data: bytes, text: str, name: str, first: bool) -> str:
    strange = first and "\ufffd" in text and 8 * text.count("\ufffd", 0, CHUNK) > min(len(text), CHUNK)
    if strange or data.translate(None, _NO_CONTROL):
        raise NotTextError(f"{name}: not a text file")
    return text.replace("\r\n", "\n") if "\r" in text else text
