"""The parts that products make of one opcode, kept where nothing that they depend on has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
# By opcode: the digest of what its parts depend on, and each product's part.
Kept = Mapping[str, tuple[str, Mapping[str, Any]]]


class Parts:
    """Parts that products asked for. `digests` are those of what an opcode's parts depend on, and `kept` is what a
    former run made; a part is made anew where there is none of the same digest."""

    def __init__(self, digests: Mapping[str, str] | None = None, kept: Kept | None = None) -> None:
        self._digests = digests or {}
        self._kept = {n: parts for n, (digest, parts) in (kept or {}).items() if self._digests.get(n) == digest}
        self._made: dict[str, dict[str, Any]] = {}

    def of(self, product: str, opcode: str, make: Callable[[], T]) -> T:
        """Return a product's part for an opcode, which can be pickled, and is not to be changed."""
        kept, made = self._kept.get(opcode, {}), self._made.setdefault(opcode, {})
        if product not in made:
            made[product] = kept[product] if product in kept else make()
        part: T = made[product]
        return part

    def made(self) -> Kept:
        """Return all parts that were asked for, for the next run."""
        return {n: (self._digests[n], parts) for n, parts in self._made.items() if n in self._digests}
