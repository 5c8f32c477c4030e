"""Processes that work for this one: how many are worth it, and that they end with it."""

from __future__ import annotations

import multiprocessing
import os


def processors() -> int:
    """How many there are for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """For a thread of such a process: where the one that it works for is killed, nobody else would end it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
