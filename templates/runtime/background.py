"""The compilation of kernels that NumPy has spent some time on, while it goes on: one at a time, on a thread of its
own."""

from __future__ import annotations

import atexit
import os
from _thread import allocate_lock, get_ident, start_new_thread
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .computing import Computing

# Seconds after which a kernel is worth a compiler: it takes ten times as long.
ENOUGH: Final = 0.05
_lock = allocate_lock()
_waiting: deque[Computing] = deque()
# The thread that compiles, if one does.
_worker: int | None = None


class Meter:
    """The seconds that NumPy has spent on a kernel, until it is handed over."""

    __slots__ = ("kernel", "spent")

    def __init__(self, kernel: Computing) -> None:
        self.kernel, self.spent = kernel, 0.0

    def add(self, seconds: float) -> None:
        self.spent += seconds
        if self.spent > ENOUGH:
            self.spent = float("-inf")
            _hand_over(self.kernel)


def is_here() -> bool:
    """Return whether this is the thread that compiles."""
    return get_ident() == _worker


def _hand_over(kernel: Computing) -> None:
    global _worker
    import threading  # noqa: F401  # whichever thread imports it is the main one to it: not the one that compiles

    with _lock:
        _waiting.append(kernel)
        if _worker is None:
            # If no thread can be started, NumPy goes on.
            with suppress(RuntimeError):
                _worker = start_new_thread(_compile_all, ())


def _compile_all() -> None:
    global _worker
    while True:
        with _lock:
            if not _waiting:
                _worker = None
                return
            kernel = _waiting.popleft()
        from . import compiling

        with suppress(Exception):  # nothing that goes wrong here is the caller's
            kernel._adopt(kernel._compiled() if compiling.has_compiler() else None)


def _stop() -> None:
    """End the compilation with the process: it does not outlive it."""
    _waiting.clear()
    if _worker is not None:
        from . import compiling

        compiling.stop()


def _after_fork() -> None:
    """Forget the thread, which is in the other process."""
    global _lock, _worker
    _lock, _worker = allocate_lock(), None
    _waiting.clear()


atexit.register(_stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
