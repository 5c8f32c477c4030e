"""The emulator's arithmetic as a package of its own, so that its tests need nothing generated."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

from ptxspec.semantics.functions import TABLE

from helpers import ROOT

NAME = "ptxemu_operations"


def load(module: str) -> ModuleType:
    """A module of templates/runtime, imported without that package's own __init__."""
    if NAME not in sys.modules:
        package = ModuleType(NAME)
        package.__path__ = [str(ROOT / "templates" / "runtime")]
        sys.modules[NAME] = package
    return importlib.import_module(f"{NAME}.{module}")


def operations() -> SimpleNamespace:
    """The functions of the semantics language that need no table or approximation, from the modules that have them."""
    modules = map(load, ("arithmetic", "comparison", "encoding", "selection"))
    return SimpleNamespace(**{name: f for module in modules for name, f in vars(module).items() if name in TABLE})


# Each is what some platform takes: with the processor's environment steered and its fused operation, without subnormal
# operands where they are slow, or without any of that, where it does not work.
PATHS = {
    "steered": {"STUMBLES": False},
    "stumbling": {"STUMBLES": True},
    "by itself": {"STEERS": False, "FLUSHES": False, "FUSES": False},
}


@contextmanager
def taking(path: str, environment: Any) -> Iterator[None]:
    """Compute in the way of PATHS that has this name."""
    found = {name: getattr(environment, name) for name in PATHS[path]}
    vars(environment).update(PATHS[path])
    try:
        yield
    finally:
        vars(environment).update(found)
