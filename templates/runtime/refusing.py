"""The errors for variants that do not exist, or not on a target, with what to write: read when something is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from .catalog import Asked, is_other_function
from .index import CATALOG, OPCODES, TYPES
from .lookup import Row, UnknownTargetError, UnknownVariantError, counted, opcode_named, rows_of
from .opcodes import Recipe
from .statements import is_other

# How many forms of an opcode an error lists, and how many variants that are spelled alike.
_FORMS, _ALIKE = 16, 3
# The number of a recipe's statements that an error has in a line.
_SHORT = 4
_DIFFERENCES = {
    "": "bit for bit",
    "NaN bits": "but for the bits of a NaN",
    "within bound": "within the variant's bound",
}


# Spellings


def no_variant(spelling: str, operands: int | None, same: Sequence[Row]) -> UnknownVariantError:
    """Return the error for a spelling that names no variant; `same` are its variants, which take another number of
    operands."""
    asked = spelling if operands is None else f"{spelling} with {counted(operands)}"
    if len(spelling.split()) > 1:
        example = rows_of(OPCODES[0])[0].variant.spelling
        return UnknownVariantError(
            f"{asked}: a spelling is names with a dot between, as in {example}, without operands"
        )
    opcode, *names = spelling.strip().split(".")
    if opcode not in OPCODES:
        near = [] if is_other_function(opcode, OPCODES) else _near(opcode, OPCODES)
        hint = f"did you mean '{near[0]}'?" if near else "opcodes: " + ", ".join(OPCODES)
        return UnknownVariantError(f"{asked}: unknown opcode '{opcode}'; {hint}")
    if same:
        counts = " or ".join(str(row.operands) for row in same)
        return UnknownVariantError(f"{asked}: it takes {counts} source operands")
    if is_other(opcode, names):
        has = _forms(rows_of(opcode), _types(names))
        return UnknownVariantError(f"{asked} is a form of other sections of PTX, and not run; here {opcode} has {has}")
    rows = rows_of(opcode)
    hint = _advice(rows, _meant(opcode, names, operands), f"no {opcode} has all of this")
    return UnknownVariantError(f"{asked} does not exist: {_why_not(opcode, names, rows)}; {hint}")


def _why_not(opcode: str, names: Sequence[str], rows: Sequence[Row]) -> str:
    first = {n: i for i, n in reversed(list(enumerate(names)))}
    repeated = [n for i, n in enumerate(names) if first[n] < i and n not in TYPES]
    if repeated:
        return f".{repeated[0]} stands twice"
    types = _types(names)
    typed = [row for row in rows if row.types == types]
    if not typed:
        has = _forms(rows, types)
        unknown = [n for n in names if n not in TYPES and n not in _modifiers()]
        if unknown:
            return f"there is no type or modifier .{unknown[0]}; {opcode} has {has}"
        if not types:
            return f"a spelling ends in its type, and {opcode} has {has}"
        return f"{opcode} has no .{'.'.join(types)}, only {has}"
    known = list(dict.fromkeys(n for row in typed for n in row.variant.spelling.split(".")[1:] if n not in TYPES))
    strange = [n for n in names if n not in known and n not in TYPES]
    spelled = ".".join((opcode, *types))
    if strange:
        has = ", ".join("." + n for n in known) or "no modifiers"
        return f".{strange[0]} does not exist for {spelled}, which has {has}"
    asked = [n for n in names if n not in TYPES]
    for pair in combinations(asked, 2):
        if not any(row.modifiers.issuperset(pair) for row in typed):
            return f".{pair[0]} and .{pair[1]} exclude each other in {spelled}"
    return f"these modifiers of {spelled} do not go together, or one is missing"


def _forms(rows: Sequence[Row], types: Sequence[str]) -> str:
    """Return the types that an opcode has, those with most in common with some first."""
    forms = dict.fromkeys(row.types for row in rows)

    def strangeness(form: tuple[str, ...]) -> tuple[int, int]:
        return len({*types}.difference(form)), abs(len(form) - len(types or form[:1]))

    listed = [f".{'.'.join(t)}" for t in sorted(forms, key=strangeness)]
    more = len(listed) - _FORMS
    return ", ".join(listed[:_FORMS]) + (f" and {more} more" if more > 0 else "")


class _Meant(NamedTuple):
    """`certain`: every name is known, or the only one that it can have been meant for."""

    asked: Asked
    certain: bool


def _meant(opcode: str, names: Iterable[str], operands: int | None) -> _Meant:
    """Return the meaning of a spelling's names, each unknown one replaced by the most similar name of the opcode."""
    own = dict.fromkeys(n for row in rows_of(opcode) for n in row.variant.spelling.split(".")[1:])
    found = []
    for n in names:
        in_other_letters = [k for k in own if k.lower() == n.lower()] if n not in own else []
        known = n in TYPES or n in _modifiers()
        found.append((in_other_letters or ([n] if known else _near(n, own)) or [""])[0])
    types = _types(found)
    asked = Asked(types, frozenset(found).difference(types, ("",)), operands, complete=False)
    return _Meant(asked, "" not in found)


@lru_cache(maxsize=1)
def _modifiers() -> frozenset[str]:
    """Return the modifiers of all opcodes."""
    return frozenset(m for opcode in OPCODES for row in rows_of(opcode) for m in row.modifiers)


def _advice(rows: Sequence[Row], meant: _Meant, none: str, target: str | None = None) -> str:
    """Return the advice on what to write; where no variant is equal, `none` and the variants that are spelled alike."""
    advised = _advised(rows, meant.asked, target) if meant.certain else []
    if advised:
        return f"write {_listed(advised, meant.asked)}"
    safe = [row for row in rows if CATALOG.is_safe(row, target)]
    return f"{none}; spelled alike: {_listed(safe, meant.asked)}" if safe else none


def _advised(rows: Sequence[Row], asked: Asked, target: str | None) -> list[Row]:
    """Return the variants that keep all that was asked for, those with the fewest other names."""
    found = [row for row in rows if CATALOG.may_be_advised(row, asked, target) and not row.group.means]
    fewest = min((len(row.modifiers) for row in found), default=0)
    return [row for row in found if len(row.modifiers) == fewest]


def _listed(rows: Sequence[Row], asked: Asked) -> str:
    near = sorted(rows, key=lambda row: _distance(row, asked))[:_ALIKE]
    return ", ".join(dict.fromkeys(row.variant.spelling for row in near))


def _distance(row: Row, asked: Asked) -> tuple[int, int, float, int]:
    """Return the distance of a variant from what was asked: first other names, then other types, then spelling and
    operands."""
    wanted, has = asked.modifiers.union(asked.types), row.modifiers.union(row.types)
    spelled = ".".join((*sorted(asked.modifiers), *asked.types))
    alike = difflib.SequenceMatcher(None, spelled, row.variant.spelling.partition(".")[2]).ratio()
    return len(wanted ^ has), int(row.types != asked.types), -alike, abs(row.operands - (asked.operands or 0))


def _types(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(n for n in names if n in TYPES)


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Return the most similar name, whatever its letters' case, if one is near at all. A number alone might be any of
    those that end in it."""
    if name.isdigit():
        return []
    folded: dict[str, str] = {}
    for n in names:
        folded.setdefault(n.lower(), n)
    return [folded[n] for n in difflib.get_close_matches(name.lower(), folded, n=1)]


# Targets


def no_target(target: str) -> UnknownTargetError:
    """Return the error for the name of an unknown target."""
    first, *_, last = CATALOG.targets
    # A name that begins otherwise is no misspelt target but a GPU's name, and these are not known here.
    near = _near(target, CATALOG.targets) if target[:2].lower() == "sm" else []
    hint = f"did you mean '{near[0]}'?" if near else f"targets are called as ptxas calls them, {first} to {last}"
    return UnknownTargetError(f"unknown target '{target}'; {hint}")


def not_there(row: Row, target: str) -> UnknownTargetError:
    """Return the error for a variant that a target does not have: what it needs, and what to write there."""
    r = row.requires
    if r.on:
        where = CATALOG.on_text(r)
    else:
        runs = " and ".join(" to ".join(dict.fromkeys(run)) for run in CATALOG.runs(r))
        first, last = CATALOG.first_version(r), r.until
        where = f"{runs} ({f'PTX {first} to {last}' if last else f'PTX {first} or newer'})"
    here = [other for other in rows_of(row.opcode) if CATALOG.takes(other.requires, target)]
    meant = _Meant(Asked(row.types, row.modifiers.union(row.group.means), row.operands, complete=True), certain=True)
    works = next((x for x in recipes_for(row) if CATALOG.takes(x.requires, target)), None)
    siblings = [t for t in CATALOG.siblings(r, target) if CATALOG.is_safe(row, t)]
    if siblings and not _advised(here, meant.asked, target):
        hint = f"write target {' or '.join(map(repr, siblings))}"
    elif works and not _advised(here, meant.asked, target):
        differs = _DIFFERENCES.get(works.differs, f"bit for bit {works.differs}")
        hint = f"{_instead(row, target, works.ptx)} ({differs})"
    else:
        none = f"no other {row.opcode} does the same there" if here else f"{target} has no {row.opcode} at all"
        hint = _advice(here, meant, none, target)
    return UnknownTargetError(f"{row} does not exist on {target}, only on {where}; {hint}", works.ptx if works else "")


def recipes_for(row: Row) -> Sequence[Recipe]:
    """Return the recipes for a variant where it is missing, the best first."""
    return opcode_named(row.opcode).recipes.get((row.variant.spelling.partition(".")[2], row.operands), ())


def _instead(row: Row, target: str, recipe: str) -> str:
    statements = sum(line.endswith(";") and ".reg" not in line for line in recipe.split("\n"))
    if statements <= _SHORT:
        return f"instead: {' '.join(recipe.split())}"
    return f"instead: the {statements} statements of `ptxspec query {row.variant.spelling} --target {target}`"
