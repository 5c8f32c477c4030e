"""Times that can be compared: taken in turn, so that what else the machine does falls on all alike."""

from __future__ import annotations

import time
from collections.abc import Callable


def in_turn(
    *functions: Callable[[], object],
    rounds: int,
    seconds: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> list[list[float]]:
    """The seconds that each function took in each round, of at least `rounds` rounds and `seconds` in all.

    A call that is not counted comes first. What one thread does is measured by `time.thread_time` for a clock, which
    stands still while others have the processor."""
    for f in functions:
        f()
    taken: list[list[float]] = [[] for _ in functions]
    start = clock()
    while len(taken[0]) < rounds or clock() - start < seconds:
        for times, f in zip(taken, functions, strict=True):
            before = clock()
            f()
            times.append(clock() - before)
    return taken
