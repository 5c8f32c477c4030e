"""What many tests need: a copy of the specification to edit, and the command line to run on it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import OPCODES, Project

# NumPy's kernels are what is tested, and what kernels in C are held against. runtime/test_accelerator.py switches C on.
os.environ.setdefault("PTXEMU_ACCELERATOR", "0")


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """The repository's spec/ and templates/ with few opcodes, to be edited. `generated/` comes with `generate`."""
    for folder in ("spec", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / "project" / folder)
    for path in (tmp_path / "project/spec/instructions").iterdir():
        if path.stem not in OPCODES:
            path.unlink()
    return Project(tmp_path / "project", capsys)
