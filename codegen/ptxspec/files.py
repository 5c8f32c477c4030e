"""Files that are written as a whole or not at all, by one process at a time, and input of a bounded length."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from .diagnostics import PtxspecError

# The most megabytes that are read of a stream, which may have no end; all of it is kept.
_MEGABYTES = 64


def why_unreadable(path: Path, root: Path) -> str:
    """Return the reason why a file of a specification must not be read; empty if it may. A link could bring text from
    elsewhere into error messages and into the manual, and a device has no end."""
    spec = root / "spec"
    within = os.path.realpath(spec if path.is_relative_to(spec) else root)
    if not os.path.realpath(path).startswith(os.path.join(within, "")):
        return "it is a link to a file outside spec/"
    return "it is not a regular file" if path.exists() and not path.is_file() else ""


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Read a regular file of at most `most` bytes. Pipes and devices are not read: they may have no end. Raises
    OSError."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file")
    with path.open("rb") as file:
        data = file.read() if most is None else file.read(most + 1)
    if most is not None and len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most} bytes")
    return data


def standard_input() -> BinaryIO:
    """Return standard input as a stream of bytes. Raises PtxspecError if it is closed."""
    if sys.stdin is None:
        raise PtxspecError("standard input is closed")
    return sys.stdin.buffer


class BoundedStream:
    """A stream or a pipe of which at most 64 MB are read by default. `read` raises PtxspecError if there is more."""

    def __init__(self, file: BinaryIO, name: str, megabytes: int = _MEGABYTES, what: str = "stream") -> None:
        self._file = file
        self._too_long = f"{name} is longer than {megabytes} MB, the limit for a {what}"
        self._left = megabytes << 20

    def read(self, size: int = -1) -> bytes:
        most = self._left + 1
        data = self._file.read(most if size < 0 else min(size, most))
        self._left -= len(data)
        if self._left < 0:
            raise PtxspecError(self._too_long)
        return data


def replace_text(path: Path, text: str) -> None:
    """Write a temporary file and move it into place. If that fails, as on a full disk, the old file is unchanged.

    The temporary file is always new, and has the permissions of the old one. A link is replaced, because the file that
    it leads to may belong to somebody else."""
    update_text(path, lambda: text)


def update_text(path: Path, made: Callable[[], str]) -> None:
    """Write a file as `replace_text` does, with a text made from its content while no other process writes to this
    folder."""
    with only_one(path.parent):
        text = made()
        # The name is always the same, so that the next run removes the file of a killed run. A link is not followed.
        new = path.with_name(f"{path.name}.ptxspec.new")
        new.unlink(missing_ok=True)
        try:
            with new.open("x", encoding="utf-8", newline="\n") as file:
                if path.is_file() and not path.is_symlink():
                    new.chmod(stat.S_IMODE(path.stat().st_mode))
                file.write(text)
            new.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):  # a folder in which nothing can be written may allow no removal either
                new.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Let processes that write to the same folder wait for each other, where the system has locks. Raises OSError."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_taken(file: int) -> bool:
    """Return whether another process holds a lock on an open file. If not, this process holds it until it closes the
    file."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        pass
    return False
