"""The errors for variants that do not exist, or are not available on a target, with advice. This module is only
imported for an error.

catalog/explaining.py decides on the text of errors; this module gives it access to the variants that exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .assembler import MODIFIERS, OTHER_TYPES
from .catalog import known
from .catalog.explaining import Explanation, alike, explain, recipes
from .catalog.outside import Outside
from .index import CATALOG, OPCODES, OUTSIDE, TYPES
from .rows import Row, UnknownTargetError, UnknownVariantError, counted, opcode_named, rows_of

# Reasons for which an error does not add that the variant does not exist.
_NO_VARIANT: Final = ("not-in-database", "operand-count", "syntax", "unknown-opcode")


class _Opcode(known.Opcode[Row]):
    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def variants(self) -> Sequence[Row]:
        return rows_of(self.name)

    @property
    def assembler(self) -> Mapping[str, Any]:
        return opcode_named(self.name).assembler

    def recipes(self, v: Row) -> Sequence[known.Recipe]:
        return [r._replace(ptx=known.filled(r.ptx, v.spelling)) for r in v.group.recipes]

    @property
    def missing(self) -> Mapping[str, Sequence[known.Recipe]]:
        every = opcode_named(self.name).missing.items()
        return {s: [r._replace(ptx=known.filled(r.ptx, s)) for r in found] for s, found in every}

    def why_no_recipe(self, v: Row) -> str:
        return v.group.no_recipe


class _Known(known.Known[Row]):
    catalog = CATALOG
    opcodes: Mapping[str, known.Opcode[Row]] = {name: _Opcode(name) for name in OPCODES}
    types = frozenset(TYPES)
    floats = frozenset(name for name, about in TYPES.items() if about[0] == "float")
    other_types = OTHER_TYPES
    modifiers = MODIFIERS
    lists = "ptxemu.variants()"
    lacks = "; ptxemu does not emulate it"
    outside: Mapping[str, Outside] = {name: Outside(name, "", summary) for name, summary in OUTSIDE.items()}


KNOWN: Final = _Known()


def no_variant(spelling: str, operands: int | None) -> UnknownVariantError:
    """Return the error for a spelling that names no variant, or none with this number of operands."""
    asked = spelling if operands is None else f"{spelling} with {counted(operands)}"
    why = explain(KNOWN, spelling, operands)
    is_none = why.reasons[0].code not in _NO_VARIANT
    return UnknownVariantError(f"{asked}{' does not exist' * is_none}: {_told(why, spelling, operands, None)}")


def not_there(row: Row, target: str) -> UnknownTargetError:
    """Return the error for a variant that a target does not support."""
    recipe = next((r.ptx for r in recipes(KNOWN, row, target, None) if r.works), "")
    why = explain(KNOWN, row.spelling, row.operands, target)
    return UnknownTargetError(_told(why, row.spelling, row.operands, target), recipe)


def _told(why: Explanation, spelling: str, operands: int | None, target: str | None) -> str:
    said = [*(r.message for r in why.reasons), str(why.advice)]
    near = alike(KNOWN, spelling, operands, target) if why.is_ours and why.advice.is_nothing else ()
    if near:
        said.append(f"spelled alike: {', '.join(dict.fromkeys(v.spelling for v in near))}")
    return "; ".join(filter(None, said))
