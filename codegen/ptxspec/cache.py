"""A cache between runs: values by name and key, in the user's own folder. All of it may be lost at any time.

Values are pickled, and a pickle is a program: nothing is read from a folder in which anybody else may write."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

_DIGEST = 32  # bytes of a digest
# The most files that are kept: the least recently used are removed first.
_MOST = 16


def folder() -> Path | None:
    """Return the folder, which is made if there is none; None if the user has no such folder of their own."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # A relative path would be in the working folder.
    if not os.path.isabs(base):
        return None
    found = Path(base) / "ptxspec"
    with contextlib.suppress(OSError):
        found.mkdir(0o700, parents=True, exist_ok=True)
        if sys.platform == "win32":
            return found
        stat = found.lstat()
        if found.is_dir() and not found.is_symlink() and stat.st_uid == os.getuid() and not stat.st_mode & 0o022:
            return found
    return None


def read(name: str, key: str) -> Any:
    """Return the value kept under a name with this key; None if there is none, or it is damaged."""
    place = folder()
    if place is None:
        return None
    path = place / _file_of(name)
    try:
        data = path.read_bytes()
        body = memoryview(data)[_DIGEST:]
        if hashlib.sha256(key.encode() + b"\n" + body).digest() != data[:_DIGEST]:
            return None
        value = pickle.loads(body)
    except Exception:  # whatever a pickle raises that another version wrote
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return value


def keep(name: str, key: str, value: object) -> None:
    """Keep a value under a name, in place of the one before; if it cannot be written, do nothing."""
    place = folder()
    if place is None:
        return
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    new = ""
    try:
        handle, new = tempfile.mkstemp(dir=place)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(key.encode() + b"\n" + body).digest())
            file.write(body)
        os.replace(new, place / _file_of(name))
        for path in sorted(place.iterdir(), key=lambda p: -p.stat().st_mtime)[_MOST:]:
            path.unlink()
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(new)


def _file_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:40]
