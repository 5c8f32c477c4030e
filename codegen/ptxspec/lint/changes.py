"""The lines of a file that have changed since a commit.

Git is asked for what the commit has alone: no filter, hook or program that a repository names runs."""

from __future__ import annotations

import difflib
import os
import subprocess
from pathlib import Path

from ..diagnostics import PtxspecError

# Nothing is fetched, and nobody is asked.
_ALONE = {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def commit(revision: str) -> str:
    """Return the commit of a revision, in the repository of the working folder. Raises PtxspecError where there is
    none."""
    found = _git(Path.cwd(), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found is None:
        raise PtxspecError(f"no commit '{revision}' in the repository of this folder")
    return found.decode("ascii", "replace").strip()


def changed(file: str, text: str, since: str) -> set[int]:
    """Return the numbers of a file's lines that the commit does not have, from 1 on; all, where it does not have the
    file."""
    path = Path(os.path.abspath(file))
    before = _git(path.parent, "cat-file", "blob", f"{since}:./{path.name}")
    lines = text.split("\n")
    if before is None:
        return set(range(1, len(lines) + 1))
    old = before.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    # What is the same at the beginning and at the end needs no search.
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
    """Return what git prints in a folder; None where it fails. Raises PtxspecError where there is no git."""
    try:
        done = subprocess.run(
            ["git", "--no-pager", *arguments], cwd=folder, env=os.environ | _ALONE, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise PtxspecError("--since requires git, which is not installed") from None
    return done.stdout if done.returncode == 0 else None
