"""Files that are written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write a file beside and put it in place: where that fails, as on a full disk, the old one is still there."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, "utf-8", newline="\n")
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
