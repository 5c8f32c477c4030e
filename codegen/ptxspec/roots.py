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
        """Return whether it lies inside an installed package, where the emulator is a package of its own."""
        return self.path == PACKAGE

    @property
    def generated(self) -> Path:
        return self.path / "generated"

    @property
    def data(self) -> Path:
        """The database that queries read."""
        return self.generated / "data" / "ptxspec.json"


def find(explicit: Path | None = None) -> Root:
    """Return the root that is named, else the package's own: what it was installed with, or the clone it runs from.

    The working folder has no say: its database may be anybody's, and its emulator is a program. Raises PtxspecError
    where the folder lacks spec/ or templates/."""
    if explicit is not None:
        return Root(_checked(explicit).resolve())
    return Root(PACKAGE if (PACKAGE / "spec").is_dir() else _checked(PACKAGE.parents[1]))


def find_source(explicit: Path | None = None) -> Root:
    """Return the same for what reads spec/: whoever stands in another clone is asked which of the two is meant.

    Raises PtxspecError."""
    root = find(explicit)
    if explicit is None and (clone := _clone_around()) and not clone.samefile(root.path):
        there = os.path.relpath(clone, Path.cwd())
        raise PtxspecError(
            f"the working folder lies in a clone, {clone}, and this program belongs to {root.path}: write --root "
            f"{there} for the one, --root {root.path} for the other"
        )
    return root


def find_own(explicit: Path | None = None) -> Root:
    """Return the same for what judges or changes a specification. One inside of an installed package is not to be
    changed. Raises PtxspecError."""
    root = find_source(explicit)
    if explicit is None and root.packaged:
        raise PtxspecError(f"the program's own specification, {root.path}, is installed; name a clone: --root DIR")
    return root


def _clone_around() -> Path | None:
    """The nearest folder around the working folder that is a clone of this project, by what no other project has."""
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
        raise PtxspecError(f"{folder}: holds no {lacks}; --root DIR names a folder with both spec/ and templates/")
    return folder
