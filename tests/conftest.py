"""What many tests need: the specification read, a copy of it to edit, and the tools to hold it against."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from helpers import ROOT, repository
from helpers.project import OPCODES, Project
from oracles import nvidia
from ptxspec.model import Spec
from ptxspec.query.database import Database

# NumPy's kernels are what is tested, and what kernels in C are held against. runtime/test_accelerator.py switches C on.
os.environ.setdefault("PTXEMU_ACCELERATOR", "0")

# The golden ratio: its multiples spread evenly over [0, 1), and keep no step with the lengths of parametrizations.
SPREAD = 0.6180339887498949


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Where nothing is named, all tests run, and on all cores. A file of its own starts sooner in one process."""
    alone = config.option.usepdb or getattr(config.option, "numprocesses", 0) is not None
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not alone:
        config.option.numprocesses, config.option.dist = "auto", "worksteal"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `sampled(count)` so many cases run at once; the others are left to the sweeps."""
    found: dict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            found[item.path, getattr(item, "originalname", item.name)].append(item)
    for cases in found.values():
        (count,) = cases[0].get_closest_marker("sampled").args  # type: ignore[union-attr]
        places = sorted(range(len(cases)), key=lambda i: i * SPREAD % 1)
        for place in places[count:]:
            cases[place].add_marker("exhaustive")


@pytest.fixture(scope="session")
def spec() -> Spec:
    return repository.specification()


@pytest.fixture(scope="session")
def db() -> Database:
    return repository.database()


@pytest.fixture(scope="session")
def ptxas(db: Database) -> Path:
    """The assembler whose verdicts the specification records."""
    return nvidia.ptxas(db.data["assembler"]["observed"])


@pytest.fixture(scope="session")
def nvcc() -> Path:
    return nvidia.nvcc()


@pytest.fixture(scope="session")
def nvdisasm() -> Path:
    return nvidia.nvdisasm()


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """The repository's spec/ and templates/ with few opcodes, to be edited. `generated/` comes with `generate`."""
    for folder in ("spec", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / "project" / folder)
    for path in (tmp_path / "project/spec/instructions").iterdir():
        if path.stem not in OPCODES:
            path.unlink()
    return Project(tmp_path / "project", capsys)
