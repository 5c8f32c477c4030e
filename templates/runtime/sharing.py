"""Work on several threads, which take the next part as soon as they are done with one.

Whoever waits for a thread that does not get a processor loses more than threads gain. So nobody waits for one to begin,
and parts are small enough that the others do what one does not come to."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress


class Parts:
    """A length, handed out in parts, each as long as `size` says of what is left, none shorter than `least`."""

    def __init__(self, length: int, least: int, size: Callable[[int], int]) -> None:
        self._length, self._least, self._size = length, least, size
        self._next = self._running = 0
        self._stopped = False
        self._lock, self._done = allocate_lock(), allocate_lock()
        self._failures: list[BaseException] = []

    def share(self, run: Callable[[int, int], None], threads: int) -> None:
        """Do every part with `run`, from a start to a stop, on this number of threads, this one included. Raises what
        `run` raises, once nobody is at work any more."""
        import threading  # noqa: F401  # whichever thread imports it is the main one to it: no helper

        self._done.acquire()
        try:
            with suppress(RuntimeError):  # no more threads: those that there are do it
                for _ in range(threads - 1):
                    start_new_thread(self._help, (run,))
            while (part := self._taken(0)) is not None:
                run(*part)
        except BaseException as e:
            self._failures.append(e)
        while True:
            try:
                if self._is_over():
                    break
                self._done.acquire()
            except BaseException as e:  # an interrupt, which comes to this thread alone
                self._failures.append(e)
        if self._failures:
            raise self._failures[0]

    def _help(self, run: Callable[[int, int], None]) -> None:
        while (part := self._taken(1)) is not None:
            try:
                run(*part)
            except BaseException as e:
                self._failures.append(e)
            with self._lock:
                self._running -= 1
                if self._stopped and not self._running:
                    self._done.release()

    def _taken(self, helpers: int) -> tuple[int, int] | None:
        """Return the next part, counting the helper that takes it as at work; None where there is none."""
        with self._lock:
            start = self._next
            if start == self._length or self._stopped or self._failures:
                return None
            left = self._length - start
            size = max(self._size(left), self._least)
            # No crumbs.
            self._next = start + size if left - size >= self._least else self._length
            self._running += helpers
            return start, self._next

    def _is_over(self) -> bool:
        """Let nobody begin another part, and return whether nobody is at work any more."""
        with self._lock:
            self._stopped = True
            return not self._running
