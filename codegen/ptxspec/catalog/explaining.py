"""Why a spelling or a target is wrong, and what to write: the one function that decides it, for queries, lint, the
explanation of logs and the emulator alike."""

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
# The most statements in a message of one line.
_SHORT = 4
# The beginning of a message about more statements.
_MANY = "the"
# The most variants that are advised by name, and that are told to be spelled alike.
_SHOWN, _ALIKE = 4, 3
# The most characters of an opcode's types in a message, and how many sequences of types stand there if there are more.
_LONG, _NEAR = 100, 3
# Single types that are listed where there are more than a line of them.
_FEW = 10
_SPELLING = re.compile(r"\w+(\.[\w:]+)*")
# Types as other languages have them, and what begins the type that is meant.
_FOREIGN_TYPE = re.compile(r"(?P<sort>i|int|uint|sf)(?P<bits>\d+)|float|double|half", re.IGNORECASE).fullmatch
_SORTS = {"i": "s", "int": "s", "uint": "u", "sf": "f"}
_C_TYPES = {"float": "f32", "double": "f64", "half": "f16"}


class Reason(NamedTuple):
    """A reason why a variant does not exist or is not available. `code` is stable, the message is for people; `name` is
    the index of the modifier or type that is meant, WHOLE for none; `write` is what to write for that alone."""

    code: str
    message: str
    name: int = WHOLE
    write: str = ""

    @property
    def help(self) -> str:
        """The sentence that says what to write; empty where nothing is known."""
        return f"write .{self.write}" if self.write else ""


class Advice(NamedTuple):
    """Advice on what to write for what cannot be written, or that there is nothing. `not_the_same` computes something
    else and is easily taken for it; it is empty where there is nothing of the kind. `is_nothing`: it names nothing to
    write. `write` is the one spelling that may take the place of the other as it stands, and `is_guess`: that takes an
    unknown name for a known one of other letters."""

    text: str
    not_the_same: str = ""
    is_nothing: bool = False
    write: str = ""
    is_guess: bool = False

    def __str__(self) -> str:
        return f"{self.text}; not the same: {self.not_the_same}" if self.not_the_same else self.text


class Explanation(NamedTuple):
    """What is wrong with an instruction, and what to write; both are empty where nothing is wrong."""

    reasons: tuple[Reason, ...]
    advice: Advice = Advice("")

    @property
    def is_ours(self) -> bool:
        """Return whether the instruction is one of this database's, so that others are told which are spelled alike."""
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
    """The opcode and the names of a spelling: what stands behind it is none of it."""
    return spelling.split(maxsplit=1)[0].split(".") if spelling.strip() else [""]


# Why a variant is refused


def refusals(known: Known[V], v: V, target: str | None, ptx: str | None) -> tuple[Reason, ...]:
    """Return what a variant needs that the target or PTX version does not have, and how the assembler breaks down on
    it; empty where machine code comes of it."""
    crash = [Reason("assembler-crash", f"{v}: {v.crash}")] if v.crash else []
    return (*crash, *unmet(known, str(v), v.requires, target, ptx))


def unmet(known: Known[V], name: str, requires: Requirement, target: str | None, ptx: str | None) -> tuple[Reason, ...]:
    """Return what something of that name needs that the target or PTX version does not have."""
    found = known.catalog.refusals(requires, target, ptx)
    return tuple(Reason(r.code, _refusal(known, name, r, target, ptx)) for r in found)


def pair(known: Known[V], target: str | None, ptx: str | None) -> Reason | None:
    """Return the reason that a PTX version does not know a target, so that nothing is available there; None where it
    does."""
    if target is None or known.catalog.knows(target, ptx):
        return None
    refusal = Refusal("target-unknown", known.catalog.targets[target].ptx)
    return Reason(refusal.code, _refusal(known, "", refusal, target, ptx))


def _refusal(known: Known[V], v: str, refusal: Refusal, target: str | None, ptx: str | None) -> str:
    code, bound = refusal
    if code == "target-too-old":
        return f"{v} needs {bound} or newer; {target} is older" if target else f"PTX {ptx} knows no target that has {v}"
    if code == "target-specific":
        return f"{target} does not have {v}, which needs {bound}"
    if code == "target-too-new":
        came = known.catalog.targets[target or ""].ptx
        return f"{v} ended with PTX {bound}, before {target} came with {came}"
    release = known.catalog.versions[bound]
    if code == "ptx-too-old":
        return f"{v} needs PTX {release} or newer; {ptx} is older"
    if code == "ptx-too-new":
        return f"{v} ended with PTX {release}; {ptx} is newer"
    return f"PTX {ptx} does not know {target}, which came with PTX {release}"


# Why a spelling does not exist


def why_not(
    known: Known[V], spelling: str, operands: int | None, target: str | None = None, ptx: str | None = None
) -> tuple[Reason, ...]:
    """Return what is wrong with a spelling that does not exist. Of what PTX has elsewhere it is said whether the target
    and the PTX version have it."""
    opcode, *names = spelling.strip().split(".")
    about = known.opcodes.get(opcode)
    if not _SPELLING.fullmatch(spelling.strip()):
        example = (about or next(iter(known.opcodes.values()))).variants[0].spelling
        return (Reason("syntax", f"a spelling is names with a dot between, as in {example}, without operands"),)
    elsewhere = _outside(known, opcode, names, target, ptx)
    if elsewhere is not None:
        return (elsewhere,)
    if about is None:
        if is_other_function(opcode, known.opcodes):
            more = "what is spelled alike computes something else"
            return (Reason("unknown-opcode", f"PTX has no {opcode}; {more}"),)
        help = suggest(opcode, known.opcodes, otherwise=f"`{known.lists}` names what is here")
        return (Reason("unknown-opcode", f"unknown opcode '{opcode}'; {help}"),)
    if foreign := tuple(foreign_types(known, opcode, names)):
        return foreign
    modifiers, types = known.split(names)
    first = {n: i for i, n in reversed(list(enumerate(modifiers)))}
    repeated = [n for i, n in enumerate(modifiers) if first[n] < i]
    if repeated:
        return (Reason("repeated-modifier", f".{repeated[0]} stands twice"),)
    same = about.spelled(frozenset(modifiers), types)
    if same:
        counts = " or ".join(str(v.operands) for v in same)
        return (Reason("operand-count", f"{same[0].spelling} takes {counts} source operands, not {operands}"),)
    refused = known.refused(opcode, names)
    if refused is not None:
        manual, short = requirement_of(refused["manual"]), f" as {refused['means']}" if refused["means"] else ""
        versions = f"PTX {manual.ptx} {f'to {manual.until}' if manual.until else 'or newer'}"
        where = f"on {known.catalog.on_text(manual)}" if manual.on else f"for {manual.target} or newer, {versions}"
        message = f"the manual has {refused['variant']}{short}, {where}"
        return (Reason("refused-by-assembler", f"{message}; {about.assembler['observed']} takes it nowhere"),)
    if types not in about.types or not known.other_types.isdisjoint(names):
        return (_types(known, about, names),)
    typed = about.by_types[types]
    has = [n for n in names_of(typed) if n not in types]
    lacking = [i for i, n in enumerate(names) if n not in types and n not in has]
    reasons = [_lacks(known, known.form(opcode, *types), names[i], has)._replace(name=i) for i in lacking]
    rest = [n for i, n in enumerate(names) if i not in lacking]
    if not lacking:
        reasons = [_combination(opcode, modifiers, types, typed, operands)]
    elif known.find(opcode, rest, operands) is None:
        # Without these names something is wrong still.
        reasons += [r._replace(name=WHOLE) for r in why_not(known, ".".join((opcode, *rest)), operands)]
    return tuple(reasons)


def _lacks(known: Known[V], form: str, modifier: str, has: Sequence[str]) -> Reason:
    """A modifier is none of those that a form has."""
    message = lacks_text(form, modifier, has)
    meant = in_other_letters(modifier, has) or next(iter([] if known.knows(modifier) else nearest(modifier, has)), "")
    code = "illegal-modifier" if known.knows(modifier) else "unknown-modifier"
    return Reason(code, f"{message}; did you mean '.{meant}'?" if meant else message)


def lacks_text(form: str, modifier: str, has: Iterable[str]) -> str:
    """The sentence that a form does not have a modifier, with those that it has."""
    return f"{form} has no .{modifier}; it has {_listed(has) or 'no modifiers'}"


def meant_type(name: str) -> str:
    """Return the type of PTX that is meant by one of other languages, as i32 and float are; empty where none is."""
    m = _FOREIGN_TYPE(name)
    if m is None:
        return ""
    return _SORTS[m["sort"].lower()] + m["bits"] if m["sort"] else _C_TYPES[name.lower()]


def foreign_types(known: Known[V], opcode: str, names: Sequence[str]) -> Iterator[Reason]:
    """Yield what is wrong with types in capital letters, and with those of other languages."""
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
    """The spelling has types that none of the opcode's has, or none."""
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
    what = f"no .{'.'.join(types)}" if fits or counts != {1} else "one type in each spelling"
    place = next((i for i, n in enumerate(names) if n in known.other_types), names.index(types[-1]))
    return Reason("illegal-type", f"{opcode} has {what}; it has {has}", place)


def _outside(known: Known[V], opcode: str, names: Sequence[str], target: str | None, ptx: str | None) -> Reason | None:
    """Return the reason that a spelling is none of this database's, so that nothing is known of it; None where it is
    one."""
    if opcode not in known.opcodes:
        if opcode not in known.outside:
            return None
        return Reason("not-in-database", f"{opcode} is PTX{_needs(known, opcode, names, target, ptx)}{known.lacks}")
    if not known.is_elsewhere(opcode, names):
        return None
    message = f"{'.'.join((opcode, *names))} is a form of other sections of PTX"
    message += _needs(known, opcode, names, target, ptx)
    return Reason("not-in-database", f"{message}; here {opcode} has {forms_text(known.opcodes[opcode])}")


def _needs(known: Known[V], opcode: str, names: Sequence[str], target: str | None, ptx: str | None) -> str:
    """Return the section of what is outside and what it needs, as the rest of a sentence; and whether a target and a
    PTX version have that."""
    about = known.outside.get(opcode)
    if about is None:
        return ""
    catalog, needs = known.catalog, about.requires(names, known.catalog)
    said = f" (section {about.section})" if about.section else ""
    if needs is None:
        return said
    limits = "".join(f", {limit.text(catalog.newest_target)}" for limit in needs.within)
    said += f", and needs {catalog.on_text(needs) or f'{needs.target} and PTX {needs.ptx} or newer'}{limits}"
    if target is None and ptx is None:
        return said
    if refused := catalog.refusals(needs, target, ptx):
        return "; ".join([said, *(_refusal(known, "it", r, target, ptx) for r in refused)])
    if target is None:
        return f"{said}; PTX {ptx} has it"
    here = catalog.here(needs, target)
    return f"{said}; {target} has it from PTX {here.ptx} {f'to {here.until}' if here.until else 'on'}"


def _combination(
    opcode: str, modifiers: Sequence[str], types: tuple[str, ...], typed: Sequence[V], operands: int | None
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
def forms_text(about: Opcode[V], asked: tuple[str, ...] = ()) -> str:
    """The types that an opcode's spellings end in; or where they would fill lines, those that are most like what was
    asked for, and how many types the others have."""
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
    known: Known[V], spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
) -> tuple[V, ...]:
    """The three variants that are available there and most like what was asked. They need not do the same."""
    opcode, *names = _split(spelling)
    if opcode not in known.opcodes:
        opcode = next(iter(nearest(opcode, known.opcodes)), "")
    if not opcode:
        return ()
    meant = _meant(known, opcode, names)
    return tuple(v for _, v in ranked(known, known.opcodes[opcode].variants, meant, operands, target, ptx)[:_ALIKE])


def ranked(
    known: Known[V],
    variants: Iterable[V],
    names: Iterable[str],
    operands: int | None,
    target: str | None,
    ptx: str | None,
) -> list[tuple[Distance, V]]:
    """Return those of some variants that are available there and have no hazard there, the most similar to what was
    asked first."""
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
            # What few targets have has not ended because the newest one is not among them.
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
    """The instruction that somebody wanted to write. `complete`: it is a variant, so that a name more would change what
    it does."""

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
            # Of a right spelling with a wrong number of operands, the number is what to mend.
            and (self.operands in (None, v.operands) or (same and not self.complete))
        )


def advised(
    known: Known[V], opcode: str, names: Iterable[str], operands: int | None, target: str | None, ptx: str | None
) -> list[V]:
    """The variants to write for what cannot be written there: what it stands for, or what was meant by it."""
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
    """Return what to write for what cannot be written there, or that there is nothing."""
    names = tuple(names)
    where = place(target, ptx)
    all_found = advised(known, opcode, names, operands, target, ptx)
    found, more = all_found[:_SHOWN], len(all_found) - _SHOWN
    besides: list[str] = []
    variant = known.find(opcode, names, operands)
    exists = variant is not None
    if not found:
        if not known.catalog.knows(target, ptx):
            return Advice(f"PTX {ptx} does not know {target}; use {known.catalog.targets[target or ''].ptx} or newer")
        if variant is not None and target is not None and not variant.crash:
            others = known.catalog.siblings(variant.requires, target, ptx)
            siblings = [t for t in others if known.catalog.is_safe(variant, t, ptx)]
            if siblings:
                firsts = {known.catalog.here(variant.requires, t).ptx for t in siblings}
                since = f", with PTX {known.catalog.versions[firsts.pop()]} or newer" if len(firsts) == 1 else ""
                return Advice(f"compile for {' or '.join(siblings)}{since}")
        if variant is not None:
            nothing = "nothing is known that does the same" + (f" on {where}" if where else "")
            told_of_recipe = recipe_told(known, variant, target, ptx)
            return Advice(told_of_recipe or nothing, is_nothing=not told_of_recipe)
        for best in recipes_of_missing(known, opcode, names, target, ptx)[:1]:
            return Advice(_recipe_line(known, ".".join((opcode, *names)), best, target, ptx))
        # What is there, and not safe there, is not offered either.
        elsewhere = [v for v in advised(known, opcode, names, operands, None, None) if not known.takes(v, target, ptx)]
        if not elsewhere:
            if tuple(n for n in names if n in known.types) not in known.opcodes[opcode].types:
                return Advice("write a type that it has", is_nothing=True)
            if known.refused(opcode, _meant(known, opcode, names)):
                observed = known.opcodes[opcode].assembler["observed"]
                return Advice(f"nothing that {observed} takes has all of this", is_nothing=True)
            return Advice(f"no {opcode} has all of this", is_nothing=True)
        forms, one = " and ".join(v.spelling for v in elsewhere[:_SHOWN]), len(elsewhere) == 1
        needs = {"" if v.requires.on else f"; from {known.catalog.text(v.requires)} on" for v in elsewhere}
        there = f"exist{'s' * one}, but not on {where}"
        return Advice(f"{forms} {there}{needs.pop() if len(needs) == 1 else ''}")
    same_count = operands is None or any(operands == v.operands for v in found)
    if not same_count:
        told = [f"{v.spelling} {v.places}" for v in found]
    else:
        counts = {v.operands for v in known.opcodes[opcode].variants}
        every = [*found, *(_exact_besides(known, variant, target, ptx) if variant is not None else ())]
        about = [f" ({said})" if said else "" for said in _summaries(known, every)]
        told = [f"{v if len(counts) > 1 else v.spelling}{a}" for v, a in zip(every, about, strict=True)]
        told, besides = told[: len(found)], told[len(found) :]
    meant = _meant(known, opcode, names)
    lost = [f".{n}" for n in meant if not known.knows(n)]
    without = f", without {' and '.join(lost)}" if lost else ""
    told += [f"one of {more} more"] if more > 0 else []
    text = f"{f'on {where}, ' if exists and where else ''}write {' or '.join(told)}{without}"
    write = found[0].spelling if len(all_found) == 1 and same_count and not lost and not besides else ""
    is_guess = any(n.lower() != m.lower() for n, m in zip(names, meant, strict=True))
    return Advice(text, " or ".join(besides), write=write, is_guess=is_guess)


def _exact_besides(known: Known[V], v: V, target: str | None, ptx: str | None) -> list[V]:
    """Return the variants that somebody may have meant who wrote the short spelling of an approximation: with the
    modifiers that the opcode's other short spellings leave out, the result is exact."""
    if not v.means or v.claim == "exact":
        return []
    about = known.opcodes[v.opcode]
    refused = (r["means"].split(".")[1:] for r in about.assembler["refused"] if r["means"])
    left_out = {*(w.means for w in about.variants if w.means), *(tuple(known.split(names)[0]) for names in refused)}
    meant = (known.find(v.opcode, (*v.modifiers, *names, *v.types), v.operands) for names in sorted(left_out))
    exact = [w for w in meant if w is not None and w.claim == "exact"]
    return [w for w in exact if known.takes(w, target, ptx) and known.is_advisable(w, target, ptx)]


def differences(known: Known[V], variants: Sequence[V]) -> list[str]:
    """The modifiers that some variants differ in, each with what it means: ".rz (round toward zero)"."""
    own = [v.modifiers.difference(*(w.modifiers for w in variants if w.modifiers != v.modifiers)) for v in variants]
    return list(dict.fromkeys(f".{m} ({summary(known, m)})" for names in own for m in sorted(names)))


def _summaries(known: Known[V], variants: Sequence[V]) -> list[str]:
    """Return what each of several variants means that the others do not; empty for one alone."""
    if len({v.spelling for v in variants}) < 2:
        return [""] * len(variants)
    common = frozenset.intersection(*(v.modifiers for v in variants))
    return ["; ".join(summary(known, m) for m in sorted(v.modifiers - common)) for v in variants]


def summary(known: Known[V], modifier: str) -> str:
    """The first sentence of what is said of a modifier, as part of another."""
    return as_part(known.modifiers[modifier].partition(". ")[0].rstrip("."))


def as_part(sentence: str) -> str:
    """A sentence as part of another: in lower case, but for a name such as PTX."""
    first = sentence.partition(" ")[0]
    return sentence if first[1:].lower() != first[1:] else sentence[:1].lower() + sentence[1:]


def place(target: str | None, ptx: str | None) -> str:
    """Return the target and PTX version asked about, in words: "sm_80 and PTX 7.0"."""
    return " and ".join([*([target] if target else []), *([f"PTX {ptx}"] if ptx else [])])


def _meant(known: Known[V], opcode: str, names: Iterable[str]) -> list[str]:
    """The names, with those that are unknown replaced as the reasons suggest, and those that only another instruction
    has where this one has the same in other letters."""
    about = known.opcodes[opcode]
    names = [in_other_letters(n, about.names) or n for n in names]
    if all(map(known.knows, names)):
        return names
    pools = (names_of(v for v in about.variants if not set(v.types).isdisjoint(names)), about.names)
    return [n if known.knows(n) else next((near[0] for pool in pools if (near := nearest(n, pool))), n) for n in names]


# Recipes


def recipes(known: Known[V], v: V, target: str | None, ptx: str | None) -> tuple[Recipe, ...]:
    """The recipes for a variant, those first that work there."""
    return _working(known, known.opcodes[v.opcode].recipes(v), target, ptx)


def recipes_of_missing(
    known: Known[V], opcode: str, names: Iterable[str], target: str | None, ptx: str | None
) -> tuple[Recipe, ...]:
    """The recipes for what PTX does not have, those first that work there."""
    found = known.missing(opcode, names)
    return _working(known, found[1], target, ptx) if found else ()


def _working(known: Known[V], every: Iterable[Recipe], target: str | None, ptx: str | None) -> tuple[Recipe, ...]:
    catalog = known.catalog
    told = [r._replace(works=catalog.takes(r.requires, target, ptx) and catalog.knows(target, ptx)) for r in every]
    return tuple(sorted(told, key=lambda r: not r.works))


def recipe_told(known: Known[V], v: V, target: str | None, ptx: str | None) -> str:
    """Return advice in a line: a recipe that works there, else why there is none, else from where on one works."""
    best = next(iter(recipes(known, v, target, ptx)), None)
    reason = known.opcodes[v.opcode].why_no_recipe(v)
    if best is None or (not best.works and reason):
        return as_part(reason.rstrip("."))
    return _recipe_line(known, v.spelling, best, target, ptx)


def _recipe_line(known: Known[V], spelling: str, best: Recipe, target: str | None, ptx: str | None) -> str:
    asked = "".join([f" --target {target}" if target else "", f" --ptx {ptx}" if ptx else ""])
    shown = f"{_MANY} {best.statements} statements of `ptxspec query {spelling}{asked}`"
    if best.statements <= _SHORT:
        shown = best.line
    differs = f", {best.difference}" if best.differs else ""
    start = RECIPE if best.works else f"from {known.catalog.text(best.requires).replace(', ', ' and ')} on, instead: "
    return f"{start}{shown}{differs}"


def is_block(line: str) -> bool:
    """Return whether a line told of a variant advises to write a block. A recipe of many statements has registers of
    its own, and is one."""
    return line.startswith((f"{RECIPE}{{", f"{RECIPE}{_MANY} "))
