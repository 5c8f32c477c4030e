"""Which specification a command works on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .diagnostics import PtxspecError


class Root(NamedTuple):
    """A folder with spec/ and templates/. `packaged`: it is the one inside an installed package, not to be changed."""

    path: Path
    packaged: bool = False

    @property
    def generated(self) -> Path:
        return self.path / "generated"

    @property
    def data(self) -> Path:
        """The database that queries read."""
        return self.generated / "data" / "ptxspec.json"


def find(explicit: Path | None = None) -> Root:
    """`explicit` if given, else the nearest parent of the working directory that is one, else the package's own.

    Raises PtxspecError where there is none."""
    if explicit is not None:
        if not _is_root(explicit):
            raise PtxspecError(f"{explicit}: holds no spec/ and templates/; --root names the folder that has both")
        return Root(explicit.resolve())
    here = Path.cwd()
    for folder in (here, *here.parents):
        if _is_root(folder):
            return Root(folder)
    package = Path(__file__).resolve().parent
    if _is_root(package):
        return Root(package, packaged=True)
    checkout = package.parents[1]
    if _is_root(checkout):
        return Root(checkout)
    raise PtxspecError("no spec/ and templates/ here or above; say where with --root DIR")


def _is_root(folder: Path) -> bool:
    return (folder / "spec").is_dir() and (folder / "templates").is_dir()
