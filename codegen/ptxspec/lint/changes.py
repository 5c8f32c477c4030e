"""The lines of a file that have changed since a commit.

Git only reads the commit: no filter, hook or program named by a repository runs."""

from __future__ import annotations

import difflib
import os
import subprocess
from pathlib import Path

from ..diagnostics import PtxspecError

# Git neither fetches nor prompts.
_ALONE = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def commit(revision: str) -> str:
    """Return the commit of a revision in the repository of the working folder. Raises PtxspecError if there is none."""
    found = _git(Path.cwd(), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found is None:
        raise PtxspecError(f"no commit '{revision}' in the repository of this folder")
    return found.decode("ascii", "replace").strip()


def changed(file: str, text: str, since: str) -> set[int]:
    """Return the numbers, from 1 on, of a file's lines that the commit does not have; all, if it does not have the
    file."""
    path = Path(os.path.abspath(file))
    before = _git(path.parent, "cat-file", "blob", f"{since}:./{path.name}")
    lines = text.split("\n")
    if before is None:
        return set(range(1, len(lines) + 1))
    old = before.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    # Equal lines at the beginning and at the end need no search.
    start = next((i for i, (a, b) in enumerate(zip(old, lines, strict=False)) if a != b), min(len(old), len(lines)))
    most = min(len(old), len(lines)) - start
    behind = next((i for i in range(most) if old[-1 - i] != lines[-1 - i]), most)
    matcher = difflib.SequenceMatcher(None, old[start : len(old) - behind], lines[start : len(lines) - behind])
    found: set[int] = set()
    for tag, _, _, first, last in matcher.get_opcodes():
        if tag != "equal":
            found.update(range(start + first + 1, start + last + 1))
    return found


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return git's output in a folder, or None if it fails. Raises PtxspecError if git is not installed."""
    try:
        done = subprocess.run(
            ["git", "--no-pager", *arguments], cwd=folder, env=os.environ | _ALONE, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise PtxspecError("--since requires git, which is not installed") from None
    return done.stdout if done.returncode == 0 else None
