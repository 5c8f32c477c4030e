"""Finding the variant that a spelling names, and saying why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from .index import TARGETS, TYPES, VARIANTS


class UnknownVariantError(LookupError):
    """No instruction is spelled like this, or none with this number of operands."""


class UnknownTargetError(LookupError):
    """No target is called this, or the variant does not exist on it."""


@dataclass(frozen=True)
class Variant:
    """One complete spelling with its number of source operands.

    `claim` says how faithful the emulator is: "exact" (IEEE 754 and NVIDIA's manual fix every bit), "measured" (equal
    to recordings), "bounded" (inside the manual's error bound) or "unspecified"."""

    spelling: str
    operands: int
    claim: str


@dataclass(frozen=True)
class Row:
    variant: Variant
    opcode: str
    type: str
    names: frozenset[str]
    predicate: bool
    targets: str

    def __str__(self) -> str:
        return f"{self.variant.spelling} ({count(self.variant.operands)})"

    def exists_on(self, target: str) -> bool:
        place = TARGETS.index(target)
        runs = (run.partition("..") for run in self.targets.split(","))
        return any(TARGETS.index(first) <= place <= TARGETS.index(last or first) for first, _, last in runs)


def count(operands: int) -> str:
    return f"{operands} operand{'s' * (operands != 1)}"


@lru_cache(maxsize=1)
def _opcodes() -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelling.partition(".")[0] for spelling, *_ in VARIANTS))


@lru_cache(maxsize=256)
def _rows(opcode: str) -> tuple[Row, ...]:
    """The variants of an opcode."""
    found = []
    for spelling, operands, claim, predicate, targets in VARIANTS:
        if spelling.startswith(f"{opcode}."):
            names = spelling.split(".")[1:]
            variant = Variant(spelling, operands, claim)
            found.append(Row(variant, opcode, names[-1], frozenset(names), predicate, targets))
    return tuple(found)


def variants() -> list[Variant]:
    """Every variant that the emulator has, ordered by opcode."""
    return [row.variant for opcode in _opcodes() for row in _rows(opcode)]


def find(spelling: str, operands: int | None, target: str | None) -> Row:
    """The variant, with the fewest operands unless told. Raises UnknownVariantError, UnknownTargetError."""
    opcode, *names = spelling.strip().split(".")
    wanted = frozenset(names)
    found = [row for row in _rows(opcode) if row.names == wanted and len(names) == len(wanted)]
    fitting = [row for row in found if operands in (None, row.variant.operands)]
    if not fitting:
        _reject(spelling, opcode, names, operands, found)
    row = min(fitting, key=lambda row: row.variant.operands)
    if target is not None:
        if target not in TARGETS:
            near = _near(target, TARGETS)
            raise UnknownTargetError(f"unknown target '{target}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        if not row.exists_on(target):
            here = [r for r in _rows(opcode) if r.exists_on(target)]
            hint = f"nearest there: {_nearest(here, names, operands)}" if here else f"{target} has no {opcode} at all"
            only = row.targets.replace("..", " to ").replace(",", " and ")
            raise UnknownTargetError(f"{row} does not exist on {target}, only on {only}; {hint}")
    return row


def _near(name: str, names: Sequence[str]) -> list[str]:
    """The name that comes nearest, if one is near at all."""
    import difflib  # only needed when something is wrong

    return difflib.get_close_matches(name, names, n=1)


def _reject(spelling: str, opcode: str, names: list[str], operands: int | None, found: list[Row]) -> NoReturn:
    rows = _rows(opcode)
    asked = spelling if operands is None else f"{spelling} with {count(operands)}"
    if not rows:
        near = _near(opcode, _opcodes())
        hint = f"did you mean '{near[0]}'?" if near else "opcodes: " + ", ".join(_opcodes())
        raise UnknownVariantError(f"{asked}: unknown opcode '{opcode}'; {hint}")
    if found:
        counts = " or ".join(str(row.variant.operands) for row in found)
        raise UnknownVariantError(f"{asked}: it takes {counts} source operands")
    reason = _why_not(opcode, names, rows)
    raise UnknownVariantError(f"{asked} does not exist: {reason}; nearest: {_nearest(rows, names, operands)}")


def _nearest(rows: Sequence[Row], names: list[str], operands: int | None) -> str:
    near = sorted(rows, key=lambda row: _distance(row, names, operands))[:3]
    return ", ".join(dict.fromkeys(row.variant.spelling for row in near))


def _why_not(opcode: str, names: list[str], rows: Sequence[Row]) -> str:
    repeated = [n for i, n in enumerate(names) if n in names[:i]]
    if repeated:
        return f".{repeated[0]} stands twice"
    types = [n for n in names if n in TYPES]
    if len(types) != 1:
        has = ", ".join("." + t for t in dict.fromkeys(row.type for row in rows))
        return f"a spelling has one type, and {opcode} has {has}"
    same_type = [row for row in rows if row.type == types[0]]
    if not same_type:
        has = ", ".join("." + t for t in dict.fromkeys(row.type for row in rows))
        return f"{opcode} has no .{types[0]}, only {has}"
    known = dict.fromkeys(n for row in same_type for n in row.variant.spelling.split(".")[1:-1])
    strange = [n for n in names if n not in known and n not in types]
    if strange:
        has = ", ".join("." + n for n in known) or "no modifiers"
        return f".{strange[0]} does not exist for {opcode}.{types[0]}, which has {has}"
    return f"these modifiers of {opcode}.{types[0]} do not go together, or one is missing"


def _distance(row: Row, names: list[str], operands: int | None) -> tuple[int, int, float, int]:
    """How far a variant is from what was asked: first other names, then another type, then spelling and operands."""
    import difflib

    asked = frozenset(names)
    alike = difflib.SequenceMatcher(None, ".".join(names), row.variant.spelling.partition(".")[2]).ratio()
    return len(asked ^ row.names), int(row.type not in asked), -alike, abs(row.variant.operands - (operands or 0))
