"""`python cores.py SPELLING...`: what threads of one process do, in what as many processes of one thread do.

A JSON object a line for each kernel, in C where ptxemu finds that: the rate of the threads over that of the processes
and over that of one thread. All are taken in turn, and the best of several rounds counts."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import ptxemu
from signatures import LANES, registers

SIZE = 1 << 24
# A kernel is given so many rounds, and fewer where they take long.
ROUNDS, SECONDS = 7, 8.0


class Work:
    """A kernel with operands and a place for each result."""

    def __init__(self, spelling: str) -> None:
        self.kernel = ptxemu.compile(spelling)
        self.given = [np.tile(x, SIZE // LANES) for x in registers(self.kernel)]
        made = tuple(np.empty(self.given[0].shape, t.bits) for _, t in self.kernel._signature.places[0])
        self.out: Any = made if len(made) > 1 else made[0]

    def seconds(self, threads: int) -> float:
        start = time.perf_counter()
        self.kernel(*self.given, out=self.out, threads=threads)
        return time.perf_counter() - start


def serve(end: Connection) -> None:
    """Do what is asked for: prepare a kernel, or run it once."""
    work: Work | None = None
    while asked := end.recv():
        if asked == "run":
            assert work is not None
            work.seconds(1)
        else:
            work = None  # two of them might not find room
            work = Work(asked)
        end.send(None)


def all_at_once(ends: list[Connection], asked: str) -> float:
    start = time.perf_counter()
    for end in ends:
        end.send(asked)
    for end in ends:
        end.recv()
    return time.perf_counter() - start


def measured(spelling: str, ends: list[Connection]) -> dict[str, Any]:
    work, count = Work(spelling), len(ends)
    all_at_once(ends, spelling)
    taken: dict[str, list[float]] = {"threads": [], "one": [], "processes": []}
    start = time.perf_counter()
    while len(taken["one"]) <= ROUNDS and (len(taken["one"]) < 4 or time.perf_counter() - start < SECONDS):
        taken["threads"].append(work.seconds(count))
        taken["processes"].append(all_at_once(ends, "run") / count)
        taken["one"].append(work.seconds(1))
    best = {name: min(seconds[1:]) for name, seconds in taken.items()}
    return {
        "spelling": spelling,
        "of_processes": best["processes"] / best["threads"],
        "of_one": best["one"] / best["threads"],
    }


def figures(spellings: list[str]) -> Iterator[dict[str, Any]]:
    context = get_context("spawn")
    pipes = [context.Pipe() for _ in range(len(os.sched_getaffinity(0)))]
    workers = [context.Process(target=serve, args=(there,), daemon=True) for _, there in pipes]
    for worker in workers:
        worker.start()
    ends = [here for here, _ in pipes]
    for spelling in spellings:
        yield measured(spelling, ends)
    for end in ends:
        end.send("")
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    for found in figures(sys.argv[1:]):
        print(json.dumps(found), flush=True)
