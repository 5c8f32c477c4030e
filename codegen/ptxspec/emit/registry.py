"""The registry of products: each is a module or folder of products/, registered under its name.

A product is a function of the model, its checked programs, the templates of the root, and the parts of opcodes that are
kept. It returns files as text, by their paths below generated/. The registry imports everything in products/, so a new
product is just another module there, with its templates.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..check.checking import Checked
from ..diagnostics import PtxspecError
from ..model import Spec
from .parts import Parts
from .text import Files, Templates

Product: TypeAlias = Callable[[Spec, Sequence[Checked], Templates, Parts], Files]
_PRODUCTS: dict[str, Product] = {}


def product(name: str) -> Callable[[Product], Product]:
    """Register a function as the product of this name."""

    def register(make: Product) -> Product:
        assert name not in _PRODUCTS, name
        _PRODUCTS[name] = make
        return make

    return register


def products() -> dict[str, Product]:
    """Return all products, by name."""
    from . import products as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return _PRODUCTS


def make(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts | None = None) -> Files:
    """Return the files of every product. Raises PtxspecError."""
    parts = parts or Parts()
    files: Files = {}
    makers: dict[str, str] = {}
    for name, product in products().items():
        for path, text in product(spec, checked, templates, parts).items():
            if path in files:
                raise PtxspecError(f"generated/{path} is made twice: by the products {makers[path]} and {name}")
            files[path], makers[path] = text, name
    return files
