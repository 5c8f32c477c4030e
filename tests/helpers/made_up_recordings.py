"""The provenance of recordings that tests make up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ptxspec.model import Spec
from ptxspec.proving.gpu import recording, vectors
from ptxspec.proving.gpu.device import RunEnvironment

# No stream but the cores and the special operands is large.
SMALL = vectors.Sizes(random=256, sample=256)


def made_up_provenance(root: Path, spec: Spec) -> dict[str, Any]:
    gpu = RunEnvironment("Made-up GPU", "sm_90", "0.0", "no compiler", "13.0")
    folders = root / "generated/cuda", root / "generated/python/ptxemu"
    return recording.provenance(gpu, spec, "ptxspec", "2026-01-02", SMALL, *folders)
