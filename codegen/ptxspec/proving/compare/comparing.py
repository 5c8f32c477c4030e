"""Comparison of two sides on special operands in all combinations and on random ones: the differences, counted and with
examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..gpu import vectors
from ..gpu.vectors import Sizes, StreamPart, VectorSignature
from .differing import NAN_BITS
from .sides import Face, Side, common_face
from .tallying import Counting, Difference

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Tried:
    """The operands tried of one stream; `whole` if they are all possible operands."""

    stream: str
    count: int
    whole: bool


@dataclass(frozen=True)
class ComparisonResult:
    """The result of a comparison: `rows` are the differences that are not allowed, then those that are left open."""

    a: Side
    b: Side
    face: Face
    tried: tuple[Tried, ...]
    rows: tuple[Difference, ...]
    hidden: bool = False  # more differs, but the results are unknown

    @property
    def equal(self) -> bool:
        """Return whether nothing differs but what one of the sides leaves open."""
        return all(row.open for row in self.rows) and not self.hidden

    @property
    def whole(self) -> bool:
        return any(t.whole for t in self.tried)

    @property
    def in_nans_alone(self) -> bool:
        """Return whether all differences that are not allowed are in the bits of NaNs."""
        return not self.equal and not self.hidden and all(row.open or row.kind == NAN_BITS for row in self.rows)


def compare(a: Side, b: Side, samples: int, progress: Progress | None = None) -> ComparisonResult:
    """Compare one side with the other. Raises Misfit where their types differ."""
    face = common_face(a, b)
    s = signature(face)
    tried = list(parts(s, samples))
    counting = Counting(a, b, face)
    done, total = 0, sum(t.count for _, t in tried)
    for some, _ in tried:
        for part in some:
            for start, size in part.blocks():
                columns = vectors.operands_of(s, part.stream, start, size)
                counting.add(columns, a.run(face, columns), b.run(face, columns))
                done += size
                if progress:
                    progress(done, total)
    return ComparisonResult(a, b, face, tuple(t for _, t in tried), tuple(counting.tally.rows(face)))


def signature(face: Face) -> VectorSignature:
    """Return the signature from which operands are chosen."""
    kind = face.results[0].kind
    result = kind if kind.sort in ("float", "integer") else None
    return VectorSignature(tuple((o.type, o.registers) for o in face.sources), face.lanes, result)


def parts(s: VectorSignature, samples: int) -> Iterator[tuple[list[StreamPart], Tried]]:
    """Yield the parts to run, stream by stream, with the operands tried of each; a stream of all operands comes
    last."""
    by_stream: dict[str, list[StreamPart]] = {}
    for p in vectors.parts_of(s, Sizes(random=samples, sample=0)):
        by_stream.setdefault(p.stream, []).append(p)
    for stream in sorted(by_stream, key=vectors.STREAMS.index):
        found = by_stream[stream]
        number = sum(p.count for p in found)
        whole = stream == "every" and number == 1 << s.single
        yield found, Tried(stream, number, whole)
        if whole:
            return


def all_operands(s: VectorSignature) -> StreamPart | None:
    """Return the part with all operands in their order, if these have at most 32 bits together."""
    for stream, bits in (("every", s.single), ("pairs", s.pair)):
        if 0 < bits <= 32:
            return StreamPart(stream, 0, 1 << bits, 0)
    return None
