"""In whatever process or thread a kernel runs, and however it came there, its bits are the same, and nobody waits."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers import bits

# So long a test waits for what takes seconds.
PATIENCE = 120
CALLS = [(kernel, seed) for kernel in bits.kernels() for seed in (1, 2)]
METHODS = [m for m in ("spawn", "forkserver", "fork") if m in multiprocessing.get_all_start_methods()]
Way = Callable[[list[tuple[Any, int]]], list[int]]


@pytest.fixture(scope="module")
def expected() -> list[int]:
    """By NumPy, in this thread alone."""
    return [bits.of(kernel, seed, threads=1) for kernel, seed in CALLS]


def without_a_server() -> None:
    """Stop the process that forkserver forks from, as it has the environment that it was started in."""
    if "forkserver" in METHODS:
        from multiprocessing.forkserver import _forkserver

        _forkserver._stop()  # type: ignore[attr-defined]


def in_processes(method: str) -> Way:
    def way(calls: list[tuple[Any, int]]) -> list[int]:
        with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
            return list(pool.map(bits.of, *zip(*calls, strict=True), timeout=PATIENCE))

    return way


def in_threads(calls: list[tuple[Any, int]]) -> list[int]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(bits.of, *zip(*calls, strict=True), timeout=PATIENCE))


def by_dask(scheduler: str) -> Way:
    def way(calls: list[tuple[Any, int]]) -> list[int]:
        dask = pytest.importorskip("dask")
        found = dask.compute([dask.delayed(bits.of)(*call) for call in calls], scheduler=scheduler, num_workers=2)
        return list(found[0])

    return way


WAYS = {
    "threads": in_threads,
    **{method: in_processes(method) for method in METHODS},
    "Dask's threads": by_dask("threads"),
    "Dask's processes": by_dask("processes"),
}


def test_threads_that_share_kernels(expected: list[int]) -> None:
    assert in_threads(CALLS) == expected


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("way", WAYS)
def test_the_bits_are_the_same_on_every_way(way: str, expected: list[int]) -> None:
    """A kernel is pickled on its way to another process."""
    calls = list(zip(bits.kernels() * 2, [1] * (len(CALLS) // 2) + [2] * (len(CALLS) // 2), strict=True))
    by_seed = [*expected[::2], *expected[1::2]]
    without_a_server()
    for _ in range(2):
        assert WAYS[way](calls) == by_seed


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    tests = str(Path(bits.__file__).parents[1])
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


@pytest.mark.exhaustive
def test_threads_that_meet_each_kernel_at_once(expected: list[int]) -> None:
    """On a free-threaded Python they do so without a lock around them."""
    done = run("from helpers import bits; bits.main()", "6")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(expected[::2])] * 6
