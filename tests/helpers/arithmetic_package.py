"""The emulator's arithmetic as a package of its own, so that its tests need nothing generated."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace

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
