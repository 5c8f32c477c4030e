"""Observations written by machines: evidence of an assembler, speed, recordings of a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .variant import Key, Variant


@dataclass(frozen=True)
class ManualDifference:
    """A difference between NVIDIA's manual and the assembler: what each says about a variant."""

    variant: str
    operands: int
    manual: str
    assembler: str


@dataclass(frozen=True)
class Evidence:
    """The evidence of a real assembler. It was asked about `variants` on `pairs` of a target and a PTX version that
    knows it, and about `spellings`, legal or not. `asked` has a digest for each opcode, as Spec.asked returns it."""

    assembler: str
    pairs: int
    variants: int
    spellings: int
    asked: Mapping[str, str]
    differences: tuple[ManualDifference, ...]


@dataclass(frozen=True)
class MachineCode:
    """The machine code that an assembler generates for variants on some targets: `count` instructions, and `beyond`
    more in subroutines. `text` lists them, separated by `; `; if they are many or jump, it says how often each
    occurs."""

    targets: tuple[str, ...]
    count: int
    beyond: int
    text: str


@dataclass(frozen=True)
class MachineForms:
    """Variants of one opcode with the same machine code, in notation, and this code on the targets that have them."""

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
    """The PTX that a call becomes on some targets: `count` instructions. `ptx` lists them, with %a, %b, %c for the
    arguments and %d for the result of the call; it is empty if they are many or jump."""

    targets: tuple[str, ...]
    count: int
    ptx: str


@dataclass(frozen=True)
class CompiledCall:
    """A call of a function of CUDA C++, such as `__hmul2(__half2, __half2)`: the type that it `gives`, the header that
    declares it, and what it becomes on the targets for which it is compiled. `fast` is the same under -use_fast_math,
    if that differs. `low` is 8 if the call gives the low 8 bits of %d, else 0."""

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


class IntrinsicSignature(NamedTuple):
    """The name of an LLVM intrinsic with the types that it takes and gives."""

    name: str
    takes: tuple[str, ...]
    gives: str


class Lowered(NamedTuple):
    """MLIR's operations with the functions that they are lowered to, and its types with their names in LLVM IR."""

    types: Mapping[str, str]
    ops: Mapping[str, tuple[str, ...]]


def runs(targets: Iterable[str], every: Sequence[str]) -> list[list[str]]:
    """Return some of the targets in `every`, grouped into runs of targets that are consecutive there."""
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
class RegisteredRecording:
    """A recording of a GPU's results, and its last comparison with the emulator: the variants of which every recorded
    bit is `equal`, those that are `inside` their bound, and the `unequal` others. `path` is the folder, below the
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
    """The statement of a judge outside this project that a variant's results are right. `program` is the digest of the
    judged program."""

    by: str
    variant: str
    program: str


@dataclass(frozen=True)
class PublishedResults:
    """The results of a variant in a published model, under a name, and the targets on which the model's author compared
    them. `unit` is the unit recovered from them, if any."""

    results: str
    variant: str
    unit: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Inferred:
    """A unit that is inferred to follow a published model on targets on which the model's author did not compare it.
    `told` is what was seen there, at `source`."""

    unit: str
    targets: tuple[str, ...]
    source: str
    told: str


@dataclass(frozen=True)
class PublishedModel:
    """A model of hardware that somebody else published and compared with GPUs, as `judged` says. `equal` is the part
    that the emulator returns, and `evidence` the folder with its results or the test that computes them, below the
    root."""

    name: str
    author: str
    source: str
    commit: str
    licence: str
    judged: str
    equal: str
    evidence: str
    reports: tuple[PublishedResults, ...]
    inferred: tuple[Inferred, ...] = ()

    @property
    def text(self) -> str:
        """The model in words: what the emulator has of it, its author and source, and how it was judged."""
        origin = f"{self.source}, commit {self.commit[:12]}, {self.licence}"
        return f"{self.equal} of {self.name} by {self.author} ({origin}); {self.judged}"

    def report(self, spelling: str, target: str) -> PublishedResults | None:
        """Return the report on a variant on a target; None where the model has none."""
        return next((r for r in self.reports if r.variant == spelling and target in r.targets), None)
