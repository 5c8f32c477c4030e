"""The pages about using all of this: templates/manual/guides, written once as Markdown and shown as HTML too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ....check.claims import CLAIMS
from ....diagnostics import PtxspecError, display_path
from ....grounds import KINDS
from ....model import Spec
from ...text import Files
from .site import GUIDES, Site

OVERVIEW = "guide"


@dataclass(frozen=True)
class Guide:
    """What the overview says of a page."""

    name: str
    title: str
    summary: str


@dataclass(frozen=True)
class Example:
    """A file of PTX: its first line is a comment that says what it is."""

    name: str
    path: str
    title: str
    text: str


def emit(spec: Spec, root: Path, site: Site) -> Files:
    """The guides, and the page that lists them."""
    examples = [_example(path, root) for path in sorted((root / "spec" / "examples").glob("*.ptx"))]
    values = {"claims": CLAIMS, "grounds": KINDS, "speed": spec.speed, "examples": examples}
    files: Files = {}
    guides = []
    for name in GUIDES:
        written, found = site.guide(name, [e.path for e in examples] if name == "running" else [], values)
        files |= written
        guides.append(Guide(name, found.title, found.summary))
    overview, _ = site.guide(OVERVIEW, [], {"guides": guides})
    return files | overview


def _example(path: Path, root: Path) -> Example:
    name = display_path(path, root)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise PtxspecError(f"{name}:1:1: error: cannot be read: {e}") from None
    title = text.partition("\n")[0]
    if not title.startswith("// "):
        raise PtxspecError(f"{name}:1:1: error: an example begins with a comment that says what it computes")
    return Example(path.stem, name, title.removeprefix("// ").rstrip("."), text)
