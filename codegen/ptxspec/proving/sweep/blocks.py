"""The blocks of operands that a sweep counts. A block's number alone determines its operands, so that every process
gets the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...query.database import Database
from ...roots import PACKAGE, Root
from ..compare import mpfr
from ..compare.classes import classes
from ..compare.comparing import ComparisonResult, Tried, all_operands, parts, signature
from ..compare.reading import Reader
from ..compare.sides import Misfit, Side, common_face
from ..compare.tallying import Counting, Tally
from ..gpu import vectors
from ..gpu.recording import folder_digest
from ..gpu.vectors import StreamPart
from .recorded import RecordedSide

Array = NDArray[Any]

# The number of random operands of each stream, as in the comparison with a GPU.
_RANDOM = vectors.Sizes().random
# If there are at most this many operands, all are tried by default.
_FEW = 1 << 16


# The packages of ptxspec on which a verdict depends.
JUDGES = ("proving/compare", "proving/gpu", "proving/sweep", "semantics")


@dataclass(frozen=True)
class Job:
    """The data that a process needs to count blocks. `identity` is a digest of what the sweep depends on in the process
    that began it: counts of a process with another identity must not be added."""

    root: Path
    packaged: bool
    a: str
    against: str
    target: str | None
    exhaustive: bool
    identity: str = ""


@dataclass(frozen=True)
class Counted:
    """The counts of a block. `hidden`: it has differing results of which a recording has only the digest."""

    tally: Tally
    hidden: bool


@dataclass(frozen=True)
class Sum:
    """The sum of counted blocks, each once, even if it is counted again. `hidden` are the numbers of hidden blocks. A
    sum never changes: an interrupt finds each block in all of it or in none."""

    tally: Tally
    done: frozenset[int] = frozenset()
    hidden: frozenset[int] = frozenset()

    def plus(self, number: int, counted: Counted) -> Sum:
        if number in self.done:
            return self
        tally = Tally(np.zeros_like(self.tally.tried))
        tally.add(self.tally)
        tally.add(counted.tally)
        return Sum(tally, self.done | {number}, self.hidden | {number} if counted.hidden else self.hidden)


class Sweep:
    """A sweep of the sides that a job names. Raises PtxspecError if these do not exist."""

    def __init__(self, job: Job) -> None:
        root = Root(PACKAGE if job.packaged else job.root)
        if job.against.strip() != mpfr.NAME and RecordedSide.is_one(Path(job.against)):
            self.recorded: RecordedSide | None = RecordedSide(root, job.a, Path(job.against), job.target)
            self.a, self.b = self.recorded.a, self.recorded.side
        else:
            self.recorded = None
            # One thread, since processes already run in parallel.
            self.a, self.b = Reader(root, job.target, threads=1).both(job.a, job.against)
        self.face = common_face(self.a, self.b)
        self._signature = signature(self.face)
        streams = self._streams(job)
        self.tried = [tried for _, tried in streams]
        self._blocks = [(p, *block) for some, _ in streams for p in some for block in p.blocks()]
        self.facts = self._facts(root, job)

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def operands(self) -> int:
        return sum(t.count for t in self.tried)

    @property
    def identity(self) -> str:
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()[:16]

    def size(self, number: int) -> int:
        """Return the number of operands in a block."""
        return self._blocks[number][2]

    def unknown(self, number: int) -> int:
        """Return the number of operands of a hidden block without known results."""
        return self.recorded.unknown(*self._blocks[number]) if self.recorded else 0

    def empty(self) -> Sum:
        return Sum(Tally.empty(self.face))

    def found(self, total: Sum) -> ComparisonResult:
        return ComparisonResult(
            self.a, self.b, self.face, tuple(self.tried), tuple(total.tally.rows(self.face)), bool(total.hidden)
        )

    def count(self, number: int) -> Counted:
        part, start, size = self._blocks[number]
        # No block comes again, so its operands would fill the cache in vain.
        columns = vectors.operands_of.__wrapped__(self._signature, part.stream, start, size)
        counting = Counting(self.a, self.b, self.face)
        a = self.a.run(self.face, columns)
        if self.recorded is None:
            counting.add(columns, a, self.b.run(self.face, columns), self._by_class(part, start, size))
            return Counted(counting.tally, False)
        b, hidden = self.recorded.results(part, start, size, a)
        counting.add(columns, a, b)
        return Counted(counting.tally, hidden)

    def _streams(self, job: Job) -> Sequence[tuple[list[StreamPart], Tried]]:
        if self.recorded:
            return self.recorded.streams(job.exhaustive)
        whole = all_operands(self._signature)
        if whole is None and job.exhaustive:
            bits = sum(t.width for _, t in self.face.registers())
            few = "32 bits in one register, or in two registers of one lane each"
            raise Misfit(
                f"--exhaustive supports at most {few}, and {self.a.name} takes {bits} bits; without --exhaustive, "
                f"{_RANDOM:,} operands of each random stream are tried"
            )
        if whole is None or not (job.exhaustive or whole.count <= _FEW):
            return list(parts(self._signature, _RANDOM))
        return [([whole], Tried(whole.stream, whole.count, whole=True))]

    def _by_class(self, part: StreamPart, start: int, size: int) -> Array | None:
        """Return the number of operands of each combination of classes in a block; None if the order of operands does
        not determine it."""
        if part.stream != "pairs" or (start | size) & ((1 << (bits := self.face.kinds[1].width)) - 1):
            return None
        runs = (vectors.encodings(64, start >> bits, size >> bits, 0), vectors.encodings(64, 0, 1 << bits, 0))
        first, second = (
            np.bincount(classes(kind).of(x), minlength=classes(kind).count)
            for kind, x in zip(self.face.kinds, runs, strict=True)
        )
        return np.asarray(np.outer(first, second).ravel())

    def _facts(self, root: Root, job: Job) -> dict[str, Any]:
        """Return the facts that the counts depend on."""
        sources = Database.read(root.data).data["sources"]
        # Results do not depend on observations.
        kept = {name: digest for name, digest in sources.items() if not name.startswith("spec/observed/")}
        # The emulator does not depend on the functions of other languages: their current file counts.
        functions = root.path / "spec/functions.yaml"
        if functions.is_file():
            kept["spec/functions.yaml"] = hashlib.sha256(functions.read_bytes()).hexdigest()
        spec = "".join(f"{name} {digest}\n" for name, digest in sorted(kept.items()))
        emulator = PACKAGE.parent / "ptxemu" if root.packaged else root.generated / "python" / "ptxemu"
        return {
            "first side": _told(self.a, job.a),
            "second side": "; ".join(self.b.about) if self.recorded else _told(self.b, job.against),
            "target": job.target or "",
            "operands": [f"{p.stream} {p.start} {p.count} {p.kept}" for p in dict.fromkeys(b[0] for b in self._blocks)],
            "order of operands": f"version {vectors.VERSION}, blocks of {vectors.BLOCK}",
            "specification": hashlib.sha256(spec.encode()).hexdigest()[:16],
            "emulator": folder_digest(emulator),
            "program": " ".join(folder_digest(PACKAGE / name) for name in JUDGES),
        } | ({"recording": self.recorded.digest} if self.recorded else {})


def _told(side: Side, text: str) -> str:
    """Return the description of a side with everything that may change under the same name: the content of its file,
    and the version of a library that runs it. The path of the file does not matter."""
    path = Path(text)
    try:
        if path.is_file():
            return "; ".join([*side.about, hashlib.sha256(path.read_bytes()).hexdigest()[:16]])
    except (OSError, ValueError):
        pass  # a text too long for a file name
    return "; ".join([text, *side.about])


@lru_cache(maxsize=2)
def sweep_of(job: Job) -> Sweep:
    """Return the sweep of a job, created once in each process. Raises PtxspecError if this process does not match the
    one that began."""
    sweep = Sweep(replace(job, identity=""))
    if job.identity and sweep.identity != job.identity:
        raise PtxspecError("a worker's specification, emulator, recording or library differs from this process's")
    return sweep


def count(job: Job, number: int) -> Counted:
    return sweep_of(job).count(number)
