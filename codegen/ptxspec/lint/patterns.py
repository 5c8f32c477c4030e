"""Patterns of paths, as .gitignore and ruff have them: `third_party`, `*.inc`, `src/**/old_*.cu`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import NamedTuple


class Pattern(NamedTuple):
    """A pattern, the folder that it counts from, and where it stands. Without a slash within it is the name of a file
    or folder at any depth, else a path; what is in a folder that it matches is matched too."""

    text: str
    base: Path
    place: str = ""

    def matches(self, path: Path) -> bool:
        """Return whether a pattern matches `path`, which is absolute. The folder itself is not in it, whatever the
        pattern."""
        if path == self.base:
            return False
        try:
            inside = path.relative_to(self.base)
        except ValueError:
            return False
        return _expression(self.text).fullmatch(inside.as_posix()) is not None


def excluded(path: Path, patterns: Iterable[Pattern], used: set[Pattern] | None = None) -> bool:
    """Return whether one of the patterns matches; all that do are added to `used`."""
    if used is None:
        return any(p.matches(path) for p in patterns)
    matching = [p for p in patterns if p.matches(path)]
    used.update(matching)
    return bool(matching)


_PARTS = re.compile(r"\*+|\?|\[!?[^\]]+\]|[^*?\[]+|\[")
_KNOWN: dict[str, re.Pattern[str]] = {}


def _expression(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern. Each wildcard but the last takes as little as it can and is never
    tried again: what follows it then has the most left, and matching is linear in the path's length."""
    found = _KNOWN.get(pattern)
    if found is None:
        text = PurePath(pattern).as_posix().removeprefix("./")
        runs: list[list[str]] = [[]]  # what stands between two `**`
        for name in (["**"] if "/" not in text else []) + text.lstrip("/").split("/"):
            if name == "**":
                runs.append([])
            else:
                runs[-1].append(_name(name))
        bodies = [(i, "/".join(run) + "(?![^/])") for i, run in enumerate(runs) if run]
        pieces = [f"(?>(?:[^/]+/)*?{body})" if i else body for i, body in bodies]
        if not runs[-1]:
            pieces.append(".+")
        found = _KNOWN[pattern] = re.compile("/".join(pieces) + "(?:/.*)?", re.DOTALL)
    return found


def _name(name: str) -> str:
    """The expression of a file's or a folder's name."""
    fixed = [""]
    for part in _PARTS.findall(name):
        if part.startswith("*"):
            fixed.append("")
        else:
            fixed[-1] += _part(part)
    first, *between = fixed
    if not between:
        return first
    return first + "".join(f"(?>[^/]*?{part})" for part in between[:-1]) + f"[^/]*{between[-1]}"


def _part(part: str) -> str:
    if part == "?":
        return "[^/]"
    if part.startswith("[") and part.endswith("]"):
        inside = part[1:-1].replace("\\", r"\\")
        found = f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
        try:
            re.compile(found)
        except re.error:  # such as [z-a], which is no set
            return re.escape(part)
        return found
    return re.escape(part)
