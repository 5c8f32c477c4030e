"""The model -> the manual: a page per opcode as HTML and as Markdown, and an index of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ....catalog import targets_text
from ....check.checking import Checked
from ....check.claims import CLAIMS, basis
from ....check.relations import relation
from ....compact import named_in
from ....grounds import KINDS
from ....model import (
    ROUNDINGS,
    Code,
    Entry,
    HardwarePath,
    Implied,
    Instruction,
    NanRule,
    Recording,
    Spec,
    SyntaxLine,
    Type,
    Variant,
)
from ...lowering import rounds
from ...registry import product
from ...text import Files, Templates
from . import availability, catalog, recipes, running, search
from .forms import Writer, statement, unpacking
from .site import Site


@dataclass(frozen=True)
class Row:
    """What a line of a page's table says of its variants."""

    operands: int
    statement: str
    claim: str
    requires: str
    manual: str
    stands_for: str
    measured: tuple[str, ...]
    hazard: bool
    crash: str
    reported: tuple[str, ...]
    inferred: tuple[str, ...]


@dataclass(frozen=True)
class Operands:
    """What operands of a type are: the manual's registers, and what the assembler takes, constants or none."""

    type: Type
    registers: str
    taken: str
    constants: str


@dataclass(frozen=True)
class Claim:
    """A claim of a page, what it rests on, and which variants make it: how many, and where others make another, their
    forms."""

    name: str
    rests_on: str
    variants: int
    forms: Sequence[str]


@dataclass(frozen=True)
class Group:
    """Variants of which a page's table says the same."""

    row: Row
    forms: Sequence[str]
    variants: int


@dataclass(frozen=True)
class Stage:
    """Code that acts around an instruction's own."""

    title: str
    summary: str
    code: Code


@product("manual")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """The files of generated/manual."""
    files: Files = {}
    instructions = [c.instruction for c in checked]
    write = Writer(spec)
    site = Site(spec, templates, [i.opcode for i in instructions])
    for c in checked:
        instruction = c.instruction
        rows, refused = (_rows(spec, write, instruction, vs) for vs in (instruction.variants, instruction.refused))
        claims = _claims(spec, write, instruction)
        told: list[Group | Claim] = [*rows, *refused, *claims]
        texts = [*(s.text for s in instruction.syntax), *(text for one in told for text in one.forms)]
        values = {
            "i": instruction,
            "rows": rows,
            "groups": named_in(texts, spec.notation),
            "claims": claims,
            "compared": [(c.selector.text, relation(spec.functions, c)) for c in instruction.compared],
            "meanings": {claim.name: CLAIMS[claim.name] for claim in claims},
            "recordings": _recordings(spec, instruction),
            "differs": any(v.manual != v.requires for v in instruction.variants),
            "stages": _stages(spec, instruction),
            "hardware": [(p, _recorded(spec, instruction, p)) for p in instruction.hardware],
            "nan_rules": _nan_rules(instruction),
            "roundings": _roundings(spec, instruction),
            "ended": {s.text: until for s in instruction.syntax if (until := _until(instruction, s))},
            "modifiers": [
                m for m in spec.modifiers.values() if any(m.name in v.modifiers for v in instruction.variants)
            ],
            "types": _operands(spec, instruction),
            "assembler": spec.assembler.observed,
            "refused": refused,
            "unpacking": unpacking(instruction),
            "refused_lines": [s.text for s in instruction.syntax if any(map(s.gives, instruction.refused))],
            "default": _default_rounding(spec, c),
            "targets_text": targets_text,
            "newest": spec.newest,
            "operands": _names(instruction),
            "recipes": recipes.entries(spec, write, instruction),
            "implied": [n for n in spec.implied if any(_implies(spec, n, v) for v in instruction.variants)],
        }
        sources = ["spec/types.yaml", "spec/modifiers.yaml", "spec/assembler.yaml", instruction.path]
        sources += ["spec/functions.yaml"] * bool(instruction.compared)
        files |= site.page(instruction.opcode, sources, values, template="instruction")
    files |= availability.emit(spec, write, site) | running.emit(templates.root, site)
    every = [i.path for i in instructions]
    counted = sum(len(i.variants) for i in instructions)
    about = {"instructions": instructions, "variants": counted, "evidence": spec.evidence, "grounds": KINDS}
    files |= site.page("index", every, {**about, "speed": spec.speed})
    if spec.evidence is not None:
        values = {
            "evidence": spec.evidence,
            "count": len(spec.ledger),
            "ledger": _ledger(spec, write),
            "proven": is_proven(spec),
            "exceeded": [(i, a) for i in instructions for a in i.accuracy if a.exceeded],
        }
        files |= site.page("ledger", ["spec/observed/evidence.yaml", *every], values)
    if spec.speed is not None:
        files |= site.page("speed", ["spec/observed/speed.yaml"], {"speed": spec.speed})
    return files | site.shared() | catalog.emit(spec, write, templates) | search.emit(spec, write, templates, files)


def is_proven(spec: Spec) -> bool:
    """The evidence is about this specification: it speaks of as many variants, and of the same differences."""
    variants = sum(len(i.variants) for i in spec.instructions.values())
    return spec.evidence is not None and spec.evidence.variants == variants and spec.evidence.ledger == spec.ledger


def _ledger(spec: Spec, write: Writer) -> list[tuple[Entry, Sequence[str]]]:
    """The ledger with the lines of an opcode in one that say the same of its variants."""
    found: dict[tuple[str, int, str, str], list[Entry]] = {}
    for e in spec.ledger:
        found.setdefault((e.variant.partition(".")[0], e.operands, e.manual, e.assembler), []).append(e)
    variants = {v.key: v for i in spec.instructions.values() for v in (*i.refused, *i.variants)}
    return [(same[0], write.whole(variants[e.variant, e.operands] for e in same)) for same in found.values()]


def _claims(spec: Spec, write: Writer, instruction: Instruction) -> list[Claim]:
    found: dict[tuple[str, str], list[Variant]] = {}
    for v in instruction.variants:
        found.setdefault((v.claim, basis(instruction, v)), []).append(v)
    for v in instruction.variants:
        if targets := spec.reported_on(v):
            told = f"all 2^32 results of {spec.reporter(v, targets[0])}; here on {', '.join(targets)}"
            found.setdefault(("reported", told), []).append(v)
    return [
        Claim(name, rests_on, len(variants), write.whole(variants) if len(found) > 1 else ())
        for (name, rests_on), variants in found.items()
    ]


def _names(instruction: Instruction) -> list[str]:
    """The operands for which corner cases have columns."""
    columns = max((len(r.operands) for t in instruction.corner_tables for r in t.rows), default=0)
    return next(([s.name for s in v.sources] for v in instruction.variants if len(v.sources) == columns), [])


def _recordings(spec: Spec, instruction: Instruction) -> list[tuple[Recording, Counter[str | None]]]:
    """The recordings that have variants of the instruction, with how many are equal, inside of a bound, or neither."""
    counted = [(r, Counter(r.finding(v) for v in instruction.variants)) for r in spec.recordings]
    return [(r, c) for r, c in counted if c["equal"] + c["inside"] + c["unequal"]]


def _rows(spec: Spec, write: Writer, instruction: Instruction, variants: Sequence[Variant]) -> list[Group]:
    """The lines of a table of variants; those with the same cells share one."""
    found: dict[Row, list[Variant]] = {}
    for v in variants:
        found.setdefault(_row(spec, instruction, v), []).append(v)
    return [Group(row, write.whole(alike), len(alike)) for row, alike in found.items()]


def _row(spec: Spec, instruction: Instruction, v: Variant) -> Row:
    longer = instruction.stands_for(v)
    manual = "not listed" if v.manual is None else spec.catalog.text(v.manual)
    requires = spec.catalog.text(v.requires)
    return Row(
        operands=v.operands,
        statement=statement(v),
        claim=v.claim,
        requires=requires,
        manual="" if manual == requires else manual,
        stands_for=longer.spelling if longer else "",
        hazard=bool(v.hazards),
        crash=v.crash,
        measured=tuple(dict.fromkeys(r.target for r in spec.recordings if spec.claim(v, r.target) == "measured")),
        reported=spec.reported_on(v),
        inferred=spec.inferred_on(v),
    )


def _stages(spec: Spec, instruction: Instruction) -> list[Stage]:
    """The code around the body, in the order in which it acts."""
    used = [m for m in spec.modifiers.values() if any(m.name in v.modifiers for v in instruction.variants)]
    stages = []
    for title, attribute in (
        ("looks at the raw operands a, b, c", "raw"),
        ("changes each operand x", "operand"),
        ("changes the result d", "result"),
        ("has the last word on the result d", "override"),
    ):
        for m in used:
            code: Code | None = getattr(m, attribute)
            if code is not None:
                formats = instruction.acts_on.get(m.name, ())
                only = f" that is {' or '.join(formats)}" if formats else ""
                stages.append(Stage(f".{m.name} {title}{only}", m.summary, code))
    return stages


def _recorded(spec: Spec, instruction: Instruction, path: HardwarePath) -> str:
    """The targets where a path is followed, as all units of it are known."""
    alike = [p for p in instruction.hardware if p.selector.text == path.selector.text]
    known = [t for t in spec.targets if spec.known_path(alike, t) is path]
    return ", ".join(known) or "on none yet"


def _implies(spec: Spec, implied: Implied, v: Variant) -> bool:
    """The variant is one that behaves so, and exists on one of those targets."""
    first, last = (spec.targets[t].order for t in implied.within)
    here = [t.name for t in spec.targets.values() if first <= t.order <= last]
    return implied.is_about(v) and any(spec.catalog.takes(v.requires, t) for t in here)


def _until(instruction: Instruction, line: SyntaxLine) -> str | None:
    """The last PTX version that has the spellings of a line; None where some are there still."""
    ends = {v.requires.until for v in instruction.variants if line.gives(v)}
    return ends.pop() if len(ends) == 1 else None


def _roundings(spec: Spec, instruction: Instruction) -> list[tuple[str, str]]:
    """The directions in which the instruction's operations round, each with the modifiers that ask for it."""
    found: dict[str, list[str]] = {}
    for v in instruction.variants:
        asked = [n for n in v.modifiers if spec.modifiers[n].mode]
        if asked:
            mode = str(spec.modifiers[asked[0]].mode)
            found.setdefault(mode, [])
            if asked[0] not in found[mode]:
                found[mode].append(asked[0])
    return [(mode, " ".join(f".{n}" for n in names)) for mode, names in found.items()]


def _is_approximate(spec: Spec, v: Variant) -> bool:
    return any(spec.modifiers[m].approximate for m in v.modifiers)


def _default_rounding(spec: Spec, checked: Checked) -> str:
    """How the sentence on the directions ends. What is an approximation, short for another spelling, not in the manual,
    or rounds nothing has no say."""
    exact = [
        v
        for v, programs in checked.programs.items()
        if v.listed and not v.means and rounds(programs[None]) and not _is_approximate(spec, v)
    ]
    types = list(dict.fromkeys(v.type_names[0] for v in exact))
    free = list(dict.fromkeys(v.type_names[0] for v in exact if not any(spec.modifiers[m].mode for m in v.modifiers)))
    if not free:
        return "there is no default"
    if free == types:
        return f"without a modifier {ROUNDINGS[0]}"
    verb = "allows" if len(free) == 1 else "allow"
    return f"without a modifier, which only {' and '.join(f'.{t}' for t in free)} {verb}, {ROUNDINGS[0]}"


def _operands(spec: Spec, instruction: Instruction) -> list[Operands]:
    first: dict[Type, Variant] = {}
    for v in instruction.variants:
        for t in (*v.types, *(o.type for o in (v.result, *v.sources) if o.name != "p")):
            first.setdefault(t, v)
    return [
        Operands(
            type=t,
            registers=instruction.registers.get(t.name, t.registers),
            taken=", ".join(f".{r}" for r in spec.registers(instruction, v, t.name)),
            constants=_constants(spec.constants(instruction, v, t.name)),
        )
        for t, v in first.items()
    ]


def _constants(sorts: tuple[str, ...] | None) -> str:
    floats = bool(sorts) and not set(sorts or ()).isdisjoint(("single", "double"))
    found = ["floating-point ones"] * floats + ["integers"] * ("integer" in (sorts or ()))
    return "" if sorts is None else " and ".join(found) or "none"


def _nan_rules(instruction: Instruction) -> list[tuple[NanRule, list[str]]]:
    """The NaN rules that the variants follow, with what follows each: first those that the instruction states, then
    those of all other variants of a type."""
    numeric = [v for v in instruction.variants if v.result.type.nan]
    stated = [(selector, rule) for selector, rule in instruction.nan if any(map(selector.matches, numeric))]
    others: dict[str, tuple[NanRule, list[str]]] = {}
    for v in numeric:
        if not any(selector.matches(v) for selector, _ in stated):
            rule = instruction.nan_rule(v)
            assert rule is not None
            types = others.setdefault(rule.name, (rule, []))[1]
            if v.result.type.name not in types:
                types.append(v.result.type.name)
    shared = {v.type_names[0] for v in numeric if any(selector.matches(v) for selector, _ in stated)}
    return [(rule, [selector.text or "all"]) for selector, rule in stated] + [
        (rule, [f"other .{t}" if t in shared else f".{t}" for t in types]) for rule, types in others.values()
    ]
