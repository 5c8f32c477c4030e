"""Running a kernel on arrays: in blocks that a cache holds, and on threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .binary import Array
from .sharing import Parts
from .tuning import Quickest

# Lanes that are computed together: enough to hide what NumPy and Python take for a step, few enough that a step finds
# its operands in the cache.
BLOCK = 1 << 16
# Threads wait for the interpreter between steps, on some machines for longer than a step takes: longer ones make that
# seldom, and find less in the cache. Which size is quickest depends on both. The widest operand or result of a block
# has at most so many bytes: its steps hold several arrays as long.
THREADS_BLOCKS, THREADS_BYTES = (BLOCK, 2 * BLOCK, 4 * BLOCK, 8 * BLOCK), 1 << 21
# The C library of Linux returns what a step frees to the system, and fetches it again for the next, until it has seen
# something larger come and go.
np.empty(1 << 24, np.uint8)
# The number of lanes in C that are worth a second thread.
WORTH_THREADS = 1 << 19


def on_threads(
    run: Callable[[list[Array], int], None],
    arrays: list[Array],
    lanes: int,
    threads: int | None,
    what: object,
    results: int = 1,
    blocks: Quickest | None = None,
) -> None:
    """Run `run`, which fills the last arrays, in blocks of this number of lanes. It runs on one thread, or on as many
    as are asked for and worth it (None: on as many as there are processors), at most on one for each processor.
    `results` is the number of arrays to be filled. On several threads the length of blocks is that of `blocks`; C, for
    which that is None, takes what a thread is given as it is. Errors of `threads` name what is run."""
    operands, filled = arrays[:-results], arrays[-results:]
    result = filled[0]
    if not (threads is None or is_integer(threads)):
        raise TypeError(f"{what}: threads is {threads!r}; it takes 1 or more, or None for as many as are quickest")
    if threads is not None and threads < 1:
        raise ValueError(f"{what}: {threads} threads; it takes 1 or more, or None for as many as are quickest")
    # The lanes that are worth a thread of NumPy's: the narrowest array has a mebibyte of them.
    block = min(THREADS_BLOCKS[-1], (1 << 20) * lanes // min(x.itemsize for x in arrays))
    worth = result.size * lanes // (WORTH_THREADS // 2 if blocks is None else block)
    if worth > 1 and threads != 1:
        threads = min(worth, available(), worth if threads is None else int(threads))
    if worth < 2 or threads == 1:
        run(arrays, BLOCK)
        return
    assert threads is not None
    # What one thread reads, no other may write: only an operand that lies exactly under the result may share it.
    for r in filled:
        operands = [x.copy() if np.may_share_memory(x, r) and not _is_same(x, r) else x for x in operands]
    whole = _rows(operands, filled)
    length = whole[-1].shape[0]
    row, count = result.size * lanes // length, threads
    if blocks is None:
        # Threads wait for the interpreter between parts, for some tenths of what C takes for fewer lanes.
        least = max(1, min(WORTH_THREADS // row, length // count))
        large_first = Parts(length, least, lambda left: left // (4 * count))
        large_first.share(lambda start, stop: run([x[start:stop] for x in whole], block), count)
        return
    quickest = blocks

    def run_timed(start: int, stop: int) -> None:
        part, began = (stop - start) * row, time.perf_counter()
        # A part may be somewhat longer than a block, and a row much longer.
        run([x[start:stop] for x in whole], min(part, 2 * quickest.size()))
        quickest.took(part, time.perf_counter() - began)

    least = max(1, min(BLOCK // row, length // count))
    # The last ones are shorter, so that no thread waits long for another.
    parts = Parts(length, least, lambda left: min(quickest.size() // row, left // count))
    parts.share(run_timed, count)


def is_integer(x: object) -> bool:
    """Return whether x is an integer; a truth value is none."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _rows(operands: Sequence[Array], filled: Sequence[Array]) -> list[Array]:
    """Return the arrays, to be cut along the first axis: of one dimension, or with the longest axis first."""
    shape = filled[0].shape
    if all(x.shape == shape and x.flags.c_contiguous for x in (*operands, *filled)):
        return [x.reshape(-1) for x in (*operands, *filled)]
    axis = int(np.argmax(shape))
    return [np.moveaxis(x, axis, 0) for x in (*(np.broadcast_to(x, shape) for x in operands), *filled)]


def in_blocks(arrays: list[Array], size: int, contiguous: bool, results: int = 1) -> np.nditer:
    """Return the arrays, broadcast to the last, which are to be filled, as views of one dimension and at most this
    size: in the processor's byte order, and on request with each element next to the other."""
    order = ["nbo", "contig", "aligned"] if contiguous else ["nbo"]
    reads = ["readonly", "overlap_assume_elementwise", *order]
    writes = ["writeonly", "overlap_assume_elementwise", *order]
    op_flags: Any = [*[reads] * (len(arrays) - results), *[writes] * results]
    flags: Any = ["external_loop", "buffered", "zerosize_ok", "copy_if_overlap"]
    return np.nditer(arrays, flags=flags, op_flags=op_flags, buffersize=size)


def takes(arrays: Sequence[Array], filled: int = 1) -> bool:
    """Return whether arrays, of which the last are to be filled, can be handed to C as they are."""
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
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_same(x: Array, y: Array) -> bool:
    """Return whether two arrays have the same elements in the same places."""
    return (
        x.__array_interface__["data"] == y.__array_interface__["data"] and x.shape == y.shape and x.strides == y.strides
    )
