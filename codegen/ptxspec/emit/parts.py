"""The parts of products that belong to one opcode, kept as long as nothing that they depend on changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
# In the place of an opcode, for parts that depend on none, but for the opcodes' names.
NONE = ""
# By opcode: the digest of what its parts depend on, and each product's part.
Kept = Mapping[str, tuple[str, Mapping[str, Any]]]


class Parts:
    """The parts that products use. `digests` are those of everything that an opcode's parts depend on, and `kept` are
    the parts of a previous run. A part is made again if its digest has changed."""

    def __init__(self, digests: Mapping[str, str] | None = None, kept: Kept | None = None) -> None:
        self._digests = digests or {}
        self._kept = {n: parts for n, (digest, parts) in (kept or {}).items() if self._digests.get(n) == digest}
        self._made: dict[str, dict[str, Any]] = {}

    def of(self, product: str, opcode: str, make: Callable[[], T]) -> T:
        """Return a product's part for an opcode, or for none. It must be picklable and must not be changed."""
        kept, made = self._kept.get(opcode, {}), self._made.setdefault(opcode, {})
        if product not in made:
            made[product] = kept[product] if product in kept else make()
        part: T = made[product]
        return part

    def made(self) -> Kept:
        """Return all parts that were used, for the next run."""
        return {n: (self._digests[n], parts) for n, parts in self._made.items() if n in self._digests}
