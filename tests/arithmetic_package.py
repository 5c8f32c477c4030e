"""The emulator's arithmetic as a package of its own, so that its tests need nothing generated."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = "ptxemu_operations"


def load(module: str) -> ModuleType:
    """A module of templates/emulator, imported without that package's own __init__."""
    if NAME not in sys.modules:
        package = ModuleType(NAME)
        package.__path__ = [str(Path(__file__).resolve().parents[1] / "templates" / "emulator")]
        sys.modules[NAME] = package
    return importlib.import_module(f"{NAME}.{module}")


PATHS = ("steered", "by itself")


@contextmanager
def taking(path: str, environment: Any) -> Iterator[None]:
    """Compute with the processor's environment steered, or without, as where that does not work."""
    found = environment.STEERS, environment.FLUSHES
    if path == "by itself":
        environment.STEERS = environment.FLUSHES = False
    try:
        yield
    finally:
        environment.STEERS, environment.FLUSHES = found
