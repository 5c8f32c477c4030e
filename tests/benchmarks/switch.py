"""The switch for kernels in C: the extension is built once, for processes that are to find it."""

from __future__ import annotations

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from helpers import extension

NUMPY, C = "0", "1"


def environment(switch: str) -> dict[str, str]:
    """Return the environment of a process with NumPy alone, or with the kernels in C."""
    path = [*([str(_built())] if switch == C else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


@cache
def _built() -> Path:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return extension.build(folder / "built")
