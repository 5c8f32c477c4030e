"""Files that are written as a whole or not at all, and where they lie."""

from __future__ import annotations

import os
from pathlib import Path


def why_unreadable(path: Path, root: Path) -> str:
    """Why a file of a specification is not read; empty where it is. What a link shows of another place would come into
    complaints and into the manual, and a device has no end."""
    spec = root / "spec"
    within = os.path.realpath(spec if path.is_relative_to(spec) else root)
    if not os.path.realpath(path).startswith(os.path.join(within, "")):
        return "it is a link that leads out of spec/"
    return "it is not a regular file" if path.exists() and not path.is_file() else ""


def replace_text(path: Path, text: str) -> None:
    """Write a file beside and put it in place: where that fails, as on a full disk, the old one is still there."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, "utf-8", newline="\n")
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
