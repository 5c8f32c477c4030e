"""Each way of computing; and the accelerator switched on, as in a new process, with what it compiles, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.accelerating import forget, functions
from helpers.arithmetic_package import PATHS, taking
from helpers.rounding import environment
from ptxemu import accelerator, kernel as kernels, switch
from ptxemu.accelerator import load

# Functions of an opcode that are compiled for the sake of one.
MANY = 30


@pytest.fixture
def quiet() -> Iterator[None]:
    """NumPy says nothing of overflow and NaNs."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each way of computing, one after the other."""
    with taking(request.param, environment):
        yield


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, accelerator.Native]]:
    """All functions of an opcode that have C, in one library, which is built where it is asked for first."""

    @cache
    def library(opcode: str) -> dict[str, accelerator.Native]:
        has = accelerator.exported(opcode)
        some = {name: tuple(f) for name, f in functions(opcode).items() if name in has}
        with pytest.MonkeyPatch.context() as m:
            m.setenv("XDG_CACHE_HOME", str(folder))
            return load(opcode, some, f"all of {opcode}")

    folder = tmp_path_factory.mktemp("cache")
    return library


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """As in a new process with an empty cache, which it gives, and the accelerator switched on."""
    monkeypatch.setenv(switch.SWITCH, "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    forget(monkeypatch)
    yield tmp_path / "cache" / "ptxemu"
    kernels._compile.cache_clear()


@pytest.fixture
def accelerated(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, compiled: Callable[[str], dict[str, accelerator.Native]]
) -> None:
    """Kernels run in C, wherever there is C. Those of an opcode that has many are compiled one by one."""

    def loaded(opcode: str, some: accelerator.Functions, what: str) -> dict[str, accelerator.Native]:
        if len(accelerator.exported(opcode)) > MANY:
            return load(opcode, some, what)
        return {name: compiled(opcode)[name] for name in some}

    monkeypatch.setattr(accelerator, "load", loaded)
