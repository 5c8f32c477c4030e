"""Messages that something needs a newer target or PTX version, and what the database knows about these.

ptxas names the target, but seldom the PTX version. The version is given if the database knows every word of the
message, and has what they name there, or knows it as PTX outside of the database. For anything else the answer says
that it is not known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from ..catalog import Requirement
from ..query.database import Database, Variant
from .hardware import instead
from .meanings import Meaning, floors

# A message may name a modifier and what it modifies: '.satfinite' on 'cvt.tf32.f32.rn'.
NAMED = r"(?P<name>(?:'[^']*' on )?'[^']*')"
_WORD = re.compile(r"[.\w:]+|\S")
_FILLING = frozenset(["with", "on", "'"])
# Refusals that require another target, and the wording for it.
_NEWER = {"target-specific": "{}", "target-too-old": "{} or newer"}
_OTHERWISE = re.compile(r" or |/")


def target_floor(db: Database, m: re.Match[str]) -> Meaning:
    """Return the meaning of `X requires .target T`: T, and the PTX version required for all that the words name and
    that came with T."""
    name, target = m["name"], f"sm_{m['target'].removeprefix('sm_')}"
    why = f"{name} was introduced with {target}"
    variants = [] if target not in db.targets else meant(db, name)
    first = {r: ptx for r in dict.fromkeys(v.requires for v in variants) if (ptx := _first_on(db, r, target))}
    lacking = tuple(v for v in variants if v.requires in first)
    if not variants and (outside := _outside(db, name, target)):
        return floors(db, target, outside, why)
    if not first:
        # Variants of the database that do not begin with this target need another one, which ptxas names in another
        # message.
        return floors(db, target, "" if variants else None, why)._replace(lacking=tuple(variants))
    versions = sorted(first.values(), key=_order(db))
    least, most = versions[0], versions[-1]
    found = [why]
    if least != most:
        example = next(v for v in variants if first.get(v.requires) == least)
        found.append(f"PTX {least} is enough for some variants, such as {example.spelling}")
    if older := _older(db, first, target):
        found.append("{} has it from PTX {}".format(*older))
    return floors(db, target, most, *found)._replace(lacking=lacking)


def unsupported(db: Database, m: re.Match[str]) -> Meaning | None:
    """Return the meaning of `X not supported on .target T`: the targets that have X, which may be a kind of T itself.
    ptxas does not say which; if the words name variants with different targets, each target is listed with such a
    variant. If no kind of T has X, the GPU for which the code is compiled does not have it."""
    name, target = m["name"], m["target"]
    if target not in db.targets:
        return None
    variants = meant(db, name)
    if not variants:
        return _unsupported_outside(db, name, target)
    lacking = [v for v in variants if not db.catalog.takes(v.requires, target)]
    needs = dict.fromkeys(v.requires for v in lacking)
    if not needs:
        return None
    if not any(r.on for r in needs):
        both = db.catalog.together(needs)
        return both and floors(db, both.target, db.catalog.window(both, both.target)[0])
    on_kinds = [v for v in lacking if db.catalog.siblings(v.requires, target)]
    if not on_kinds and all(v.requires.on for v in lacking):
        change, more = instead(db, lacking, target)
        first = lacking[0]
        needs_it = f"{first.spelling} requires {db.catalog.text(first.requires)}"
        return Meaning(change, (f"{target} does not have {name}; {needs_it}", *more), few=True)
    bounds: dict[str, list[Variant]] = {}
    for v in on_kinds or lacking:
        for f in db.catalog.refusals(v.requires, target):
            if f.code in _NEWER:
                bounds.setdefault(_NEWER[f.code].format(f.bound), []).append(v)
    told = {bound: _with_versions(db, bound, target, some) for bound, some in bounds.items()}
    why = tuple(f"{target} does not have {name}, which requires {said}" for said in told.values())
    if len(bounds) == 1:
        return Meaning(f"compile for {next(iter(bounds))}", why, few=True)
    places = (f"{bound} for {some[0].spelling}" for bound, some in bounds.items())
    return Meaning(f"compile for {'; '.join(places)}", why, few=True)


def _unsupported_outside(db: Database, name: str, target: str) -> Meaning:
    """Return the meaning of `X not supported on .target T` for an X outside of the database."""
    needs = [r for r in _needs_outside(db, name) if not db.catalog.takes(r, target)]
    kinds = dict.fromkeys(k for r in needs for k in db.catalog.siblings(r, target))
    if kinds:
        by_version: dict[str, list[str]] = {}
        for kind in kinds:
            here = (db.catalog.here(r, kind).ptx for r in needs if db.catalog.takes(r, kind))
            by_version.setdefault(min(here, key=_order(db)), []).append(kind)
        said = (f"for {' or '.join(some)} with .version {db.versions[p]} or newer" for p, some in by_version.items())
        return Meaning(f"compile {', or '.join(said)}", (f"{target} does not have {name}",), few=True)
    if needs:
        where = " or ".join(dict.fromkeys(map(db.catalog.text, needs)))
        why = f"{target} does not have {name}, which requires {where}"
        newer = any(db.targets[r.target].order > db.targets[target].order for r in needs)
        if_newer = (f"if the GPU is newer than {target} and one of these, compile for it",) if newer else ()
        return Meaning(f"use code written for {target}", (why, *if_newer), few=True)
    kind = next((t.name for t in db.targets.values() if t.base == target), "")
    if_so = f"compile for {kind} if ptxas says that it has it; else " if kind else ""
    why = f"{target} does not have {name}"
    return Meaning(f"{if_so}use code written for {target}", (why,), few=True, guess=True)


def _needs_outside(db: Database, feature: str) -> list[Requirement]:
    """Return what the words of a message require at least outside of the database: an opcode with the modifiers that
    are known of it, or if the words name no opcode each form that has the modifiers."""
    words = [w for w in _WORD.findall(feature) if w not in _FILLING]
    opcodes = [o for w in words if (o := w.partition(".")[0]) in db.outside]
    if opcodes:
        # 'mma with block scale' has .block_scale.
        names = [n for w in words for n in w.split(".")[1:]]
        names.append("_".join(w for w in words if "." not in w and w not in db.outside))
        needs = db.outside[opcodes[0]].requires(names, db.catalog)
        return [needs] if needs else []
    names = [n for w in words for n in w.split(".") if n]
    forms = (f for o in db.outside.values() for f in o.forms)
    return list(dict.fromkeys(f.requires for f in forms if names and {*names} <= f.names))


def _with_versions(db: Database, bound: str, target: str, variants: Sequence[Variant]) -> str:
    """Return the text for what some variants need; if that is a kind of the target itself, with the first PTX versions
    that have them."""
    kinds = db.catalog.siblings(variants[0].requires, target)
    if not kinds:
        return bound
    first: dict[str, Variant] = {}
    for v in variants:
        first.setdefault(db.catalog.window(v.requires, kinds[0])[0], v)
    said = (f"PTX {db.versions[p]} for {first[p].spelling}" for p in sorted(first, key=_order(db)))
    return f"{bound}; {kinds[0]} from {', '.join(said)}"


def ptx_floor(db: Database, m: re.Match[str]) -> Meaning:
    version, why = m["version"], f"{m['name']} was introduced in PTX {m['version']}"
    if version not in db.versions:
        return Meaning(f"write .version {version} or newer", (why,))
    return floors(db, "", version, why)


def meant(db: Database, feature: str) -> list[Variant]:
    """Return the variants that the words of a message name: '.NaN', 'max.f16 or max.f16x2', 'max.f32 with 3 input
    operands', 'cvt with .e4m3x2/.e5m2x2'. There are none if a word is not in the database."""
    opcodes, modifiers, groups, types = set[str](), set[str](), list[frozenset[str]](), list[str]()
    text, count = re.subn(r" with (\d+) input operands", "", feature)
    operands = int(re.findall(r"with (\d+) input", feature)[0]) if count else None
    text, others = _OTHERWISE.subn(" ", text)
    for word in _WORD.findall(text):
        if word in _FILLING:
            continue
        first, *names = word.split(".")
        if first in db.opcodes:
            opcodes.add(first)
        elif first:
            # A word after a slash has no dot.
            names = [first, *names]
        for n in names:
            if n in db.types:
                types.append(n)
            elif n in db.modifiers:
                modifiers.add(n)
            elif n in db.groups:
                # As NVIDIA's manual writes it: 'div.rnd.f32'.
                groups.append(frozenset(db.groups[n]))
            else:
                return []
    if not (opcodes or modifiers or groups or types):
        return []
    of = (o for name, o in db.opcodes.items() if not opcodes or name in opcodes)
    found = [v for o in of for v in o.variants if modifiers <= v.modifiers and operands in (None, v.operands)]
    found = [v for v in found if not any(g.isdisjoint(v.modifiers) for g in groups)]
    if opcodes and types and not others:
        # 'cvt.bf16.u8' names all types, in their order; if it names one, mixed precision may have more.
        exact = [v for v in found if v.types == tuple(types)]
        return exact or ([v for v in found if types[0] in v.types] if len(types) == 1 else [])
    return [v for v in found if not types or not {*types}.isdisjoint(v.types)]


def _outside(db: Database, feature: str, target: str) -> str | None:
    """Return the first PTX version that has what the words of a message name outside of the database, if it came with a
    target: another opcode with these modifiers, or all that have them if the words name none. None if that is not
    known."""
    opcodes, names = list[str](), list[str]()
    for word in _WORD.findall(feature):
        first, *rest = word.split(".")
        if word in _FILLING:
            continue
        if first and first not in db.outside:
            return None
        opcodes += [first] if first else []
        names += rest
    every = [(f.names, f.requires) for o in (opcodes or db.outside) for f in db.outside[o].forms]
    if len(opcodes) > 1 or not {*names} <= frozenset().union(*(own for own, _ in every)):
        return None
    needs = (
        [db.outside[opcodes[0]].requires(names, db.catalog)] if opcodes else [r for own, r in every if own == {*names}]
    )
    first_ones = {db.catalog.first_version(r) for r in needs if r and r.target == target}
    return first_ones.pop() if len(first_ones) == 1 else None


def _first_on(db: Database, r: Requirement, target: str) -> str | None:
    """Return the first PTX version in which a target satisfies a requirement, if no older target does so then."""
    if not db.catalog.takes(r, target):
        return None
    here = db.targets[target]
    ptx = db.catalog.here(r, target).ptx
    older = (t for t in db.targets.values() if t.order < here.order)
    return None if any(db.catalog.takes(r, t.name, ptx) for t in older) else ptx


def _older(db: Database, needs: Iterable[Requirement], target: str) -> tuple[str, str] | None:
    """Return the oldest target before this one that satisfies all requirements, and the first PTX version in which it
    does."""
    needs = list(needs)
    for t in db.targets.values():
        if t.order < db.targets[target].order and not t.base and all(db.catalog.takes(r, t.name) for r in needs):
            return t.name, max((db.catalog.window(r, t.name)[0] for r in needs), key=_order(db))
    return None


def _order(db: Database) -> Callable[[str], int]:
    return lambda version: db.versions[version].order
