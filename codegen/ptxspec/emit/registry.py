"""The registry of products: each module or folder of products/ is one, under its name.

A product is a function `emit` of the model, its checked programs, the templates of the root, and the parts of opcodes
that are kept. It returns files as text, by their paths below generated/. A new product is just another module there,
with its templates.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..check.checking import Checked
from ..diagnostics import PtxspecError
from ..model import Spec
from . import products as package
from .parts import Parts
from .text import Files, Templates

Product: TypeAlias = Callable[[Spec, Sequence[Checked], Templates, Parts], Files]


def products() -> dict[str, Product]:
    """Return all products, by name."""
    names = [m.name for m in pkgutil.iter_modules(package.__path__)]
    return {name: importlib.import_module(f"{package.__name__}.{name}").emit for name in names}


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
