"""Links that someone else may have put into a repository: following them could show lines of other places."""

from __future__ import annotations

import os
from pathlib import Path

_MARKS = (".git", "pyproject.toml")
# The target of a link that is not followed.
AWAY = "to a file outside the repository, or to a hidden one"


def leads_away(link: str | Path, inside: Path) -> bool:
    """Return whether a link leads out of a folder, of the working folder and of the repository that the folder is in,
    or to hidden files there, which no walk reaches either. A link that is itself named is followed."""
    found = Path(os.path.realpath(link))
    return not (_has(inside, found) or _has(Path.cwd(), found) or ((top := _repository(inside)) and _has(top, found)))


def _has(top: Path, found: Path) -> bool:
    top = Path(os.path.realpath(top))
    return found.is_relative_to(top) and not any(part.startswith(".") for part in found.relative_to(top).parts)


def _repository(folder: Path) -> Path | None:
    """Return the nearest folder above that has a .git, else a pyproject.toml. The home folder does not count: it
    contains folders of others."""
    real, home = Path(os.path.realpath(folder)), Path(os.path.realpath(os.path.expanduser("~")))
    above = [top for top in (real, *real.parents) if not home.is_relative_to(top)]
    return next((top for mark in _MARKS for top in above if os.path.lexists(top / mark)), None)
