"""The number of lanes in a block on threads: the one that was seen to be quickest."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Sequence
from math import log2

# All threads take blocks of one size for so many lanes: short blocks are not as quick as they seem where they hold up
# other threads' long ones.
TURN = 1 << 22
# Once in this many turns another size is tried anew: the quickest size need not stay so.
AGAIN = 32
# A block that takes longer has many steps, and holds much memory.
LONGEST = 4e-3


class Quickest:
    """The choice of the quickest of some sizes, powers of two: the one that takes the least time for a lane, by the
    median of a turn's blocks.

    The first is the least. One that would take longer than LONGEST is never tried. Threads ask and tell at once."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        # Of a lane: of each size in its last turn, and of each block in this one.
        self._seconds: dict[int, float] = {}
        self._taken: list[float] = []
        self._turns = 0
        self._size, self._left = sizes[0], TURN
        self._lock = allocate_lock()

    def size(self) -> int:
        """Return the length of the next block, in lanes."""
        return self._size

    def took(self, lanes: int, seconds: float) -> None:
        """Note the time that a block of this number of lanes, or somewhat more or less, took."""
        with self._lock:
            if 1 << round(log2(lanes)) != self._size:
                return
            self._taken.append(seconds / lanes)
            self._left -= lanes
            if self._left <= 0:
                self._seconds[self._size] = sorted(self._taken)[len(self._taken) // 2]
                self._turns += 1
                self._size, self._left, self._taken = self._next(), TURN, []

    def _next(self) -> int:
        quickest = min(self._seconds, key=self._seconds.__getitem__)
        short = [size for size in self._sizes if size * self._seconds[quickest] <= LONGEST]
        for size in short:
            if size not in self._seconds:
                return size
        if short and self._turns % AGAIN == 0:
            return short[self._turns // AGAIN % len(short)]
        return quickest
