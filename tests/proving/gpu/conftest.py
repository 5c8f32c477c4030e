"""A stand-in for a GPU, beside a project whose kernels it runs, and a recording that it made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from helpers import fake_cuda
from helpers.bench import OPCODES, SMALL, Bench
from helpers.project import Project, again, copied
from helpers.standin import StandIn
from ptxspec.cli import conformance
from ptxspec.emit.generate import generate
from ptxspec.evaluate import emulator
from ptxspec.proving.gpu import cuda, recording
from ptxspec.proving.gpu.device import NoDeviceError
from ptxspec.roots import find
from ptxspec.specification import read


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copied(tmp_path_factory.mktemp("conformance") / "project", OPCODES)
    (root / "spec/observed/recordings.yaml").unlink(missing_ok=True)
    # Whole cores would take minutes by the emulator.
    units = root / "spec/units.yaml"
    units.write_text(re.sub(r"count: \d{6,}", "count: 4096", units.read_text("utf-8")), "utf-8")
    generate(root)
    return root


@pytest.fixture
def bench(
    generated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Bench:
    root = tmp_path / "project"
    again(generated, root)
    made = Bench(Project(root, capsys), StandIn(emulator(find(root))), root)
    monkeypatch.setattr(cuda, "CudaDevice", lambda: made.device)
    monkeypatch.setattr(conformance.vectors, "Sizes", SMALL)
    return made


@pytest.fixture(scope="session")
def recorded(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded") / "standin"
    spec, emu = read(generated), emulator(find(generated))
    device, sizes = StandIn(emu), SMALL()
    kernels, package = generated / "generated/cuda", generated / "generated/python/ptxemu"
    about = recording.provenance(device.about, spec, conformance._program(), "2026-01-02", sizes, kernels, package)
    with recording.Recorder(folder, spec, about) as recorder:
        conformance.running.run(device, spec, emu, kernels, sizes, recorder)
        recorder.finish({})
    return folder


@pytest.fixture(scope="module")
def nvrtc() -> cuda.Nvrtc:
    try:
        return cuda.Nvrtc()
    except NoDeviceError as e:
        pytest.skip(str(e))


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> fake_cuda.Driver:
    made = fake_cuda.Driver()
    modules: dict[str, Any] = {"driver": made, "nvrtc": fake_cuda.Nvrtc()}
    monkeypatch.setattr(cuda, "_import", modules.__getitem__)
    return made
