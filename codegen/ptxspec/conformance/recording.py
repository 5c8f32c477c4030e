"""Recordings on disk: a folder with about.json, which says what was run on what, and results.jsonl.

results.jsonl is only ever appended to, so that a run which was stopped goes on where it was. A line of it is one of

    {"blob": KEY, "data": ...}     results, compressed; KEY is their 64-bit digest, so that equal ones are there once
    {"variant", "operands", "stream", "start", "count", "kept", "blob", "digests", "found"}

and says of one part of a variant's operands (see vectors.py) where its first `kept` results are, and the digest of each
block of 2^20. `found` is how they compared with the emulator of the time: with it a stopped run goes on, and what it
says of a bound stays true of the GPU.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import PtxspecError
from ..model import Spec, Variant
from . import vectors
from .comparing import Found, found_from_json
from .device import About
from .vectors import BLOCK, Part, Sizes

Array = NDArray[Any]
Key = tuple[str, int]

RECORDER = "ptxspec conformance"
# Where the specification says how the emulator stands to each recording; no recording depends on it.
REGISTER = "spec/recordings.yaml"
SCHEMA = 1
_ABOUT, _RESULTS = "about.json", "results.jsonl"
# The raw stream without a header: thousands of small arrays do not each need a checksum.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6}]


@dataclass(frozen=True)
class Unit:
    """One recorded part of one variant."""

    variant: Key
    part: Part
    results: Array
    digests: tuple[int, ...]
    found: Found


@dataclass(frozen=True)
class Recording:
    """A complete recording that is about variants of the specification at hand. `provenance` is about.json."""

    path: Path
    provenance: dict[str, Any]
    units: tuple[Unit, ...]

    @property
    def target(self) -> str:
        return str(self.provenance["target"])

    def __str__(self) -> str:
        p = self.provenance
        return f"{p['gpu']} ({p['target']}), driver {p['driver']}, {p['compiler']}, {p['date']}"


def is_recording(path: Path) -> bool:
    """Whether a folder was written by this recorder; others may lie beside."""
    try:
        about = json.loads((path / _ABOUT).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and about.get("recorder") == RECORDER


def below(root: Path) -> list[Path]:
    """The recordings that a root keeps."""
    folder = root / "tests" / "recordings"
    return sorted(p for p in folder.iterdir() if is_recording(p)) if folder.is_dir() else []


def read(path: Path, spec: Spec) -> Recording:
    """Raises PtxspecError with the reason where a recording cannot be used."""
    about = _about(path)
    if not about.get("complete"):
        raise PtxspecError(f"{path}: incomplete; `ptxspec conformance --record {path}` goes on with it")
    text = _bytes(path / _RESULTS)
    if _digest(text) != about.get("digest"):
        raise PtxspecError(f"{path / _RESULTS}: its digest is not the one in {_ABOUT}: the file was changed or cut off")
    units = tuple(_units(path, text, spec))
    if _identity(spec, {u.variant for u in units}) != about["specification"].get("variants"):
        raise PtxspecError(f"{path}: recorded for another specification: the variants or their types are not the same")
    return Recording(path, about, units)


class Recorder:
    """Writes a recording, or goes on with one. Use as a context manager; `finish` completes it."""

    def __init__(self, path: Path, spec: Spec, about: dict[str, Any]) -> None:
        """`about` is the run's provenance. Raises PtxspecError where the folder holds something else."""
        self.path, self._spec = path, spec
        self._units: dict[tuple[Key, Part], Found] = {}
        self._blobs: set[str] = set()
        self._about = about
        try:
            if is_recording(path):
                self._continue()
            elif path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise PtxspecError(f"{path}: holds other things; a recording needs a folder of its own")
            path.mkdir(parents=True, exist_ok=True)
            self._write_about(complete=False)
            self._file: IO[bytes] = (path / _RESULTS).open("ab")
        except OSError as e:
            raise PtxspecError(f"{path}: cannot be written: {e.strerror}") from None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def found(self, v: Variant, part: Part) -> Found | None:
        """What was found in a part that is already recorded."""
        return self._units.get(((v.spelling, v.operands), part))

    def write(self, v: Variant, part: Part, results: Array, digests: Sequence[int], found: Found) -> None:
        key = (v.spelling, v.operands)
        raw = _little(results)
        blob = _digest(raw)
        line: dict[str, Any] = {
            "variant": v.spelling, "operands": v.operands, "stream": part.stream, "start": part.start,
            "count": part.count, "kept": part.kept, "blob": blob,
            "digests": _pack(_little(np.array(digests, np.uint64))),
            "found": found.as_json(),
        }  # fmt: skip
        try:
            if blob not in self._blobs:
                self._append({"blob": blob, "data": _pack(lzma.compress(raw, lzma.FORMAT_RAW, filters=_FILTERS))})
                self._blobs.add(blob)
            self._append(line)
            self._file.flush()
        except OSError as e:
            raise PtxspecError(f"{self.path}: cannot be written: {e.strerror}") from None
        self._units[key, part] = found

    def finish(self, failed: dict[str, str]) -> None:
        """Complete the recording; `failed` are variants that could not be run, with the reason."""
        self._file.flush()
        self._about["failed"] = failed
        self._about["specification"]["variants"] = _identity(self._spec, {key for key, _ in self._units})
        self._write_about(complete=True, digest=_digest(_bytes(self.path / _RESULTS)))

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def _continue(self) -> None:
        """Take over what is there, less a last line that was cut off."""
        before = _about(self.path)
        for what in ("operands", "program", "gpu", "target", "driver", "compiler", "random", "sample"):
            if before.get(what) != self._about[what]:
                raise PtxspecError(
                    f"{self.path}: begun with another {what}: {before.get(what)}, now {self._about[what]}; "
                    "choose another folder"
                )
        if before["specification"].get("sha256") != self._about["specification"]["sha256"]:
            raise PtxspecError(f"{self.path}: begun with another specification; choose another folder")
        results = self.path / _RESULTS
        text = _bytes(results) if results.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            results.write_bytes(whole)
        for u in _units(self.path, whole, self._spec):
            self._units[u.variant, u.part] = u.found
        self._blobs = {line["blob"] for line in _lines(self.path, whole) if "data" in line}
        # The date on which it was begun stays.
        self._about |= {"date": before["date"], "exhaustive": self._about["exhaustive"] or before.get("exhaustive")}

    def _write_about(self, complete: bool, digest: str = "") -> None:
        self._about |= {"complete": complete, "digest": digest}
        (self.path / _ABOUT).write_text(json.dumps(self._about, indent=2) + "\n", "utf-8", newline="\n")


def provenance(device: About, spec: Spec, program: str, date: str, sizes: Sizes) -> dict[str, Any]:
    """What about.json says of a run that begins."""
    sources = "".join(f"{name} {digest}\n" for name, digest in sorted(spec.sources.items()) if name != REGISTER)
    return {
        "recorder": RECORDER, "schema": SCHEMA, "operands": vectors.VERSION, "program": program,
        "specification": {"sha256": hashlib.sha256(sources.encode()).hexdigest(), "variants": ""},
        "gpu": device.gpu, "target": device.target, "driver": device.driver, "compiler": device.compiler, "date": date,
        "random": sizes.random, "sample": sizes.sample, "exhaustive": sizes.exhaustive,
    }  # fmt: skip


def _about(path: Path) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads(_bytes(path / _ABOUT))
        if about["recorder"] != RECORDER or not isinstance(about["specification"], dict):
            raise ValueError(f"not written by {RECORDER}")
        for what in ("gpu", "target", "driver", "compiler", "date"):
            if not isinstance(about[what], str):
                raise ValueError(f"{what} is not text")
        known = (about["schema"], about["operands"])
    except (ValueError, KeyError, TypeError) as e:
        raise PtxspecError(f"{path / _ABOUT}: not a recording: {e}") from None
    if known != (SCHEMA, vectors.VERSION):
        raise PtxspecError(f"{path}: written by another version of the recorder; it ran on other operands")
    return about


def _identity(spec: Spec, keys: set[Key]) -> str:
    """What recorded variants are: their spellings, operands and types. What they compute is not in it, for that is what
    a recording judges."""
    every = {(v.spelling, v.operands): v for i in spec.instructions.values() for v in i.variants}
    lines = []
    for key in sorted(keys):
        t, f = every[key].type, every[key].type.format
        lines.append(f"{key} {t.lanes} x {f.exponent_bits} {f.fraction_bits} {every[key].predicate}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _lines(path: Path, text: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError("not an object")
        except ValueError as e:
            raise PtxspecError(f"{path / _RESULTS}:{number}: not a line of a recording: {e}") from None
        yield found


def _units(path: Path, text: bytes, spec: Spec) -> Iterator[Unit]:
    every = {(v.spelling, v.operands): v for i in spec.instructions.values() for v in i.variants}
    blobs: dict[str, bytes] = {}
    for number, line in enumerate(_lines(path, text), 1):
        try:
            if "data" in line:
                packed = base64.b64decode(line["data"], validate=True)
                blobs[line["blob"]] = lzma.decompress(packed, lzma.FORMAT_RAW, filters=_FILTERS)
                if _digest(blobs[line["blob"]]) != line["blob"]:
                    raise ValueError("the results have another digest")
                continue
            key = (line["variant"], line["operands"])
            if key not in every:
                raise ValueError(f"recorded for another specification: {key[0]} with {key[1]} operands is unknown")
            part = Part(line["stream"], line["start"], line["count"], line["kept"])
            results = np.frombuffer(blobs[line["blob"]], result_type(every[key]).newbyteorder("<"))
            digests = np.frombuffer(base64.b64decode(line["digests"], validate=True), "<u8")
            if results.size != part.kept or digests.size != -(-part.count // BLOCK):
                raise ValueError("the numbers of results and digests do not fit")
            if part.kept == part.count <= BLOCK and vectors.digest(results) != digests[0]:
                raise ValueError("the results have another digest")
            yield Unit(key, part, results, tuple(digests.tolist()), found_from_json(line["found"]))
        except (ValueError, KeyError, TypeError, binascii.Error, lzma.LZMAError) as e:
            raise PtxspecError(f"{path / _RESULTS}:{number}: {e}") from None


def result_type(v: Variant) -> np.dtype[Any]:
    """The results of a variant's kernel: encodings, or 0 and 1 of a predicate."""
    return vectors.unsigned(32 if v.predicate else v.type.width)


def _little(values: Array) -> bytes:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()


def _pack(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}") from None
