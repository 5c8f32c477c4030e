"""The registry of products: each is a module or folder of products/, registered under its name (product.py).

The registry imports everything in products/, so a new product is just another module there, with its templates.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from ..check.checking import Checked
from ..diagnostics import PtxspecError
from ..model import Spec
from . import products as package
from .parts import Parts
from .product import REGISTERED, Product
from .text import Files, Templates


def products() -> dict[str, Product]:
    """Return all products, by name."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return REGISTERED


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
