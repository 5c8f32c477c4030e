"""The variants of the emulator, and what is known of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from .catalog import Hazard, Requirement, named
from .index import CATALOG, OPCODES, TYPES

if TYPE_CHECKING:
    from .opcodes import Group, Opcode, Operands


class UnknownVariantError(LookupError):
    """An error for a spelling that no instruction has, or none with this number of operands."""


class UnknownTargetError(LookupError):
    """An error for an unknown target, or a variant that does not exist on one.

    `recipe` is PTX that does the variant's work there, which `function` runs; empty where there is none."""

    def __init__(self, message: str, recipe: str = "") -> None:
        super().__init__(message)
        self.recipe = recipe


@dataclass(frozen=True, repr=False)
class Variant:
    """A complete spelling with its number of source operands.

    `claim` says how faithful the emulator is: "exact" (IEEE 754 and NVIDIA's manual fix every bit), "measured" (equal
    to recordings), "reported" (of a kernel with a target: equal to a published model that its author compared with GPUs
    of that target), "bounded" (within the error bound of NVIDIA's manual, in ulp or relative), "unspecified" (no bound,
    or of a kernel with a target: the hardware breaks it) or "unjudged" (not compared with any independent source)."""

    spelling: str
    operands: int
    claim: str

    def __str__(self) -> str:
        return f"{self.spelling} ({counted(self.operands)})"

    def __repr__(self) -> str:
        return f"<Variant {self}: {self.claim}>"


@dataclass(frozen=True)
class Row:
    """A variant and the data about it."""

    variant: Variant
    opcode: str
    modifiers: frozenset[str]
    types: tuple[str, ...]
    signature: Operands
    group: Group

    @property
    def operands(self) -> int:
        return self.variant.operands

    @property
    def implicit(self) -> int:
        """The number of sources that a statement does not write: 1 where it reads the condition code."""
        from .signature import signature  # it imports NumPy's types

        return sum(o.implicit for o in signature(self.signature).sources)

    @property
    def spelling(self) -> str:
        return self.variant.spelling

    @property
    def claim(self) -> str:
        return self.variant.claim

    @property
    def requires(self) -> Requirement:
        return self.group.requires

    @property
    def listed(self) -> bool:
        return self.group.listed

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        return self.group.hazards

    @property
    def means(self) -> tuple[str, ...]:
        return self.group.means

    @property
    def crash(self) -> str | None:
        return self.group.crash

    @property
    def places(self) -> str:
        """The operands in the order of a statement, with the names in the specification."""
        from .signature import signature

        s = signature(self.signature)
        results = "|".join(r for o in s.results for r in o.registers if not o.implicit)
        written = [o for o in s.sources if not o.implicit]
        sources = [f"{{{', '.join(o.registers)}}}" if o.braced else ", ".join(o.registers) for o in written]
        return ", ".join([results, *sources])

    def __str__(self) -> str:
        return str(self.variant)

    def claim_on(self, target: str | None) -> str:
        """Return the claim of the variant on a target."""
        others = self.group.claims.items()
        return next((claim for claim, targets in others if target in targets), self.variant.claim)


def counted(operands: int) -> str:
    return f"{operands} operand{'s' * (operands != 1)}"


@lru_cache(maxsize=256)
def opcode_named(name: str) -> Opcode:
    """Return an opcode; one without variants for an unknown name."""
    from .opcodes import Opcode  # not needed to import ptxemu

    if name not in OPCODES:
        return Opcode()
    found: Opcode = import_module(f".opcodes.{name}", __package__).OPCODE
    return found


@lru_cache(maxsize=256)
def rows_of(opcode: str) -> tuple[Row, ...]:
    """Return the variants of an opcode."""
    return tuple(row_of(opcode, s, group) for group in opcode_named(opcode).groups for s in group.spellings)


def row_of(opcode: str, spelled: str, group: Group) -> Row:
    """Return the variant of an opcode with these modifiers and types."""
    names = spelled.split(".")
    types = tuple(n for n in names if n in TYPES)
    variant = Variant(f"{opcode}.{spelled}", group.operands, group.claim)
    signature = group.signature or opcode_named(opcode).signatures[".".join(types), group.operands]
    return Row(variant, opcode, frozenset(names).difference(types), types, signature, group)


class Variants(list[Variant]):
    """A list of variants with a repr of one line."""

    def __repr__(self) -> str:
        return f"<{len(self)} variants: {named(v.spelling for v in self)}>"


def variants() -> Variants:
    """Return every variant of the emulator, ordered by opcode."""
    return Variants(row.variant for opcode in OPCODES for row in rows_of(opcode))


def target_named(name: str) -> str:
    """Return ptxas's name of a target, given that name or the name of its GPUs. Raises UnknownTargetError."""
    if name in CATALOG.targets:
        return name
    from .catalog import names
    from .naming import NAMED  # most names are ptxas's already

    try:
        return names.target(NAMED, name)
    except names.UnknownTargetNameError as e:
        raise UnknownTargetError(str(e)) from None
