"""Finding a variant by its spelling."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .catalog import Hazard, Requirement
from .index import CATALOG, CLAIMS, CLASSES, HAZARDS, REQUIREMENTS, ROWS, SIGNATURES, TYPES


class UnknownVariantError(LookupError):
    """No instruction is spelled like this, or none with this number of operands."""


class UnknownTargetError(LookupError):
    """No target is called this, or the variant does not exist on it.

    `recipe` is PTX that does the variant's work there, which `function` runs; empty where there is none."""

    def __init__(self, message: str, recipe: str = "") -> None:
        super().__init__(message)
        self.recipe = recipe


@dataclass(frozen=True, repr=False)
class Variant:
    """One complete spelling with its number of source operands.

    `claim` says how faithful the emulator is: "exact" (IEEE 754 and NVIDIA's manual fix every bit), "measured" (equal
    to recordings), "reported" (of a kernel with a target: equal to a published model that its author compared with GPUs
    of that target), "bounded" (inside the manual's error bound, which is in ulp or relative), "unspecified" (no bound,
    or of a kernel with a target: the hardware breaks it) or "unjudged" (nobody outside has judged it)."""

    spelling: str
    operands: int
    claim: str

    def __str__(self) -> str:
        return f"{self.spelling} ({counted(self.operands)})"

    def __repr__(self) -> str:
        return f"<Variant {self}: {self.claim}>"


@dataclass(frozen=True)
class Row:
    """What the index says of a variant; `signature` is text for `signature` of signature.py. `rules` are the places of
    what assembler.py says of its operands."""

    variant: Variant
    opcode: str
    modifiers: frozenset[str]
    types: tuple[str, ...]
    signature: str
    requires: Requirement
    listed: bool
    hazards: tuple[Hazard, ...]
    means: frozenset[str]
    rules: tuple[int, ...]

    @property
    def operands(self) -> int:
        return self.variant.operands

    def __str__(self) -> str:
        return str(self.variant)


def claim_on(variant: Variant, target: str | None) -> str:
    """What is claimed of a variant on a target."""
    others = CLAIMS.get(f"{variant.spelling} {variant.operands}", {})
    return next((claim for claim, targets in others.items() if target in targets.split()), variant.claim)


def counted(operands: int) -> str:
    return f"{operands} operand{'s' * (operands != 1)}"


@lru_cache(maxsize=256)
def rows_of(opcode: str) -> tuple[Row, ...]:
    """The variants of an opcode."""
    return tuple(_row(opcode, line) for line in _lines(opcode))


def _lines(opcode: str) -> list[str]:
    return ROWS.get(opcode, "").split("\n")[1:-1]


@lru_cache(maxsize=1 << 14)
def _row(opcode: str, line: str) -> Row:
    spelled, place = line.split(" ")
    operands, claim, signature, requirement, listed, hazards, means, rules = CLASSES[int(place)].split()
    names = spelled.split(".")
    types = tuple(n for n in names if n in TYPES)
    return Row(
        variant=Variant(spelling=f"{opcode}.{spelled}", operands=int(operands), claim=claim),
        opcode=opcode,
        modifiers=frozenset(names).difference(types),
        types=types,
        signature=SIGNATURES[int(signature)],
        requires=REQUIREMENTS[int(requirement)],
        listed=listed == "listed",
        hazards=() if hazards == "-" else tuple(HAZARDS[int(i)] for i in hazards.split(".")),
        means=frozenset() if means == "-" else frozenset(means.split(".")),
        rules=() if rules == "-" else tuple(map(int, rules.split("."))),
    )


def _spelled_with(opcode: str, names: list[str]) -> list[Row]:
    """The variants whose names are these in any order: of the others an opcode may have thousands."""
    length, wanted = len(".".join(names)), sorted(names)
    lines = (line for line in _lines(opcode) if line.find(" ") == length)
    return [_row(opcode, line) for line in lines if sorted(line[:length].split(".")) == wanted]


def variants() -> list[Variant]:
    """Every variant that the emulator has, ordered by opcode."""
    return [row.variant for opcode in ROWS for row in rows_of(opcode)]


def find(spelling: str, operands: int | None, target: str | None) -> Row:
    """The variant that is meant. Raises UnknownVariantError, and UnknownTargetError where the target lacks it."""
    opcode, *names = spelling.strip().split(".")
    types = tuple(n for n in names if n in TYPES)
    repeated = len(set(names).difference(types)) + len(types) < len(names)
    same = [] if repeated else [row for row in _spelled_with(opcode, names) if row.types == types]
    fitting = [row for row in same if operands in (None, row.operands)]
    if not fitting:
        from . import refusing  # only needed when something is wrong

        raise refusing.no_variant(spelling, operands, same)
    row = min(fitting, key=lambda row: row.operands)
    if target is not None and (target not in CATALOG.targets or not CATALOG.takes(row.requires, target)):
        from . import refusing

        raise refusing.no_target(target) if target not in CATALOG.targets else refusing.not_there(row, target)
    return row
