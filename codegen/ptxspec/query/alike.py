"""Variants that exist and are spelled alike, and which of them may be recommended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ..catalog import Asked
from ..diagnostics import nearest
from .database import Database, Variant, names_of
from .instead import as_part, told as recipe_told

_SHOWN = 4


class Advice(NamedTuple):
    """Advice on what to write for what cannot be written, or that there is nothing. `not_the_same` computes something
    else and is easily taken for it; it is empty where there is nothing of the kind."""

    text: str
    not_the_same: str = ""

    def __str__(self) -> str:
        return f"{self.text}; not the same: {self.not_the_same}" if self.not_the_same else self.text


class TypeDistance(NamedTuple):
    """The distance of a form's types from those that were asked for, each in its place. `wrong`: types too many or too
    few, `lost` those of them that were asked for; `alike` is the smaller, the more alike the others begin."""

    wrong: int
    lost: int
    alike: int


def type_distance(asked: Sequence[str], has: Sequence[str]) -> TypeDistance:
    if len(asked) == 1 and asked[0] in has:
        # Where one stands alone, it may be meant for any place.
        return TypeDistance(len(has) - 1, 0, -has.count(asked[0]) - (has[0] == asked[0]))
    pairs = [(a, h) for a, h in zip(asked, has, strict=False) if a != h]
    lost, more = max(0, len(asked) - len(has)), abs(len(asked) - len(has))
    return TypeDistance(2 * len(pairs) + more, len(pairs) + lost, -sum(_same_letters(*pair) for pair in pairs))


@lru_cache(maxsize=4096)
def _same_letters(one: str, other: str) -> int:
    """Return how many letters two names begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class Distance(NamedTuple):
    """The distance of a variant from what was asked, the weightiest part first. `ended`: the newest PTX version does
    not take it; `wrong`: names too many or too few, and `lost` those of them that were asked for; `types` is the
    distance of the types."""

    ended: bool
    wrong: int
    lost: int
    types: TypeDistance
    operands: int


def alike(
    db: Database, opcode: str, names: Iterable[str], operands: int | None, target: str | None, ptx: str | None
) -> tuple[Variant, ...]:
    """The three variants that are available there and most like what was asked. They need not do the same."""
    if opcode not in db.opcodes:
        opcode = next(iter(nearest(opcode, db.opcodes)), "")
    if not opcode:
        return ()
    meant = _meant(db, opcode, names)
    return tuple(v for _, v in ranked(db, db.opcodes[opcode].variants, meant, operands, target, ptx)[:3])


def ranked(
    db: Database,
    variants: Iterable[Variant],
    names: Iterable[str],
    operands: int | None,
    target: str | None,
    ptx: str | None,
) -> list[tuple[Distance, Variant]]:
    """Return those of some variants that are available there and have no hazard there, the most similar to what was
    asked first."""
    newest = ptx or db.catalog.newest_version
    known = [t for t in db.targets if db.catalog.knows(t, newest)]
    names = list(names)
    types = tuple(n for n in names if n in db.types or n in db.other_types)
    asked = frozenset(names).difference(types)

    @cache
    def of(has: tuple[str, ...]) -> TypeDistance:
        return type_distance(types, has)

    def distance(v: Variant) -> Distance:
        return Distance(
            # What few targets have has not ended because the newest one is not among them.
            ended=not db.takes(v, target or (None if v.requires.on else known[-1]), newest),
            wrong=len(asked ^ v.modifiers) + of(v.types).wrong,
            lost=len(asked - v.modifiers) + of(v.types).lost,
            types=of(v.types),
            operands=abs(v.operands - operands) if operands is not None else 0,
        )

    found = [(distance(v), v) for v in variants if db.takes(v, target, ptx) and db.catalog.is_safe(v, target, ptx)]
    return sorted(found, key=lambda r: (r[0], r[1].operands))


def advised(
    db: Database, opcode: str, names: Iterable[str], operands: int | None, target: str | None, ptx: str | None
) -> list[Variant]:
    """The variants to write for what cannot be written there: what it stands for, or what was meant by it."""
    meant = _meant(db, opcode, names)
    if any(n in db.other_types for n in meant):
        return []
    modifiers, types = db.split(meant)
    refused = db.refused(opcode, meant)
    same = (refused["means"] or refused.get("same")) if refused else None
    if same:
        variant = db.find(opcode, same.split(".")[1:], operands)
    else:
        variant = db.find(opcode, (*dict.fromkeys(modifiers), *types), operands)
    if variant is not None:
        variant = db.stands_for(variant) or variant
        asked = Asked(types=variant.types, modifiers=variant.modifiers, operands=variant.operands, complete=True)
    else:
        # An unknown name cannot be kept.
        kept = frozenset(m for m in modifiers if db.knows(m))
        asked = Asked(types=types, modifiers=kept, operands=operands, complete=False)
    of = db.opcodes[opcode].by_types.get(asked.types, ())
    candidates = [v for v in of if db.catalog.may_be_advised(v, asked, target, ptx) and not v.means]
    # Further names would do more than was asked for.
    fewest = min((len(v.modifiers) for v in candidates), default=0)
    shortest = [v for v in candidates if len(v.modifiers) == fewest]
    found = ranked(db, shortest, (*asked.modifiers, *asked.types), operands, target, ptx)
    nearest_ones = [v for distance, v in found if distance == found[0][0]]
    # A choice between variants that compute different things might be what an unknown name would have made.
    is_guess = len(nearest_ones) > 1 and not all(map(db.knows, meant))
    return [] if is_guess else nearest_ones


def advice(
    db: Database, opcode: str, names: Iterable[str], operands: int | None, target: str | None, ptx: str | None
) -> Advice:
    """Return what to write for what cannot be written there, or that there is nothing."""
    names = tuple(names)
    where = place(target, ptx)
    all_found = advised(db, opcode, names, operands, target, ptx)
    found, more = all_found[:_SHOWN], len(all_found) - _SHOWN
    besides: list[str] = []
    variant = db.find(opcode, names, operands)
    exists = variant is not None
    if not found:
        if not db.catalog.knows(target, ptx):
            return Advice(f"PTX {ptx} does not know {target}; use {db.targets[target or ''].ptx} or newer")
        if variant is not None and target is not None and not variant.crash:
            others = db.catalog.siblings(variant.requires, target, ptx)
            siblings = [t for t in others if db.catalog.is_safe(variant, t, ptx)]
            if siblings:
                return Advice(f"compile for {' or '.join(siblings)}")
        if variant is not None:
            nothing = "nothing is known that does the same" + (f" on {where}" if where else "")
            return Advice(recipe_told(db, variant, target, ptx) or nothing)
        # What is there, and not safe there, is not offered either.
        elsewhere = [v for v in advised(db, opcode, names, operands, None, None) if not db.takes(v, target, ptx)]
        if not elsewhere:
            if tuple(n for n in names if n in db.types) not in db.opcodes[opcode].types:
                return Advice("write a type that it has")
            if db.refused(opcode, _meant(db, opcode, names)):
                return Advice(f"nothing that {db.opcodes[opcode].data['assembler']['observed']} takes has all of this")
            return Advice(f"no {opcode} has all of this")
        forms, one = " and ".join(v.spelling for v in elsewhere[:_SHOWN]), len(elsewhere) == 1
        needs = {"" if v.requires.on else f"; from {db.catalog.text(v.requires)} on" for v in elsewhere}
        there = f"exist{'s' * one}, but not on {where}"
        return Advice(f"{forms} {there}{needs.pop() if len(needs) == 1 else ''}")
    if operands is not None and all(operands != v.operands for v in found):
        told = [f"{v.spelling} {v.places}" for v in found]
    else:
        counts = {v.operands for v in db.opcodes[opcode].variants}
        every = [*found, *(_exact_besides(db, variant, target, ptx) if variant is not None else ())]
        about = [f" ({said})" if said else "" for said in _summaries(db, every)]
        told = [f"{v if len(counts) > 1 else v.spelling}{a}" for v, a in zip(every, about, strict=True)]
        told, besides = told[: len(found)], told[len(found) :]
    lost = [f".{n}" for n in _meant(db, opcode, names) if not db.knows(n)]
    without = f", without {' and '.join(lost)}" if lost else ""
    told += [f"one of {more} more"] if more > 0 else []
    text = f"{f'on {where}, ' if exists and where else ''}write {' or '.join(told)}{without}"
    return Advice(text, " or ".join(besides))


def _exact_besides(db: Database, v: Variant, target: str | None, ptx: str | None) -> list[Variant]:
    """Return the variants that somebody may have meant who wrote the short spelling of an approximation: with the
    modifiers that the opcode's other short spellings leave out, the result is exact."""
    if not v.means or v.claim == "exact":
        return []
    about = db.opcodes[v.opcode]
    refused = (r["means"].split(".")[1:] for r in about.data["assembler"]["refused"] if r["means"])
    left_out = {*(w.means for w in about.variants if w.means), *(tuple(db.split(names)[0]) for names in refused)}
    meant = (db.find(v.opcode, (*v.modifiers, *names, *v.types), v.operands) for names in sorted(left_out))
    exact = [w for w in meant if w is not None and w.claim == "exact"]
    return [w for w in exact if db.takes(w, target, ptx) and db.is_advisable(w, target, ptx)]


def differences(db: Database, variants: Sequence[Variant]) -> list[str]:
    """The modifiers that some variants differ in, each with what it means: ".rz (round toward zero)"."""
    own = [v.modifiers.difference(*(w.modifiers for w in variants if w.modifiers != v.modifiers)) for v in variants]
    return list(dict.fromkeys(f".{m} ({summary(db, m)})" for names in own for m in sorted(names)))


def _summaries(db: Database, variants: Sequence[Variant]) -> list[str]:
    """Return what each of several variants means that the others do not; empty for one alone."""
    if len({v.spelling for v in variants}) < 2:
        return [""] * len(variants)
    common = frozenset.intersection(*(v.modifiers for v in variants))
    return ["; ".join(summary(db, m) for m in sorted(v.modifiers - common)) for v in variants]


def summary(db: Database, modifier: str) -> str:
    """The first sentence of what is said of a modifier, as part of another."""
    whole: str = db.data["modifiers"][modifier]["summary"]
    return as_part(whole.partition(". ")[0].rstrip("."))


def place(target: str | None, ptx: str | None) -> str:
    """Return the target and PTX version asked about, in words: "sm_80 and PTX 7.0"."""
    return " and ".join([*([target] if target else []), *([f"PTX {ptx}"] if ptx else [])])


def _meant(db: Database, opcode: str, names: Iterable[str]) -> list[str]:
    """The names, with those that are unknown replaced as the reasons suggest, and those that only another instruction
    has where this one has the same in other letters."""
    about = db.opcodes[opcode]
    names = [in_other_letters(n, about.names) or n for n in names]
    if all(map(db.knows, names)):
        return names
    pools = (names_of(v for v in about.variants if not set(v.types).isdisjoint(names)), about.names)
    return [n if db.knows(n) else next((near[0] for pool in pools if (near := nearest(n, pool))), n) for n in names]


def in_other_letters(name: str, known: Iterable[str]) -> str:
    """The known name that differs from a name that is not known in capital letters alone; empty where there is none."""
    known = list(known)
    same = [k for k in known if k.lower() == name.lower()] if name not in known else []
    return same[0] if same else ""
