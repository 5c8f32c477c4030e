"""Checks of many files, on all cores. Few are checked in one process: starting others would take longer."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..diagnostics import PtxspecError
from ..processes import end_with_parent, processors
from ..query.database import Database
from .checking import Checker
from .discovery import STDIN, LintedFile
from .findings import Finding
from .languages import PTX
from .reading import NotTextError
from .statistics import Account

# Seconds for which files are checked in this process, and the bytes that it checks meanwhile: of PTX, and of other
# programs.
_ALONE = 0.25
_PTX_ALONE, _OTHER_ALONE = 1 << 21, 1 << 24
_MOST_AT_ONCE = 64


class Unreadable(NamedTuple):
    """The reason why a file was not checked. `grave`: it should have been. Folders contain all kinds of files."""

    message: str
    grave: bool = True


Event = Finding | Unreadable
Progress = Callable[[int, int], None]


def check_all(
    sources: Sequence[LintedFile],
    checker: Checker,
    data: Path,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Event]:
    """Yield the findings in the files, in their order; `checker` accounts for them. `data` is the path of its database;
    `jobs` is the number of processes, by default that of processors."""
    count = jobs or processors()
    done = 0
    # Only this process has the standard input.
    here = max((i + 1 for i, source in enumerate(sources) if source.path == STDIN), default=0)
    here = len(sources) if count == 1 else here
    start = time.monotonic() if _are_quick(sources) else -_ALONE
    for source in sources:
        if here <= done < len(sources) - 1 and time.monotonic() - start > _ALONE:
            break
        yield from _events(checker, source)
        done += 1
        if progress:
            progress(done, len(sources))
    left = sources[done:]
    if not left:
        return
    size = max(1, min(_MOST_AT_ONCE, len(left) // (8 * count)))
    batches = [left[i : i + size] for i in range(0, len(left), size)]
    same = (data, checker.account.tally.everything, checker.quiet)
    pool = ProcessPoolExecutor(min(count, len(batches)), initializer=_start, initargs=same)
    try:
        for batch, (events, account) in zip(batches, pool.map(_check, batches), strict=True):
            checker.account.add(account)
            yield from events
            done += len(batch)
            if progress:
                progress(done, len(sources))
    except BrokenProcessPool:
        raise PtxspecError("a process that checked files was killed; try --jobs 1, which starts none") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _are_quick(sources: Iterable[LintedFile]) -> bool:
    """Return whether checking the files takes less time than starting processes."""
    part = 0.0
    for source in sources:
        try:
            part += os.stat(source.path).st_size / (_PTX_ALONE if source.language == PTX else _OTHER_ALONE)
        except OSError:
            continue
        if part > 1:
            return False
    return True


def _events(checker: Checker, source: LintedFile) -> Iterator[Event]:
    try:
        yield from checker.check(source)
    except NotTextError as e:
        yield Unreadable(str(e), source.named or source.language == PTX)
    except PtxspecError as e:
        yield Unreadable(str(e))


# In another process

_checker: Callable[[], Checker]
_judging = _stopped = False


def _start(data: Path, everything: bool, quiet: bool) -> None:
    global _checker
    # The parent process reports interrupts.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _stop)
    threading.Thread(target=end_with_parent, daemon=True).start()
    _checker = partial(Checker, Database.read(data), everything, quiet)


def _stop(*_: object) -> None:
    """Stop when interrupted. While checking a file this process ends at once, as a file may take long; while sending an
    answer it does not, as the parent process would wait forever."""
    global _stopped
    _stopped = True
    if _judging:
        os._exit(1)


def _check(sources: Sequence[LintedFile]) -> tuple[list[Event], Account]:
    global _judging
    checker = _checker()
    _judging = True
    try:
        return [event for source in sources if not _stopped for event in _events(checker, source)], checker.account
    finally:
        _judging = False
