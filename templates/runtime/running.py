"""Running a kernel on arrays: in blocks that a cache holds, and on threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .binary import Array

# Lanes that are computed together: enough to hide what NumPy and Python take for a step, few enough that a step finds
# its operands in the cache.
BLOCK = 1 << 16
# Threads wait for the interpreter between steps: longer ones make that seldom. All that a step holds is below 32 MB.
THREADS_BLOCK = 3 << 15
# The C library of Linux returns what a step frees to the system, and fetches it again for the next, until it has seen
# something larger come and go.
np.empty(1 << 24, np.uint8)


def on_threads(
    run: Callable[[list[Array], int], None],
    arrays: list[Array],
    lanes: int,
    threads: int | None,
    what: object,
    results: int = 1,
) -> None:
    """`run` fills the last arrays, so many `results`, in blocks of so many lanes: as a whole, or cut along the longest
    axis into as many parts as there are threads (None: processors), if each is worth one. Errors of `threads` name what
    is run."""
    operands, filled = arrays[:-results], arrays[-results:]
    result = filled[0]
    if threads is None:
        threads = available()
    if not isinstance(threads, (int, np.integer)):
        raise TypeError(f"{what}: threads is {threads!r}; it takes 1 or more, or None for one on each processor")
    if threads < 1:
        raise ValueError(f"{what}: {threads} threads; it takes 1 or more, or None for one on each processor")
    threads = min(threads, result.size * lanes // THREADS_BLOCK)
    if threads < 2:
        run(arrays, BLOCK)
        return
    axis = int(np.argmax(result.shape))
    # What one thread reads, no other may write: only an operand that lies exactly under the result may share it.
    for r in filled:
        operands = [x.copy() if np.may_share_memory(x, r) and not _is_same(x, r) else x for x in operands]
    whole = [np.moveaxis(np.broadcast_to(x, result.shape), axis, 0) for x in operands]
    whole += [np.moveaxis(r, axis, 0) for r in filled]
    edges = np.linspace(0, result.shape[axis], threads + 1).astype(int).tolist()
    parts = [[x[start:stop] for x in whole] for start, stop in pairwise(edges)]
    from threading import Thread  # seldom needed, and half as long to import as the package

    failures: list[BaseException] = []

    def run_part(part: list[Array]) -> None:
        try:
            run(part, THREADS_BLOCK)
        except BaseException as e:
            failures.append(e)

    others: list[Thread] = []
    try:
        for part in parts[1:]:
            thread = Thread(target=run_part, args=(part,))
            thread.start()
            others.append(thread)
        run_part(parts[0])
    finally:
        for thread in others:
            thread.join()
    if failures:
        raise failures.pop()


def in_blocks(arrays: list[Array], size: int, contiguous: bool, results: int = 1) -> np.nditer:
    """The arrays, broadcast to the last, which are to be filled, as views of one dimension and at most this size: in
    the processor's byte order, and on request with each element next to the other."""
    order = ["nbo", "contig", "aligned"] if contiguous else ["nbo"]
    reads = ["readonly", "overlap_assume_elementwise", *order]
    writes = ["writeonly", "overlap_assume_elementwise", *order]
    op_flags: Any = [*[reads] * (len(arrays) - results), *[writes] * results]
    flags: Any = ["external_loop", "buffered", "zerosize_ok", "copy_if_overlap"]
    return np.nditer(arrays, flags=flags, op_flags=op_flags, buffersize=size)


def takes(arrays: Sequence[Array], filled: int = 1) -> bool:
    """Can these, of which the last are to be filled, be handed to C as they are?"""
    result = arrays[-1]
    return all(
        x.shape == result.shape
        and x.flags.c_contiguous
        and x.flags.aligned
        and x.dtype.isnative
        and all(_apart(x, r) for r in arrays[-filled:])
        for x in arrays
    )


def _apart(x: Array, result: Array) -> bool:
    same = x.ctypes.data == result.ctypes.data and x.itemsize == result.itemsize
    return same or not np.may_share_memory(x, result)


def available() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_same(x: Array, y: Array) -> bool:
    """Do two arrays have the same elements in the same places?"""
    return (
        x.__array_interface__["data"] == y.__array_interface__["data"] and x.shape == y.shape and x.strides == y.strides
    )
