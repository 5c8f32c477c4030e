"""Every recording of a GPU that the project keeps, replayed against the emulator by claim."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import ROOT
from ptxspec.evaluate import emulator
from ptxspec.model import Spec
from ptxspec.proving.gpu import recording
from ptxspec.proving.gpu.run import replay
from ptxspec.roots import find

RECORDINGS = recording.below(ROOT)


def check(path: Path, spec: Spec, sweeps: bool) -> None:
    report = replay(recording.read(path, spec), spec, emulator(find(ROOT)), sweeps)
    assert report.rows
    assert [str(r.variant) for r in report.rows if r.agrees is False] == []


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda p: p.name)
def test_the_emulator_agrees_with_what_was_recorded(path: Path, spec: Spec) -> None:
    check(path, spec, sweeps=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda p: p.name)
def test_the_emulator_agrees_with_every_digest(path: Path, spec: Spec) -> None:
    check(path, spec, sweeps=True)


def test_what_is_registered_is_there_and_the_other_way_round(spec: Spec) -> None:
    assert [ROOT / r.path for r in spec.recordings] == RECORDINGS
    if not RECORDINGS:
        pytest.skip("no recording of a GPU is in tests/recordings yet: nothing was replayed")
