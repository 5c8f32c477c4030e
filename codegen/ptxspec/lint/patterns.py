"""Patterns of paths, in the syntax of .gitignore and ruff: `third_party`, `*.inc`, `src/**/old_*.cu`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import NamedTuple


class PathPattern(NamedTuple):
    """A pattern, the folder that it is relative to, and its place. Without an inner slash it is the name of a file or
    folder at any depth, else a path; it also matches everything in a folder that it matches."""

    text: str
    base: Path
    place: str = ""

    def matches(self, path: Path) -> bool:
        """Return whether a pattern matches `path`, which must be absolute. No pattern matches its own folder."""
        if path == self.base:
            return False
        try:
            inside = path.relative_to(self.base)
        except ValueError:
            return False
        return _expression(self.text).fullmatch(inside.as_posix()) is not None


def excluded(path: Path, patterns: Iterable[PathPattern], used: set[PathPattern] | None = None) -> bool:
    """Return whether one of the patterns matches; all that do are added to `used`."""
    if used is None:
        return any(p.matches(path) for p in patterns)
    matching = [p for p in patterns if p.matches(path)]
    used.update(matching)
    return bool(matching)


_PARTS = re.compile(r"\*+|\?|\[!?[^\]]+\]|[^*?\[]+|\[")
_KNOWN: dict[str, re.Pattern[str]] = {}


def _expression(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern. Each wildcard but the last matches as little as possible and is never
    retried: that leaves most for the rest, and matching is linear in the path's length."""
    found = _KNOWN.get(pattern)
    if found is None:
        text = PurePath(pattern).as_posix().removeprefix("./")
        runs: list[list[str]] = [[]]  # parts between two `**`
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
    """Return the expression of a file's or a folder's name."""
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
        except re.error:  # such as [z-a], which is not a set
            return re.escape(part)
        return found
    return re.escape(part)
