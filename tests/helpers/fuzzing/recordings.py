"""Recordings that a stranger wrote."""

from __future__ import annotations

import base64
import json
import lzma
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from ptxspec.diagnostics import PtxspecError
from ptxspec.model import Spec
from ptxspec.proving.gpu import blobs, recording, vectors
from ptxspec.proving.gpu.compare import ComparisonCounts

from helpers import ROOT, made_up_recordings
from helpers.repository import specification

VARIANTS = ("add.f32", "setp.lt.f32", "cvt.rn.f16x2.f32", "max.f16", "ex2.approx.f16")
SIZES = vectors.Sizes(random=8, sample=8)


def recorded(data: bytes) -> None:
    """The first line is about.json, the rest results.jsonl. What is to be found by its digest gets the right one, so
    that more than digests is tried: a blob whose data begin with `raw:` is compressed here."""
    head, _, results = data.partition(b"\n")
    lines = b"\n".join(map(_packed, results.split(b"\n")))
    about = head
    try:
        found: Any = json.loads(head)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and found.get("digest") == "":
        found["digest"] = blobs.digest(lines)
        about = json.dumps(found).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "about.json").write_bytes(about)
        (path / "results.jsonl").write_bytes(lines)
        try:
            read = recording.read(path, _spec())
        except PtxspecError as e:
            str(e).encode()
            return
        str(read)
        for part in read.parts:
            assert part.results().shape[0] == part.part.kept


def _packed(line: bytes) -> bytes:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not (isinstance(found, dict) and str(found.get("data", "")).startswith("raw:")):
        return line
    try:
        raw = bytes.fromhex(found["data"][4:])
    except ValueError:
        return line
    # With one filter, as recordings are.
    data = lzma.compress(raw, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}])
    return json.dumps({**found, "data": base64.b64encode(data).decode()}).encode()


@cache
def _spec() -> Spec:
    return specification()


@cache
def recorded_seeds() -> list[bytes]:
    spec = _spec()
    every = {v.spelling: v for i in spec.instructions.values() for v in i.variants}
    found = []
    for name in VARIANTS:
        v = every[name]
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            path = folder / "recording"
            with recording.Recorder(path, spec, made_up_recordings.made_up_provenance(ROOT, spec)) as recorder:
                part = vectors.StreamPart("uniform", 0, 8, 8)
                dtype, registers = recording.registers.results(v)
                results = np.arange(8 * registers).astype(dtype)
                recorder.write(v, part, results, [vectors.digest(results)], ComparisonCounts(8))
                recorder.finish({})
            about = {**json.loads((path / "about.json").read_text("utf-8")), "digest": ""}
            lines = [json.loads(line) for line in (path / "results.jsonl").read_text("utf-8").splitlines()]
        finally:
            shutil.rmtree(folder)
        for line in lines:
            if "data" in line and not line.get("differences"):
                line["data"] = "raw:" + blobs.little(results).hex()
        found.append("\n".join(json.dumps(line, separators=(",", ":")) for line in (about, *lines)).encode())
    return found
