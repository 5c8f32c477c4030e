"""The specification that a command works on: the package's own, or the one that --root names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from .diagnostics import PtxspecError

PACKAGE = Path(__file__).resolve().parent
_PARTS = ("spec", "templates")


class Root(NamedTuple):
    """A folder with spec/ and templates/."""

    path: Path

    @property
    def packaged(self) -> bool:
        """Return whether the root is inside an installed package, where the emulator is a separate package."""
        return self.path == PACKAGE

    @property
    def generated(self) -> Path:
        return self.path / "generated"

    @property
    def data(self) -> Path:
        """The database that queries read."""
        return self.generated / "data" / "ptxspec.json"


def find(explicit: Path | None = None) -> Root:
    """Return the named root, or by default the package's own: the one it was installed with, or the clone it runs from.

    The working folder is never used: its database may be anybody's, and its emulator is a program. Raises PtxspecError
    if the folder lacks spec/ or templates/."""
    if explicit is not None:
        return Root(_checked(explicit).resolve())
    return Root(PACKAGE if (PACKAGE / "spec").is_dir() else _checked(PACKAGE.parents[1]))


def find_source(explicit: Path | None = None) -> Root:
    """Return the root as `find` does, for commands that read spec/. Raises PtxspecError if the working folder is in
    another clone: the user must then say which of the two is meant."""
    root = find(explicit)
    if explicit is None and (clone := _clone_around()) and not clone.samefile(root.path):
        there = os.path.relpath(clone, Path.cwd())
        raise PtxspecError(
            f"the working folder is in the clone {clone}, but this program belongs to {root.path}; choose one of them "
            f"with --root {there} or --root {root.path}"
        )
    return root


def find_own(explicit: Path | None = None) -> Root:
    """Return the root as `find_source` does, for commands that check or change a specification. Raises PtxspecError for
    one in an installed package, which must not be changed."""
    root = find_source(explicit)
    if explicit is None and root.packaged:
        raise PtxspecError(f"the specification in {root.path} is installed and read-only; name a clone with --root DIR")
    return root


def _clone_around() -> Path | None:
    """Return the nearest folder around the working folder that is a clone of this project, which its files show."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it was deleted
        return None
    for folder in (here, *here.parents):
        if (folder / "spec" / "instructions").is_dir() and (folder / "spec" / "targets.yaml").is_file():
            return folder
    return None


def _checked(folder: Path) -> Path:
    if missing := [name for name in _PARTS if not (folder / name).is_dir()]:
        lacks = " and ".join(f"{name}/" for name in missing)
        raise PtxspecError(f"{folder} has no {lacks}; --root DIR requires a folder with both spec/ and templates/")
    return folder
