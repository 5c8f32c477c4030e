"""The recording of one variant on a GPU, as a side of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...evaluate import refuse_stale
from ...roots import Root
from ...specification import read
from ..compare.bounded import within_bound
from ..compare.comparing import Tried, all_operands
from ..compare.reading import Reader
from ..compare.sides import VARIANT, Face, Misfit, Registers, Side
from ..gpu import recording, registers, vectors
from ..gpu.recording import RecordedPart
from ..gpu.vectors import BLOCK, StreamPart

Array = NDArray[Any]


class RecordedSide:
    """A recording as a side; `a` is the variant in the emulator, on the recorded GPU's target. Raises PtxspecError."""

    def __init__(self, root: Root, variant: str, path: Path, target: str | None) -> None:
        gpu = str(recording.about_of(path)["target"])
        if target not in (None, gpu):
            raise PtxspecError(f"{path} was recorded on {gpu}, not on {target}; remove --target")
        spec = read(root.path)
        refuse_stale(root, spec)
        origins = [s for s in Reader(root, gpu, spec, threads=1).sides(variant) if isinstance(s, Side) and s.origin]
        if not origins:
            raise PtxspecError(
                f"{variant} is not a variant; a recording has only results of variants such as add.rn.f16"
            )
        if other := next((s.origin.target for s in origins if s.origin and s.origin.target != gpu), None):
            raise PtxspecError(f"{path} was recorded on {gpu}, not on {other}; remove @{other}")
        keys = {(s.origin.variant.spelling, s.origin.variant.operands): s for s in origins if s.origin and _has_all(s)}
        recorded = recording.read(path, spec, variants=keys)
        if not recorded.parts:
            raise PtxspecError(f"{path} has no results of {origins[0].name}")
        key = min((p.variant for p in recorded.parts), key=lambda k: k[1])
        self.a = keys[key]
        self.digest = str(recorded.provenance["digest"])
        self._parts = {p.part: p for p in recorded.parts if p.variant == key}
        self._kept: tuple[StreamPart, Array] | None = None
        self.side = Side(
            str(path),
            (f"recorded on {recorded}", f"{recorded.provenance['gpu']} executed {self.a.name}"),
            self.a.face,
            VARIANT,
            _cannot_run,
            within_bound(self.a.origin, gpu, own_is_judged=True) if self.a.origin else (),
        )

    @staticmethod
    def is_one(path: Path) -> bool:
        """Return whether a path means a recording: whether it is a folder."""
        try:
            return path.is_dir()
        except (OSError, ValueError):
            return False  # a text too long for a file name

    def streams(self, exhaustive: bool) -> Sequence[tuple[list[StreamPart], Tried]]:
        """Return the recorded streams, or only the one that has all operands, if any."""
        by_stream: dict[str, list[StreamPart]] = {}
        for part in sorted(_once(self._parts), key=lambda p: (p.turn, p.start)):
            by_stream.setdefault(part.stream, []).append(part)
        every, s = by_stream.get("every", []), vectors.signature(self._variant)
        whole = all_operands(s)
        if whole and whole.stream == "every" and sum(p.count for p in every) == whole.count:
            return [(every, Tried("every", whole.count, whole=True))]
        if exhaustive:
            raise Misfit(f"{self.side.name}: not all operands of {self.a.name} were recorded")
        return [(found, Tried(stream, sum(p.count for p in found), False)) for stream, found in by_stream.items()]

    def results(self, part: StreamPart, start: int, size: int, a: Registers) -> tuple[Registers, bool]:
        """Return the GPU's results for a block, and whether it has others than these. Results that the recording does
        not keep are those of `a`, the emulator's."""
        held = self._parts[part]
        made = [np.array(x, held.type) for x in a]
        for other, first, last in self._known(part, start, size):
            kept = self._all(other)[first - other.part.start : last - other.part.start]
            theirs = kept[:, None] if kept.ndim == 1 else kept
            for i, x in enumerate(made):
                x[first - start : last - start] = theirs[:, i]
        # A digest is of the words that a kernel stores.
        known = vectors.digest(registers.joined(made)) == held.digests[(start - part.start) // BLOCK]
        return [x.astype(y.dtype) for x, y in zip(made, a, strict=True)], not known

    def unknown(self, part: StreamPart, start: int, size: int) -> int:
        """Return how many operands of a block have only the digest."""
        found = np.ones(size, np.bool_)
        for _, first, last in self._known(part, start, size):
            found[first - start : last - start] = False
        return int(found.sum())

    def _known(self, part: StreamPart, start: int, size: int) -> Iterator[tuple[RecordedPart, int, int]]:
        """Yield the parts that keep results of a block, each with the first operand and the end of these results."""
        for other in self._parts.values():
            p = other.part
            first, last = max(start, p.start), min(start + size, p.start + p.kept)
            if p.stream == part.stream and first < last:
                yield other, first, last

    def _all(self, held: RecordedPart) -> Array:
        """Return the kept results of a part. Those of the last part are cached; several threads may call this at
        once."""
        last = self._kept
        if last is None or last[0] != held.part:
            self._kept = last = held.part, held.results()
        return last[1]

    @property
    def _variant(self) -> Any:
        assert self.a.origin is not None
        return self.a.origin.variant


def _once(parts: Iterable[StreamPart]) -> list[StreamPart]:
    """Return the parts without those whose operands are in others, as a core's are among all encodings."""
    found: list[StreamPart] = []
    for part in sorted(parts, key=lambda p: (-p.count, p.start)):
        end = part.start
        for p in sorted((p for p in found if p.stream == part.stream), key=lambda p: p.start):
            if p.start <= end:
                end = max(end, p.start + p.count)
        if end < part.start + part.count:
            found.append(part)
    return found


def _has_all(side: Side) -> bool:
    """Return whether a side has all results of its variant, as recordings do."""
    return side.origin is not None and len(side.face.results) == len(side.origin.variant.results)


def _cannot_run(face: Face, columns: Sequence[Array]) -> Registers:
    raise AssertionError("a recording has results of its own operands alone")
