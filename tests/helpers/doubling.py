"""That something takes time in proportion to its input, shown by giving it more and not by a clock: eight times as much
takes eight times as long, or 64 times where the time is quadratic."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

MORE = 8
# Between 8 and 64, as far from the one as from the other.
_LIMIT = 23.0
_ATTEMPTS = 3


def _seconds(work: Callable[[int], object], size: int) -> float:
    # A search for garbage goes through the million objects of all other tests, and may fall into either.
    was_on = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        work(size)
        return time.process_time() - start
    finally:
        if was_on:
            gc.enable()


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Return whether `work` takes time in proportion to the size that it is given. Another program on the machine can
    only lengthen a measurement, so that the shortest of several counts."""
    work(MORE)
    small = min(_seconds(work, size) for _ in range(_ATTEMPTS))
    return any(_seconds(work, MORE * size) < _LIMIT * small for _ in range(_ATTEMPTS))
