"""Finding a variant by its spelling, and saying why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from .catalog import Asked, Hazard, Requirement
from .index import CATALOG, CLASSES, HAZARDS, REQUIREMENTS, ROWS, SIGNATURES, TYPES

# How many names of a kind an error lists.
_LISTED = 16


class UnknownVariantError(LookupError):
    """No instruction is spelled like this, or none with this number of operands."""


class UnknownTargetError(LookupError):
    """No target is called this, or the variant does not exist on it."""


@dataclass(frozen=True)
class Variant:
    """One complete spelling with its number of source operands.

    `claim` says how faithful the emulator is: "exact" (IEEE 754 and NVIDIA's manual fix every bit), "measured" (equal
    to recordings), "reported" (of a kernel with a target: equal to a published model that its author compared with GPUs
    of that target), "bounded" (inside the manual's error bound) or "unspecified"."""

    spelling: str
    operands: int
    claim: str


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
        return f"{self.variant.spelling} ({counted(self.variant.operands)})"


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
    asked = _asked(names, operands)
    repeated = len(asked.modifiers) + len(asked.types) < len(names)
    same = [row for row in _spelled_with(opcode, names) if row.types == asked.types]
    found = [] if repeated else same
    fitting = [row for row in found if operands in (None, row.variant.operands)]
    if not fitting:
        _reject(spelling, opcode, names, operands, found)
    row = min(fitting, key=lambda row: row.variant.operands)
    if target is not None:
        if target not in CATALOG.targets:
            near = _near(target, tuple(CATALOG.targets))
            raise UnknownTargetError(f"unknown target '{target}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        if not CATALOG.takes(row.requires, target):
            here = [r for r in rows_of(opcode) if CATALOG.takes(r.requires, target)]
            meant = Asked(row.types, row.modifiers | row.means, row.operands, complete=True)
            none = f"no other {opcode} does the same there" if here else f"{target} has no {opcode} at all"
            hint = _advice(here, meant, none, target)
            runs = (" to ".join(dict.fromkeys(run)) for run in CATALOG.runs(row.requires))
            where = CATALOG.on_text(row.requires) if row.requires.on else " and ".join(runs)
            raise UnknownTargetError(f"{row} does not exist on {target}, only on {where}; {hint}")
    return row


def _near(name: str, names: Sequence[str]) -> list[str]:
    """The name that comes nearest, if one is near at all."""
    import difflib  # only needed when something is wrong

    return difflib.get_close_matches(name, names, n=1)


def _asked(names: Sequence[str], operands: int | None) -> Asked:
    """What the names of a spelling say, in whatever order the modifiers stand."""
    types = tuple(n for n in names if n in TYPES)
    return Asked(types, frozenset(names).difference(types), operands, complete=False)


def _reject(spelling: str, opcode: str, names: list[str], operands: int | None, found: list[Row]) -> NoReturn:
    rows = rows_of(opcode)
    asked = spelling if operands is None else f"{spelling} with {counted(operands)}"
    if not rows:
        near = _near(opcode, tuple(ROWS))
        hint = f"did you mean '{near[0]}'?" if near else "opcodes: " + ", ".join(ROWS)
        raise UnknownVariantError(f"{asked}: unknown opcode '{opcode}'; {hint}")
    if found:
        counts = " or ".join(str(row.variant.operands) for row in found)
        raise UnknownVariantError(f"{asked}: it takes {counts} source operands")
    wanted = _asked(names, operands)
    hint = _advice(rows, wanted, f"the manual has no {opcode} with all of this")
    raise UnknownVariantError(f"{asked} does not exist: {_why_not(opcode, names, rows)}; {hint}")


def _advice(rows: Sequence[Row], asked: Asked, none: str, target: str | None = None) -> str:
    """What to write; where nothing is equal, that, and what is spelled alike."""
    rows = [row for row in rows if CATALOG.is_safe(row, target)]
    advised = [row for row in rows if CATALOG.may_be_advised(row, asked, target) and not row.means]
    fewest = min((len(row.modifiers) for row in advised), default=0)
    advised = [row for row in advised if len(row.modifiers) == fewest]
    near = sorted(advised or rows, key=lambda row: _distance(row, asked))[:3]
    listed = ", ".join(dict.fromkeys(row.variant.spelling for row in near))
    return f"write {listed}" if advised else f"{none}; spelled alike: {listed}" if rows else none


def _why_not(opcode: str, names: list[str], rows: Sequence[Row]) -> str:
    repeated = [n for i, n in enumerate(names) if n in names[:i] and n not in TYPES]
    if repeated:
        return f".{repeated[0]} stands twice"
    types = tuple(n for n in names if n in TYPES)
    typed = [row for row in rows if row.types == types]
    if not typed:
        has = _some([f".{'.'.join(t)}" for t in dict.fromkeys(row.types for row in rows)])
        if not types:
            return f"a spelling ends in its type, and {opcode} has {has}"
        return f"{opcode} has no .{'.'.join(types)}, only {has}"
    known = dict.fromkeys(n for row in typed for n in row.variant.spelling.split(".")[1:] if n not in TYPES)
    strange = [n for n in names if n not in known and n not in TYPES]
    spelled = ".".join((opcode, *types))
    if strange:
        has = ", ".join("." + n for n in known) or "no modifiers"
        return f".{strange[0]} does not exist for {spelled}, which has {has}"
    return f"these modifiers of {spelled} do not go together, or one is missing"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _distance(row: Row, asked: Asked) -> tuple[int, int, float, int]:
    """How far a variant is from what was asked: first other names, then other types, then spelling and operands."""
    import difflib

    wanted, has = asked.modifiers.union(asked.types), row.modifiers.union(row.types)
    spelled = ".".join((*sorted(asked.modifiers), *asked.types))
    alike = difflib.SequenceMatcher(None, spelled, row.variant.spelling.partition(".")[2]).ratio()
    return len(wanted ^ has), int(row.types != asked.types), -alike, abs(row.operands - (asked.operands or 0))
