"""Processes that work for this one."""

from __future__ import annotations

import os


def processors() -> int:
    """How many there are for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
