"""Fixtures of many tests: the specification as read, a copy of it to edit, and the tools to check it against."""

from __future__ import annotations

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from helpers import extension, judging, memory as memory_of_files, repository
from helpers.browser import Browser, Visits, launched
from helpers.commands import Run, runner
from helpers.passed import Passed
from helpers.project import Project, copied
from helpers.sizes import spread
from oracles import nvidia
from ptxspec import Database, cache
from ptxspec.model import JUDGED, Spec

# NumPy's kernels are what is tested, and what kernels in C are held against, which are built for their tests.
sys.modules["ptxemu_native"] = None  # type: ignore[assignment]

# The specification and its programs live to the end of a process, and are a million objects: looking through them for
# garbage as often as Python does took a quarter of the time.
gc.set_threshold(100_000, 10, 10)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz", metavar="SECONDS", type=int, default=3600, help="how long `-m fuzz` tries, all in all")
    parser.addoption("--record-passed", action="store_true", help="write which sweeps passed whole")
    parser.addoption("--again", action="store_true", help="run sweeps whole that passed before")
    parser.addoption("--record-judged", action="store_true", help=f"write who judged what to {JUDGED}")


def pytest_configure(config: pytest.Config) -> None:
    # They are for this run, and for no pytest that a test starts: its report would be taken for this one's.
    os.environ.pop("PYTEST_ADDOPTS", None)
    passed = Passed(config)
    config.pluginmanager.register(passed)
    config.pluginmanager.register(judging.Judging(config, passed=passed))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run all tests, where none is named, on all cores. A file by itself starts sooner in one process."""
    is_worker = hasattr(config, "workerinput")
    decided = config.option.usepdb or getattr(config.option, "numprocesses", 0) is not None
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not is_worker and not decided:
        config.option.numprocesses, config.option.dist = "auto", "worksteal"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `sampled(count)` so many cases run at once; the others are left to the sweeps, or out
    where the sweeps have them in whole."""
    found: dict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("exhaustive"):
            found[item.path, getattr(item, "originalname", item.name)].append(item)
    superfluous = set()
    for cases in found.values():
        (count,) = cases[0].get_closest_marker("sampled").args  # type: ignore[union-attr]
        at_once = set(spread(cases, count))
        for case in cases:
            if case not in at_once:
                case.add_marker("exhaustive")
                if "whole" in case.callspec.params:  # type: ignore[attr-defined]
                    superfluous.add(case)
    items[:] = [item for item in items if item not in superfluous]


def pytest_collection_finish() -> None:
    """Tests, and what their modules have read for them, are no garbage while tests run."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """pytest looks for garbage five times when it ends. It finds none, as what lives now lives to the end."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def memory() -> Iterator[None]:
    """Tests leave the user's cache alone: what is read twice in a process is remembered there."""
    with pytest.MonkeyPatch.context() as patch:
        memory_of_files.remember(patch)
        patch.setattr(cache, "folder", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Processes find modules compiled, as they do where a package is installed, even if this one keeps none."""
    with pytest.MonkeyPatch.context() as patch:
        if "PYTHONDONTWRITEBYTECODE" in os.environ:
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("bytecode")))
        yield


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


@pytest.fixture(scope="session")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., AbstractContextManager[None]]:
    """Has kernels run in C: those of some opcodes, or all. What is built is built once."""
    known: dict[tuple[str, ...], Path] = {}

    def installed(*opcodes: str, flags: str = "") -> AbstractContextManager[None]:
        key = (*opcodes, flags)
        if key not in known:
            known[key] = extension.build(tmp_path_factory.mktemp("extension") / "built", opcodes, flags)
        return extension.installed(known[key])

    return installed


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visits]:
    """Opens pages of the manual in a browser: helpers/browser.py tells how."""
    visits = Visits(browser)
    yield visits
    visits.close()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on the repository itself."""
    return runner(capsys)


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """A copy of the specification, to be edited. `generated/` comes with `generate`."""
    return Project(copied(tmp_path / "project"), capsys)
