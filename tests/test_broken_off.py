"""Broken off at any step, killed, interrupted, on a full disk or one that can no longer be written, each command leaves
the old or the new, whole; and the next run does its work and leaves nothing else behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from helpers import breaking, broken_off

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the library that breaks off is for Linux")

# A run that records takes a second: of its steps, each of which appends a part, so many are tried.
MOST = {"conformance --record": 8}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return breaking.build(tmp_path_factory.mktemp("breaking"))
    except (FileNotFoundError, subprocess.CalledProcessError) as e:
        pytest.skip(f"the library that breaks off cannot be built: {e}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", breaking.MODES)
@pytest.mark.parametrize("case", broken_off.CASES)
def test_every_step_can_be_the_last(case: str, mode: str, library: Path, tmp_path: Path) -> None:
    tried = breaking.tried(case, mode, MOST.get(case), tmp_path / "tried", library)
    assert tried["steps"] > 5, "steps are not counted"
    assert not tried["wrong"], "\n".join(tried["wrong"])
