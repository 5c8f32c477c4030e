"""Which specification a command works on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .diagnostics import PtxspecError

PACKAGE = Path(__file__).resolve().parent
_PARTS = ("spec", "templates")
_NONE = "no spec/ and templates/ here or above; say where with --root DIR"


class Root(NamedTuple):
    """A folder with spec/ and templates/. `fallback`: nobody named it and the working directory lies elsewhere; it is
    the program's own, which answers questions and is not to be changed."""

    path: Path
    fallback: bool = False

    @property
    def packaged(self) -> bool:
        """Whether it lies inside an installed package, where the emulator is a package of its own."""
        return self.path == PACKAGE

    @property
    def generated(self) -> Path:
        return self.path / "generated"

    @property
    def data(self) -> Path:
        """The database that queries read."""
        return self.generated / "data" / "ptxspec.json"


def find(explicit: Path | None = None) -> Root:
    """`explicit` if given, else the nearest parent of the working directory that is one, else the program's own.

    Raises PtxspecError where there is none, and where the nearest one lacks its templates."""
    if explicit is not None:
        return Root(_checked(explicit).resolve())
    here = Path.cwd()
    for folder in (here, *here.parents):
        # Many projects have a folder spec/; one with instructions/ is a specification, and no other is meant.
        if not _missing(folder) or (folder / "spec" / "instructions").is_dir():
            return Root(_checked(folder))
    for folder in (PACKAGE, PACKAGE.parents[1]):
        if not _missing(folder):
            return Root(folder, fallback=True)
    raise PtxspecError(_NONE)


def find_own(explicit: Path | None = None) -> Root:
    """As `find`, for what validates or changes a specification: the program's own is meant only if it is named."""
    root = find(explicit)
    if root.fallback:
        raise PtxspecError(f"{_NONE}; the program's own is {root.path}")
    return root


def _checked(folder: Path) -> Path:
    if missing := _missing(folder):
        lacks = " and ".join(f"{name}/" for name in missing)
        raise PtxspecError(f"{folder}: holds no {lacks}; --root DIR names a folder with both spec/ and templates/")
    return folder


def _missing(folder: Path) -> list[str]:
    return [name for name in _PARTS if not (folder / name).is_dir()]
