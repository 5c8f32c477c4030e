"""Recordings on disk: a folder with about.json, which describes the run, and results.jsonl.

results.jsonl is only ever appended to, so that a stopped run can be continued. A line of it is one of

    {"blob": KEY, "data": ...}     results, compressed; KEY is their 64-bit digest, so that equal ones are there once;
                                   with "differences": N each is less the one before, all in words of N bytes, of which
                                   first all lowest bytes are compressed, then all second ones, and so on
    {"variant", "operands", "stream", "start", "count", "kept", "blob", "digests", "emulator", "found"}

The latter is about one part of a variant's operands (see vectors.py): where its first `kept` results are, and the
digest of each block of 2^20. `found` is the result of the comparison with the emulator of the time, whose digest is
`emulator`. A stopped run continues with it while the emulator is the same; its verdict on a bound remains true of the
GPU.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...files import is_taken, read_bytes, replace_text
from ...model import Operand, Spec, Variant
from ...read.link import is_observed
from . import registers, vectors
from .blobs import Blob, coded, digest, little
from .compare import ComparisonCounts, found_from_json
from .device import RunEnvironment
from .vectors import BLOCK, Sizes, StreamPart

Array = NDArray[Any]
Key = tuple[str, int]

RECORDER = "ptxspec conformance"
# The specification's list of recordings, with the emulator's agreement; no recording depends on it.
REGISTER = "spec/observed/recordings.yaml"
SCHEMA = 2
_ABOUT, _RESULTS = "about.json", "results.jsonl"
_MAX_BYTES = 1 << 24  # of about.json


@dataclass(frozen=True)
class RecordedPart:
    """One recorded part of one variant. Each set of operands has `registers` words of results, all of `type`."""

    variant: Key
    part: StreamPart
    type: np.dtype[Any]
    registers: int
    stored: Blob
    digests: tuple[int, ...]
    emulator: str
    found: ComparisonCounts

    def results(self) -> Array:
        """Return the first `part.kept` results, read again each time: all of a recording's are too many for memory.
        Raises PtxspecError where the stored data are not those that were recorded."""
        part = self.part
        results = self.stored.results(self.type, part.kept * self.registers)
        if part.kept == part.count <= BLOCK and vectors.digest(results) != self.digests[0]:
            raise PtxspecError(f"{self.stored.line}: the results have another digest")
        return results if self.registers == 1 else results.reshape(-1, self.registers)


@dataclass(frozen=True)
class CompleteRecording:
    """A complete recording of variants of the current specification. `provenance` is about.json."""

    path: Path
    provenance: dict[str, Any]
    parts: tuple[RecordedPart, ...]

    @property
    def target(self) -> str:
        return str(self.provenance["target"])

    def __str__(self) -> str:
        p = self.provenance
        return f"{p['gpu']} ({p['target']}), driver {p['driver']}, {p['compiler']}, {p['date']}"


def below(root: Path) -> list[Path]:
    """Return the complete recordings of a root; there may be other files beside them."""
    folder = root / "tests" / "recordings"
    return sorted(p for p in folder.iterdir() if _said(p).get("complete")) if folder.is_dir() else []


def read(
    path: Path,
    spec: Spec,
    variants: Collection[Key] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CompleteRecording:
    """Return a recording, or the part of it about some variants. Raises PtxspecError with the reason if it is not
    usable."""
    about = about_of(path)
    if not about.get("complete"):
        raise PtxspecError(f"{path} is incomplete; `ptxspec conformance --record {path}` continues it")
    if not isinstance(about.get("failed"), dict):
        raise PtxspecError(f"{path / _ABOUT} is not a recording: failed is not an object")
    text = _bytes(path / _RESULTS)
    if digest(text) != about.get("digest"):
        raise PtxspecError(f"{path / _RESULTS} was changed or truncated: its digest is not the one in {_ABOUT}")
    parts = tuple(_parts(path, text, spec))
    if _identity(spec, {u.variant for u in parts}) != about["specification"].get("variants"):
        raise PtxspecError(f"{path} was recorded for another specification: the variants or their types differ")
    if variants is not None:
        parts = tuple(u for u in parts if u.variant in variants)
    for i, u in enumerate(parts):
        if progress:
            progress(i, len(parts))
        # Damage is reported before the recording is used.
        u.results()
    return CompleteRecording(path, about, parts)


class Recorder:
    """The writer of a recording, which begins or continues it. Use as a context manager; `finish` completes it."""

    def __init__(self, path: Path, spec: Spec, about: dict[str, Any]) -> None:
        """Begin or continue a recording; `about` is the run's provenance. Raises PtxspecError if the folder has other
        files."""
        self.path, self._spec = path, spec
        self.parts: dict[tuple[Key, StreamPart], RecordedPart] = {}
        self._blobs: dict[str, Blob] = {}
        self._about = about
        # A complete recording remains so until something is added.
        self._marked_incomplete = not _said(path)
        with writing(path):
            if self._marked_incomplete and path.exists() and not _is_bare(path):
                raise PtxspecError(f"{path} has other files; a recording requires a folder of its own")
            path.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = (path / _RESULTS).open("ab")
            try:
                if is_taken(self._file.fileno()):
                    raise PtxspecError(f"another run records in {path}; choose another folder, or wait until it ends")
                # The other run may have ended in between.
                self._marked_incomplete = not _said(path)
                if self._marked_incomplete:
                    for left in path.glob(f"{_ABOUT}.*.new"):
                        left.unlink()
                    self._write_about(complete=False)
                else:
                    self._continue()
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        # `write` has reported what it could not write; closing would fail again.
        with contextlib.suppress(OSError):
            self._file.close()

    @property
    def emulator(self) -> str:
        """The digest of this run's emulator."""
        return str(self._about["emulator"])

    def write(
        self, v: Variant, part: StreamPart, results: Array, digests: Sequence[int], found: ComparisonCounts
    ) -> None:
        key = (v.spelling, v.operands)
        blob = self._blobs.get(digest(little(results))) or coded(results, part, str(self.path / _RESULTS))
        line: dict[str, Any] = {
            "variant": v.spelling, "operands": v.operands, "stream": part.stream, "start": part.start,
            "count": part.count, "kept": part.kept, "blob": blob.key,
            "digests": _pack(little(np.array(digests, np.uint64))),
            "emulator": self.emulator, "found": found.as_json(),
        }  # fmt: skip
        with writing(self.path):
            if not self._marked_incomplete:
                self._write_about(complete=False)
            if blob.key not in self._blobs:
                how = {"differences": blob.differences} if blob.differences else {}
                self._append({"blob": blob.key, **how, "data": _pack(blob.data)})
                self._blobs[blob.key] = blob
            self._append(line)
            self._file.flush()
        self.parts[key, part] = RecordedPart(
            key, part, *registers.results(v), blob, tuple(digests), self.emulator, found
        )

    def finish(self, failed: dict[str, str]) -> None:
        """Complete the recording; `failed` are variants that could not be run, with the reason."""
        self._about["failed"] = failed
        self._about["specification"]["variants"] = _identity(self._spec, {key for key, _ in self.parts})
        with writing(self.path):
            self._write_about(complete=True, digest=digest(_bytes(self.path / _RESULTS)))

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def _continue(self) -> None:
        """Continue from the existing lines, without a truncated last line."""
        before = about_of(self.path)
        for what in ("operands", "program", "gpu", "target", "driver", "compiler", "random", "sample"):
            if before.get(what) != self._about[what]:
                raise PtxspecError(
                    f"{self.path} was begun with another {what}: {before.get(what)}, now {self._about[what]}; "
                    "choose another folder"
                )
        if before["specification"].get("sha256") != self._about["specification"]["sha256"]:
            raise PtxspecError(f"{self.path} was begun with another specification; choose another folder")
        if before.get("kernels") != self._about["kernels"]:
            raise PtxspecError(f"{self.path} was begun with other kernels in generated/cuda; choose another folder")
        results = self.path / _RESULTS
        text = _bytes(results) if results.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            os.truncate(results, len(whole))
        self.parts = {(u.variant, u.part): u for u in _parts(self.path, whole, self._spec)}
        for u in self.parts.values():
            u.results()
        self._blobs = {u.stored.key: u.stored for u in self.parts.values()}
        # The date is that of the beginning.
        self._about["date"] = before["date"]

    def _write_about(self, complete: bool, digest: str = "") -> None:
        self._about |= {"complete": complete, "digest": digest}
        replace_text(self.path / _ABOUT, json.dumps(self._about, indent=2) + "\n")
        self._marked_incomplete = not complete


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError while writing into a PtxspecError of one line."""
    try:
        yield
    except OSError as e:
        raise PtxspecError(f"{path}: cannot be written: {e.strerror}") from None


def provenance(
    device: RunEnvironment, spec: Spec, program: str, date: str, sizes: Sizes, kernels: Path, emulator: Path
) -> dict[str, Any]:
    """Return about.json for a new run; `kernels` and `emulator` are their folders."""
    sources = "".join(f"{name} {digest}\n" for name, digest in sorted(spec.sources.items()) if not is_observed(name))
    return {
        "recorder": RECORDER, "schema": SCHEMA, "operands": vectors.VERSION, "program": program,
        "specification": {"sha256": hashlib.sha256(sources.encode()).hexdigest(), "variants": ""},
        "gpu": device.gpu, "target": device.target, "driver": device.driver, "compiler": device.compiler, "date": date,
        "random": sizes.random, "sample": sizes.sample,
        "kernels": folder_digest(kernels), "emulator": folder_digest(emulator),
    }  # fmt: skip


def folder_digest(folder: Path) -> str:
    """Return the digest of all sources in a folder and their names."""
    whole = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        whole.update(f"{path.relative_to(folder).as_posix()} {hashlib.sha256(_bytes(path)).hexdigest()}\n".encode())
    return whole.hexdigest()[:16]


def _is_bare(path: Path) -> bool:
    """Return whether a folder has only what a run leaves that is killed at once."""
    if not path.is_dir():
        return False
    return all(p.match(f"{_ABOUT}.*.new") or (p.name == _RESULTS and not p.stat().st_size) for p in path.iterdir())


def _said(path: Path) -> dict[str, Any]:
    """Return about.json, unchecked; empty if this recorder did not write it."""
    try:
        about = json.loads(read_bytes(path / _ABOUT, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return about if isinstance(about, dict) and about.get("recorder") == RECORDER else {}


def about_of(path: Path) -> dict[str, Any]:
    """Return about.json of a run. Raises PtxspecError if this recorder did not write it."""
    try:
        about: dict[str, Any] = json.loads(_bytes(path / _ABOUT, _MAX_BYTES))
        if about["recorder"] != RECORDER or not isinstance(about["specification"], dict):
            raise ValueError(f"not written by {RECORDER}")
        for what in ("gpu", "target", "driver", "compiler", "date"):
            if not isinstance(about[what], str) or not about[what].isprintable():
                raise ValueError(f"{what} is not plain text")
        known = (about["schema"], about["operands"])
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise PtxspecError(f"{path / _ABOUT} is not a recording: {e}") from None
    if known != (SCHEMA, vectors.VERSION):
        raise PtxspecError(f"{path} was written by another version of the recorder, which ran other operands")
    return about


def _identity(spec: Spec, keys: set[Key]) -> str:
    """Return a digest of recorded variants: their spellings, operands and signatures. It does not cover what they
    compute, which the recording is to check."""
    every = {(v.spelling, v.operands): v for i in spec.instructions.values() for v in i.variants}
    lines = []
    for key in sorted(keys):
        operands = (_shape(o) for o in (*every[key].results, *every[key].sources))
        lines.append(f"{key} {', '.join(operands)}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _shape(o: Operand) -> str:
    """Return a text for the position of an operand's values in its registers."""
    t, k = o.type, o.kind
    numbers: tuple[int, ...] = ()
    if k.format is not None:
        numbers = (k.format.exponent_bits, k.format.fraction_bits)
    elif k.fixed is not None:
        numbers = (k.fixed.signed, k.fixed.point)
    return f"{' '.join(o.places)}: {t.lanes} x {t.lane_width} {t.shift} {k.sort} {k.width} {numbers}"


def _lines(path: Path, text: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as e:
            raise PtxspecError(f"{path / _RESULTS}:{number} is not a line of a recording: {e}") from None
        yield found


def _parts(path: Path, text: bytes, spec: Spec) -> Iterator[RecordedPart]:
    every = {(v.spelling, v.operands): v for i in spec.instructions.values() for v in i.variants}
    blobs: dict[str, Blob] = {}
    for number, line in enumerate(_lines(path, text), 1):
        at = f"{path / _RESULTS}:{number}"
        try:
            if "data" in line:
                packed = base64.b64decode(line["data"], validate=True)
                blobs[line["blob"]] = Blob(line["blob"], packed, int(line.get("differences", 0)), at)
                continue
            key = (line["variant"], line["operands"])
            if key not in every:
                raise ValueError(f"recorded for another specification: {key[0]} with {key[1]} operands is unknown")
            part = StreamPart(line["stream"], line["start"], line["count"], line["kept"])
            if part.stream.partition("<<")[0] not in vectors.STREAMS:
                raise ValueError(f"unknown stream '{part.stream}'")
            if not all(type(n) is int for n in (part.start, part.count, part.kept)):
                raise ValueError("start, count and kept are whole numbers")
            if not vectors.is_part_of(vectors.signature(every[key]), part):
                raise ValueError("this is no part of a stream")
            digests = np.frombuffer(base64.b64decode(line["digests"], validate=True), "<u8")
            if digests.size != -(-part.count // BLOCK):
                raise ValueError("the numbers of results and digests do not fit")
            kept, found = blobs[line["blob"]], found_from_json(line["found"])
            words = registers.results(every[key])
            yield RecordedPart(key, part, *words, kept, tuple(digests.tolist()), str(line["emulator"]), found)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, binascii.Error) as e:
            raise PtxspecError(f"{at}: {e}") from None


def _pack(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(path: Path, most: int | None = None) -> bytes:
    try:
        return read_bytes(path, most)
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}") from None
