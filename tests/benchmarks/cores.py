"""`python cores.py [SPELLING...]`: what threads of one process do, in what as many processes of one thread do.

Without spellings: one variant of each opcode and type of result, with NumPy alone and in C. A line for each kernel says
whether its threads do enough: in C 90 % of what the processes do, 70 % with NumPy alone where a lane takes more than
2 ns; and whether more threads, or those taken by default, are slower than one. Exits with 1 where one is. It takes half
an hour, on a machine where nothing else runs: what others take from a round falls on threads and processes unequally.

With `--json` and spellings the figures alone, a JSON object a line, in C where ptxemu finds that: the rate of the
threads over that of the processes, over that of one thread, that of the default over one thread, and the nanoseconds of
a lane on one thread. All are taken in turn, and the best of several rounds counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import ptxemu
from signatures import LANES, registers, types
from switch import environment

SIZE = 1 << 24
# A kernel is given so many rounds, and fewer where they take long.
ROUNDS, SECONDS = 7, 8.0
# Two times of the same work differ by so much where nothing else runs.
NOISE = 0.03
ENOUGH = {"0": 0.7, "1": 0.9}
HOW = {"0": "NumPy", "1": "C"}


class Work:
    """A kernel with operands and a place for each result."""

    def __init__(self, spelling: str) -> None:
        self.kernel = ptxemu.compile(spelling)
        self.given = [np.tile(x, SIZE // LANES) for x in registers(self.kernel)]
        made = tuple(np.empty(self.given[0].shape, t.bits) for _, t in self.kernel._signature.places[0])
        self.out: Any = made if len(made) > 1 else made[0]

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
    taken: dict[str, list[float]] = {"threads": [], "one": [], "processes": [], "default": []}
    start = time.perf_counter()
    while len(taken["one"]) <= ROUNDS and (len(taken["one"]) < 4 or time.perf_counter() - start < SECONDS):
        taken["threads"].append(work.seconds(count))
        taken["processes"].append(all_at_once(ends, "run") / count)
        taken["one"].append(work.seconds(1))
        taken["default"].append(work.seconds(None))
    best = {name: min(seconds[1:]) for name, seconds in taken.items()}
    return {
        "spelling": spelling,
        "is_in_c": work.kernel.is_in_c,
        "of_processes": best["processes"] / best["threads"],
        "of_one": best["one"] / best["threads"],
        "default_of_one": best["one"] / best["default"],
        "ns": best["one"] / SIZE * 1e9,
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


def verdict(found: dict[str, Any], switch: str) -> str:
    """Return what is too slow, or an empty string where nothing is."""
    wrong = []
    if (switch == "1" or found["ns"] > 2) and found["of_processes"] < ENOUGH[switch]:
        wrong.append(f"threads do {found['of_processes']:.0%} of what processes do, not {ENOUGH[switch]:.0%}")
    for name, what in (("of_one", "threads are"), ("default_of_one", "the default is")):
        if found[name] < 1 - NOISE:
            wrong.append(f"{what} slower than one thread")
    return "; ".join(wrong)


def chosen() -> list[str]:
    """One variant of each opcode and type of result."""
    found = {(v.spelling.split(".")[0], *types(v)[:1]): v.spelling for v in reversed(ptxemu.variants())}
    return sorted(found.values())


def judged(spellings: list[str], switch: str) -> list[str]:
    """Those that are too slow; all are printed as they are measured."""
    command = [sys.executable, __file__, "--json", *spellings]
    wrong = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(switch)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            found = json.loads(line)
            if switch == "1" and not found["is_in_c"]:
                continue
            why = verdict(found, switch)
            wrong += [f"{HOW[switch]} {found['spelling']}"] if why else []
            columns = f"{found['ns']:8.2f} ns {found['of_one']:5.2f} {found['of_processes']:5.2f}"
            print(f"{HOW[switch]:5} {found['spelling']:48} {columns}  {why or 'enough'}", flush=True)
    if process.returncode:
        raise SystemExit(f"{HOW[switch]}: ended with {process.returncode}")
    return wrong


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--json"]:
        for found in figures(arguments[1:]):
            print(json.dumps(found), flush=True)
        return 0
    if (busy := os.getloadavg()[0]) > 0.5:
        print(f"others are at work here (a load of {busy:.1f}): no verdict on threads holds", file=sys.stderr)
    print(
        f"{'':5} {'kernel':48} {'one lane':>11} {'x one':>5} {'x all':>5}  on {len(os.sched_getaffinity(0))} processors"
    )
    wrong = [name for switch in ("0", "1") for name in judged(arguments or chosen(), switch)]
    print(f"{len(wrong)} kernels are too slow on threads" + (f": {', '.join(wrong)}" if wrong else ""))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
