"""A sweep from its beginning, or from where it was stopped, to its verdict."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path

from ...diagnostics import PtxspecError
from ...processes import processors
from .blocks import Counted, Job, Sum, Sweep, count, sweep_of
from .state import Broken, State, kept_in

Progress = Callable[[int, int], None]
Done = Iterator[tuple[int, Counted]]

# The approximate number of seconds that starting processes takes.
_ALONE = 1.0
# The number of blocks queued for each process: none is idle, and counted blocks do not pile up.
_AHEAD = 2


def sweep(job: Job, state: Path | None, scheduler: str | None, progress: Progress | None = None) -> tuple[Sweep, Sum]:
    """Count all blocks that are not counted in `state`, on all processors or on a Dask cluster. Raises PtxspecError,
    which says what remains if the sweep can be continued."""
    here = sweep_of(job)
    kept = State(state, here)
    job = replace(job, identity=here.identity)
    left = [n for n in range(len(here)) if n not in kept.sum.done]
    operands = here.operands - sum(map(here.size, left))
    try:
        for number, counted in _counted(job, here, left, scheduler):
            kept.sum = kept.sum.plus(number, counted)
            operands += here.size(number)
            kept.keep()
            if progress:
                progress(operands, here.operands)
    except Broken as e:
        raise PtxspecError(f"{e}; {kept_in(state)}") from None
    finally:
        kept.keep(at_once=True)
    return here, kept.sum


def _counted(job: Job, here: Sweep, left: Sequence[int], scheduler: str | None) -> Done:
    if scheduler is not None:
        from .cluster import on_cluster

        return on_cluster(job, left, scheduler)
    return _on_processors(job, here, left)


def _on_processors(job: Job, here: Sweep, left: Sequence[int]) -> Done:
    """Yield counted blocks, from this process for as long as others would hardly be quicker."""
    workers, start = processors(), time.monotonic()
    for i, number in enumerate(left):
        spent = time.monotonic() - start
        if i and workers > 1 and spent > _ALONE and spent / i * (len(left) - i) > 2 * _ALONE:
            yield from _in_processes(job, left[i:], workers)
            return
        yield number, here.count(number)


def _in_processes(job: Job, left: Iterable[int], workers: int) -> Done:
    # Threads may run in this process, so forking is unsafe.
    context = multiprocessing.get_context("spawn")
    # The end of this process closes the pipe, too, on which the others wait.
    asked, asking = context.Pipe(duplex=False)
    numbers = iter(left)
    pending: dict[Future[Counted], int] = {}
    with contextlib.ExitStack() as at_the_end:
        try:
            with _without_interrupts():
                pool = ProcessPoolExecutor(workers, context, _start, (asked,))
                # Blocks that are no longer needed are cancelled.
                at_the_end.callback(pool.shutdown, wait=False, cancel_futures=True)
                at_the_end.callback(asking.close)
                # The first submissions start nearly all processes.
                for n in islice(numbers, _AHEAD * workers):
                    pending[pool.submit(count, job, n)] = n
            while pending:
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    number = pending.pop(future)
                    counted = future.result()
                    for n in islice(numbers, 1):
                        # This may start a process that was not needed before.
                        with _without_interrupts():
                            pending[pool.submit(count, job, n)] = n
                    yield number, counted
        except BrokenProcessPool:
            raise Broken("a process of the sweep was killed") from None


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold interrupts back until the end: a half-started process would print a traceback. Processes that are started in
    here never get any: each would print where it was interrupted during its imports."""
    seen: list[int] = []
    with contextlib.ExitStack() as after:
        if threading.current_thread() is threading.main_thread():
            # Another thread may get the signal; the main thread raises it afterwards.
            handler = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
            after.callback(signal.signal, signal.SIGINT, handler)
        if hasattr(signal, "pthread_sigmask"):  # not on Windows
            # The tracker's start unblocks interrupts, so it must come first.
            resource_tracker.ensure_running()
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            after.callback(signal.pthread_sigmask, signal.SIG_SETMASK, mask)
        yield
    if seen:
        signal.raise_signal(signal.SIGINT)


# In another process


def _start(asked: Connection) -> None:
    # The parent process reports interrupts, on systems where they arrive here too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_when_closed, args=(asked,), daemon=True).start()


def _end_when_closed(asked: Connection) -> None:
    with contextlib.suppress(OSError):
        asked.poll(None)
    os._exit(0)
