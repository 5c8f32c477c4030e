"""Comparison of every variant on a GPU, or from a recording of one, with the emulator."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...model import BOOL, Spec, Variant
from . import registers, vectors
from .compare import Comparison, ComparisonCounts
from .device import Device, DeviceError, Module, NoDeviceError, RunEnvironment
from .recording import CompleteRecording, RecordedPart, Recorder
from .vectors import Sizes, StreamPart

Array = NDArray[Any]
Progress = Callable[[int, int], None]


@dataclass
class VariantOutcome:
    """The outcome for one variant. `agrees` is None where there is no claim, or where the variant was not run, for the
    reason `why`. `exceeds` says how the hardware is known to break the bound in NVIDIA's manual, which is the manual's
    error."""

    variant: Variant
    claim: str
    found: ComparisonCounts = field(default_factory=ComparisonCounts)
    agrees: bool | None = None
    skipped: bool = False
    failed: bool = False
    why: str = ""
    exceeds: str = ""


@dataclass(frozen=True)
class Report:
    """The outcomes of a run. `ran_on` names the GPU, its driver and the compiler."""

    ran_on: str
    target: str
    rows: tuple[VariantOutcome, ...]

    @property
    def failed(self) -> bool:
        """Return whether something that should have run did not."""
        return any(r.failed for r in self.rows) or all(r.skipped for r in self.rows)

    @property
    def disagrees(self) -> bool:
        return any(r.agrees is False for r in self.rows)


@dataclass(frozen=True)
class Emulator:
    """The emulator of a root, with the behaviour of a target if one is given."""

    module: ModuleType
    target: str | None

    def run(self, v: Variant, operands: Sequence[Array]) -> Array:
        """Return the results of a variant; encodings are as for its kernel."""
        word, _ = registers.results(v)
        kernel = self.module.compile(v.spelling, v.operands, self.target)
        types = [t for _, t in registers.places(v.sources)]
        given = [x.astype(np.bool_) if t.kind == BOOL else x for t, x in zip(types, operands, strict=True)]
        # One thread, because several blocks are emulated at a time.
        found = kernel(*given, results=len(v.results), threads=1)
        columns = found if isinstance(found, tuple) else (found,)
        bits = [x if x.dtype == np.bool_ else x.view(f"u{x.itemsize}") for x in columns]
        return registers.joined([np.asarray(x, word) for x in bits])


def run(
    device: Device, spec: Spec, emulator: ModuleType, sources: Path, sizes: Sizes, recorder: Recorder | None,
    progress: Progress | None = None,
) -> Report:  # fmt: skip
    """Run the variants with a kernel in `sources`, generated/cuda, that the device supports. With a recorder the report
    covers all that it has recorded, in earlier runs too."""
    about = device.about
    if about.target not in spec.targets:
        raise NoDeviceError(f"{about}: the specification does not know {about.target}")
    newest = _newest(spec, about.release)
    compiled = spec.catalog.own_kind(about.target, newest)
    every_row = (_row(spec, v, about, compiled, newest) for i in spec.instructions.values() for v in i.variants)
    rows = {row.variant: row for row in every_row}
    modules = _compile(device, rows, sources, compiled)
    recorded = recorder.parts if recorder else {}
    every = {(v.spelling, v.operands): v for v in rows}
    cores = [core for unit in spec.units.values() for core in unit.cores]
    chosen = {
        (v, part): None
        for v in rows
        for part in vectors.parts(v, sizes, [c for c in cores if (c.variant, 1) == (v.spelling, v.operands)])
    }
    chosen |= {(every[key], part): None for key, part in recorded}
    jobs = [(v, part) for v, part in chosen if not rows[v].why]
    # First the quick and telling parts of all variants, then the sweeps. Variants of one signature share their
    # operands.
    jobs.sort(key=lambda j: (j[1].turn, j[1].start, [s.type.name for s in j[0].sources], j[0].operands))
    emulated = Emulator(emulator, compiled)
    runner = _Runner(emulated)
    comparisons = {v: Comparison(spec, v, about.target) for v, r in rows.items() if not r.why}
    done, total = 0, sum(part.count for _, part in jobs)
    with runner.pool:
        for v, part in jobs:
            row = rows[v]
            known, found = recorded.get(((v.spelling, v.operands), part)), None
            if known and recorder:
                # An older emulator's comparison says nothing about this one.
                is_current = known.emulator == recorder.emulator
                found = known.found if is_current else _held(known, v, emulated, comparisons[v], runner.pool)
            elif not row.failed:
                try:
                    results, digests, found = runner.part(modules[v.opcode], v, part, comparisons[v])
                except (DeviceError, MemoryError) as e:
                    row.failed, row.why = True, str(e) or "out of memory"
                else:
                    if recorder:
                        recorder.write(v, part, results, digests, found)
            if found is not None:
                row.found += found
            done += part.count
            if progress:
                progress(done, total)
    for v, comparison in comparisons.items():
        if not rows[v].failed:
            rows[v].agrees = comparison.agrees(rows[v].found)
    return Report(str(about), about.target, tuple(rows.values()))


def replay(
    recording: CompleteRecording, spec: Spec, emulator: ModuleType, sweeps: bool, progress: Progress | None = None
) -> Report:
    """Compare a recording with the emulator. With `sweeps` each sweep is emulated whole and its digests are compared;
    without, only results that were recorded one by one."""
    every = {(v.spelling, v.operands): v for i in spec.instructions.values() for v in i.variants}
    if recording.target not in spec.targets:
        raise PtxspecError(f"{recording.path}: the specification does not know {recording.target}")
    emulated = Emulator(emulator, spec.catalog.own_kind(recording.target, spec.catalog.newest_version))
    rows: dict[Variant, VariantOutcome] = {}
    comparisons: dict[Variant, Comparison] = {}
    for u in recording.parts:
        v = every[u.variant]
        if v not in rows:
            comparisons[v] = Comparison(spec, v, recording.target)
            rows[v] = VariantOutcome(v, comparisons[v].claim, exceeds=_exceeds(spec, v, recording.target))
    done, total = 0, sum(u.part.count for u in recording.parts)
    found: dict[int, ComparisonCounts] = {}
    # Creating operands takes longer than emulating; variants of one signature share them.
    places = {s: n for n, s in enumerate(dict.fromkeys(map(vectors.signature, rows)))}
    turns = [(places[vectors.signature(every[u.variant])], *u.part.turn, u.part.start) for u in recording.parts]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for i in sorted(range(len(turns)), key=turns.__getitem__):
            u = recording.parts[i]
            v = every[u.variant]
            found[i] = _held(u, v, emulated, comparisons[v], pool if sweeps else None)
            done += u.part.count
            if progress:
                progress(done, total)
    for i, u in enumerate(recording.parts):
        rows[every[u.variant]].found += found[i]
    for v, row in rows.items():
        row.agrees = comparisons[v].agrees(row.found)
    return Report(str(recording), recording.target, tuple(rows.values()))


def _held(
    u: RecordedPart, v: Variant, emulated: Emulator, comparison: Comparison, pool: ThreadPoolExecutor | None
) -> ComparisonCounts:
    """Return the comparison of a recorded part with the emulator; with a `pool` of threads, of its sweep, too."""
    part = u.part
    operands = vectors.operands(v, part.stream, part.start, part.kept)
    found = comparison.compare(operands, u.results(), emulated.run(v, operands))
    if pool is None or part.kept == part.count:
        return found

    def differs(pair: tuple[tuple[int, int], int]) -> bool:
        block, digest = pair
        return vectors.digest(emulated.run(v, vectors.operands(v, part.stream, *block))) != digest

    differ = sum(pool.map(differs, zip(part.blocks(), u.digests, strict=True)))
    # Results that are not stored were checked against the bound when they were recorded.
    judged = u.found if differ and v.claim == "bounded" else found
    return replace(judged, count=part.count, unequal=found.unequal, nan=found.nan, blocks=differ)


def _row(spec: Spec, v: Variant, about: RunEnvironment, compiled: str, newest: str) -> VariantOutcome:
    row = VariantOutcome(v, spec.claim(v, about.target), exceeds=_exceeds(spec, v, about.target))
    refused = {r.code: r.bound for r in spec.catalog.refusals(v.requires, compiled, newest)}
    if not spec.catalog.is_current(v.requires):
        row.why = "ended with an older PTX version"
    elif not spec.has_kernel(v):
        row.why = "the assembler crashes on it"
    elif "target-too-old" in refused or "target-specific" in refused:
        row.why = f"requires {refused.get('target-too-old') or refused['target-specific']}"
    elif refused:
        needed = refused.get("ptx-too-old", v.requires.ptx)
        row.why = f"requires PTX {needed}; CUDA {about.release} supports {newest}"
    row.skipped = bool(row.why)
    return row


def _exceeds(spec: Spec, v: Variant, target: str) -> str:
    """Return how a target's hardware is known to exceed the bound in NVIDIA's manual for a variant; empty if it does
    not."""
    a = spec.exceeded(v, target)
    if a is None or a.exceeded is None:
        return ""
    worst = f"{a.exceeded.worst(v.result.kind.width)} ({a.exceeded.basis})"
    of = f" for operands {a.range}" if a.range else ""
    return f"{a.bound} {a.kind}{of} ({a.section}), which this hardware exceeds: {worst}"


def _newest(spec: Spec, release: str) -> str:
    """Return the newest PTX version that a CUDA release supports."""

    def number(cuda: str) -> tuple[int, ...]:
        return tuple(map(int, cuda.split(".")))

    known = [p.version for p in spec.versions.values() if p.cuda and number(p.cuda) <= number(release)]
    if not known:
        raise NoDeviceError(f"CUDA {release} is older than all releases in the specification")
    return known[-1]


def _compile(device: Device, rows: dict[Variant, VariantOutcome], sources: Path, target: str) -> dict[str, Module]:
    """Compile the modules, by opcode. If one does not compile, its variants have failed."""
    modules = {}
    for opcode in dict.fromkeys(v.opcode for v, r in rows.items() if not r.why):
        try:
            headers = {p.name: p.read_text("utf-8") for p in sources.glob("*.cuh")}
            source = (sources / f"{opcode}.cu").read_text("utf-8")
        except OSError as e:
            raise PtxspecError(f"{sources / opcode}.cu: {e.strerror}; run `ptxspec generate`") from None
        try:
            modules[opcode] = device.compile(f"{opcode}.cu", source, headers, target)
        except DeviceError as e:
            for v, row in rows.items():
                if v.opcode == opcode and not row.why:
                    row.failed, row.why = True, f"does not compile: {e}"
    return modules


class _Runner:
    """A runner of blocks on the device one by one, while threads emulate and compare earlier ones."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._threads = os.cpu_count() or 1
        self.pool = ThreadPoolExecutor(self._threads)

    def part(
        self, module: Module, v: Variant, part: StreamPart, comparison: Comparison
    ) -> tuple[Array, list[int], ComparisonCounts]:
        """Return the first results, the digest of each block, and the comparison. Raises DeviceError."""
        pending: deque[Future[tuple[int, ComparisonCounts]]] = deque()
        finished: list[tuple[int, ComparisonCounts]] = []
        kept: list[Array] = []
        for operands, got in self._blocks(module, v, part):
            missing = part.kept - sum(map(len, kept))
            if missing or not kept:
                kept.append(got[:missing])
            pending.append(self.pool.submit(self._judge, v, operands, got, comparison))
            if len(pending) > self._threads:
                finished.append(pending.popleft().result())
        finished += [p.result() for p in pending]
        return np.concatenate(kept), [d for d, _ in finished], sum((f for _, f in finished), ComparisonCounts())

    def _blocks(self, module: Module, v: Variant, part: StreamPart) -> Iterator[tuple[tuple[Array, ...], Array]]:
        words = registers.words(v.results)
        for start, size in part.blocks():
            operands = vectors.operands(v, part.stream, start, size)
            yield operands, registers.joined(module.launch(v.identifier, operands, words))

    def _judge(
        self, v: Variant, operands: Sequence[Array], got: Array, comparison: Comparison
    ) -> tuple[int, ComparisonCounts]:
        return vectors.digest(got), comparison.compare(operands, got, self._emulator.run(v, operands))
