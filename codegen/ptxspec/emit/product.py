"""A product: a function of the model, its checked programs, the templates of the root, and the parts of opcodes that
are kept. It returns files as text, by their paths below generated/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..check.checking import Checked
from ..model import Spec
from .parts import Parts
from .text import Files, Templates

Product: TypeAlias = Callable[[Spec, Sequence[Checked], Templates, Parts], Files]
REGISTERED: dict[str, Product] = {}


def product(name: str) -> Callable[[Product], Product]:
    """Register a function as the product of this name."""

    def register(make: Product) -> Product:
        assert name not in REGISTERED, name
        REGISTERED[name] = make
        return make

    return register
