"""A kernel that takes NumPy long is compiled while NumPy goes on; whatever goes wrong there costs a line at most."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.accelerating import skip_without_a_compiler
from ptxemu import background, compiling, quick, switch

skip_without_a_compiler()
pytestmark = pytest.mark.skipif(os.name == "nt", reason="scripts have another form there")

ONE = np.float32([1])
# So long a test waits for what takes one or two seconds.
PATIENCE = 60


@pytest.fixture(autouse=True)
def left_to_time(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As where nothing is said of C, and there is a compiler."""
    monkeypatch.delenv(switch.SWITCH)
    monkeypatch.setattr(switch, "_has_wheel", lambda: False)
    monkeypatch.setattr(background, "ENOUGH", 0.001)
    yield fresh
    wait()


def wait() -> None:
    """Until nothing is compiled any more."""
    end = time.monotonic() + PATIENCE
    while background._worker is not None:
        assert time.monotonic() < end
        time.sleep(0.01)


def used(spelling: str) -> ptxemu.Kernel:
    """A kernel that NumPy has spent some time on, when it has been compiled or given up."""
    kernel = ptxemu.compile(spelling)
    start = time.perf_counter()
    while time.perf_counter() - start < 0.05:
        assert kernel(ONE, ONE) == 2
    wait()
    return kernel


def test_a_kernel_that_takes_long_is_compiled_and_used(capfd: pytest.CaptureFixture[str]) -> None:
    kernel = used("add.f32")
    assert kernel._native is not None and kernel._meter is None
    for _ in range(2):
        assert kernel(ONE, ONE) == 2
    assert isinstance(kernel._plans[ONE.dtype, ONE.dtype], quick.Registered)
    assert capfd.readouterr().err == ""


def test_large_arrays_take_long_too() -> None:
    kernel, many = ptxemu.compile("mul.rz.f32"), np.ones((3, 200_000), np.float32)[:, ::2]
    for _ in range(30):
        kernel(many, many)
    wait()
    assert kernel._native is not None
    np.testing.assert_array_equal(kernel(many, many), many)


def test_functions_of_ptx_are_compiled_too() -> None:
    f = ptxemu.function("mul.rn.f32 t, a, a;  add.rn.f32 d, t, a;")
    many = np.full(1000, 2, np.float32)
    for _ in range(100):
        assert (f(many) == 6).all()
    wait()
    assert f._pieces and (f(many) == 6).all()


def test_one_is_compiled_at_a_time() -> None:
    kernels = [ptxemu.compile(f"add.{r}.f64") for r in ("rz", "rm", "rp")]
    one, at_work = np.ones(1), set()
    end = time.monotonic() + PATIENCE
    while not all(k.__dict__.get("_native") for k in kernels):
        assert time.monotonic() < end
        for kernel in kernels:
            assert kernel(one, one) == 2
        at_work.add(len(compiling._running))
        time.sleep(0.002)
    assert at_work <= {0, 1}


def test_nothing_is_compiled_where_that_is_forbidden(monkeypatch: pytest.MonkeyPatch, fresh: Path) -> None:
    monkeypatch.setenv(switch.SWITCH, "0")
    assert used("add.f32")._native is None and not fresh.exists()


def test_without_a_compiler_nothing_is_said(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiling, "has_compiler", lambda: False)
    kernel = used("add.f32")
    assert kernel._native is None and kernel._meter is None
    assert capfd.readouterr().err == ""


def script(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def is_running(path: Path) -> bool:
    """The process whose number is written there; a dead one may wait for whoever takes note of that."""
    try:
        return subprocess.check_output(["ps", "-o", "state=", "-p", path.read_text().strip()]).strip() != b"Z"
    except subprocess.CalledProcessError:
        return False


def test_a_compiler_that_fails_costs_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", script(tmp_path, "failing", "echo 'error: out of order' >&2; exit 1"))
    assert used("add.f32")._native is None and used("add.rz.f32")._native is None
    assert capfd.readouterr().err == "ptxemu: failing does not compile: error: out of order; NumPy goes on\n"


def test_a_compiler_that_makes_nothing_costs_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", script(tmp_path, "lying", "exit 0"))
    assert used("add.f32")._native is None and used("add.rz.f32")._native is None
    said = capfd.readouterr().err
    assert said.startswith("ptxemu: lying cannot be run, or its result not be kept: ") and said.count("\n") == 1


def test_a_compiler_that_hangs_costs_a_line_and_is_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", script(tmp_path, "hanging", f"sleep 1000 & echo $! > {tmp_path}/id; wait"))
    monkeypatch.setattr(compiling, "_PATIENCE", 0.5)
    monkeypatch.setattr(compiling, "_PATIENCE_FOR_A_LETTER", 0)
    assert used("add.f32")._native is None
    said = capfd.readouterr().err
    assert said == "ptxemu: hanging has not compiled add.f32 in 0 seconds, and is stopped; NumPy goes on\n"
    assert not is_running(tmp_path / "id")


ENDS = """
import numpy as np, ptxemu, os, time
from ptxemu import background
background.ENOUGH = 0
kernel, one = ptxemu.compile("add.f32"), np.float32([1])
while not os.path.exists({path!r}):
    kernel(one, one)
"""


def test_a_process_that_ends_leaves_no_compiler_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = str(tmp_path / "id")
    monkeypatch.setenv(
        "CC", script(tmp_path, "hanging", f"sleep 1000 & echo $! > {path}.new; mv {path}.new {path}; wait")
    )
    done = subprocess.run(
        [sys.executable, "-c", ENDS.format(path=path)], timeout=PATIENCE, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not is_running(Path(path))


FORKS = """
import os, sys, time
import numpy as np, ptxemu
from ptxemu import background
background.ENOUGH = 0
kernel, other, one = ptxemu.compile("add.f32"), ptxemu.compile("mul.f32"), np.float32([1])
while not os.path.exists({path!r}):
    kernel(one, one)
child = os.fork()
if not child:
    while background._worker is None:
        other(one, one)
    sys.exit()
os.waitpid(child, 0)
open({path!r} + ".go", "w").close()
while background._worker is not None:
    time.sleep(0.01)
assert kernel._native is not None
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_that_ends_leaves_its_parents_compiler_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, found = str(tmp_path / "id"), compiling._compiler()
    waiting = f'touch {path}; while [ ! -e {path}.go ]; do sleep 0.01; done; exec {" ".join(found.command)} "$@"'
    monkeypatch.setenv("CC", script(tmp_path, "waiting", waiting))
    command = [sys.executable, "-W", "ignore", "-c", FORKS.format(path=path)]
    done = subprocess.run(command, timeout=PATIENCE, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
