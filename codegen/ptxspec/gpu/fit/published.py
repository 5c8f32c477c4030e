"""What a published model computes, as a project keeps it: results that fitting needs, and digests of all. No GPU was there.

about.json says whose model it is and, for each variant, on which targets its author compared it with GPUs. For each name
in it NAME.digests has 4,096 numbers, the digests of the results of 2^20 encodings each; NAME.results.xz, where it is,
has results on the cores: second differences of their encodings, in planes of bytes, the lowest first.
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
from ...model import Core, Fitted, Spec, Unit, Variant
from .. import vectors
from .arrays import Array

ABOUT = "about.json"
KIND = "results of a published model, no recording of a GPU"
_BITS = 32


@dataclass(frozen=True)
class Entry:
    """The results of a variant on the targets of some ranges, of which `unit` is recovered; of none where it is empty."""

    name: str
    variant: str
    unit: str
    within: tuple[tuple[str, str], ...]
    cores: tuple[Core, ...]


@dataclass(frozen=True)
class Published:
    """What is kept of a published model."""

    path: Path
    model: str
    commit: str
    entries: tuple[Entry, ...]

    def digests(self, entry: Entry) -> dict[int, int]:
        """The digests of an entry, by the first encoding of each block."""
        path = self.path / f"{entry.name}.digests"
        found = np.frombuffer(_bytes(path), "<u8")
        if len(found) * vectors.BLOCK != 1 << _BITS:
            raise PtxspecError(f"{path}: {len(found)} digests; all operands have {(1 << _BITS) // vectors.BLOCK}")
        return dict(zip(range(0, 1 << _BITS, vectors.BLOCK), found.tolist(), strict=True))

    def results(self, entry: Entry) -> list[Array]:
        """The results on each core. Raises PtxspecError where they are not those that have the digests."""
        path = self.path / f"{entry.name}.results.xz"
        try:
            raw = np.frombuffer(lzma.decompress(_bytes(path)), np.uint8)
        except lzma.LZMAError as e:
            raise PtxspecError(f"{path}: cannot be read: {e}") from None
        if len(raw) != 4 * sum(c.count for c in entry.cores):
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
                    raise PtxspecError(f"{path}: the results from 0x{start:08x} on have another digest: damaged, or made up")
            found.append(results)
        return found


def packed(results: Array) -> bytes:
    """Results as a file has them, before it is compressed."""
    twice = np.diff(np.diff(results.astype(np.uint32), prepend=np.uint32(0)), prepend=np.uint32(0))
    return b"".join((twice >> np.uint32(8 * i)).astype(np.uint8).tobytes() for i in range(4))


def unpacked(planes: Array) -> Array:
    """What `packed` was given."""
    low, *others = planes.reshape(4, -1).astype(np.uint32)
    for i, plane in enumerate(others, 1):
        low |= plane << np.uint32(8 * i)
    return np.cumsum(np.cumsum(low, dtype=np.uint32), dtype=np.uint32)


def is_published(path: Path) -> bool:
    """Is there a published model's results rather than a recording?"""
    try:
        about = json.loads((path / ABOUT).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and "published" in about


def read(path: Path, spec: Spec) -> Published:
    """What a folder keeps of a published model. Raises PtxspecError with the reason where it cannot be used."""
    at = path / ABOUT
    try:
        about: dict[str, Any] = json.loads(_bytes(at))
        if about["published"] != KIND:
            raise ValueError(f"published is not '{KIND}'")
        if lies := sorted({"gpu", "driver", "recorder", "target", "compiler"} & about.keys()):
            raise ValueError(f"it speaks of {' and '.join(lies)}, but a published model's results come from no GPU")
        entries = tuple(_entry(name, e, spec) for name, e in about["results"].items())
        return Published(path, str(about["model"]), str(about["commit"]), entries)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise PtxspecError(f"{at}: not a published model's results: {e}") from None


def _entry(name: str, e: dict[str, Any], spec: Spec) -> Entry:
    known = {v.spelling for i in spec.instructions.values() for v in i.variants if v.operands == 1}
    if e["variant"] not in known:
        raise ValueError(f"unknown variant '{e['variant']}'")
    if e.get("unit", "") not in {"", *spec.units}:
        raise ValueError(f"unknown unit '{e['unit']}'")
    ranges = []
    for text in e["within"]:
        first, _, last = text.partition("..")
        for target in (first, last or first):
            if target not in spec.targets:
                raise ValueError(f"unknown target '{target}'")
        ranges.append((first, last or first))
    cores = tuple(
        Core(e["variant"], int(c["first"], 16), int(c["count"]), int(c.get("shift", 0))) for c in e.get("cores", ())
    )
    return Entry(name, e["variant"], e.get("unit", ""), tuple(ranges), cores)


class Reported:
    """One unit's results in a published model, for fitting."""

    def __init__(self, published: Published, entry: Entry) -> None:
        self.published, self.entry = published, entry
        self.within = (entry.within[0][0], entry.within[-1][1])
        self.fitted = Fitted("", "", 1, published.model)
        self._results: list[Array] | None = None

    def cores(self, unit: Unit) -> tuple[Core, ...] | str:
        return self.entry.cores

    def results(self, core: Core) -> Array:
        if self._results is None:
            self._results = self.published.results(self.entry)
        return self._results[self.entry.cores.index(core)]

    def samples(self, v: Variant) -> tuple[Array, Array]:
        nothing = np.zeros(0, np.uint32)
        return nothing, nothing

    def sweep(self, v: Variant) -> dict[int, int] | None:
        return self.published.digests(self.entry) if v.spelling == self.entry.variant else None


def reported(published: Published, units: Sequence[str]) -> list[Reported]:
    """The evidence for each of these units, or for all."""
    return [Reported(published, e) for e in published.entries if e.unit and (not units or e.unit in units)]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}") from None
