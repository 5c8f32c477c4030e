"""The specification's requirements against a real ptxas: accepted where it says so, refused everywhere else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..model import BOOL, Form, Spec, Variant
from .asking import judge, statement, version

Pair = tuple[str, str]
Job = TypeVar("Job")
Progress = Callable[[int, int], None]
_BATCH = 20_000


@dataclass(frozen=True)
class Disagreement:
    """A statement that ptxas judges otherwise than the specification; `refused` is what it said, if it refused."""

    spelling: str
    operands: int
    target: str
    ptx: str
    refused: str

    def __str__(self) -> str:
        said = f"refuses: {self.refused}" if self.refused else "accepts it"
        return f"{self.spelling} with {self.operands} operands on {self.target}, PTX {self.ptx}: ptxas {said}"


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
    """Judge every variant on every pair of a target and a PTX version, those that must be refused everywhere too."""
    refused = [v for i in spec.instructions.values() for v in i.refused]
    everything = [*(v for i in spec.instructions.values() for v in i.variants), *refused]
    statements = [statement(v.spelling, v.operands, v.result.kind == BOOL) for v in everything]

    def wrong_on(pair: Pair) -> list[Disagreement]:
        return [
            Disagreement(v.spelling, v.operands, *pair, messages[0] if messages else "")
            for v, messages in zip(everything, judge(ptxas, statements, *pair), strict=True)
            if (v not in refused and spec.catalog.takes(v.requires, *pair)) == bool(messages)
        ]

    return _collect(wrong_on, pairs(spec), progress)


def combinations(spec: Spec, opcode: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Spellings of an opcode, legal or not: every type with every set of its modifiers (one of a group) and at most one
    that it does not have, with 1 to 4 operands.

    Left out are modifiers that the assembler is recorded to ignore where they do not belong."""
    types = list(dict.fromkeys(t for i in spec.instructions.values() for v in i.variants for t in v.type_names))
    own = {m for v in spec.instructions[opcode].variants for m in v.modifiers}
    ignored = {name for names in spec.assembler.ignored for name in names}
    grouped = {m for g in spec.groups.values() for m in g}
    single = [m for m in spec.modifiers if m in own - grouped]
    foreign = [m for m in spec.modifiers if m not in own | grouped | ignored]
    groups = [[(), *((m,) for m in g)] for g in spec.groups.values()]
    sets = [s for n in range(len(single) + 1) for s in itertools.combinations(single, n)]
    strange = [(), *((m,) for m in foreign)]
    for parts in itertools.product(itertools.product(*groups), sets, strange):
        for type_ in types:
            for operands in range(1, 5):
                yield (*itertools.chain.from_iterable(parts[0]), *parts[1], *parts[2], type_), operands


def illegal(
    spec: Spec, ptxas: Path, on: Sequence[Pair], progress: Progress | None = None
) -> tuple[list[Disagreement], int]:
    """Judge every combination of names on some pairs; what the specification does not have must be refused."""
    found: list[Disagreement] = []
    count = 0
    jobs = []
    for opcode, instruction in spec.instructions.items():
        predicate = instruction.variants[0].result.kind == BOOL
        known = {v.form: v for v in instruction.variants}
        every = list(combinations(spec, opcode))
        count += len(every) * len(on)
        jobs += [
            (opcode, predicate, known, every[i : i + _BATCH], pair) for pair in on for i in range(0, len(every), _BATCH)
        ]

    def wrong_in(
        job: tuple[str, bool, dict[Form, Variant], list[tuple[tuple[str, ...], int]], Pair],
    ) -> list[Disagreement]:
        opcode, predicate, known, batch, pair = job
        tolerated = spec.instructions[opcode].tolerated
        forms = [(frozenset(names[:-1]), names[-1:], n) for names, n in batch]
        found = [known.get(form) for form in forms]
        # A legal spelling in the manual's order: some modifiers are refused in others.
        spelled = [v.spelling if v else ".".join((opcode, *b[0])) for v, b in zip(found, batch, strict=True)]
        statements = [statement(s, n, predicate) for s, (_, n) in zip(spelled, batch, strict=True)]
        wrong = []
        verdicts = judge(ptxas, statements, *pair)
        for v, s, form, messages in zip(found, spelled, forms, verdicts, strict=True):
            if any(form in t.forms for t in tolerated):
                continue
            expected = v is not None and spec.catalog.takes(v.requires, *pair)
            if expected == bool(messages):
                wrong.append(Disagreement(s, form[2], *pair, messages[0] if messages else ""))
        return wrong

    found = _collect(wrong_in, jobs, progress)
    return found, count


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
    """The newest PTX version on the newest target, and for each ceiling the newest target under it: what has ended is
    judged where it still was."""
    found = [(list(spec.targets)[-1], list(spec.versions)[-1])]
    for i in spec.instructions.values():
        for v in i.variants:
            for until in filter(None, [v.requires.until, *(w.until for w in v.requires.within)]):
                found.append(([t for t in spec.targets if spec.catalog.knows(t, until)][-1], until))
    return list(dict.fromkeys(found))


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
