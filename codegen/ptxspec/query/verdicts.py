"""Verdicts: whether a variant exists and is available, and why not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..catalog import Refusal, Requirement, is_other_function, requirement_of
from ..diagnostics import PtxspecError, nearest, suggest, unknown
from .alike import advice, alike, in_other_letters, type_distance
from .database import Database, Opcode, Variant, names_of
from .instead import Offer, as_json as offer_as_json, offers, why_none

_SPELLING = re.compile(r"\w+(\.[\w:]+)*")
# The most characters of an opcode's types in a message.
_LONG = 100
_NEAR = 3


class Reason(NamedTuple):
    """A reason why a variant does not exist or is not available. `code` is stable, the message is for people."""

    code: str
    message: str


class Verdict(NamedTuple):
    """The answer to a query. `exists`: some PTX version takes it on some target; `available`: where it was asked.
    `hazard` is what its machine code does instead there, `loose` what its results may be beside what it says.
    `nearest` is what exists there and is spelled alike, and need not do the same; `help` says how to mend it, and
    names `not_the_same`, which computes something else and is easily taken for it. `instead` are the recipes, those
    first that work there; `no_recipe` is why there is none, or none for every target."""

    variant: str
    operands: int | None
    exists: bool
    available: bool
    requires: Requirement | None = None
    manual: Requirement | None = None
    means: str | None = None
    claim: str | None = None
    rests_on: str | None = None
    hazard: str | None = None
    loose: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    nearest: tuple[Variant, ...] = ()
    help: str = ""
    not_the_same: str = ""
    instead: tuple[Offer, ...] = ()
    no_recipe: str = ""

    @property
    def outside(self) -> bool:
        """Return whether the spelling does not exist here and PTX may have it: the database is about some opcodes and
        types."""
        return any(r.code in ("not-in-database", "unknown-opcode") for r in self.reasons)

    def as_json(self, db: Database) -> dict[str, Any]:
        """`instead` is what may be written there; `instead_elsewhere` needs another target or PTX version."""
        return {
            "schema": 3,
            "variant": self.variant,
            "operands": self.operands,
            "exists": self.exists,
            "available": self.available,
            "requires": self.requires.as_json() if self.requires else None,
            "manual": self.manual.as_json() if self.manual else None,
            "claim": self.claim,
            "rests_on": self.rests_on,
            "hazard": self.hazard,
            "loose": list(self.loose),
            "reasons": [r._asdict() for r in self.reasons],
            "nearest": [{"variant": v.spelling, "operands": v.operands} for v in self.nearest],
            "instead": [offer_as_json(db, o) for o in self.instead if o.works],
            "instead_elsewhere": [offer_as_json(db, o) for o in self.instead if not o.works],
            "no_recipe": self.no_recipe or None,
        }


def query(
    db: Database, spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
) -> Verdict:
    """Return whether a variant exists and is available, with the reasons why not and what is spelled alike.

    Raises PtxspecError for an unknown target or PTX version."""
    target = db.target(target) if target is not None else None
    ptx = db.ptx_version(ptx) if ptx is not None else None
    opcode, *names = spelling.strip().split(".")
    found = db.find(opcode, names, operands)
    if found is None:
        reasons = why_not(db, spelling, operands)
        refused = db.refused(opcode, names)
        verdict = Verdict(
            variant=spelling,
            operands=operands,
            exists=False,
            available=False,
            manual=requirement_of(refused["manual"]) if refused else None,
            means=refused["means"] if refused else None,
            reasons=reasons,
        )
        # What stands behind the spelling is none of it.
        opcode, *names = spelling.split(maxsplit=1)[0].split(".") if spelling.strip() else [""]
    else:
        here, longer = db.on(found, target), db.stands_for(found)
        verdict = Verdict(
            variant=found.spelling,
            operands=found.operands,
            exists=True,
            available=db.takes(found, target, ptx),
            requires=found.requires,
            manual=found.manual,
            means=longer.spelling if longer else None,
            claim=here.claim,
            rests_on=here.rests_on,
            hazard=db.hazard(found, target, ptx),
            loose=found.loose,
            reasons=refusals(db, found, target, ptx),
        )
    # What has ended is missing under every PTX version of today, though without a target an old one will do.
    if found is not None and (not verdict.available or (found.requires.until and target is ptx is None)):
        verdict = verdict._replace(instead=offers(db, found, target, ptx), no_recipe=why_none(db, found))
    if verdict.available or any(r.code == "not-in-database" for r in verdict.reasons):
        return verdict
    verdict = verdict._replace(nearest=alike(db, opcode, names, verdict.operands, target, ptx))
    if opcode not in db.opcodes:
        return verdict
    found_advice = advice(db, opcode, names, verdict.operands, target, ptx)
    return verdict._replace(help=str(found_advice), not_the_same=found_advice.not_the_same)


def variant(db: Database, spelling: str, operands: int | None = None) -> Variant:
    """A variant by its spelling, modifiers in any order; the one with the fewest operands unless told.

    Raises PtxspecError for a spelling that does not exist."""
    opcode, *names = spelling.strip().split(".")
    found = db.find(opcode, names, operands)
    if found is None:
        raise PtxspecError("; ".join(r.message for r in why_not(db, spelling, operands)))
    return found


# Why a variant is refused


def refusals(db: Database, v: Variant, target: str | None, ptx: str | None) -> tuple[Reason, ...]:
    """Return what a variant needs that the target or PTX version does not have, and how the assembler breaks down on
    it; empty where machine code comes of it."""
    found = db.catalog.refusals(v.requires, target, ptx)
    crash = [Reason("assembler-crash", f"{v}: {v.crash}")] if v.crash else []
    return (*crash, *(Reason(r.code, _refusal(db, str(v), r, target, ptx)) for r in found))


def pair(db: Database, target: str | None, ptx: str | None) -> Reason | None:
    """Return the reason that a PTX version does not know a target, so that nothing is available there; None where it
    does."""
    if target is None or db.catalog.knows(target, ptx):
        return None
    refusal = Refusal("target-unknown", db.targets[target].ptx)
    return Reason(refusal.code, _refusal(db, "", refusal, target, ptx))


def _refusal(db: Database, v: str, refusal: Refusal, target: str | None, ptx: str | None) -> str:
    code, bound = refusal
    if code == "target-too-old":
        return f"{v} needs {bound} or newer; {target} is older" if target else f"PTX {ptx} knows no target that has {v}"
    if code == "target-specific":
        return f"{target} does not have {v}, which needs {bound}"
    if code == "target-too-new":
        return f"{v} ended with PTX {bound}, before {target} came with {db.targets[target or ''].ptx}"
    release = db.versions[bound]
    if code == "ptx-too-old":
        return f"{v} needs PTX {release} or newer; {ptx} is older"
    if code == "ptx-too-new":
        return f"{v} ended with PTX {release}; {ptx} is newer"
    return f"PTX {ptx} does not know {target}, which came with PTX {release}"


# Why a spelling does not exist


def why_not(db: Database, spelling: str, operands: int | None) -> tuple[Reason, ...]:
    """Return what is wrong with a spelling that does not exist."""
    opcode, *names = spelling.strip().split(".")
    about = db.opcodes.get(opcode)
    if not _SPELLING.fullmatch(spelling.strip()):
        example = (about or next(iter(db.opcodes.values()))).variants[0].spelling
        return (Reason("syntax", f"a spelling is names with a dot between, as in {example}, without operands"),)
    elsewhere = _outside(db, opcode, names)
    if elsewhere is not None:
        return (elsewhere,)
    if about is None:
        if is_other_function(opcode, db.opcodes):
            more = "what is spelled alike computes something else"
            return (Reason("unknown-opcode", f"PTX has no {opcode}; {more}"),)
        return (Reason("unknown-opcode", unknown("opcode", opcode, db.opcodes, "`ptxspec list` names what is here")),)
    modifiers, types = db.split(names)
    first = {n: i for i, n in reversed(list(enumerate(modifiers)))}
    repeated = [n for i, n in enumerate(modifiers) if first[n] < i]
    if repeated:
        return (Reason("repeated-modifier", f".{repeated[0]} stands twice"),)
    same = about.spelled(frozenset(modifiers), types)
    if same:
        counts = " or ".join(str(v.operands) for v in same)
        return (Reason("operand-count", f"{same[0].spelling} takes {counts} source operands, not {operands}"),)
    refused = db.refused(opcode, names)
    if refused is not None:
        manual, short = requirement_of(refused["manual"]), f" as {refused['means']}" if refused["means"] else ""
        versions = f"PTX {manual.ptx} {f'to {manual.until}' if manual.until else 'or newer'}"
        where = f"on {db.catalog.on_text(manual)}" if manual.on else f"for {manual.target} or newer, {versions}"
        message = f"the manual has {refused['variant']}{short}, {where}"
        observed = about.data["assembler"]["observed"]
        return (Reason("refused-by-assembler", f"{message}; {observed} takes it nowhere"),)
    if types not in about.types:
        return (_types(db, opcode, names),)
    typed = about.by_types[types]
    spelled = ".".join((opcode, *types))
    reasons = []
    known = [n for n in names_of(typed) if n not in types]
    for n in modifiers:
        if n not in known:
            message = f"{spelled} has no .{n}; it has {_listed(known) or 'no modifiers'}"
            meant = in_other_letters(n, known) or next(iter([] if db.knows(n) else nearest(n, known)), "")
            if meant:
                message += f"; did you mean '.{meant}'?"
            reasons.append(Reason("illegal-modifier" if db.knows(n) else "unknown-modifier", message))
    return tuple(reasons) or (_combination(opcode, modifiers, types, typed, operands),)


def _types(db: Database, opcode: str, names: Sequence[str]) -> Reason:
    """The spelling has types that none of the opcode's has, or none."""
    about = db.opcodes[opcode]
    types = tuple(n for n in names if n in db.types or n in db.other_types)
    listed = forms_text(about, types)
    strange = [n for n in names if not db.knows(n)]
    if strange and not types:
        near = suggest(strange[0], about.names, ".", f"{opcode} has {listed}")
        return Reason("unknown-type", f"unknown type or modifier '.{strange[0]}'; {near}")
    if not types:
        return Reason("illegal-type", f"{'.'.join((opcode, *names))} lacks a type; {opcode} has {listed}")
    counts = {len(t) for t in about.types}
    fits = len(types) in counts
    what = f"no .{'.'.join(types)}" if fits or counts != {1} else "one type in each spelling"
    return Reason("illegal-type", f"{opcode} has {what}; it has {listed}")


def _outside(db: Database, opcode: str, names: Sequence[str]) -> Reason | None:
    """Return the reason that a spelling is none of this database's, so that nothing is known of it; None where it is
    one."""
    if opcode not in db.opcodes:
        other = next((n for n in names if db.is_other_type(n)), None)
        return Reason("not-in-database", f".{other} is a type of other sections of PTX") if other else None
    if not db.is_elsewhere(opcode, names):
        return None
    message = f"{db.form(opcode, *names)} is a form of other sections of PTX"
    return Reason("not-in-database", f"{message}; here {opcode} has {forms_text(db.opcodes[opcode])}")


def _combination(
    opcode: str, modifiers: Sequence[str], types: tuple[str, ...], typed: Sequence[Variant], operands: int | None
) -> Reason:
    """Every name is fine by itself: one is missing, or two exclude each other."""
    asked = frozenset(modifiers)
    form = ".".join((opcode, *types))
    larger = [sorted(v.modifiers - asked) for v in typed if v.modifiers > asked and operands in (None, v.operands)]
    if larger:
        fewest = min(map(len, larger))
        missing = list(dict.fromkeys(n for names in larger if len(names) == fewest for n in names))
        listed = " or ".join(f".{n}" for n in missing) if fewest == 1 else _listed(missing)
        return Reason("missing-modifier", f"{'.'.join((opcode, *modifiers, *types))} lacks {listed}")
    for i, one in enumerate(modifiers):
        for other in modifiers[i + 1 :]:
            if not any({one, other} <= v.modifiers for v in typed):
                return Reason("excluding-modifiers", f".{one} and .{other} exclude each other in {form}")
    together = " ".join(f".{m}" for m in modifiers)
    counted = f" with {operands} operands" if operands and len({v.operands for v in typed}) > 1 else ""
    return Reason("illegal-combination", f"{form} does not take {together} together{counted}")


@lru_cache(maxsize=64)
def forms_text(about: Opcode, asked: tuple[str, ...] = ()) -> str:
    """The types that an opcode's spellings end in; sequences of several in notation, or where that would fill lines,
    those that are most like what was asked for, and how many types the others have."""
    from ..compact import compact

    single = [f".{types[0]}" for types in about.types if len(types) == 1]
    several = [types for types in about.types if len(types) > 1]
    text = ", ".join([*single, *compact((((), types) for types in several), {})])
    if len(text) <= _LONG or not several:
        return text
    rest = f"forms of {' or '.join(map(str, sorted({len(types) for types in several})))} types"
    if single and len(asked) < 2:
        return f"{', '.join(single)} and {rest}"
    near = sorted(about.types, key=lambda has: type_distance(asked, has))[:_NEAR]
    return f"{', '.join('.' + '.'.join(types) for types in near)}{' and others' if single else f' and other {rest}'}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f".{n}" for n in names)
