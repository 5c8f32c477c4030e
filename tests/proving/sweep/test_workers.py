"""Sweeps on several processes and on a Dask cluster: whatever is killed meanwhile, every block counts once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from ptxspec.diagnostics import PtxspecError
from ptxspec.proving.sweep import cluster as clusters, sweeping
from ptxspec.proving.sweep.blocks import Job
from ptxspec.proving.sweep.sweeping import sweep
from ptxspec.proving.sweep.telling import as_json

pytestmark = pytest.mark.exhaustive

# 33 blocks, and some millions of results that differ.
JOB = Job(ROOT, False, "add.f32", "add.ftz.f32", None, False)
BLOCKS = 33


@pytest.fixture(scope="module")
def alone() -> str:
    """The result of one process, as JSON."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "processors", lambda: 1)
        found = as_json(*sweep(JOB, None, None))
    assert json.loads(found)["results"]["differ"] > 1000
    return found


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All but the first block are counted in two others, whose numbers come here."""
    monkeypatch.setattr(sweeping, "_ALONE", 0.0)
    monkeypatch.setattr(sweeping, "processors", lambda: 2)
    return []


def test_processes_find_what_one_does(alone: str, processes: None) -> None:
    told: list[tuple[int, int]] = []
    assert as_json(*sweep(JOB, None, None, lambda *at: told.append(at))) == alone
    done = [d for d, _ in told]
    assert len(done) == BLOCKS and done == sorted(done) and told[-1] == (done[-1], done[-1])


def children() -> list[int]:
    import multiprocessing

    return [p.pid for p in multiprocessing.active_children() if p.pid]


def test_where_a_process_is_killed_nothing_is_lost_or_counted_twice(
    alone: str, processes: None, tmp_path: Path
) -> None:
    state, seen = tmp_path / "state.json", []

    def kill_one(done: int, total: int) -> None:
        seen.append(done)
        if len(seen) == 4:
            os.kill(children()[0], signal.SIGKILL)

    with pytest.raises(
        PtxspecError, match=r"a process of the sweep was killed; .*state.json has the progress; the same command"
    ):
        sweep(JOB, state, None, kill_one)
    assert as_json(*sweep(JOB, state, None)) == alone


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("later", [0.0, 0.1])
def test_an_interrupt_while_processes_start_is_quiet(later: float, tmp_path: Path) -> None:
    """It goes to all of them, as one from a terminal does, while the first ones import what they need."""
    state = tmp_path / "state.json"
    command = [
        sys.executable, "-m", "ptxspec", "sweep", "add.f16", "--against", "add.rn.f16", "--exhaustive", "--root",
        str(ROOT), "--state", str(state),
    ]  # fmt: skip
    # What runs in the background may have been told to ignore interrupts.
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heard
    ) as swept:
        tasks = Path(f"/proc/{swept.pid}/task")
        while swept.poll() is None and not any(p.read_text() for p in tasks.glob("*/children")):
            time.sleep(0.001)
        time.sleep(later)
        os.killpg(swept.pid, signal.SIGINT)
        _, said = swept.communicate(timeout=60)
    assert (swept.returncode, said) == (130, f"stopped: {state} has the progress; the same command continues\n")


def test_a_sweep_that_is_killed_goes_on(alone: str, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    command = [
        sys.executable, "-m", "ptxspec", "sweep", JOB.a, "--against", JOB.against, "--format", "json", "--root",
        str(ROOT), "--state", str(state),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        while first.poll() is None and not (state.exists() and json.loads(state.read_text("utf-8"))["done"]):
            time.sleep(0.01)
        first.kill()
    # It may have been done by then.
    assert json.loads(state.read_text("utf-8"))["done"]
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 1 and second.stdout.strip() == alone.strip()


@pytest.fixture
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with contextlib.ExitStack() as stack:
        made = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        )
        yield stack.enter_context(made)


def test_a_cluster_of_which_a_worker_is_killed_finds_what_one_process_does(alone: str, cluster: Any) -> None:
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if not killed:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    swept, total = sweep(JOB, None, cluster.scheduler_address, kill_one)
    assert killed and as_json(swept, total) == alone
    assert total.done == {*range(BLOCKS)}


@pytest.mark.parametrize("lost", [False, True], ids=["while they count", "with what is counted and not here yet"])
def test_a_cluster_without_workers_keeps_what_they_have_counted(
    lost: bool, alone: str, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(clusters, "_WITHOUT", 2.0)
    state, seen, ended = tmp_path / "state.json", [], []
    look = clusters._Workers.look

    def end_all() -> None:
        if seen and not ended:
            ended.append(True)
            cluster.scale(0)

    def look_and_end_all(workers: Any) -> None:
        look(workers)
        if seen and not ended:
            time.sleep(0.5)  # others are counted
            end_all()
            while cluster.scheduler.workers:
                time.sleep(0.01)

    def told(done: int, total: int) -> None:
        seen.append(done)
        if not lost:
            end_all()

    if lost:
        monkeypatch.setattr(clusters._Workers, "look", look_and_end_all)
    with pytest.raises(PtxspecError, match=r"no workers for 2 seconds; .*; .*state.json has the progress"):
        sweep(JOB, state, cluster.scheduler_address, told)
    assert capsys.readouterr().err.count("no workers are left; start some") == 1
    kept = json.loads(state.read_text("utf-8"))
    assert sum(last - first + 1 for first, last in kept["done"]) == len(seen) < BLOCKS
    cluster.scale(1)
    cluster.wait_for_workers(1)
    assert as_json(*sweep(JOB, state, cluster.scheduler_address)) == alone


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler in a process of its own, with a worker in another: its address, and that process."""
    pytest.importorskip("distributed")
    file, options = (
        tmp_path / "scheduler.json",
        ["--no-dashboard", "--scheduler-file", str(tmp_path / "scheduler.json")],
    )
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    command = [sys.executable, "-m", "dask"]
    local = ["--host", "127.0.0.1"]
    with subprocess.Popen([*command, "scheduler", *local, "--port", "0", *options], **quiet) as process:
        while process.poll() is None and not (file.exists() and file.read_text("utf-8").rstrip().endswith("}")):
            time.sleep(0.05)
        worker = subprocess.Popen([*command, "worker", *local, "--nthreads", "1", "--no-nanny", *options], **quiet)
        with worker:
            yield json.loads(file.read_text("utf-8"))["address"], process
            worker.kill()
            process.kill()


def test_where_the_scheduler_is_killed_what_was_counted_is_kept(
    alone: str, scheduler: tuple[str, subprocess.Popen[bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_WITHOUT", 2.0)
    address, process = scheduler
    import distributed

    with distributed.Client(address) as client:
        client.wait_for_workers(1, timeout=60)
    state, seen = tmp_path / "state.json", []

    def kill_it(done: int, total: int) -> None:
        process.kill()
        seen.append(done)

    with pytest.raises(
        PtxspecError, match=r"(scheduler of the cluster is gone|no workers for 2 s.*); .*has the progress"
    ):
        sweep(JOB, state, address, kill_it)
    kept = json.loads(state.read_text("utf-8"))
    assert sum(last - first + 1 for first, last in kept["done"]) == len(seen) < BLOCKS
    assert as_json(*sweep(JOB, state, None)) == alone


def test_what_a_cluster_cannot_count_is_told(cluster: Any, tmp_path: Path) -> None:
    other = Job(ROOT, False, "add.f32", str(tmp_path / "none.ptx"), None, False)
    with pytest.raises(PtxspecError, match="there is no such file"):
        sweep(other, None, cluster.scheduler_address)
    cluster.scale(0)
    while cluster.workers:
        time.sleep(0.05)
    with pytest.raises(PtxspecError, match="it has no workers; start some with `dask worker"):
        sweep(JOB, None, cluster.scheduler_address)
