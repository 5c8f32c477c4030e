"""Worker processes: how many are useful, and how they end with their parent."""

from __future__ import annotations

import multiprocessing
import os


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """Wait for the parent process and end with it. Otherwise this process would survive a parent that is killed. Runs
    in a thread."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
