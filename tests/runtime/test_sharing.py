"""Threads do each part of a length once, whichever of them comes to it; what ends one ends all."""

from __future__ import annotations

import pickle
import threading
import time
from typing import Any

import numpy as np
import ptxemu
import pytest
from ptxemu import computing, running, sharing
from ptxemu.sharing import Parts


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("length", "least"), [(1, 1), (1000, 7), (100_000, 64)])
def test_every_part_is_done_once(threads: int, length: int, least: int) -> None:
    counts, sizes = np.zeros(length, np.uint8), []

    def run(start: int, stop: int) -> None:
        counts[start:stop] += 1
        sizes.append(stop - start)

    Parts(length, least, threads).share(run, threads)
    assert (counts == 1).all() and min(sizes) >= least


def test_whoever_is_ready_takes_the_next_part() -> None:
    done: dict[int, int] = {}

    def run(start: int, stop: int) -> None:
        me = threading.get_ident()
        done[me] = done.get(me, 0) + 1
        # The others have a slow processor.
        time.sleep(0 if me == threading.main_thread().ident else 0.2)

    Parts(100, 1, 100).share(run, 2)
    assert done[threading.get_ident()] > 90


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_ends_one_ends_all_and_nobody_is_left_at_work(error: type[BaseException]) -> None:
    at_work: set[int] = set()
    helping = threading.Event()

    def run(start: int, stop: int) -> None:
        if threading.current_thread() is threading.main_thread():
            helping.wait(30)
            raise error
        at_work.add(start)
        helping.set()
        time.sleep(0.05)
        at_work.remove(start)

    with pytest.raises(error):
        Parts(1000, 1, 1000).share(run, 3)
    assert not at_work


def test_an_interrupt_between_two_threads_leaves_none_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work, helping, start = set(), threading.Event(), sharing.start_new_thread

    def run(first: int, stop: int) -> None:
        at_work.add(first)
        helping.set()
        time.sleep(0.05)
        at_work.remove(first)

    def started(*call: Any) -> None:
        if helping.is_set():
            raise KeyboardInterrupt
        start(*call)
        helping.wait(30)

    monkeypatch.setattr(sharing, "start_new_thread", started)
    with pytest.raises(KeyboardInterrupt):
        Parts(1000, 1, 1000).share(run, 3)
    assert not at_work


def test_more_threads_than_processors_are_as_many_as_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def share(self: Parts, run: Any, threads: int) -> None:
        asked.append(threads)
        run(0, 1 << 21)

    monkeypatch.setattr(running, "available", lambda: 3)
    monkeypatch.setattr(Parts, "share", share)
    kernel, a = ptxemu.compile("add.rz.f32"), np.ones(1 << 21, np.float32)
    for threads in (10**9, 2, 3, None, 1):
        np.testing.assert_array_equal(kernel(a, a, threads=threads), a + a)
    kernel(a[: 1 << 16], a[: 1 << 16])
    assert asked == [3, 2, 3, 3]


@pytest.mark.usefixtures("accelerated")
def test_in_c_the_shape_that_operands_broadcast_to_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    helpers: list[int] = []

    def share(self: Parts, run: Any, threads: int) -> None:
        helpers.append(threads)
        run(0, 1 << 10)

    monkeypatch.setattr(running, "available", lambda: 2)
    monkeypatch.setattr(Parts, "share", share)
    kernel, a = ptxemu.compile("add.rz.f32"), np.ones((1 << 10, 1), np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(kernel(a, a.T), np.full((1 << 10, 1 << 10), 2))
    assert helpers == [2, 2, 2]
    for x, y in ((a, a), (a[:9], a[:9].T), (a[:, 0], a[:9])):
        np.testing.assert_array_equal(kernel(x, y), x + y)
    assert helpers == [2, 2, 2]


def test_on_threads_numpys_blocks_are_longer_as_far_as_time_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def fill(self: computing.Computing, arrays: list[np.ndarray], filled: int) -> None:
        sizes.append(arrays[-1].size)

    monkeypatch.setattr(running, "available", lambda: 2)
    monkeypatch.setattr(computing.Computing, "_fill", fill)
    # Another thread may take the processor for long.
    monkeypatch.setattr(computing, "BLOCK_SECONDS", 1e9)
    a = np.ones(1 << 21, np.float32)
    kernel = pickle.loads(pickle.dumps(ptxemu.compile("add.rz.f32")))  # which has never run
    kernel(a, a, threads=2)
    assert min(sizes) > running.BLOCK
    monkeypatch.setattr(computing, "BLOCK_SECONDS", 0)
    kernel(a, a, threads=2)
    sizes.clear()
    kernel(a, a, threads=2)
    assert set(sizes) == {running.BLOCK}
