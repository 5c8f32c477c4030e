"""One module per opcode, read when it is first asked for: its variants, and what is to be known of them before one is
computed."""

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
    """Variants, by their modifiers and types, of which the same is known.

    `signature` is theirs, or empty if it is that of their types. `listed`: NVIDIA's manual has them. `means` are the
    modifiers that they are short for, `operand_rules` what the assembler takes for operands of them alone, and `claims`
    the targets on which they claim something else. `crash` is what the assembler ends with that takes them and breaks
    down on them, and `no_recipe` why there is no recipe, or none that works everywhere. `recipes` are the recipes for
    them, the best first, with places for their names."""

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
    """`groups` are in the order of the specification, so that variants of which the same is known may be in several.

    `signatures` are by types and number of operands. `assembler` is as catalog/known.py asks for it, and `missing` has
    the recipes for what PTX does not have. A statement that `unpacks` may stand the other way round, with its vector
    among the sources; one whose registers are vectors is another instruction where `vectors_elsewhere`."""

    groups: tuple[Group, ...] = ()
    signatures: Mapping[tuple[str, int], Operands] = {}
    assembler: Mapping[str, Any] = {}
    unpacks: bool = False
    vectors_elsewhere: bool = False
    missing: Mapping[str, tuple[Recipe, ...]] = {}
