"""The workers of a cluster come and go: those that join are given blocks, and without any a sweep ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from types import SimpleNamespace
from typing import Any

import pytest
from helpers import ROOT
from ptxspec.proving.sweep import cluster
from ptxspec.proving.sweep.blocks import Job
from ptxspec.proving.sweep.state import Broken

DASK = SimpleNamespace(KilledWorker=ZeroDivisionError, CancelledError=CancelledError)
JOB = Job(ROOT, False, "add.f32", "add.ftz.f32", None, False)


class Future:
    """Of a block, whose result is its number."""

    def __init__(self, number: int, key: str, is_done: bool) -> None:
        self.number, self.key, self.is_done, self.lost = number, key, is_done, 0

    def add_done_callback(self, called: Callable[[Future], None]) -> None:
        if self.is_done:
            called(self)

    def result(self, timeout: float) -> int:
        if self.lost:
            self.lost -= 1
            raise TimeoutError
        return self.number


class Client:
    """Of a cluster that counts the first blocks at once, and has so many threads each time that it is asked."""

    def __init__(self, threads: list[int], counts: int = 1000) -> None:
        self.threads, self.counts, self.submitted = threads, counts, dict[int, Future]()

    def nthreads(self) -> dict[str, int]:
        return {"tcp://1": self.threads.pop(0) if len(self.threads) > 1 else self.threads[0]}

    def submit(self, function: Any, job: Job, number: int, key: str, pure: bool) -> Future:
        assert number not in self.submitted and pure
        future = self.submitted[number] = Future(number, key, len(self.submitted) < self.counts)
        return future


Counting = Callable[[Client, int], Iterator[tuple[int, Any]]]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """So many blocks on a cluster, at which is looked each time; ten seconds pass between two looks."""
    now = [0]

    def ten_later() -> int:
        now[0] += 10
        return now[0]

    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=ten_later))
    monkeypatch.setattr(cluster, "_LOOK", 0.001)

    def run(client: Client, blocks: int) -> Iterator[tuple[int, Any]]:
        yield from cluster._counted(DASK, client, JOB, iter(range(blocks)), cluster._Workers(client, "tcp://0"))

    return run


def test_every_block_comes_once(counted: Counting) -> None:
    assert sorted(counted(Client([2]), 100)) == [(n, n) for n in range(100)]
    assert [*counted(Client([2]), 0)] == []


def test_workers_that_join_are_given_blocks(counted: Counting) -> None:
    client, waiting = Client([1, 1, 1, 3, 1]), []
    for done, _ in enumerate(counted(client, 100), 1):
        waiting.append(len(client.submitted) - done)
    assert waiting[:2] == [3, 3] and max(waiting) == 11 and waiting[60] == 3 and waiting[-1] == 0


def test_without_workers_that_is_said_and_then_it_ends(counted: Counting, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = counted(Client([2, 0], counts=3), 100)
    assert [next(blocks)[0] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Broken, match="tcp://0: it has had no workers for 60 seconds; start some with `dask worker"):
        next(blocks)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "tcp://0: no workers are left; start some with `dask worker tcp://0`" in said


def test_workers_that_come_back_in_time_go_on(counted: Counting, capsys: pytest.CaptureFixture[str]) -> None:
    client = Client([2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2])
    assert len([*counted(client, 30)]) == 30
    assert capsys.readouterr().err.count("no workers are left") == 2


def test_a_result_whose_worker_is_gone_is_counted_again(counted: Counting) -> None:
    client = Client([1])
    blocks = counted(client, 20)
    first = next(blocks)
    client.submitted[2].lost = 2
    assert sorted([first, *blocks]) == [(n, n) for n in range(20)]


def test_a_scheduler_that_is_gone_is_told(counted: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> None:
        raise OSError("closed")

    def cancelled(*_: object, **__: object) -> None:
        raise CancelledError

    for place, name, raised in ((Client, "nthreads", closed), (Future, "result", cancelled)):
        blocks = counted(Client([1]), 20)
        next(blocks)
        with monkeypatch.context() as m, pytest.raises(Broken, match="the scheduler of the cluster is gone"):
            m.setattr(place, name, raised)
            next(blocks)
