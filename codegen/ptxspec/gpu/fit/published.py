"""What a published model computes, as a project keeps it: results that fitting needs, and digests of all of them. No
GPU was there.

spec/published.yaml says whose model it is and, for each variant, on which targets its author compared it with GPUs;
about.json says which of it these results are. For each name of results NAME.digests has 4,096 numbers, the digests of
the results of 2^20 encodings each; NAME.results.xz, where it is, has results on the cores: second differences of their
encodings, in planes of bytes, the lowest first.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...diagnostics import PtxspecError
from ...files import read_bytes
from ...model import Core, Fitted, PublishedModel, Report, Spec, Unit, Variant
from .. import vectors
from ..blobs import decompressed
from .arrays import Array

ABOUT = "about.json"
_MAX_BYTES = 1 << 24  # of that file
KIND = "results of a published model, no recording of a GPU"
_BITS = 32
# Bytes that xz may look back: the most that it is told to, by its own programs.
_MEMORY = 1 << 27


@dataclass(frozen=True)
class Entry:
    """What is kept of a report, with the operands that there are results of."""

    report: Report
    cores: tuple[Core, ...]


@dataclass(frozen=True)
class Kept:
    """What is kept of a published model."""

    path: Path
    model: PublishedModel
    entries: tuple[Entry, ...]

    def digests(self, entry: Entry) -> dict[int, int]:
        """The digests of an entry, by the first encoding of each block."""
        path = self.path / f"{entry.report.results}.digests"
        found = np.frombuffer(_bytes(path), "<u8")
        if len(found) * vectors.BLOCK != 1 << _BITS:
            raise PtxspecError(f"{path}: {len(found)} digests; all operands have {(1 << _BITS) // vectors.BLOCK}")
        return dict(zip(range(0, 1 << _BITS, vectors.BLOCK), found.tolist(), strict=True))

    def results(self, entry: Entry) -> list[Array]:
        """The results on each core. Raises PtxspecError where they are not those that have the digests."""
        path = self.path / f"{entry.report.results}.results.xz"
        try:
            most = 4 * sum(c.count for c in entry.cores)
            raw = np.frombuffer(decompressed(_bytes(path), most, lzma.FORMAT_XZ, memlimit=_MEMORY), np.uint8)
        except lzma.LZMAError as e:
            raise PtxspecError(f"{path}: cannot be read: {e}") from None
        if len(raw) != most:
            raise PtxspecError(f"{path}: it has {len(raw) // 4} results; the cores have other numbers of operands")
        found, at, digests = [], 0, self.digests(entry)
        for core in entry.cores:
            results = unpacked(raw[at : at + 4 * core.count])
            at += 4 * core.count
            for start in range(core.first, core.first + core.count, vectors.BLOCK) if not core.shift else ():
                if start % vectors.BLOCK or start + vectors.BLOCK > core.first + core.count:
                    continue
                block = results[start - core.first : start - core.first + vectors.BLOCK]
                if vectors.digest(block) != digests[start]:
                    raise PtxspecError(
                        f"{path}: the results from 0x{start:08x} on have another digest: damaged, or made up"
                    )
            found.append(results)
        return found


def packed(results: Array) -> bytes:
    """Results as a file has them, before it is compressed."""
    nothing = np.zeros(1, np.uint32)
    once = np.diff(results.astype(np.uint32), prepend=nothing)
    twice: Array = np.diff(once, prepend=nothing).astype(np.uint32)
    return b"".join((twice >> np.uint32(8 * i)).astype(np.uint8).tobytes() for i in range(4))


def unpacked(planes: Array) -> Array:
    """What `packed` was given."""
    twice = np.zeros(planes.size // 4, np.uint32)
    for i, plane in enumerate(planes.reshape(4, -1)):
        twice |= plane.astype(np.uint32) << np.uint32(8 * i)
    return np.cumsum(np.cumsum(twice, dtype=np.uint32), dtype=np.uint32)


def is_published(path: Path) -> bool:
    """Is there a published model's results rather than a recording?"""
    try:
        about = json.loads(read_bytes(path / ABOUT, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(about, dict) and "published" in about


def read(path: Path, spec: Spec) -> Kept:
    """What a folder keeps of a published model. Raises PtxspecError with the reason where it cannot be used."""
    at = path / ABOUT
    try:
        about: dict[str, Any] = json.loads(_bytes(at, _MAX_BYTES))
        if about["published"] != KIND:
            raise ValueError(f"published is not '{KIND}'")
        if lies := sorted({"gpu", "driver", "recorder", "target", "compiler"} & about.keys()):
            raise ValueError(f"it speaks of {' and '.join(lies)}, but a published model's results come from no GPU")
        model = spec.published.get(about["model"])
        if model is None:
            raise ValueError(f"spec/published.yaml has no model '{about['model']}'")
        if about["commit"] != model.commit:
            raise ValueError(f"these are results of commit {about['commit']}; spec/published.yaml has {model.commit}")
        if unknown := sorted(about["cores"].keys() - {r.results for r in model.reports}):
            raise ValueError(f"spec/published.yaml does not know the results '{unknown[0]}'")
        return Kept(path, model, tuple(Entry(r, _cores(r, about["cores"])) for r in model.reports))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise PtxspecError(f"{at}: not a published model's results: {e}") from None


def _cores(r: Report, every: dict[str, Any]) -> tuple[Core, ...]:
    return tuple(
        Core(r.variant, int(c["first"], 16), int(c["count"]), int(c.get("shift", 0))) for c in every.get(r.results, ())
    )


class Reported:
    """One unit's results in a published model, for fitting."""

    def __init__(self, kept: Kept, entry: Entry, spec: Spec) -> None:
        self.kept, self.entry = kept, entry
        self.within = _range(kept.model, entry.report, list(spec.targets))
        self.fitted = Fitted("", "", 1, kept.model.name)
        self._results: list[Array] | None = None

    def cores(self, unit: Unit) -> tuple[Core, ...] | str:
        return self.entry.cores

    def results(self, core: Core) -> Array:
        if self._results is None:
            self._results = self.kept.results(self.entry)
        return self._results[self.entry.cores.index(core)]

    def samples(self, v: Variant) -> tuple[Array, Array]:
        nothing = np.zeros(0, np.uint32)
        return nothing, nothing

    def sweep(self, v: Variant) -> dict[int, int] | None:
        return self.kept.digests(self.entry) if v.spelling == self.entry.report.variant else None


def _range(model: PublishedModel, report: Report, targets: list[str]) -> tuple[str, str]:
    """The first and the last target on which a unit is taken for the same: those between ones that were compared belong
    to the ones before."""
    compared = {t: r for r in model.reports if r.variant == report.variant for t in r.targets}
    first, last = report.targets[0], report.targets[-1]
    for target in targets[targets.index(last) + 1 :]:
        if target in compared or not any(t in compared for t in targets[targets.index(target) :]):
            break
        last = target
    return first, last


def reported(kept: Kept, units: Sequence[str], spec: Spec) -> list[Reported]:
    """The evidence for each of these units, or for all."""
    return [Reported(kept, e, spec) for e in kept.entries if e.report.unit and (not units or e.report.unit in units)]


def _bytes(path: Path, most: int | None = None) -> bytes:
    try:
        return read_bytes(path, most)
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}") from None
