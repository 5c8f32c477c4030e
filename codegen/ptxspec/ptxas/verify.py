"""The specification's requirements against a real ptxas: accepted where it says so, refused everywhere else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..model import BOOL, Form, Spec, Variant
from .asking import judge, version
from .statements import Writer, alike, signature

Pair = tuple[str, str]
Job = TypeVar("Job")
Progress = Callable[[int, int], None]
_BATCH = 20_000


@dataclass(frozen=True)
class Disagreement:
    """A statement that ptxas judges otherwise than the specification. `refused` is what it said, if it refused."""

    spelling: str
    operands: int
    how: str
    target: str
    ptx: str
    refused: str

    def __str__(self) -> str:
        said = f"refuses: {self.refused}" if self.refused else "accepts it"
        written = f"{self.spelling} with {self.operands} operands{self.how}"
        return f"{written} on {self.target}, PTX {self.ptx}: ptxas {said}"


class Attempt(NamedTuple):
    """A statement to be judged: names in some order, types in theirs, and the number of source registers. `second`:
    with a second result; `inverted`: with `!` before predicates."""

    modifiers: tuple[str, ...]
    types: tuple[str, ...]
    operands: int
    second: bool = False
    inverted: bool = False

    @property
    def form(self) -> Form:
        return frozenset(self.modifiers), self.types, self.operands

    @property
    def how(self) -> str:
        return " and p|q" * self.second + " and !" * self.inverted


@dataclass(frozen=True)
class Result:
    """What was judged and what came of it: `variants` on `pairs`, and `spellings` legal or not."""

    assembler: str
    pairs: int
    variants: int
    spellings: int
    disagreements: tuple[Disagreement, ...]


def pairs(spec: Spec) -> list[Pair]:
    """Every target with every PTX version that knows it."""
    return [(t, v) for t in spec.targets for v in spec.versions if spec.catalog.knows(t, v)]


def variants(spec: Spec, ptxas: Path, progress: Progress | None = None) -> list[Disagreement]:
    """Judge every variant on every pair of a target and a PTX version, those that must be refused everywhere too; with
    p|q, and predicates negated, where it has these."""
    refused = [v for i in spec.instructions.values() for v in i.refused]
    writer = Writer(spec.assembler.registers)
    attempts, statements = [], []
    for v in (*(v for i in spec.instructions.values() for v in i.variants), *refused):
        plain = Attempt(v.modifiers, v.type_names, v.operands)
        more = [plain._replace(second=True)] * (v.second is not None)
        more += [plain._replace(inverted=True)] * any(s.negatable for s in v.sources)
        attempts += [(v, a) for a in (plain, *more)]
        statements += [writer.statement(v.spelling, signature(v), a.second, a.inverted) for a in (plain, *more)]

    def wrong_on(pair: Pair) -> list[Disagreement]:
        return [
            Disagreement(v.spelling, v.operands, a.how, *pair, messages[0] if messages else "")
            for (v, a), messages in zip(attempts, judge(ptxas, statements, *pair), strict=True)
            if (v not in refused and spec.catalog.takes(v.requires, *pair)) == bool(messages)
        ]

    return _collect(wrong_on, pairs(spec), progress)


def forms(spec: Spec, opcode: str) -> list[tuple[str, ...]]:
    """The sequences of types that an opcode's spellings end in, and these with one type exchanged for another one, as
    far as they are known to be wrong."""
    instruction = spec.instructions[opcode]
    own = list(dict.fromkeys(v.type_names for v in instruction.variants))
    if instruction.elsewhere is None:
        return own
    types = [t.name for t in spec.types.values() if t.kind != BOOL]
    changed = [(*f[:i], t, *f[i + 1 :]) for f in own for i in range(len(f)) for t in types]
    return [f for f in dict.fromkeys([*own, *changed]) if f not in instruction.elsewhere]


def combinations(spec: Spec, opcode: str) -> Iterator[Attempt]:
    """Spellings of an opcode, legal or not: every form with every set of its modifiers (one of each of its groups), at
    most one rounding direction and at most one other modifier that it does not have; with 1 to 4 operands, with p|q
    where one of its variants has that, and with predicates negated.

    Left out are modifiers that the assembler is recorded to ignore where they do not belong."""
    known = [signature(v) for v in spec.instructions[opcode].variants]
    writer = Writer(spec.assembler.registers)
    own = {m for v in spec.instructions[opcode].variants for m in v.modifiers}
    ignored = {name for names in spec.assembler.ignored for name in names}
    rounding = {m.name for m in spec.modifiers.values() if m.mode}
    groups = [g for g in spec.groups.values() if not own.isdisjoint(g)]
    grouped = {m for g in groups for m in g}
    single = [m for m in spec.modifiers if m in own - grouped]
    sets = [s for n in range(len(single) + 1) for s in itertools.combinations(single, n)]
    choices = [[(), *((m,) for m in g)] for g in groups]
    foreign = [m for m in spec.modifiers if m not in own | grouped | ignored]
    choices.append([(), *((m,) for m in foreign if m in rounding)])
    choices.append([(), *((m,) for m in foreign if m not in rounding)])
    shapes = [
        (types, operands, second, inverted)
        for types, operands in itertools.product(forms(spec, opcode), range(1, 5))
        for second in ([False, True] if any(s.second for s in known) else [False])
        for inverted in ([False, True] if writer.reads_predicates(alike(known, types, operands)) else [False])
    ]
    for some, *others in itertools.product(sets, *choices):
        modifiers = (*itertools.chain.from_iterable(others), *some)
        for shape in shapes:
            yield Attempt(modifiers, *shape)


def illegal(
    spec: Spec, ptxas: Path, on: Sequence[Pair], progress: Progress | None = None
) -> tuple[list[Disagreement], int]:
    """Judge every combination of names on some pairs; what the specification does not have must be refused."""
    count = 0
    jobs = []
    for opcode in spec.instructions:
        every = list(combinations(spec, opcode))
        count += len(every) * len(on)
        jobs += [(opcode, every[i : i + _BATCH], pair) for pair in on for i in range(0, len(every), _BATCH)]
    writer = Writer(spec.assembler.registers)

    def wrong_in(job: tuple[str, list[Attempt], Pair]) -> list[Disagreement]:
        opcode, batch, pair = job
        instruction = spec.instructions[opcode]
        known = {v.form: v for v in instruction.variants}
        signatures = [signature(v) for v in instruction.variants]
        tolerated = {form for t in instruction.tolerated for form in t.forms}
        attempts = [(a, known.get(a.form)) for a in batch if a.form not in tolerated]
        statements = []
        for a, v in attempts:
            # A legal spelling in the manual's order: some modifiers are refused in others.
            spelled = v.spelling if v else ".".join((opcode, *a.modifiers, *a.types))
            written = signature(v) if v else alike(signatures, a.types, a.operands)
            statements.append(writer.statement(spelled, written, a.second, a.inverted))
        wrong = []
        for (a, v), s, messages in zip(attempts, statements, judge(ptxas, statements, *pair), strict=True):
            if (v is not None and _has(v, a) and spec.catalog.takes(v.requires, *pair)) == bool(messages):
                spelled = s.partition(" ")[0]
                wrong.append(Disagreement(spelled, a.operands, a.how, *pair, messages[0] if messages else ""))
        return wrong

    return _collect(wrong_in, jobs, progress), count


def _has(v: Variant, a: Attempt) -> bool:
    """Whether a variant has the second result and the negated predicates of an attempt."""
    has_two = v.second is not None or len(v.result.places) > 1
    return (has_two or not a.second) and (not a.inverted or any(s.negatable for s in v.sources))


def verify(spec: Spec, ptxas: Path, progress: Progress | None = None) -> Result:
    """Everything: all variants on all pairs, and all combinations of names where what is current, or has ended, is."""
    wrong = variants(spec, ptxas, progress)
    more, count = illegal(spec, ptxas, eras(spec), progress)
    every = sum(len(i.variants) for i in spec.instructions.values())
    found = tuple(dict.fromkeys([*wrong, *more]))
    return Result(f"ptxas {version(ptxas)}", len(pairs(spec)), every, count, found)


def as_yaml(spec: Spec, result: Result) -> str:
    """The evidence file: what was judged, and one line for each variant that the manual describes otherwise."""
    lines = [
        "# yaml-language-server: $schema=../schema/evidence.schema.json",
        "# Written by `ptxspec verify --record`; do not edit.",
        f"assembler: {result.assembler}",
        f"pairs: {result.pairs}",
        f"variants: {result.variants}",
        f"spellings: {result.spellings}",
        "ledger:",
    ]
    for e in spec.ledger:
        fields = [f"variant: {e.variant}", f"operands: {e.operands}", f'manual: "{e.manual}"']
        lines.append(f'  - {{{", ".join(fields)}, assembler: "{e.assembler}"}}')
    return "\n".join(lines) + "\n"


def eras(spec: Spec) -> list[Pair]:
    """The newest PTX version on the newest target, and on further ones until each variant that it has is taken on one;
    and for each ceiling the newest target under it: what has ended is judged where it still was."""
    newest, ended = [(list(spec.targets)[-1], list(spec.versions)[-1])], []
    requirements = dict.fromkeys(v.requires for i in spec.instructions.values() for v in i.variants)
    for r in requirements:
        for until in filter(None, [r.until, *(w.until for w in r.within)]):
            ended.append(([t for t in spec.targets if spec.catalog.knows(t, until)][-1], until))
    # What fewest targets have leaves the least choice.
    for r in sorted(requirements, key=lambda r: len(r.on)):
        here = [(t, newest[0][1]) for t, _ in r.on if spec.catalog.takes(r, t, newest[0][1])]
        if here and not set(here) & set(newest):
            newest.append(here[-1])
    return list(dict.fromkeys([*newest, *ended]))


def _collect(
    work: Callable[[Job], list[Disagreement]], jobs: Sequence[Job], progress: Progress | None
) -> list[Disagreement]:
    found: list[Disagreement] = []
    with ThreadPoolExecutor(2) as pool:
        for done, wrong in enumerate(pool.map(work, jobs), 1):
            found += wrong
            if progress:
                progress(done, len(jobs))
    return found
