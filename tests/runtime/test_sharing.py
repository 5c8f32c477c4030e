"""Threads do each part of a length once, whichever of them comes to it; what ends one ends all."""

from __future__ import annotations

import pickle
import threading
import time
from typing import Any

import numpy as np
import ptxemu
import pytest
from ptxemu import computing, running, sharing, tuning
from ptxemu.sharing import Parts
from ptxemu.tuning import Quickest


def one(left: int) -> int:
    return 1


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("length", "least"), [(1, 1), (1000, 7), (100_000, 64)])
def test_every_part_is_done_once(threads: int, length: int, least: int) -> None:
    counts, sizes = np.zeros(length, np.uint8), []

    def run(start: int, stop: int) -> None:
        counts[start:stop] += 1
        sizes.append(stop - start)

    Parts(length, least, lambda left: left // (4 * threads)).share(run, threads)
    assert (counts == 1).all() and min(sizes) >= least


def test_whoever_is_ready_takes_the_next_part() -> None:
    done: dict[int, int] = {}

    def run(start: int, stop: int) -> None:
        me = threading.get_ident()
        done[me] = done.get(me, 0) + 1
        # The others have a slow processor.
        time.sleep(0 if me == threading.main_thread().ident else 0.2)

    Parts(100, 1, one).share(run, 2)
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
        Parts(1000, 1, one).share(run, 3)
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
        Parts(1000, 1, one).share(run, 3)
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


def turns(quickest: Quickest, count: int, a_lane: dict[int, float]) -> list[int]:
    """The sizes of so many turns, with blocks in each that are disturbed."""
    sizes = []
    for _ in range(count):
        sizes.append(quickest.size())
        for block in range(tuning.TURN // sizes[-1] + 1):
            assert quickest.size() == sizes[-1]
            disturbance = 1.0 if block in (1, 2) else 0.0
            quickest.took(sizes[-1] - 99, (sizes[-1] - 99) * a_lane[sizes[-1]] + disturbance)
    return sizes


def test_the_size_of_blocks_that_was_quickest_is_taken_and_a_disturbance_does_not_count() -> None:
    a_lane = {1 << 16: 3e-9, 1 << 17: 2e-9, 1 << 18: 2.5e-9}
    quickest = Quickest(list(a_lane))
    assert turns(quickest, 5, a_lane) == [1 << 16, 1 << 17, 1 << 18, 1 << 17, 1 << 17]
    a_lane[1 << 18] = 1e-9
    again = turns(quickest, tuning.AGAIN * len(a_lane), a_lane)
    assert set(again) == {*a_lane} and again[-4:] == [1 << 18] * 4
    assert again.count(1 << 16) == 1


def test_blocks_that_take_long_are_not_made_longer() -> None:
    a_lane = {1 << 16: 25e-9, 1 << 17: 20e-9, 1 << 18: 1e-9}
    assert {*turns(Quickest(list(a_lane)), 200, a_lane)} == {1 << 16, 1 << 17}
    assert {*turns(Quickest(list(a_lane)), 200, dict.fromkeys(a_lane, 1e-6))} == {1 << 16}


def test_what_is_far_from_the_size_that_is_asked_for_tells_nothing() -> None:
    quickest = Quickest([1 << 16, 1 << 17])
    for size, a_lane in ((1 << 16, 2e-12), (1 << 17, 1e-12)):
        for _ in range(tuning.TURN // size):
            quickest.took(size, a_lane * size)
            for other in (1 << 10, 1 << 25, 3 * (1 << 16) - size):
                quickest.took(other, 1e-15 if size == 1 << 16 else 1.0)
    assert quickest.size() == 1 << 17


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the blocks that two threads fill, of which each is asked to have 2**17 lanes."""
    sizes: list[int] = []

    def fill(self: computing.Computing, arrays: list[np.ndarray], filled: int) -> None:
        sizes.append(arrays[-1].size)

    monkeypatch.setattr(running, "available", lambda: 2)
    monkeypatch.setattr(computing.Computing, "_fill", fill)
    monkeypatch.setattr(Quickest, "size", lambda self: 1 << 17)
    return sizes


@pytest.mark.parametrize(("shape", "other"), [((1 << 21,), (1,)), ((1 << 8, 1 << 13),) * 2, ((8, 1 << 18), (8, 1))])
def test_on_threads_numpys_blocks_are_as_long_as_is_quickest(
    shape: tuple[int, ...], other: tuple[int, ...], blocks: list[int]
) -> None:
    a, b = np.ones(shape, np.float32), np.ones(other, np.float32)
    kernel = pickle.loads(pickle.dumps(ptxemu.compile("add.rz.f32")))  # which has never run
    kernel(a, b, threads=2)
    # The last ones are shorter.
    assert sum(blocks) == 1 << 21 and set(blocks[:8]) == {1 << 17} and min(blocks) >= 1 << 16
    blocks.clear()
    kernel(a, b, threads=1)
    assert set(blocks) == {running.BLOCK}


def test_a_row_is_cut_where_it_is_longer_than_a_block(blocks: list[int]) -> None:
    shape = (4,) * 11
    ptxemu.compile("add.rz.f32")(np.ones(shape, np.float32), np.ones(shape[1:], np.float32)[:, :1], threads=2)
    assert sum(blocks) == 1 << 22 and max(blocks) == 1 << 18
