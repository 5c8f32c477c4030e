"""Observations written by machines: evidence of an assembler, speed, recordings of a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .variant import Key, Variant


@dataclass(frozen=True)
class Difference:
    """A difference: what the manual says of a variant, and what the assembler does."""

    variant: str
    operands: int
    manual: str
    assembler: str


@dataclass(frozen=True)
class Evidence:
    """The evidence of a real assembler, which was asked about `variants` on `pairs` of a target and a PTX version that
    knows it, and about `spellings`, legal or not. `asked` has a digest for each opcode, as Spec.asked gives it."""

    assembler: str
    pairs: int
    variants: int
    spellings: int
    asked: Mapping[str, str]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class MachineCode:
    """The machine code that an assembler makes of variants on some targets: `count` instructions, and `beyond` more in
    subroutines. `text` has one after another, `; ` between them; where they are many or jump, how often each occurs."""

    targets: tuple[str, ...]
    count: int
    beyond: int
    text: str


@dataclass(frozen=True)
class MachineForms:
    """Variants of one opcode whose machine code is alike, in notation, and what that is on the targets that take
    them."""

    forms: tuple[str, ...]
    operands: int
    codes: tuple[MachineCode, ...]


@dataclass(frozen=True)
class MachineEvidence:
    """The machine code of variants on `targets`, by their opcodes; `asked` as in Evidence."""

    assembler: str
    disassembler: str
    targets: tuple[str, ...]
    asked: Mapping[str, str]
    opcodes: Mapping[str, tuple[MachineForms, ...]]


@dataclass(frozen=True)
class Becomes:
    """The PTX that a call becomes on some targets: `count` instructions. `ptx` has them in a row, with %a, %b, %c for
    the arguments and %d for what the call gives; it is empty where there are many, or they jump."""

    targets: tuple[str, ...]
    count: int
    ptx: str


@dataclass(frozen=True)
class CompiledCall:
    """A call of a function of CUDA C++, as `__hmul2(__half2, __half2)`: what it gives, the header that declares it, and
    what becomes of it on the targets that it is compiled for; `fast` is that under -use_fast_math, where it is
    something else. `low` is 8 where it gives the low 8 bits of %d, else 0."""

    call: str
    gives: str
    header: str
    low: int
    becomes: tuple[Becomes, ...]
    fast: tuple[Becomes, ...]


@dataclass(frozen=True)
class CallEvidence:
    """The calls that a compiler compiled for `targets`."""

    compiler: str
    targets: tuple[str, ...]
    calls: tuple[CompiledCall, ...]


class Signature(NamedTuple):
    """A name of an intrinsic of LLVM with the types that it takes and gives."""

    name: str
    takes: tuple[str, ...]
    gives: str


def runs(targets: Iterable[str], every: Sequence[str]) -> list[list[str]]:
    """Return some of the targets in `every`, grouped into runs of those that follow each other there."""
    found: list[list[str]] = []
    for t in targets:
        if found and every.index(found[-1][-1]) == every.index(t) - 1:
            found[-1].append(t)
        else:
            found.append([t])
    return found


@dataclass(frozen=True)
class SpeedTable:
    """Figures that belong together. A row has a cell for each column, which is empty where nothing was measured."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Speed:
    """The results of the benchmarks, with the command, the date and the machine."""

    command: str
    date: str
    machine: Mapping[str, str]
    tables: tuple[SpeedTable, ...]


@dataclass(frozen=True)
class Recording:
    """A recording of a GPU's results, and how the emulator stood to it when the two were last compared: variants of
    which every recorded bit is equal, those inside of their bound, and the others. `path` is the folder, below the
    root."""

    path: str
    gpu: str
    target: str
    driver: str
    compiler: str
    date: str
    equal: frozenset[Key]
    inside: frozenset[Key]
    unequal: frozenset[Key]

    def finding(self, variant: Variant) -> str | None:
        """Return "equal", "inside" or "unequal"; None where the variant was not recorded."""
        return next((n for n in ("equal", "inside", "unequal") if variant.key in getattr(self, n)), None)


class Judgement(NamedTuple):
    """The judgement of somebody outside of this project that a variant computes right; `program` is a digest of its
    program."""

    by: str
    variant: str
    program: str


@dataclass(frozen=True)
class Report:
    """Results of a variant that a published model has, under a name, and the targets on which its author compared them;
    `unit` is what is recovered from them, if anything."""

    results: str
    variant: str
    unit: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Inferred:
    """A unit that a published model is taken to have on targets on which its author did not compare it: `told` is what
    was seen there, at `source`."""

    unit: str
    targets: tuple[str, ...]
    source: str
    told: str


@dataclass(frozen=True)
class PublishedModel:
    """A model of hardware that somebody else published and compared with GPUs, as `judged` says. `equal` is what the
    emulator has of it, and `evidence` the folder with its results or the test that computes them, below the root."""

    name: str
    author: str
    source: str
    commit: str
    licence: str
    judged: str
    equal: str
    evidence: str
    reports: tuple[Report, ...]
    inferred: tuple[Inferred, ...] = ()

    @property
    def text(self) -> str:
        """The model in words: what the emulator has of it, its author and source, and how it was judged."""
        origin = f"{self.source}, commit {self.commit[:12]}, {self.licence}"
        return f"{self.equal} of {self.name} by {self.author} ({origin}); {self.judged}"

    def report(self, spelling: str, target: str) -> Report | None:
        """Return the report on a variant on a target; None where the model has none."""
        return next((r for r in self.reports if r.variant == spelling and target in r.targets), None)
