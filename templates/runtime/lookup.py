"""Look-up of a variant by its spelling."""

from __future__ import annotations

from .index import CATALOG, TYPES
from .rows import Row, opcode_named, row_of


def _spelled_with(opcode: str, names: list[str]) -> list[Row]:
    """Return the variants with these names in any order, without creating the others: an opcode may have thousands."""
    length, wanted = len(".".join(names)), sorted(names)
    alike = ((s, group) for group in opcode_named(opcode).groups for s in group.spellings if len(s) == length)
    return [row_of(opcode, s, group) for s, group in alike if sorted(s.split(".")) == wanted]


def find(spelling: str, operands: int | None, target: str | None) -> Row:
    """Return the variant that a spelling means. Raises UnknownVariantError, and UnknownTargetError where the target
    does not support it."""
    opcode, *names = spelling.strip().split(".")
    types = tuple(n for n in names if n in TYPES)
    repeated = len(set(names).difference(types)) + len(types) < len(names)
    same = [] if repeated else [row for row in _spelled_with(opcode, names) if row.types == types]
    fitting = [row for row in same if operands in (None, row.operands, row.operands + row.implicit)]
    if not fitting:
        from . import refusing  # only needed for errors

        raise refusing.no_variant(spelling, operands)
    row = min(fitting, key=lambda row: row.operands)
    if target is not None and not CATALOG.takes(row.requires, target):
        from . import refusing

        raise refusing.not_there(row, target)
    return row
