"""Comparison of the specification's requirements with a real ptxas: it must accept what they allow, and refuse all
else."""

from __future__ import annotations

import bisect
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from ...catalog import Requirement
from ...model import Instead, Spec, Variant
from ...recipes.linking import declared
from .asking import Pair, PtxasError, Sheet, judge, refused, unexpected, version
from .combinations import Combinations, ShapeCombinations, StatementShape, own_shapes
from .statements import StatementWriter

Item = TypeVar("Item")
Progress = Callable[[int, int], None]
# Statements that one command checks: enough that starting ptxas costs little in comparison, few enough for its memory.
_SHEET = 50_000


@dataclass(frozen=True)
class Disagreement:
    """A statement on which ptxas and the specification disagree. `refused` is ptxas's message, if it refused."""

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


@dataclass(frozen=True)
class Result:
    """The outcome: the numbers of `variants` on `pairs`, of `spellings`, legal or not, and of `recipes` where they
    begin to work. `unjudged` are the pairs that this ptxas does not know."""

    assembler: str
    pairs: int
    variants: int
    spellings: int
    disagreements: tuple[Disagreement, ...]
    recipes: int = 0
    unjudged: tuple[Pair, ...] = ()


def pairs(spec: Spec) -> list[Pair]:
    """Return every target with every PTX version that knows it."""
    return [(t, v) for t in spec.targets for v in spec.versions if spec.catalog.knows(t, v)]


class Questions:
    """Statements that are checked together, on one pair after another. A statement with a requirement must be accepted
    where that is satisfied; everything else must be refused."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self._legal: dict[Requirement, list[int]] = {}
        self._starts: list[int] = []
        self._shapes: list[StatementShape] = []

    def add(self, shape: StatementShape, statements: Iterable[str], requirements: Mapping[int, Requirement]) -> None:
        """Add statements of one shape, and the requirements of the legal ones by index."""
        start = len(self.statements)
        self._starts.append(start)
        self._shapes.append(shape)
        self.statements += statements
        for place, requires in requirements.items():
            self._legal.setdefault(requires, []).append(start + place)

    @cached_property
    def _sheet(self) -> Sheet:
        return Sheet(self.statements)

    def wrong(self, spec: Spec, ptxas: Path, pairs: Sequence[Pair]) -> list[Disagreement]:
        """Return the statements on which ptxas and the specification disagree on some pairs."""
        taken = {
            pair: {i for r, places in self._legal.items() if spec.catalog.takes(r, *pair) for i in places}
            for pair in pairs
        }
        found = []
        for pair, place, messages in unexpected(ptxas, self._sheet, taken):
            spelling = self.statements[place].partition(" ")[0]
            shape = self._shapes[bisect.bisect(self._starts, place) - 1]
            refused = messages[0] if messages else ""
            found.append(Disagreement(spelling, shape.operands, shape.how, *pair, refused))
        return found


def variants(
    spec: Spec, ptxas: Path, progress: Progress | None = None, on: Sequence[Pair] | None = None
) -> list[Disagreement]:
    """Check every variant on every pair of a target and a PTX version, or on some of them. This includes those that
    must be refused everywhere, and forms with p|q or negated predicates if a variant has these."""
    questions = Questions()
    writer = StatementWriter(spec.assembler.registers)
    for instruction in spec.instructions.values():
        for v in (*instruction.variants, *instruction.refused):
            requirements = {} if v in instruction.refused else {0: v.requires}
            for shape in own_shapes(writer, v):
                questions.add(shape, [f"{v.spelling} {shape.written};"], requirements)
    every = pairs(spec) if on is None else on
    step = _SHEET // len(questions.statements) + 1
    together = [every[i : i + step] for i in range(0, len(every), step)]
    return _collect(partial(questions.wrong, spec, ptxas, some) for some in _shown(together, progress))


def recipes(spec: Spec, ptxas: Path, on: Sequence[Pair] | None = None) -> tuple[list[Disagreement], int]:
    """Check the recipes to write instead of variants, as they would be pasted. Each is checked on the first target and
    PTX version that accept it and on the last, of the pairs that ptxas knows. Also return the number of checks."""
    known = pairs(spec) if on is None else on
    every: dict[tuple[str, Pair], Variant] = {}
    for v, offered in (*spec.instead.items(), *spec.missing.items()):
        for instead in offered:
            for pair in _ends(spec, instead.requires, known):
                every.setdefault((_block(v, instead), pair), v)
    found = []
    together: dict[Pair, list[tuple[str, Variant]]] = {}
    for (block, pair), v in every.items():
        together.setdefault(pair, []).append((block, v))
    for pair, blocks in together.items():
        for messages, (_, v) in zip(judge(ptxas, [b for b, _ in blocks], *pair), blocks, strict=True):
            if messages:
                found.append(Disagreement(f"the recipe for {v.spelling}", v.operands, "", *pair, messages[0]))
    return found, len({block for block, _ in every})


def _block(v: Variant, instead: Instead) -> str:
    """Return a recipe on one line, as it is advised, with the variant's operands declared."""
    operands = [f".reg .{declared(o)} %{place};" for o in (v.result, *v.written) for place in o.places]
    return " ".join(["{", *operands, *instead.ptx.strip("{}").split(), "}"])


def _ends(spec: Spec, r: Requirement, known: Sequence[Pair]) -> list[Pair]:
    """Return the first target with the first PTX version that satisfy a requirement, and the last with the last."""
    ends = (next((p for p in order if spec.catalog.takes(r, *p)), None) for order in (known, known[::-1]))
    return list(dict.fromkeys(filter(None, ends)))


def illegal(
    spec: Spec, ptxas: Path, on: Sequence[Pair], progress: Progress | None = None
) -> tuple[list[Disagreement], int]:
    """Check combinations of names on some pairs; ptxas must refuse those that the specification does not have."""
    every = (Combinations(spec, opcode) for opcode in _shown(list(spec.instructions), progress))
    return judged(spec, ptxas, on, ((c, c.asked()) for c in every))


def judged(
    spec: Spec, ptxas: Path, on: Sequence[Pair], asked: Iterable[tuple[Combinations, Iterable[ShapeCombinations]]]
) -> tuple[list[Disagreement], int]:
    """Check blocks of combinations on some pairs. Also return the number of checks."""
    count = 0

    def jobs() -> Iterator[Callable[[], list[Disagreement]]]:
        nonlocal count
        for questions in _sheets(asked):
            count += len(questions.statements) * len(on)
            yield partial(questions.wrong, spec, ptxas, on)

    return _collect(jobs()), count


def _sheets(asked: Iterable[tuple[Combinations, Iterable[ShapeCombinations]]]) -> Iterator[Questions]:
    questions = Questions()
    for combinations, blocks in asked:
        for block in blocks:
            statements, legal = combinations.statements(block)
            questions.add(block.shape, statements, {i: v.requires for i, v in legal.items()})
            if len(questions.statements) >= _SHEET:
                yield questions
                questions = Questions()
    yield questions


def verify(spec: Spec, ptxas: Path, progress: Progress | None = None) -> Result:
    """Check all variants on all pairs, and all combinations of names on the pairs of `eras`. Left out are pairs that
    this ptxas does not know, because it is of another CUDA release."""
    assembler, every = f"ptxas {version(ptxas)}", pairs(spec)
    unknown = refused(ptxas, every)
    known = [pair for pair in every if pair not in unknown]
    if not known:
        raise PtxasError(f"{assembler} knows none of the targets and PTX versions: {next(iter(unknown.values()))}")
    wrong = variants(spec, ptxas, progress, known)
    more, count = illegal(spec, ptxas, eras(spec, known), progress)
    unwritable, offered = recipes(spec, ptxas, known)
    number = sum(len(i.variants) for i in spec.instructions.values())
    found = tuple(dict.fromkeys([*wrong, *more, *unwritable]))
    return Result(assembler, len(known), number, count, found, offered, tuple(unknown))


def told(spec: Spec, missing: Collection[Pair]) -> str:
    """Return the unchecked pairs as text: PTX versions and targets with no checked pair, then the other pairs."""
    known = {pair for pair in pairs(spec) if pair not in missing}
    versions = [v for v in spec.versions if v in {v for _, v in missing} - {v for _, v in known}]
    targets = [t for t in spec.targets if t in {t for t, _ in missing} - {t for t, _ in known}]
    rest = [f"{t} with PTX {v}" for t, v in missing if t not in targets and v not in versions]
    named = [f"PTX {', '.join(versions)}"] * bool(versions) + [", ".join(targets)] * bool(targets)
    return "; ".join([*named, *rest])


def as_yaml(spec: Spec, result: Result) -> str:
    """Return the evidence file: the checked pairs and statements, and one line for each variant that NVIDIA's manual
    describes otherwise."""
    lines = [
        "# yaml-language-server: $schema=../schema/evidence.schema.json",
        "# Written by `ptxspec verify --record`; do not edit.",
        f"assembler: {result.assembler}",
        f"pairs: {result.pairs}",
        f"variants: {result.variants}",
        f"spellings: {result.spellings}",
        "asked:",
        *(f'  {opcode}: "{spec.asked(opcode)}"' for opcode in spec.instructions),
        "differences:",
    ]
    for e in spec.differences:
        fields = [f"variant: {e.variant}", f"operands: {e.operands}", f'manual: "{e.manual}"']
        lines.append(f'  - {{{", ".join(fields)}, assembler: "{e.assembler}"}}')
    return "\n".join(lines) + "\n"


def eras(spec: Spec, on: Collection[Pair] | None = None) -> list[Pair]:
    """Return the pairs on which combinations are checked, of those that ptxas knows: the newest PTX version on the
    newest target of each kind, and on as few further targets as have what these do not; and each last version of ended
    variants on its newest target, where they still exist."""
    catalog = spec.catalog
    known_pairs = set(pairs(spec) if on is None else on)
    newest = [v for v in spec.versions if any(pair[1] == v for pair in known_pairs)][-1]
    known = [t for t in spec.targets.values() if (t.name, newest) in known_pairs]
    found = [(t.name, newest) for t in {t.kind: t for t in known}.values()]
    requirements = dict.fromkeys(v.requires for i in spec.instructions.values() for v in i.variants)
    while True:
        missing = [r for r in requirements if not any(catalog.takes(r, *pair) for pair in found)]
        more = {t.name: sum(catalog.takes(r, t.name, newest) for r in missing) for t in known}
        best = max(more, key=lambda name: more[name])
        if not more[best]:
            break
        found.append((best, newest))
    for r in requirements:
        for until in filter(None, [r.until, *(w.until for w in r.within)]):
            found += [(t, until) for t in spec.targets if (t, until) in known_pairs][-1:]
    return list(dict.fromkeys(found))


def _shown(items: Sequence[Item], progress: Progress | None) -> Iterator[Item]:
    for done, item in enumerate(items):
        if progress:
            progress(done, len(items))
        yield item


def _collect(jobs: Iterable[Callable[[], list[Disagreement]]]) -> list[Disagreement]:
    """Return the jobs' results, in their order. Jobs are created only as earlier ones end, because sheets are large."""
    found: list[Disagreement] = []
    workers = os.cpu_count() or 1
    running: deque[Future[list[Disagreement]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for job in jobs:
            running.append(pool.submit(job))
            if len(running) > 2 * workers:
                found += running.popleft().result()
        while running:
            found += running.popleft().result()
    return found
