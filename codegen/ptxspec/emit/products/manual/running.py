"""The manual's page about running PTX, with the examples of spec/examples."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ....diagnostics import PtxspecError, display_path
from ...text import Files
from .site import Site


class Example(NamedTuple):
    """A file of PTX: its first line is a comment that says what it is."""

    name: str
    path: str
    title: str
    text: str


def emit(root: Path, site: Site) -> Files:
    examples = [_read(path, root) for path in sorted((root / "spec" / "examples").glob("*.ptx"))]
    return site.page("running", [e.path for e in examples], {"examples": examples})


def _read(path: Path, root: Path) -> Example:
    name = display_path(path, root)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise PtxspecError(f"{name}:1:1: error: cannot be read: {e}") from None
    title = text.partition("\n")[0]
    if not title.startswith("// "):
        raise PtxspecError(f"{name}:1:1: error: an example begins with a comment that says what it computes")
    return Example(path.stem, name, title.removeprefix("// ").rstrip("."), text)
