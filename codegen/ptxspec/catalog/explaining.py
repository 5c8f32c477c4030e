"""Explain why a spelling or a target is wrong, and what to write instead. Queries, lint, the explanation of logs and
the emulator all call this module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from . import Refusal, Requirement, requirement_of
from .known import Known, Opcode, Recipe, V, names_of
from .likeness import in_other_letters, is_other_function, nearest, suggest

WHOLE = -1
# The beginning of a recipe in a line.
RECIPE = "instead: "
# The beginning of a message about more statements.
_MANY = "the"
# The greatest number of variants that are advised by name, and that are listed as spelled alike.
_SHOWN, _ALIKE = 4, 3
# The most characters of an opcode's types in a message, and the number of type sequences that are listed if there are
# more.
_LONG, _NEAR = 100, 3
# The number of single types that are listed if all of them fill more than a line.
_FEW = 10
_SPELLING = re.compile(r"\w+(\.[\w:]+)*")
# Types of other languages, and the prefix of the type that is meant.
_FOREIGN_TYPE = re.compile(r"(?P<sort>i|int|uint|sf)(?P<bits>\d+)|float|double|half", re.IGNORECASE).fullmatch
_SORTS = {"i": "s", "int": "s", "uint": "u", "sf": "f"}
_C_TYPES = {"float": "f32", "double": "f64", "half": "f16"}


class Reason(NamedTuple):
    """A reason why a variant does not exist or is not available. `code` is stable, and the message is for people.
    `name` is the index of the modifier or type that the reason is about, or WHOLE. `write` is the replacement for that
    name."""

    code: str
    message: str
    name: int = WHOLE
    write: str = ""

    @property
    def help(self) -> str:
        """The sentence that says what to write; empty if that is unknown."""
        return f"write .{self.write}" if self.write else ""


class Advice(NamedTuple):
    """Advice on what to write instead, or the statement that there is nothing. `not_the_same` names variants that
    compute something else and are easily mistaken for the right ones; it may be empty. `is_nothing`: the advice names
    nothing to write. `write` is the single spelling that can replace the wrong one as it stands, and `is_guess`: that
    spelling replaces an unknown name by a known one."""

    text: str
    not_the_same: str = ""
    is_nothing: bool = False
    write: str = ""
    is_guess: bool = False

    def __str__(self) -> str:
        return f"{self.text}; not the same: {self.not_the_same}" if self.not_the_same else self.text


class Explanation(NamedTuple):
    """The reasons why an instruction is wrong, and advice on what to write; both are empty if nothing is wrong."""

    reasons: tuple[Reason, ...]
    advice: Advice = Advice("")

    @property
    def is_ours(self) -> bool:
        """Return whether the instruction belongs to this database, so that variants spelled alike are of interest."""
        return bool(self.reasons) and all(r.code != "not-in-database" for r in self.reasons)


def explain(
    known: Known[V], spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
) -> Explanation:
    """Return why an instruction cannot be written for a target in a PTX version, and what to write instead."""
    opcode, *names = spelling.strip().split(".")
    v = known.find(opcode, names, operands)
    reasons = why_not(known, spelling, operands, target, ptx) if v is None else refusals(known, v, target, ptx)
    why = Explanation(reasons)
    opcode, *names = _split(spelling)
    if not why.is_ours or opcode not in known.opcodes:
        return why
    of_names = list(dict.fromkeys(r.help for r in reasons if r.help))
    if of_names:
        return Explanation(reasons, Advice("; ".join(of_names)))
    operands = operands if v is None else v.operands
    return Explanation(reasons, advice(known, opcode, names, operands, target, ptx))


def _split(spelling: str) -> list[str]:
    """Return the opcode and the names of a spelling, without any text after it."""
    return spelling.split(maxsplit=1)[0].split(".") if spelling.strip() else [""]


# Why a variant is refused


def refusals(known: Known[V], v: V, target: str | None, ptx: str | None) -> tuple[Reason, ...]:
    """Return why a target or a PTX version does not support a variant, and how the assembler crashes on it; empty if
    the assembler compiles it."""
    crash = [Reason("assembler-crash", f"{v}: {v.crash}")] if v.crash else []
    return (*crash, *unmet(known, str(v), v.requires, target, ptx))


def unmet(known: Known[V], name: str, requires: Requirement, target: str | None, ptx: str | None) -> tuple[Reason, ...]:
    """Return why a target or a PTX version does not support something of this name."""
    found = known.catalog.refusals(requires, target, ptx)
    return tuple(Reason(r.code, _refusal(known, name, r, target, ptx)) for r in found)


def pair(known: Known[V], target: str | None, ptx: str | None) -> Reason | None:
    """Return the reason that a PTX version does not support a target, so that nothing is available there, or None."""
    if target is None or known.catalog.knows(target, ptx):
        return None
    refusal = Refusal("target-unknown", known.catalog.targets[target].ptx)
    return Reason(refusal.code, _refusal(known, "", refusal, target, ptx))


def _refusal(known: Known[V], v: str, refusal: Refusal, target: str | None, ptx: str | None) -> str:
    code, bound = refusal
    if code == "target-too-old":
        if target is None:
            return f"no target of PTX {ptx} supports {v}"
        return f"{v} requires {bound} or newer; {target} is older"
    if code == "target-specific":
        return f"{target} does not support {v}, which requires {bound}"
    if code == "target-too-new":
        came = known.catalog.targets[target or ""].ptx
        return f"{v} ended with PTX {bound}; {target} requires PTX {came} or newer"
    release = known.catalog.versions[bound]
    if code == "ptx-too-old":
        return f"{v} requires PTX {release} or newer; {ptx} is older"
    if code == "ptx-too-new":
        return f"{v} ended with PTX {release}; {ptx} is newer"
    return f"{target} requires PTX {release} or newer; {ptx} is older"


# Why a spelling does not exist


def why_not(
    known: Known[V], spelling: str, operands: int | None, target: str | None = None, ptx: str | None = None
) -> tuple[Reason, ...]:
    """Return what is wrong with a spelling that does not exist. If another section of PTX describes it, the reason says
    whether the target and the PTX version support it."""
    opcode, *names = spelling.strip().split(".")
    about = known.opcodes.get(opcode)
    if not _SPELLING.fullmatch(spelling.strip()):
        example = (about or next(iter(known.opcodes.values()))).variants[0].spelling
        message = f"a spelling consists of names separated by dots, such as {example}, without operands"
        before = ".".join(_split(spelling))
        is_wrong = _SPELLING.fullmatch(before) and known.find(before.split(".")[0], before.split(".")[1:], None) is None
        return (Reason("syntax", message), *(why_not(known, before, None, target, ptx) if is_wrong else ()))
    elsewhere = _outside(known, opcode, names, target, ptx)
    if elsewhere is not None:
        return (elsewhere,)
    if about is None:
        if is_other_function(opcode, known.opcodes):
            more = "opcodes that are spelled alike compute something else"
            return (Reason("unknown-opcode", f"PTX has no {opcode}; {more}"),)
        help = suggest(opcode, known.opcodes, otherwise=f"`{known.lists}` lists the known ones")
        return (Reason("unknown-opcode", f"unknown opcode '{opcode}'; {help}"),)
    if foreign := tuple(foreign_types(known, opcode, names)):
        return foreign
    modifiers, types = known.split(names)
    first = {n: i for i, n in reversed(list(enumerate(modifiers)))}
    repeated = [n for i, n in enumerate(modifiers) if first[n] < i]
    if repeated:
        return (Reason("repeated-modifier", f".{repeated[0]} appears twice"),)
    same = about.spelled(frozenset(modifiers), types)
    if same:
        return (_count(same[0].spelling, same, operands),)
    refused = known.refused(opcode, names)
    if refused is not None:
        manual, short = requirement_of(refused["manual"]), f" as {refused['means']}" if refused["means"] else ""
        versions = f"PTX {manual.ptx} {f'to {manual.until}' if manual.until else 'or newer'}"
        where = f"on {known.catalog.on_text(manual)}" if manual.on else f"for {manual.target} or newer, {versions}"
        message = f"NVIDIA's manual lists {refused['variant']}{short}, {where}"
        return (Reason("refused-by-assembler", f"{message}; {about.assembler['observed']} accepts it on no target"),)
    if types not in about.types or not known.other_types.isdisjoint(names):
        return (_types(known, about, names),)
    typed = about.by_types[types]
    has = [n for n in names_of(typed) if n not in types]
    lacking = [i for i, n in enumerate(names) if n not in types and n not in has]
    reasons = [_lacks(known, known.form(opcode, *types), names[i], has)._replace(name=i) for i in lacking]
    rest = [n for i, n in enumerate(names) if i not in lacking]
    if not lacking:
        reasons = list(_combination(opcode, modifiers, types, typed, operands))
    elif known.find(opcode, rest, operands) is None:
        # Something else is wrong, even without these names.
        reasons += [r._replace(name=WHOLE) for r in why_not(known, ".".join((opcode, *rest)), operands)]
    return tuple(reasons)


def _lacks(known: Known[V], form: str, modifier: str, has: Sequence[str]) -> Reason:
    """Return the reason that a form does not have a modifier."""
    message = lacks_text(form, modifier, has)
    meant = in_other_letters(modifier, has) or next(iter([] if known.knows(modifier) else nearest(modifier, has)), "")
    code = "illegal-modifier" if known.knows(modifier) else "unknown-modifier"
    return Reason(code, f"{message}; did you mean '.{meant}'?" if meant else message)


def lacks_text(form: str, modifier: str, has: Iterable[str]) -> str:
    """Return the sentence that a form does not have a modifier, with those that it has."""
    return f"{form} has no .{modifier}; it has {_listed(has) or 'no modifiers'}"


def meant_type(name: str) -> str:
    """Return the PTX type that corresponds to one of another language, such as i32 or float; empty if there is none."""
    m = _FOREIGN_TYPE(name)
    if m is None:
        return ""
    return _SORTS[m["sort"].lower()] + m["bits"] if m["sort"] else _C_TYPES[name.lower()]


def foreign_types(known: Known[V], opcode: str, names: Sequence[str]) -> Iterator[Reason]:
    """Yield the reasons about types in capital letters and types of other languages."""
    for i, n in enumerate(names):
        meant, lower = meant_type(n), n.lower()
        if meant:
            right = [*names[:i], meant, *names[i + 1 :]]
            if not known.is_elsewhere(opcode, right) and known.find(opcode, right, None) is None:
                continue
        elif n not in known.other_types and lower in known.other_types:
            meant = lower
        if meant:
            reason = "; types are written in lower case" if lower == meant else ""
            yield Reason("unknown-type", f"there is no type .{n}{reason}", i, meant)


def _types(known: Known[V], about: Opcode[V], names: Sequence[str]) -> Reason:
    """Return the reason that a spelling has no types, or types that the opcode does not have."""
    opcode, types = about.name, tuple(filter(known.is_type, names))
    has = forms_text(about, types)
    strange = [i for i, n in enumerate(names) if not known.knows(n) and n not in known.other_types]
    if strange and not types:
        near = suggest(names[strange[0]], about.names, ".", f"{opcode} has {has}")
        return Reason("unknown-type", f"unknown type or modifier '.{names[strange[0]]}'; {near}", strange[0])
    if not types:
        return Reason("missing-type", f"{'.'.join((opcode, *names))} lacks a type; {opcode} has {has}")
    counts = {len(t) for t in about.types}
    fits = len(types) in counts
    what = f"has no .{'.'.join(types)}; it has" if fits or counts != {1} else "takes a single type:"
    place = next((i for i, n in enumerate(names) if n in known.other_types), names.index(types[-1]))
    packed = _packed(about, names)
    if packed != list(names):
        has = forms_text(about, tuple(filter(known.is_type, packed)))
    singles = (n for n in names if n not in about.names and f"{n}x2" in packed)
    pairs = "".join(f"; .{n} comes in pairs only, as .{n}x2" for n in singles)
    return Reason("illegal-type", f"{opcode} {what} {has}{pairs}", place)


def _packed(about: Opcode[V], names: Sequence[str]) -> list[str]:
    """Return names, in which a type that an opcode has in pairs only is that of the pair, e4m3x2 for e4m3; so is the
    other type, if the opcode has the two pairs together."""
    pairs = [f"{n}x2" if n not in about.names and f"{n}x2" in about.names else n for n in names]
    if pairs == list(names):
        return pairs
    both = [f"{n}x2" if f"{n}x2" in about.names else n for n in names]
    return both if any({*types} <= {*both} for types in about.types if len(types) > 1) else pairs


def _outside(known: Known[V], opcode: str, names: Sequence[str], target: str | None, ptx: str | None) -> Reason | None:
    """Return the reason that a spelling does not belong to this database, or None if it does."""
    if opcode not in known.opcodes:
        if opcode not in known.outside:
            return None
        needs = _needs(known, opcode, names, target, ptx)
        return Reason("not-in-database", f"{opcode} is a PTX instruction{needs}{known.lacks}")
    if not known.is_elsewhere(opcode, names):
        return None
    message = f"{'.'.join((opcode, *names))} is described in another section of PTX"
    message += _needs(known, opcode, names, target, ptx)
    return Reason("not-in-database", f"{message}; this database has {opcode} with {forms_text(known.opcodes[opcode])}")


def _needs(known: Known[V], opcode: str, names: Sequence[str], target: str | None, ptx: str | None) -> str:
    """Return the rest of a sentence about an instruction outside the database: its section, what it requires, and
    whether a target and a PTX version support it."""
    about = known.outside.get(opcode)
    if about is None:
        return ""
    lacking = sorted(about.lacks(names, known.is_type))
    catalog, needs = known.catalog, about.requires((*names, *lacking), known.catalog)
    said = f" (section {about.section})" if about.section else ""
    if lacking:
        said += f"; {'.'.join((opcode, *names))} lacks {_listed(lacking)}, with which it exists"
    if needs is None:
        return said
    limits = "".join(f", {limit.text(catalog.newest_target)}" for limit in needs.within)
    said += f" and requires {catalog.on_text(needs) or f'{needs.target} and PTX {needs.ptx} or newer'}{limits}"
    if target is None and ptx is None:
        return said
    if refused := catalog.refusals(needs, target, ptx):
        return "; ".join([said, *(_refusal(known, "it", r, target, ptx) for r in refused)])
    if target is None:
        return f"{said}; PTX {ptx} supports it"
    here = catalog.here(needs, target)
    return f"{said}; {target} supports it from PTX {here.ptx} {f'to {here.until}' if here.until else 'on'}"


def _combination(
    opcode: str, modifiers: Sequence[str], types: tuple[str, ...], typed: Sequence[V], operands: int | None
) -> Iterator[Reason]:
    """Yield the reasons why names cannot be combined that are right by themselves: one is missing, or two exclude each
    other. With the missing one, the number of operands may be wrong too."""
    asked = frozenset(modifiers)
    form, spelling = ".".join((opcode, *types)), ".".join((opcode, *modifiers, *types))
    larger = [v for v in typed if v.modifiers > asked]
    if larger:
        counted = [v for v in larger if operands in (None, v.operands)]
        lacking = [sorted(v.modifiers - asked) for v in counted or larger]
        fewest = min(map(len, lacking))
        missing = list(dict.fromkeys(n for names in lacking if len(names) == fewest for n in names))
        listed = " or ".join(f".{n}" for n in missing) if fewest == 1 else _listed(missing)
        yield Reason("missing-modifier", f"{spelling} lacks {listed}")
        if not counted:
            yield _count(spelling, larger, operands)
        return
    for i, one in enumerate(modifiers):
        for other in modifiers[i + 1 :]:
            if not any({one, other} <= v.modifiers for v in typed):
                yield Reason("excluding-modifiers", f"{form} cannot have both .{one} and .{other}")
                return
    together = " ".join(f".{m}" for m in modifiers)
    yield Reason("illegal-combination", f"{form} does not support the combination {together}")


def _count(spelling: str, variants: Iterable[V], operands: int | None) -> Reason:
    """Return the reason that a spelling has another number of operands."""
    counts = sorted({v.operands for v in variants})
    many = "" if counts == [1] else "s"
    return Reason(
        "operand-count", f"{spelling} takes {' or '.join(map(str, counts))} source operand{many}, not {operands}"
    )


@lru_cache(maxsize=64)
def forms_text(about: Opcode[V], asked: tuple[str, ...] = ()) -> str:
    """Return the types that an opcode's spellings end in. If they would fill lines, return those most like the ones
    that were asked for, and the number of types in the others."""
    single = [f".{types[0]}" for types in about.types if len(types) == 1]
    several = [types for types in about.types if len(types) > 1]
    text = ", ".join([*single, *("." + ".".join(types) for types in several)])
    if len(text) <= _LONG:
        return text
    few = ", ".join(single)
    if len(few) > _LONG:
        likely = sorted(single, key=lambda name: type_distance(asked, (name[1:],))) if asked else single
        few = f"{', '.join(likely[:_FEW])} and others"
        if len(asked) < 2 or not several:
            return few
    rest = f"forms of {' or '.join(map(str, sorted({len(types) for types in several})))} types"
    if single and len(asked) < 2:
        return f"{few} and {rest}"
    near = sorted(about.types, key=lambda has: type_distance(asked, has))[:_NEAR]
    return f"{', '.join('.' + '.'.join(types) for types in near)}{' and others' if single else f' and other {rest}'}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f".{n}" for n in names)


# What is spelled alike


class TypeDistance(NamedTuple):
    """The distance of a form's types from those that were asked for, each in its place. `wrong` counts additional and
    missing types, and `lost` the missing ones. `alike` is smaller, the more the other types begin alike."""

    wrong: int
    lost: int
    alike: int


def type_distance(asked: Sequence[str], has: Sequence[str]) -> TypeDistance:
    if len(asked) == 1 and asked[0] in has:
        # A single type may be meant for any place.
        return TypeDistance(len(has) - 1, 0, -has.count(asked[0]) - (has[0] == asked[0]))
    pairs = [(a, h) for a, h in zip(asked, has, strict=False) if a != h]
    lost, more = max(0, len(asked) - len(has)), abs(len(asked) - len(has))
    return TypeDistance(2 * len(pairs) + more, len(pairs) + lost, -sum(_same_letters(*pair) for pair in pairs))


@lru_cache(maxsize=4096)
def _same_letters(one: str, other: str) -> int:
    """Return how many letters two names begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class Distance(NamedTuple):
    """The distance of a variant from the one that was asked for, the weightiest part first. `ended`: the newest PTX
    version does not support it. `wrong` counts additional and missing names, and `lost` the missing ones; `types` is
    the distance of the types."""

    ended: bool
    wrong: int
    lost: int
    types: TypeDistance
    operands: int


def alike(
    known: Known[V], spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
) -> tuple[V, ...]:
    """Return the three available variants that are spelled most like what was asked. They need not do the same."""
    opcode, *names = _split(spelling)
    if opcode not in known.opcodes:
        opcode = next(iter(nearest(opcode, known.opcodes)), "")
    if not opcode:
        return ()
    meant = _meant(known, opcode, _packed(known.opcodes[opcode], names))
    return tuple(v for _, v in ranked(known, known.opcodes[opcode].variants, meant, operands, target, ptx)[:_ALIKE])


def ranked(
    known: Known[V],
    variants: Iterable[V],
    names: Iterable[str],
    operands: int | None,
    target: str | None,
    ptx: str | None,
) -> list[tuple[Distance, V]]:
    """Return those variants that are available and have no hazard there, the most similar to what was asked first."""
    newest = ptx or known.catalog.newest_version
    last = [t for t in known.catalog.targets if known.catalog.knows(t, newest)][-1]
    names = list(names)
    types = tuple(filter(known.is_type, names))
    asked = frozenset(names).difference(types)

    @cache
    def of(has: tuple[str, ...]) -> TypeDistance:
        return type_distance(types, has)

    def distance(v: V) -> Distance:
        return Distance(
            # A variant of a few targets only has not ended because the newest target lacks it.
            ended=not known.takes(v, target or (None if v.requires.on else last), newest),
            wrong=len(asked ^ v.modifiers) + of(v.types).wrong,
            lost=len(asked - v.modifiers) + of(v.types).lost,
            types=of(v.types),
            operands=abs(v.operands - operands) if operands is not None else 0,
        )

    here = [v for v in variants if known.takes(v, target, ptx) and known.catalog.is_safe(v, target, ptx)]
    return sorted([(distance(v), v) for v in here], key=lambda r: (r[0], r[1].operands))


# What to write


class Asked(NamedTuple):
    """The instruction that somebody wanted to write. `complete`: it is a variant, so that another name would change
    what it does."""

    types: tuple[str, ...]
    modifiers: frozenset[str]
    operands: int | None
    complete: bool

    def is_done_by(self, v: V) -> bool:
        """Return whether a variant loses nothing that was asked for, and reads the same bits as the same formats."""
        same = v.modifiers == self.modifiers
        return (
            v.types == self.types
            and (same if self.complete else v.modifiers >= self.modifiers)
            # If the spelling is right and the number of operands is wrong, the number is to be fixed.
            and (self.operands in (None, v.operands) or (same and not self.complete))
        )


def advised(
    known: Known[V], opcode: str, names: Iterable[str], operands: int | None, target: str | None, ptx: str | None
) -> list[V]:
    """Return the variants to write in place of an unavailable one: those that it stands for, or that were meant by
    it."""
    meant = _meant(known, opcode, names)
    if any(n in known.other_types for n in meant):
        return []
    modifiers, types = known.split(meant)
    refused = known.refused(opcode, meant)
    same = (refused["means"] or refused.get("same")) if refused else None
    if same:
        variant = known.find(opcode, same.split(".")[1:], operands)
    else:
        variant = known.find(opcode, (*dict.fromkeys(modifiers), *types), operands)
    if variant is not None:
        variant = known.stands_for(variant) or variant
        asked = Asked(types=variant.types, modifiers=variant.modifiers, operands=variant.operands, complete=True)
    else:
        # An unknown name cannot be kept.
        kept = frozenset(m for m in modifiers if known.knows(m))
        asked = Asked(types=types, modifiers=kept, operands=operands, complete=False)
    of = known.opcodes[opcode].by_types.get(asked.types, ())
    candidates = [v for v in of if asked.is_done_by(v) and known.is_advisable(v, target, ptx) and not v.means]
    # Further names would do more than was asked for.
    fewest = min((len(v.modifiers) for v in candidates), default=0)
    shortest = [v for v in candidates if len(v.modifiers) == fewest]
    found = ranked(known, shortest, (*asked.modifiers, *asked.types), operands, target, ptx)
    nearest_ones = [v for distance, v in found if distance == found[0][0]]
    # A choice between variants that compute different things might be what an unknown name would have made.
    is_guess = len(nearest_ones) > 1 and not all(map(known.knows, meant))
    return [] if is_guess else nearest_ones


def advice(
    known: Known[V], opcode: str, names: Iterable[str], operands: int | None, target: str | None, ptx: str | None
) -> Advice:
    """Return what to write in place of an unavailable instruction, or the statement that there is nothing."""
    names = tuple(names)
    where = place(target, ptx)
    all_found = advised(known, opcode, names, operands, target, ptx)
    found, more = all_found[:_SHOWN], len(all_found) - _SHOWN
    besides: list[str] = []
    variant = known.find(opcode, names, operands)
    exists = variant is not None
    if not found:
        if target is not None and not known.catalog.knows(target, ptx):
            if variant is not None and known.takes(variant, target, None):
                here = known.catalog.here(variant.requires, target)
                return Advice(f"use PTX {here.ptx} or newer, which supports it on {target}")
            return Advice(f"use PTX {known.catalog.targets[target].ptx} or newer, which supports {target}")
        if variant is not None and target is not None and not variant.crash:
            others = known.catalog.siblings(variant.requires, target, ptx)
            siblings = [t for t in others if known.catalog.is_safe(variant, t, ptx)]
            if siblings:
                firsts = {known.catalog.here(variant.requires, t).ptx for t in siblings}
                since = f", with PTX {known.catalog.versions[firsts.pop()]} or newer" if len(firsts) == 1 else ""
                return Advice(f"compile for {' or '.join(siblings)}{since}")
        if variant is not None:
            nothing = "there is no known replacement" + (f" on {where}" if where else "")
            told_of_recipe = recipe_told(known, variant, target, ptx)
            return Advice(told_of_recipe or nothing, is_nothing=not told_of_recipe)
        for best in recipes_of_missing(known, opcode, names, target, ptx)[:1]:
            return Advice(_recipe_line(known, ".".join((opcode, *names)), best, target, ptx))
        # A variant that is available there and has a hazard is not offered either.
        elsewhere = [v for v in advised(known, opcode, names, operands, None, None) if not known.takes(v, target, ptx)]
        if not elsewhere:
            if tuple(n for n in names if n in known.types) not in known.opcodes[opcode].types:
                return Advice("use a type that it has", is_nothing=True)
            if known.refused(opcode, _meant(known, opcode, names)):
                observed = known.opcodes[opcode].assembler["observed"]
                return Advice(f"{observed} accepts no variant with all of these names", is_nothing=True)
            counted = any({*names} <= {*v.modifiers, *v.types} for v in known.opcodes[opcode].variants)
            there = f" and {operands} operand{'s' * (operands != 1)}" if operands is not None and counted else ""
            return Advice(f"no variant of {opcode} has all of these names{there}", is_nothing=True)
        forms, one = " and ".join(v.spelling for v in elsewhere[:_SHOWN]), len(elsewhere) == 1
        required = (known.catalog.told(v.requires, target) for v in elsewhere)
        needs = {"" if r.on else f"; from {known.catalog.text(r)} on" for r in required}
        there = f"exist{'s' * one}, but not on {where}"
        return Advice(f"{forms} {there}{needs.pop() if len(needs) == 1 else ''}")
    same_count = operands is None or any(operands == v.operands for v in found)
    if not same_count:
        told = [f"{v.spelling} {v.places}" for v in found]
    else:
        every = [*found, *(_exact_besides(known, variant, target, ptx) if variant is not None else ())]
        about = [f" ({said})" if said else "" for said in _summaries(known, every)]
        told = [f"{_told(known, v)}{a}" for v, a in zip(every, about, strict=True)]
        told, besides = told[: len(found)], told[len(found) :]
    meant = _meant(known, opcode, names)
    lost = [f".{n}" for n in meant if n and not known.knows(n)]
    without = f", without {' and '.join(lost)}" if lost else ""
    told += [f"one of {more} more"] if more > 0 else []
    text = f"{f'on {where}, ' if exists and where else ''}write {' or '.join(told)}{without}"
    write = found[0].spelling if len(all_found) == 1 and same_count and not lost and not besides else ""
    is_guess = any(n.lower() != m.lower() for n, m in zip(names, meant, strict=True))
    return Advice(text, " or ".join(besides), write=write, is_guess=is_guess)


def _told(known: Known[V], v: V) -> str:
    """Return a variant's spelling, with its number of operands where there is the spelling with others as well."""
    return str(v) if len(known.opcodes[v.opcode].spelled(v.modifiers, v.types)) > 1 else v.spelling


def _exact_besides(known: Known[V], v: V, target: str | None, ptx: str | None) -> list[V]:
    """Return the exact variants that somebody may have meant by the short spelling of an approximation. They have the
    modifiers that the opcode's other short spellings leave out."""
    if not v.means or v.claim == "exact":
        return []
    about = known.opcodes[v.opcode]
    refused = (r["means"].split(".")[1:] for r in about.assembler["refused"] if r["means"])
    left_out = {*(w.means for w in about.variants if w.means), *(tuple(known.split(names)[0]) for names in refused)}
    meant = (known.find(v.opcode, (*v.modifiers, *names, *v.types), v.operands) for names in sorted(left_out))
    exact = [w for w in meant if w is not None and w.claim == "exact"]
    return [w for w in exact if known.takes(w, target, ptx) and known.is_advisable(w, target, ptx)]


def differences(known: Known[V], variants: Sequence[V]) -> list[str]:
    """Return the modifiers in which variants differ, each with its meaning: ".rz (round toward zero)"."""
    own = [v.modifiers.difference(*(w.modifiers for w in variants if w.modifiers != v.modifiers)) for v in variants]
    return list(dict.fromkeys(f".{m} ({summary(known, m)})" for names in own for m in sorted(names)))


def _summaries(known: Known[V], variants: Sequence[V]) -> list[str]:
    """Return the meaning of each of several variants that the others do not share; empty for a single one."""
    if len({v.spelling for v in variants}) < 2:
        return [""] * len(variants)
    common = frozenset.intersection(*(v.modifiers for v in variants))
    return ["; ".join(summary(known, m) for m in sorted(v.modifiers - common)) for v in variants]


def summary(known: Known[V], modifier: str) -> str:
    """Return the first sentence of a modifier's summary, as part of another sentence."""
    return as_part(known.modifiers[modifier].partition(". ")[0].rstrip("."))


def as_part(sentence: str) -> str:
    """Return a sentence as part of another: its first letter is in lower case, except in a name such as PTX."""
    first = sentence.partition(" ")[0]
    return sentence if first[1:].lower() != first[1:] else sentence[:1].lower() + sentence[1:]


def place(target: str | None, ptx: str | None) -> str:
    """Return the target and PTX version asked about, in words: "sm_80 and PTX 7.0"."""
    return " and ".join([*([target] if target else []), *([f"PTX {ptx}"] if ptx else [])])


def _meant(known: Known[V], opcode: str, names: Iterable[str]) -> list[str]:
    """Return names, in which the suggested ones replace the unknown ones. A name of another instruction is replaced by
    one of this instruction that differs in case only."""
    about = known.opcodes[opcode]
    names = [in_other_letters(n, about.names) or n for n in names]
    if all(map(known.knows, names)):
        return names
    pools = (names_of(v for v in about.variants if not set(v.types).isdisjoint(names)), about.names)
    return [n if known.knows(n) else next((near[0] for pool in pools if (near := nearest(n, pool))), n) for n in names]


# Recipes


def recipes(known: Known[V], v: V, target: str | None, ptx: str | None) -> tuple[Recipe, ...]:
    """Return the recipes for a variant, with what they require there. Those that work there come first. Where only a
    newer PTX version is missing, recipes that need it too are left out."""
    found, catalog = _working(known, known.opcodes[v.opcode].recipes(v), target, ptx), known.catalog
    if target is None or not known.takes(v, target, None) or (here := catalog.here(v.requires, target)).until:
        return found
    first = catalog.versions[here.ptx].order
    return tuple(r for r in found if r.works or catalog.versions[catalog.first_version(r.requires)].order < first)


def recipes_of_missing(
    known: Known[V], opcode: str, names: Iterable[str], target: str | None, ptx: str | None
) -> tuple[Recipe, ...]:
    """Return the recipes for a spelling that PTX does not have, with what they require there. Those that work there
    come first."""
    found = known.missing(opcode, names)
    return _working(known, found[1], target, ptx) if found else ()


def _working(known: Known[V], every: Iterable[Recipe], target: str | None, ptx: str | None) -> tuple[Recipe, ...]:
    catalog = known.catalog
    told = [
        r._replace(
            requires=catalog.told(r.requires, target),
            works=catalog.takes(r.requires, target, ptx) and catalog.knows(target, ptx),
        )
        for r in every
    ]
    return tuple(sorted(told, key=lambda r: not r.works))


def recipe_told(known: Known[V], v: V, target: str | None, ptx: str | None) -> str:
    """Return advice in a line: a recipe that works there, the reason why there is none, or a recipe for newer
    targets."""
    best = next(iter(recipes(known, v, target, ptx)), None)
    reason = known.opcodes[v.opcode].why_no_recipe(v)
    if best is None or (not best.works and reason):
        return as_part(reason.rstrip("."))
    return _recipe_line(known, v.spelling, best, target, ptx)


def _recipe_line(known: Known[V], spelling: str, best: Recipe, target: str | None, ptx: str | None) -> str:
    asked = "".join([f" --target {target}" if target else "", f" --ptx {ptx}" if ptx else ""])
    shown = f"{_MANY} {best.statements} statements that `ptxspec query {spelling}{asked}` prints"
    if not best.is_long:
        shown = best.line
    differs = f", {best.difference}" if best.differs else ""
    since, is_later = f"from {known.catalog.text(best.requires).replace(', ', ' and ')} on", False
    if target is not None and target == best.requires.target:
        since = f"from PTX {known.catalog.versions[best.requires.ptx]} on"
        is_later = ptx is None and best.requires.ptx != known.catalog.targets[target].ptx
    if not best.works:
        return f"{since}, instead: {shown}{differs}"
    # Without a PTX version, all that know the target are meant, and the recipe may need a newer one.
    return f"{RECIPE}{shown}{differs}{f', {since}' if is_later else ''}"


def is_block(line: str) -> bool:
    """Return whether a line of advice suggests a block. A recipe of many statements has registers of its own and is a
    block, too."""
    return line.startswith((f"{RECIPE}{{", f"{RECIPE}{_MANY} "))
