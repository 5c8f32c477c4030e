"""`python cores.py SPELLING...`: what threads of one process do, in what as many processes of one thread do.

Prints a JSON object: by spelling the rate of the threads over that of the processes, over that of one thread, and the
nanoseconds of an element on one thread. All are taken in turn, and the best of several rounds counts."""

from __future__ import annotations

import json
import os
import sys
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection

import numpy as np
import ptxemu
from kernels import operands

SIZE = 1 << 24
ROUNDS = 7


class Work:
    """A kernel with operands and a place for the result."""

    def __init__(self, spelling: str) -> None:
        self.kernel = ptxemu.compile(spelling)
        few = operands(spelling.split(".")[-1], "random")[: self.kernel.operands]
        self.given = [np.tile(x, SIZE // x.size) for x in few]
        self.out = np.empty_like(self.kernel(*self.given))

    def seconds(self, threads: int | None) -> float:
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
            work = Work(asked)
        end.send(None)


def all_at_once(ends: list[Connection], asked: str) -> float:
    start = time.perf_counter()
    for end in ends:
        end.send(asked)
    for end in ends:
        end.recv()
    return time.perf_counter() - start


def measured(spelling: str, ends: list[Connection]) -> dict[str, float]:
    work, count = Work(spelling), len(ends)
    all_at_once(ends, spelling)
    taken: dict[str, list[float]] = {"threads": [], "one": [], "processes": [], "default": []}
    for _ in range(ROUNDS + 1):
        taken["threads"].append(work.seconds(count))
        taken["processes"].append(all_at_once(ends, "run") / count)
        taken["one"].append(work.seconds(1))
        taken["default"].append(work.seconds(None))
    best = {name: min(seconds[1:]) for name, seconds in taken.items()}
    return {
        "of_processes": best["processes"] / best["threads"],
        "of_one": best["one"] / best["threads"],
        "default_of_one": best["one"] / best["default"],
        "ns": best["one"] / SIZE * 1e9,
    }


def main(spellings: list[str]) -> None:
    context = get_context("spawn")
    pipes = [context.Pipe() for _ in range(len(os.sched_getaffinity(0)))]
    workers = [context.Process(target=serve, args=(there,), daemon=True) for _, there in pipes]
    for worker in workers:
        worker.start()
    ends = [here for here, _ in pipes]
    print(json.dumps({spelling: measured(spelling, ends) for spelling in spellings}, indent=1))
    for end in ends:
        end.send("")
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main(sys.argv[1:])
