"""Verdicts: whether a variant exists and is available, and why not."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..catalog import Requirement, requirement_of
from ..catalog.explaining import Reason, alike, explain, meant_type, recipes, recipes_of_missing, unmet, why_not
from ..catalog.known import Recipe
from ..catalog.likeness import is_other_function, suggest
from ..catalog.special import FIELDS, SpecialRegister
from ..diagnostics import PtxspecError, visible
from . import calls, sass
from .database import Database, Variant
from .families import Family, family
from .where import where

# As AMD's instructions are called: v_exp_f32, v_pk_fma_f16, s_add_u32.
_OF_AMD = re.compile(r"(?:v|s|ds)_(?:\w+_)?(?:b?f|[iub])\d+(?:_\w+)?$")


class Verdict(NamedTuple):
    """The answer to a query.

    `exists`: some PTX version supports the variant on some target. `available`: so do the target and PTX version that
    were named, which are `asked`. `requires` is the requirement on all targets, and `here` that on the named target, if
    it supports the variant. `hazard` is what the machine code does there instead, and `loose` how results may differ
    from the spelling. `nearest` are available variants that are spelled alike and need not do the same. `help` is
    advice on what to write; it names `not_the_same`, variants that compute something else and are easily mistaken for
    this one. `instead` are the recipes, with those that work there first; `no_recipe` is the reason why there is none,
    or none for every target. `family` are the variants that a spelling with placeholders stands for, and `register` is
    the special register of the query."""

    variant: str
    operands: int | None
    exists: bool
    available: bool
    requires: Requirement | None = None
    here: Requirement | None = None
    manual: Requirement | None = None
    means: str | None = None
    claim: str | None = None
    basis: str | None = None
    hazard: str | None = None
    loose: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    nearest: tuple[Variant, ...] = ()
    help: str = ""
    not_the_same: str = ""
    instead: tuple[Recipe, ...] = ()
    no_recipe: str = ""
    family: Family | None = None
    register: SpecialRegister | None = None
    asked: tuple[str | None, str | None] = (None, None)

    def __bool__(self) -> bool:
        """Return whether the variant is available on the named target and in the named PTX version."""
        return self.available

    @property
    def outside(self) -> bool:
        """Return whether the spelling is not in this database but may be PTX, of which the database describes only some
        opcodes and types."""
        return any(r.code in ("not-in-database", "unknown-opcode") for r in self.reasons)

    def as_json(self, db: Database) -> dict[str, Any]:
        """Return the JSON of `query`. The recipes in `instead` work there; those in `instead_elsewhere` require another
        target or PTX version."""
        return {
            "schema": 4,
            "variant": self.variant,
            "operands": self.operands,
            "exists": self.exists,
            "available": self.available,
            "requires": self.requires.as_json() if self.requires else None,
            "here": here_as_json(db, self.here) if self.here else None,
            "manual": self.manual.as_json() if self.manual else None,
            "claim": self.claim,
            "basis": self.basis,
            "hazard": self.hazard,
            "loose": list(self.loose),
            "reasons": [{"code": r.code, "message": r.message} for r in self.reasons],
            "nearest": [{"variant": v.spelling, "operands": v.operands} for v in self.nearest],
            "instead": [recipe_as_json(db, r) for r in self.instead if r.works],
            "instead_elsewhere": [recipe_as_json(db, r) for r in self.instead if not r.works],
            "no_recipe": self.no_recipe or None,
            "family": self.family.as_json(db, *self.asked) if self.family else None,
            "register": _register_as_json(self.register) if self.register else None,
        }


def query(
    db: Database, spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
) -> Verdict:
    """Return whether a variant exists and is available, with the reasons why not and variants that are spelled alike.

    Raises PtxspecError for an unknown target or PTX version."""
    target = db.target(target) if target is not None else None
    ptx = db.ptx_version(ptx) if ptx is not None else None
    if spelling.strip().startswith("%"):
        return _of_register(db, spelling.strip(), operands, target, ptx)
    opcode, *names = spelling.strip().split(".")
    if whole := family(db, spelling, operands):
        some = any(db.takes(v, target, ptx) for v in whole.variants)
        requires = next(iter(whole.needs())) if len(whole.needs()) == 1 else None
        return Verdict(spelling, operands, True, some, requires, family=whole, asked=(target, ptx))
    found, why = db.find(opcode, names, operands), explain(db, spelling, operands, target, ptx)
    if words := _words(db, spelling) if any(r.code == "syntax" for r in why.reasons) else "":
        return Verdict(spelling, operands, False, False, reasons=(Reason("syntax", words),))
    if why.reasons and (said := _part(db, spelling.strip())):
        return Verdict(spelling, operands, False, False, reasons=(Reason("syntax", said),))
    if _is_no_instruction(why.reasons) and (said := sass.instruction(db, spelling)):
        return Verdict(spelling, operands, False, False, reasons=(Reason("unknown-opcode", said),))
    why = why._replace(reasons=_with_functions(db, spelling, why.reasons))
    verdict = Verdict(
        variant=spelling,
        operands=operands,
        exists=found is not None,
        available=not why.reasons,
        reasons=why.reasons,
        nearest=alike(db, spelling, found.operands if found else operands, target, ptx) if why.is_ours else (),
        help=str(why.advice),
        not_the_same=why.advice.not_the_same,
    )
    if found is None:
        verdict = verdict._replace(instead=recipes_of_missing(db, opcode, names, target, ptx))
        refused = db.refused(opcode, names)
        if refused is None:
            about = db.outside.get(opcode) if any(r.code == "not-in-database" for r in why.reasons) else None
            if about is None:
                return verdict
            full = (*names, *about.lacks(names, db.is_type))
            return verdict._replace(requires=about.requires(full, db.catalog))
        return verdict._replace(manual=requirement_of(refused["manual"]), means=refused["means"])
    here, longer = db.on(found, target), db.stands_for(found)
    verdict = verdict._replace(
        variant=found.spelling,
        operands=found.operands,
        requires=found.requires,
        here=db.catalog.here(found.requires, target) if target and db.takes(found, target, None) else None,
        manual=found.manual,
        means=longer.spelling if longer else None,
        claim=here.claim,
        basis=here.basis,
        hazard=db.catalog.hazard_text(found, target, ptx),
        loose=found.loose,
    )
    # A variant that has ended is missing in current PTX versions, although a query without a target finds an old one.
    if not verdict.available or (found.requires.until and target is ptx is None):
        none = db.opcodes[found.opcode].why_no_recipe(found)
        verdict = verdict._replace(instead=recipes(db, found, target, ptx), no_recipe=none)
    return verdict


def _of_register(db: Database, text: str, operands: int | None, target: str | None, ptx: str | None) -> Verdict:
    """Return whether a special register exists and is available. Inline assembly writes its name with two %.

    Raises PtxspecError if a number of operands is given."""
    if operands is not None:
        raise PtxspecError(f"--operands applies to variants only; {visible(text)} is a special register")
    name = "%" + text.lstrip("%")
    found = db.special_registers.get(name.partition(".")[0])
    if found is None or not found.has(name):
        return Verdict(name, None, False, False, reasons=(_no_register(db, name, found),))
    reasons = unmet(db, name, found.requires, target, ptx)
    here = db.catalog.here(found.requires, target) if target and db.catalog.takes(found.requires, target) else None
    return Verdict(name, None, True, not reasons, found.requires, here, found.manual, reasons=reasons, register=found)


def _no_register(db: Database, name: str, known: SpecialRegister | None) -> Reason:
    if known is not None:
        fields = ", ".join(f".{f}" for f in FIELDS)
        has = f"it has the fields {fields}" if known.fields else "it has no fields"
        return Reason("unknown-register", f"{name} is not a field of {name.partition('.')[0]}; {has}")
    near = suggest(
        name.partition(".")[0], db.special_registers, otherwise="`ptxspec manual special-registers` lists them"
    )
    return Reason("unknown-register", f"there is no special register {visible(name)}; {near}")


def _register_as_json(r: SpecialRegister) -> dict[str, Any]:
    return {"name": r.text, "bits": list(r.bits), "fields": list(FIELDS) if r.fields else [], "summary": r.summary}


def variant(db: Database, spelling: str, operands: int | None = None) -> Variant:
    """Return a variant by its spelling, with modifiers in any order; by default the one with the fewest operands.

    Raises PtxspecError for a spelling that does not exist."""
    opcode, *names = spelling.strip().split(".")
    found = db.find(opcode, names, operands)
    if found is None and (whole := family(db, spelling, operands)):
        raise PtxspecError(whole.question(spelling))
    if found is None:
        reasons = why_not(db, spelling, operands)
        if _is_no_instruction(reasons) and (said := sass.instruction(db, spelling)):
            raise PtxspecError(said)
        reasons = _with_functions(db, spelling, reasons)
        raise PtxspecError("; ".join(r.message for r in reasons))
    return found


def named(db: Database, spelling: str) -> tuple[Variant, ...]:
    """Return the variants that a spelling names: those of an opcode, those with any number of operands, or those that a
    spelling with placeholders stands for.

    Raises PtxspecError for a spelling that does not exist."""
    opcode, *names = spelling.strip().split(".")
    if not names and opcode in db.opcodes:
        return db.opcodes[opcode].variants
    if whole := family(db, spelling):
        return whole.variants
    first = variant(db, spelling)
    return tuple(db.opcodes[opcode].spelled(first.modifiers, first.types))


def here_as_json(db: Database, here: Requirement) -> dict[str, Any]:
    """Return the JSON of the requirement on one target, with the CUDA release and the drivers that first support it."""
    version = db.versions[here.ptx]
    return {
        "target": here.target,
        "ptx": here.ptx,
        "until": here.until,
        "cuda": version.cuda or None,
        "driver": {"linux": version.linux or None, "windows": version.windows or None},
    }


def _is_no_instruction(reasons: tuple[Reason, ...]) -> bool:
    """Return whether the reasons say that a spelling names no instruction."""
    return any(r.code in ("unknown-opcode", "syntax") for r in reasons)


def _with_functions(db: Database, spelling: str, reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Return the reasons, but replace an unknown opcode by a suggestion of a function of CUDA C++ or a special
    register, if one fits."""
    if not _is_no_instruction(reasons):
        return reasons
    if found := calls.named(db, spelling):
        message = f"{found[0].name} is a function, not an instruction; `ptxspec query '{found[0].text}'` shows its PTX"
        return (Reason("unknown-opcode", message),)
    if (name := f"%{spelling.strip()}") and any(r.has(name) for r in db.special_registers.values()):
        return (
            Reason("unknown-opcode", f"{name} is a special register; `ptxspec query {name}` shows what it requires"),
        )
    opcode, *parts = spelling.strip().split(".")
    names = (opcode,) if "f64" in parts else (f"__{opcode}f", f"{opcode}f", opcode)
    if is_other_function(opcode, db.opcodes) and (function := next((n for n in names if calls.named(db, n)), "")):
        message = f"PTX has no {opcode}; `ptxspec query {function}` shows the PTX of CUDA's {function}"
        return (Reason("unknown-opcode", message),)
    if _OF_AMD.match(spelling.strip()):
        message = f"{spelling.strip()} is an instruction of AMD's GPUs, not PTX"
        return (Reason("unknown-opcode", message),)
    if not (near := calls.near(db, spelling)):
        return reasons
    return (Reason("unknown-opcode", f"there is no opcode or function {spelling.strip()}; did you mean '{near}'?"),)


def _part(db: Database, text: str) -> str:
    """Return help for a type or a modifier alone, such as e4m3 or .ftz: the list of the variants with it. Empty if it
    is neither."""
    name = text.removeprefix(".")
    if "." in name or text in db.opcodes or text in db.outside:
        return ""
    if type := next((t for t in (name, f"{name}x2") if t in db.types), ""):
        kind, test = "type", f"type={type}"
    elif found := [m for m in db.modifiers if m.lower() == name.lower()]:
        kind, test = "modifier", " or ".join(f"modifier={m}" for m in sorted(found))
    else:
        return ""
    return (
        f"{text} is a {kind}, which instructions have behind a dot; `ptxspec list --where '{test}'` lists the variants "
        "with it"
    )


def _words(db: Database, text: str) -> str:
    """Return help for a question in words, such as "bf16 fma" or "f32 to e4m3": the list of the variants with the names
    in it. Empty if there are none."""
    words = [meant_type(w) or w for w in re.findall(r"[\w:]+", text)]
    if len(words) < 2 or "." in text:
        return ""
    packed = {t.removesuffix("x2"): t for t in db.types if t.endswith("x2")}
    types = list(dict.fromkeys(t for w in words if (t := w if w in db.types else packed.get(w))))
    opcodes = list(dict.fromkeys(w for w in words if w in db.opcodes))
    modifiers = list(dict.fromkeys(w for w in words if w in db.modifiers))
    if not types and len(opcodes) == 1 and len(words) == 2:
        return f"`ptxspec show {opcodes[0]}` shows all that is known about {opcodes[0]}"
    if not types or len(opcodes) > 1:
        return ""
    tests = [*(f"opcode={o}" for o in opcodes), *(f"modifier={n}" for n in modifiers), *(f"type={t}" for t in types)]
    if len(types) == 2 and "to" in words and not opcodes:
        tests = [*tests[:-1], f"result={types[1]}"]
    condition = " and ".join(tests)
    holds = where(db, condition)
    every = (v for v in db.variants if holds(v) and db.is_advisable(v))
    found = min(every, key=lambda v: v.operands, default=None)
    if found is None:
        return ""
    return (
        f"a spelling consists of names separated by dots, such as {found.spelling}; "
        f"`ptxspec list --where '{condition}'` lists the variants with these names"
    )


def recipe_as_json(db: Database, recipe: Recipe) -> dict[str, Any]:
    ptx = db.catalog.first_version(recipe.requires)
    return {
        "ptx": recipe.ptx,
        "cuda": recipe.cuda or None,
        "function": recipe.function or None,
        "from": {"target": recipe.requires.target, "ptx": ptx, "cuda": db.versions[ptx].cuda or None},
        "differs": None if recipe.elsewhere else recipe.differs or None,
        **({"as_on": recipe.differs} if recipe.elsewhere else {}),
    }
