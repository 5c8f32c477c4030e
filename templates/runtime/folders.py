"""Folders of libraries in C: the user's cache, or a temporary one in its place, and in these one for each compilation.

What is loaded from there runs: nobody but the user and the system's may write there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

# What the names of folders to compile in begin with.
_PREFIX: Final = "ptxemu-compile-"
# Seconds after which what a compilation has left is nobody's, where no lock tells that it was killed.
_ABANDONED: Final = 24 * 3600


def places() -> Iterator[str]:
    """Yield the places of libraries; the last is a folder that exists, where new ones are put. Raises OSError where
    there is none."""
    folder = cache()
    if folder and is_ones_own(folder):
        yield folder
        with suppress(OSError):
            os.makedirs(folder, 0o700, exist_ok=True)
            # Somebody else may have made it meanwhile.
            if is_ones_own(folder) and os.access(folder, os.W_OK | os.X_OK):
                return
    yield _temporary()


def cache() -> str:
    """Return the folder where libraries are kept, in the user's cache; empty where there is none."""
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
    """Return whether nobody but this user and the system's can put a library there, or lead the path elsewhere. That is
    also true of a folder that does not exist yet."""
    if sys.platform == "win32":
        return True  # folders below the user's are
    try:
        found, named = os.stat(folder), os.lstat(folder)
    except OSError:
        return True
    return {found.st_uid, named.st_uid} <= {0, os.getuid()} and not found.st_mode & 0o022


def _temporary() -> str:
    """Return the user's own among the temporary folders: one for all processes, since none can be relied on to remove
    what it made, and zig takes seconds to fill its part. Raises OSError."""
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
    """Return a new folder to compile in, and the file that holds it as long as it is open. Raises OSError."""
    import tempfile

    while True:
        path = tempfile.mkdtemp(prefix=f"{_PREFIX}{_here()}-", dir=folder)
        # A process that has looked between the two steps takes it for one that was left.
        with suppress(BlockingIOError, FileNotFoundError):
            return path, _hold(path)


def tidy(folder: str) -> None:
    """Remove what killed compilations have left in one of `places`. Raises OSError."""
    import shutil
    import time

    with os.scandir(folder) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(_PREFIX)]
    here = _here()
    for path in left:
        with suppress(OSError):  # another process's, or gone by now
            held = _hold(path)
            try:
                # A compilation on another machine may hold a lock that is not seen here: then time tells.
                is_free = held >= 0 and here and os.path.basename(path).startswith(f"{_PREFIX}{here}-")
                if is_free or time.time() - os.lstat(path).st_mtime >= _ABANDONED:
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                let_go(held)


def _here() -> str:
    """Return a name for this run of this machine, whose processes see each other's locks; empty where it has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(8)
    except (OSError, ValueError):
        return ""


def _hold(path: str) -> int:
    """Make a folder this process's until it lets go or ends, however it ends; -1 where there are no locks. Raises
    OSError where it is another's: BlockingIOError, and FileNotFoundError where that one has removed it."""
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
    return -1


def let_go(held: int) -> None:
    if held >= 0:
        os.close(held)
