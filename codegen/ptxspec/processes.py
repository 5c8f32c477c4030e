"""Processes that work for this one: how many are worth it, and that they end with it."""

from __future__ import annotations

import multiprocessing
import os


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """Wait for the parent process and end with it: where it is killed, nobody else would end this one. Runs in a
    thread."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
