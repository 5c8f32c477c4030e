"""Blocks on a Dask cluster."""

from __future__ import annotations

import contextlib
import importlib
import logging
import queue
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ...diagnostics import PtxspecError
from .blocks import Counted, Job, count
from .state import Broken

# The number of blocks that are queued for each thread of the cluster.
_AHEAD = 4
_PATIENCE = "10s"
# Seconds between two counts of the cluster's workers, seconds to fetch a block's counts, and seconds that a sweep waits
# without any workers.
_LOOK = 1.0
_COMES = 5.0
_WITHOUT = 60.0


def on_cluster(job: Job, left: Iterable[int], address: str) -> Iterator[tuple[int, Counted]]:
    """Yield each block as soon as it is counted. Another worker counts the blocks of a lost one."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise PtxspecError("--scheduler requires Dask; install it with `pip install 'ptxspec[dask]'`") from None
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError, MemoryError) as e:  # anything may answer there
        first = str(e).strip().split("\n")[0]
        raise PtxspecError(f"--scheduler {address}: no Dask scheduler answers there: {first}") from None
    with _quiet(), contextlib.closing(client):
        workers = _Workers(client, address)
        if not workers.threads:
            raise PtxspecError(f"--scheduler {address}: it has no workers; start some with `dask worker {address}`")
        # Workers have other working folders.
        job = replace(job, a=_absolute(job.a), against=_absolute(job.against))
        yield from _counted(distributed, client, job, iter(left), workers)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log, which has tracebacks of lost connections: their consequences are reported here."""
    handlers = [(h, h.level) for h in logging.getLogger("distributed").handlers]
    try:
        for handler, _ in handlers:
            handler.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


def _absolute(text: str) -> str:
    """Return the absolute path of a file or a folder; other texts unchanged."""
    try:
        return str(Path(text).resolve()) if Path(text).exists() else text
    except (OSError, ValueError):
        return text  # too long for a file name


class _Workers:
    """The workers of a cluster, which come and go, and their number of threads."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self._looked = self._none_since = time.monotonic()
        self.threads = self._count()

    def look(self) -> None:
        """Count the workers from time to time. Raises Broken if there have been none for long."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked, had, self.threads = now, self.threads, self._count()
        if self.threads:
            return
        more = f"start some with `dask worker {self._address}`"
        if had:
            self._none_since = now
            said = f"no workers are left; {more} within {_WITHOUT:.0f} seconds to continue the sweep"
            print(f"ptxspec: --scheduler {self._address}: {said}", file=sys.stderr)
        elif now - self._none_since >= _WITHOUT:
            raise Broken(f"--scheduler {self._address}: it has had no workers for {_WITHOUT:.0f} seconds; {more}")

    def _count(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except OSError:
            raise _gone() from None


def _gone() -> Broken:
    return Broken("the scheduler of the cluster is gone")


def _counted(
    distributed: Any, client: Any, job: Job, numbers: Iterator[int], workers: _Workers
) -> Iterator[tuple[int, Counted]]:
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    pending: dict[str, tuple[int, Any]] = {}
    while True:
        # This submits more if workers have joined.
        for n in islice(numbers, max(0, _AHEAD * max(1, workers.threads) - len(pending))):
            # A key that depends on the content: a second sweep of the same gets blocks that are counted already.
            future = client.submit(count, job, n, key=f"ptxspec-sweep-{job.identity}-{n}", pure=True)
            pending[future.key] = n, future
            future.add_done_callback(done.put)
        if not pending:
            return
        workers.look()
        try:
            future = done.get(timeout=_LOOK)
        except queue.Empty:
            continue
        number, _ = pending[future.key]
        try:
            counted = future.result(timeout=_COMES)
        except TimeoutError:
            # Its worker has disappeared meanwhile, and another one will count it.
            future.add_done_callback(done.put)
            continue
        except distributed.KilledWorker as e:
            raise PtxspecError(f"several workers ended while they counted block {number}: {e}") from None
        except (RuntimeError, ImportError, MemoryError) as e:
            first = str(e).strip().split("\n")[0]
            raise PtxspecError(
                f"the scheduler and each worker require this version of ptxspec, and enough memory: {first}"
            ) from None
        except distributed.CancelledError:
            raise _gone() from None
        del pending[future.key]
        yield number, counted
