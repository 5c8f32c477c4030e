"""Folders of libraries in C: the user's cache, or a temporary one in its place, and in these one for each compilation.

What is loaded from there runs: nobody but the user and the system's may write there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

# Seconds after which what a compilation has left is nobody's, where there are no locks to tell that it was killed.
_ABANDONED: Final = 3600


def places() -> Iterator[str]:
    """Where a library may lie; the last, which exists, is where it is put. Raises OSError where there is none."""
    folder = cache()
    if folder and is_ones_own(folder):
        yield folder
        with suppress(OSError):
            os.makedirs(folder, 0o700, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return
    yield _temporary()


def cache() -> str:
    """The folder where libraries are kept, in the user's cache; empty where there is none."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
    base = os.path.expanduser(base if os.path.isabs(base) or base.startswith("~") else "~/.cache")
    # Nothing is loaded from wherever the process happens to stand.
    return os.path.join(base, "ptxemu") if os.path.isabs(base) else ""


def is_ones_own(folder: str) -> bool:
    """Can nobody but this user and the system's put a library there, or nobody at all yet?"""
    if sys.platform == "win32":
        return True  # folders below the user's are
    try:
        found = os.stat(folder)
    except OSError:
        return True
    return found.st_uid in (0, os.getuid()) and not found.st_mode & 0o022


def _temporary() -> str:
    """The user's own among the temporary folders: one for all processes, since none can be relied on to remove what it
    made, and zig takes seconds to fill its part. Raises OSError."""
    import stat
    import tempfile

    if sys.platform == "win32":
        # Temporary folders are the user's own there.
        folder = os.path.join(tempfile.gettempdir(), "ptxemu")
        os.makedirs(folder, exist_ok=True)
        return folder
    folder = os.path.join(tempfile.gettempdir(), f"ptxemu-{os.getuid()}")
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    # Whoever may write there may put a library there.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


def scratch(folder: str) -> tuple[str, int]:
    """A new folder to compile in, and the file that holds it as long as it is open; those that killed compilations
    have left in the same place go. Raises OSError."""
    import shutil
    import tempfile

    with os.scandir(folder) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(tempfile.gettempprefix())]
    for path in left:
        with suppress(OSError):  # another process's, or gone by now
            held = _hold(path, abandoned=True)
            shutil.rmtree(path, ignore_errors=True)
            let_go(held)
    while True:
        path = tempfile.mkdtemp(dir=folder)
        # A process that has looked between the two steps takes it for one that was left.
        with suppress(BlockingIOError, FileNotFoundError):
            return path, _hold(path)


def _hold(path: str, abandoned: bool = False) -> int:
    """Make a folder this process's until it lets go or ends, however it ends. Raises OSError where it is another's:
    BlockingIOError, and FileNotFoundError where that one has removed it."""
    import time

    if sys.platform != "win32":
        import fcntl

        held = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.stat(path), os.fstat(held)):
                raise FileNotFoundError(path)
            return held
        except (BlockingIOError, FileNotFoundError):
            os.close(held)
            raise
        except OSError:  # a file system without locks
            os.close(held)
    # Then time tells.
    if abandoned and time.time() - os.stat(path, follow_symlinks=False).st_mtime < _ABANDONED:
        raise BlockingIOError(path)
    return -1


def let_go(held: int) -> None:
    if held >= 0:
        os.close(held)
