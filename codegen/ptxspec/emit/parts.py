"""The parts of products that belong to one opcode, kept as long as nothing that they depend on changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
# In the place of an opcode, for parts that depend on none, but for the opcodes' names.
NONE = ""
# The name of a part, and the digest of the templates that it is made from.
Key: TypeAlias = tuple[str, str]
# By opcode: the digest of what its parts depend on besides templates, and the parts.
Kept: TypeAlias = Mapping[str, tuple[str, Mapping[Key, Any]]]


class Parts:
    """The parts that products use. `digests` are those of everything that an opcode's parts depend on besides
    templates, `templates` those of the folders of templates, and `kept` are the parts of a previous run. A part is made
    again if a digest has changed."""

    def __init__(
        self,
        digests: Mapping[str, str] | None = None,
        templates: Mapping[str, str] | None = None,
        kept: Kept | None = None,
    ) -> None:
        self._digests, self._templates = digests or {}, templates or {}
        self._kept = {n: parts for n, (digest, parts) in (kept or {}).items() if self._digests.get(n) == digest}
        self._made: dict[str, dict[Key, Any]] = {}

    def of(self, part: str, opcode: str, folder: str, make: Callable[[], T]) -> T:
        """Return a part of an opcode, or of none. It is made from templates in one folder; empty for none. It must be
        picklable and must not be changed."""
        kept, made = self._kept.get(opcode, {}), self._made.setdefault(opcode, {})
        key = part, self._templates.get(folder, "")
        if key not in made:
            made[key] = kept[key] if key in kept else make()
        found: T = made[key]
        return found

    def made(self) -> Kept:
        """Return all parts that were used, for the next run."""
        return {n: (self._digests[n], parts) for n, parts in self._made.items() if n in self._digests}
