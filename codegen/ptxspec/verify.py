"""The specification's requirements against a real ptxas: accepted where it says so, refused everywhere else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .model import Spec, Variant
from .ptxas import judge, statement, version

Pair = tuple[str, str]
Job = TypeVar("Job")
Progress = Callable[[int, int], None]
_BATCH = 20_000


@dataclass(frozen=True)
class Disagreement:
    """A statement that ptxas judges otherwise than the specification; `refused` is what it said, "" for an acceptance."""

    spelling: str
    operands: int
    target: str
    ptx: str
    refused: str

    def __str__(self) -> str:
        said = f"refuses: {self.refused}" if self.refused else "accepts it"
        return f"{self.spelling} with {self.operands} operands on {self.target}, PTX {self.ptx}: ptxas {said}"


@dataclass(frozen=True)
class Evidence:
    """What was judged and what came of it. `judgements` counts variants on pairs, `spellings` made-up statements."""

    assembler: str
    pairs: int
    judgements: int
    spellings: int
    disagreements: tuple[Disagreement, ...]


def pairs(spec: Spec) -> list[Pair]:
    """Every target with every PTX version that knows it."""
    return [
        (t.name, v.version)
        for t in spec.targets.values()
        for v in spec.versions.values()
        if v.order >= spec.versions[t.ptx].order
    ]


def takes(spec: Spec, v: Variant, target: str, ptx: str) -> bool:
    """What the specification says of a variant on a target that the PTX version knows."""
    order, here, r = spec.versions[ptx].order, spec.targets[target].order, v.requires
    if here < spec.targets[r.target].order or order < spec.versions[r.ptx].order:
        return False
    limits = [w for w in r.within if spec.targets[w.first].order <= here <= spec.targets[w.last].order]
    ceilings = [r.until, *(w.until for w in limits)]
    floors = [w.ptx for w in limits]
    return all(order <= spec.versions[c].order for c in ceilings if c) and all(
        order >= spec.versions[f].order for f in floors if f
    )


def variants(spec: Spec, ptxas: Path, progress: Progress | None = None) -> list[Disagreement]:
    """Judge every variant on every pair of a target and a PTX version."""
    everything = [v for i in spec.instructions.values() for v in i.variants]
    statements = [statement(v.spelling, v.operands, v.predicate) for v in everything]

    def wrong_on(pair: Pair) -> list[Disagreement]:
        return [
            Disagreement(v.spelling, v.operands, *pair, messages[0] if messages else "")
            for v, messages in zip(everything, judge(ptxas, statements, *pair), strict=True)
            if takes(spec, v, *pair) == bool(messages)
        ]

    return _collect(wrong_on, pairs(spec), progress)


def combinations(spec: Spec, opcode: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Spellings of an opcode, legal or not: every type with every set of modifiers but two of one group, 1 to 4 operands.

    Left out are modifiers that no variant of the opcode has and that the assembler is recorded to ignore there."""
    instruction = spec.instructions[opcode]
    own = {m for v in instruction.variants for m in v.modifiers}
    grouped = [g for g in spec.groups.values()]
    single = [
        m.name
        for m in spec.modifiers.values()
        if not any(m.name in g for g in grouped) and (m.name in own or not m.ignored)
    ]
    choices = [[(), *((m,) for m in g)] for g in grouped]
    for chosen in itertools.product(*choices):
        prefix = tuple(itertools.chain.from_iterable(chosen))
        for count in range(len(single) + 1):
            for rest in itertools.combinations(single, count):
                for type_ in spec.types:
                    for operands in range(1, 5):
                        yield (*prefix, *rest, type_), operands


def illegal(spec: Spec, ptxas: Path, on: Sequence[Pair], progress: Progress | None = None) -> tuple[list[Disagreement], int]:
    """Judge every combination of names on some pairs; what the specification does not have must be refused."""
    found: list[Disagreement] = []
    count = 0
    jobs = []
    for opcode, instruction in spec.instructions.items():
        predicate = instruction.variants[0].predicate
        known = {(v.names, v.operands): v for v in instruction.variants}
        every = list(combinations(spec, opcode))
        count += len(every) * len(on)
        jobs += [
            (opcode, predicate, known, every[i : i + _BATCH], pair) for pair in on for i in range(0, len(every), _BATCH)
        ]

    def wrong_in(job: tuple[str, bool, dict[tuple[frozenset[str], int], Variant], list[tuple[tuple[str, ...], int]], Pair]) -> list[Disagreement]:
        opcode, predicate, known, batch, pair = job
        spelled = [".".join((opcode, *names)) for names, _ in batch]
        statements = [statement(s, n, predicate) for s, (_, n) in zip(spelled, batch, strict=True)]
        wrong = []
        for s, (names, n), messages in zip(spelled, batch, judge(ptxas, statements, *pair), strict=True):
            v = known.get((frozenset(names), n))
            expected = v is not None and takes(spec, v, *pair)
            if expected == bool(messages):
                wrong.append(Disagreement(s, n, *pair, messages[0] if messages else ""))
        return wrong

    found = _collect(wrong_in, jobs, progress)
    return found, count


def newest(spec: Spec) -> Pair:
    """The newest PTX version on the newest target, where all that is current is accepted."""
    return list(spec.targets)[-1], list(spec.versions)[-1]


def verify(spec: Spec, ptxas: Path, progress: Progress | None = None) -> Evidence:
    """Everything: all variants on all pairs, and all combinations of names on the newest and on the oldest pairs."""
    wrong = variants(spec, ptxas, progress)
    ends = _eras(spec)
    more, count = illegal(spec, ptxas, ends, progress)
    every = sum(len(i.variants) for i in spec.instructions.values())
    n = len(pairs(spec))
    return Evidence(f"ptxas {version(ptxas)}", n, n * every, count, tuple(dict.fromkeys([*wrong, *more])))


def _eras(spec: Spec) -> list[Pair]:
    """The newest pair, and the last one of each ceiling: what ended is judged where it still was."""
    found = [newest(spec)]
    for i in spec.instructions.values():
        for v in i.variants:
            for until in filter(None, [v.requires.until, *(w.until for w in v.requires.within)]):
                known = [t for t in spec.targets.values() if spec.versions[t.ptx].order <= spec.versions[until].order]
                found.append((known[-1].name, until))
    return list(dict.fromkeys(found))


def _collect(work: Callable[[Job], list[Disagreement]], jobs: Sequence[Job], progress: Progress | None) -> list[Disagreement]:
    found: list[Disagreement] = []
    with ThreadPoolExecutor(2) as pool:
        for done, wrong in enumerate(pool.map(work, jobs), 1):
            found += wrong
            if progress:
                progress(done, len(jobs))
    return found


