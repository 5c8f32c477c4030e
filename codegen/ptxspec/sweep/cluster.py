"""Blocks on a Dask cluster."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..diagnostics import PtxspecError
from .blocks import Counted, Job, count

# Blocks that wait for each thread of the cluster.
_AHEAD = 4
_PATIENCE = "10s"


def on_cluster(job: Job, left: Iterable[int], address: str) -> Iterator[tuple[int, Counted]]:
    """Each block, as soon as it is counted. What a worker had that is gone another one counts."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise PtxspecError("--scheduler needs Dask: pip install 'ptxspec[dask]'") from None
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError, MemoryError) as e:  # what answers there may be anything
        first = str(e).strip().split("\n")[0]
        raise PtxspecError(f"--scheduler {address}: no scheduler of Dask answers there: {first}") from None
    with contextlib.closing(client):
        threads = sum(client.nthreads().values())
        if not threads:
            raise PtxspecError(f"--scheduler {address}: it has no workers; start some with `dask worker {address}`")
        # Workers were started elsewhere.
        job = replace(job, a=_absolute(job.a), against=_absolute(job.against))
        yield from _counted(distributed, client, job, iter(left), _AHEAD * threads)


def _absolute(text: str) -> str:
    """A file or a folder by its whole path; other texts as they are."""
    try:
        return str(Path(text).resolve()) if Path(text).exists() else text
    except (OSError, ValueError):
        return text  # too long for a name


def _counted(
    distributed: Any, client: Any, job: Job, numbers: Iterator[int], ahead: int
) -> Iterator[tuple[int, Counted]]:
    # Where two sweep the same, a block has the same name: who comes second gets what is counted already.
    def submit(n: int) -> Any:
        return client.submit(count, job, n, key=f"ptxspec-sweep-{job.identity}-{n}", pure=True)

    pending = {f.key: (n, f) for n in islice(numbers, ahead) for f in (submit(n),)}
    running = distributed.as_completed([f for _, f in pending.values()], loop=client.loop)
    for future in running:
        number, _ = pending.pop(future.key)
        try:
            counted = future.result()
        except distributed.KilledWorker as e:
            raise PtxspecError(f"block {number} was on each of several workers that ended: {e}") from None
        except (RuntimeError, ImportError, MemoryError) as e:
            first = str(e).strip().split("\n")[0]
            raise PtxspecError(f"the scheduler and each worker need this ptxspec, and memory: {first}") from None
        except distributed.CancelledError:
            raise PtxspecError("the scheduler of the cluster is gone; the same command goes on elsewhere") from None
        for n in islice(numbers, 1):
            more = submit(n)
            pending[more.key] = n, more
            running.add(more)
        yield number, counted
