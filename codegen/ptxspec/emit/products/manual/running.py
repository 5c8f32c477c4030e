"""The manual's page about running PTX, with the examples of spec/examples."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ....diagnostics import PtxspecError, display_path
from ...text import Files, Templates


class Example(NamedTuple):
    """A file of PTX: its first line is a comment that says what it is."""

    name: str
    path: str
    title: str
    text: str


def emit(templates: Templates) -> Files:
    examples = [_read(path, templates.root) for path in sorted((templates.root / "spec" / "examples").glob("*.ptx"))]
    return {
        f"manual/running.{suffix}": templates.render(
            f"manual/running.{suffix}.j2", [e.path for e in examples], comment="<!-- {} -->", examples=examples
        )
        for suffix in ("md", "html")
    }


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
