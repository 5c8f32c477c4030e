"""Recordings of GPUs whose instructions compute what a test says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ptxspec.gpu import recording, vectors
from ptxspec.gpu.compare import Found
from ptxspec.gpu.device import About
from ptxspec.gpu.fit import recorded
from ptxspec.gpu.recording import Recorder
from ptxspec.model import Spec, Variant
from ptxspec.read.link import read

from helpers import ROOT, repository
from helpers.made_up_units import UNITS, Array
from helpers.project import Project

# No stream but the cores and the special operands is large.
SMALL = vectors.Sizes(random=256, sample=256)


def made_up_provenance(root: Path, spec: Spec) -> dict[str, Any]:
    gpu = About("Made-up GPU", "sm_90", "0.0", "no compiler", "13.0")
    folders = root / "generated/cuda", root / "generated/python/ptxemu"
    return recording.provenance(gpu, spec, "ptxspec", "2026-01-02", SMALL, *folders)


def record(project: Project, folder: Path, results: dict[str, Callable[[int], int]]) -> Path:
    """A recording of instructions that compute these results."""
    spec = read(project.root)
    every = {v.spelling: v for i in spec.instructions.values() for v in i.variants if v.operands == 1}
    with Recorder(folder, spec, made_up_provenance(project.root, spec)) as recorder:
        for name, result in results.items():
            v = every[UNITS[name].variant]
            for part in vectors.parts(v, SMALL, spec.units[name].cores):
                write(recorder, v, part, lambda x, result=result: np.array([result(int(b)) for b in x], np.uint32))  # type: ignore[misc]
        recorder.finish({})
    return folder


def recorded_as(folder: Path, spelling: str, computed: Callable[[Array], Array]) -> recorded.Recorded:
    """The same of one instruction of the repository."""
    spec = repository.specification()
    v = next(v for i in spec.instructions.values() for v in i.variants if v.spelling == spelling)
    cores = [c for u in spec.units.values() for c in u.cores if c.variant == spelling]
    with Recorder(folder / "recording", spec, made_up_provenance(ROOT, spec)) as recorder:
        for part in vectors.parts(v, SMALL, cores):
            write(recorder, v, part, computed)
        recorder.finish({})
    return recorded.Recorded(recording.read(folder / "recording", spec), spec)


def write(recorder: Recorder, v: Variant, part: vectors.Part, computed: Callable[[Array], Array]) -> None:
    blocks = [computed(vectors.operands(v, part.stream, *block)[0]) for block in part.blocks()]
    kept = np.concatenate(blocks)[: part.kept]
    recorder.write(v, part, kept, [vectors.digest(b) for b in blocks], Found(part.count))
