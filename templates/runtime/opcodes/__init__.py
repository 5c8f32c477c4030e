"""One module per opcode, read when it is first asked for: its variants, and what is to be known of them before one is
computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..catalog import Hazard, Requirement


class Group(NamedTuple):
    """Variants, by their modifiers and types, of which the same is known.

    `signature` is theirs where it is not that of their types. `listed`: NVIDIA's manual has them. `means` are the
    modifiers that they are short for, `operand_rules` what the assembler takes for operands of them alone, and `claims`
    the targets on which they claim something else."""

    operands: int
    claim: str
    requires: Requirement
    spellings: tuple[str, ...]
    signature: str = ""
    listed: bool = True
    hazards: tuple[Hazard, ...] = ()
    means: tuple[str, ...] = ()
    operand_rules: tuple[Mapping[str, Any], ...] = ()
    claims: Mapping[str, tuple[str, ...]] = {}


class Recipe(NamedTuple):
    """PTX that does a variant's work where it is missing, and what may differ then."""

    requires: Requirement
    differs: str
    ptx: str


class Opcode(NamedTuple):
    """`groups` are in the order of the specification, so that variants of which the same is known may be in several.

    `signatures` are by types and number of operands, as text for `signature` of signature.py, which reads it when a
    variant is compiled: as tuples they would be three times as long, and be built whenever the module is imported.
    `recipes` are by modifiers, types and number of operands, the best first. `others` says what other instructions of
    the opcode's name there are, for ptx/elsewhere.py. A statement that `unpacks` may stand the other way round, with
    its vector among the sources; one whose registers are vectors is another instruction where `vectors_elsewhere`."""

    groups: tuple[Group, ...] = ()
    signatures: Mapping[tuple[str, int], str] = {}
    recipes: Mapping[tuple[str, int], tuple[Recipe, ...]] = {}
    others: Mapping[str, Any] | None = None
    unpacks: bool = False
    vectors_elsewhere: bool = False
