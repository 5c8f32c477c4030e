"""Files with new text: untouched parts remain byte for byte, and files are replaced atomically."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ..diagnostics import PtxspecError
from ..files import replace_text
from .reading import decoded, read_bytes


class Rewriting:
    """A file and its new text. Raises PtxspecError if it cannot be read, or is not UTF-8, as parts of it would be
    lost."""

    def __init__(self, path: str, change: Callable[[str], str]) -> None:
        self.path = path
        data = read_bytes(path)
        self._ends = "\r\n" if b"\r\n" in data else "\n"
        self._before = decoded(data, path)
        try:
            is_kept = self._before.replace("\n", self._ends).encode() == data
        except UnicodeEncodeError:
            is_kept = False
        if not is_kept:
            raise PtxspecError(f"{path} was not changed: it is not UTF-8, or has different kinds of line ends")
        self._after = change(self._before)

    @property
    def changes(self) -> bool:
        return self._after != self._before

    def write(self) -> None:
        """Write the file. Raises PtxspecError if that fails."""
        try:
            replace_text(Path(os.path.realpath(self.path)), self._after.replace("\n", self._ends))
        except OSError as e:
            raise PtxspecError(f"{self.path}: {e.strerror or e}") from None

    def diff(self) -> Iterator[str]:
        """Yield the lines that differ, as `diff -u` writes them, without line ends."""
        before, after = (text.splitlines(keepends=True) for text in (self._before, self._after))
        for line in difflib.unified_diff(before, after, self.path, self.path):
            yield line.rstrip("\n")
            if not line.endswith("\n"):
                yield "\\ No newline at end of file"
