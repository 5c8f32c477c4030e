"""The common steps of the commands that compare files of spec/observed/ with a tool, or write them with --record."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import roots
from ..diagnostics import PtxspecError

if TYPE_CHECKING:
    from ..model import Spec


def described(options: argparse.Namespace) -> tuple[roots.Root, Spec]:
    """Return the root that a command works on, which must be the user's own if it is written, and its specification."""
    from .. import specification  # a command that only shows recorded facts needs none

    root = (roots.find_own if options.record else roots.find_source)(options.root)
    return root, specification.read(root.path)


def tool(name: str, find: Callable[[Path | None], Path | None], explicit: Path | None, help: str) -> Path:
    """Return the tool of a name, which the user may have given. Raises PtxspecError if there is none."""
    found = find(explicit)
    if found is None:
        raise PtxspecError(f"{f'no file {explicit}' if explicit else f'no {name} found'}; {help}")
    return found


def unrecorded(path: str, name: str) -> PtxspecError:
    """Return the error for a file that is not there to compare with a tool."""
    return PtxspecError(f"there is no {path} to compare with {name}; write it with --record")


def compared(about: str, different: Sequence[str]) -> str:
    """Return the line that says of what a tool makes whether it is as recorded."""
    return f"{about}: {'all as recorded' if not different else 'not as recorded: ' + ', '.join(different)}"
