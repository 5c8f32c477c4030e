"""One module per opcode, imported when it is first needed: its variants with their requirements, claims, hazards and
recipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from ..catalog import Hazard, Requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..catalog.known import Recipe

# The results and the sources of a variant. Each is a name, the name of a type and the rest of what `Operand` of
# signature.py has, without empty values at the end.
Operands: TypeAlias = "tuple[tuple[tuple[Any, ...], ...], tuple[tuple[Any, ...], ...]]"


class Group(NamedTuple):
    """Variants that have all of these data in common. `spellings` are their modifiers and types.

    `signature` is theirs, or empty if it is that of their types. `listed`: NVIDIA's manual has them. `means` are the
    modifiers that they are short for, `operand_rules` the rules for operands of these variants alone, and `claims` the
    targets on which they have another claim. `crash` is the message with which the assembler crashes on them; it is
    None if it does not. `no_recipe` says why there is no recipe, or none that works everywhere. `recipes` are the
    recipes for them, the best first, with places for their names."""

    operands: int
    claim: str
    requires: Requirement
    spellings: tuple[str, ...]
    signature: Operands | tuple[()] = ()
    listed: bool = True
    hazards: tuple[Hazard, ...] = ()
    means: tuple[str, ...] = ()
    operand_rules: tuple[Mapping[str, Any], ...] = ()
    claims: Mapping[str, tuple[str, ...]] = {}
    crash: str | None = None
    no_recipe: str = ""
    recipes: tuple[Recipe, ...] = ()


class Opcode(NamedTuple):
    """The variants of an opcode in groups. The groups are in the order of the specification, so that variants with the
    same data may be in several.

    `signatures` are by types and number of operands. `assembler` is as catalog/known.py asks for it, and `missing` has
    the recipes for spellings that PTX does not have. Where `unpacks`, the vector of a statement may be its result
    instead of a source. Where `vectors_elsewhere`, a statement whose registers are vectors is another instruction."""

    groups: tuple[Group, ...] = ()
    signatures: Mapping[tuple[str, int], Operands] = {}
    assembler: Mapping[str, Any] = {}
    unpacks: bool = False
    vectors_elsewhere: bool = False
    missing: Mapping[str, tuple[Recipe, ...]] = {}
