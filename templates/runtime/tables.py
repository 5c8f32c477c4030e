"""Results that are looked up instead of computed, where an operand has few patterns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeAlias, TypeVar

import numpy as np

from .binary import Array
from .narrowing import single_to_odd

# The number of results at a time, and of calls for few results, that justifies a table of 65,536: a call takes as long
# as dozens of its results.
ENOUGH, _OFTEN = 1 << 12, 64
# The number of functions whose tables are kept; the larger tables have half a megabyte.
_KEPT = 64
_Function: TypeAlias = "Callable[..., Array]"
_T = TypeVar("_T")
_tables: dict[_Function, Any] = {}
# The number of calls for few results, for functions without tables.
_asked: dict[_Function, int] = {}


@cache
def every_pattern(width: int) -> Array:
    """Return every pattern of at most 16 bits, in order."""
    found = np.arange(1 << width, dtype=np.uint32).astype(np.uint8 if width <= 8 else np.uint16)
    found.flags.writeable = False
    return found


def kept(function: _Function, made: Callable[[], _T]) -> _T:
    """Return the tables of a function, computed at the first call."""
    found: _T | None = _tables.get(function)
    if found is None:
        found = _tables[function] = made()
        while len(_tables) > _KEPT:
            # A copy, because another thread may add a table meanwhile.
            oldest = next(iter([*_tables]))
            _tables.pop(oldest, None)
            _asked.pop(oldest, None)
    return found


def are_kept(function: _Function) -> bool:
    return function in _tables


def half(x: Array) -> Array:
    """Return the upper half of each binary32, with its last bit set where the lower half is not zero."""
    rest = (x & np.uint32(0xFFFF)) != 0
    found: Array = (x >> np.uint32(16)).astype(np.uint16)
    found |= rest
    return found


def halved(function: _Function) -> _Function:
    """Return a function that looks up its results, from a function of a binary32 that depends only on `half` of it."""
    of_half = tabulated(16)(lambda x: function(x.astype(np.uint32) << np.uint32(16)))

    @wraps(function)
    def reading(x: Array) -> Array:
        return of_half(half(x)) if np.size(x) >= ENOUGH else function(x)

    return reading


def quartered(function: _Function) -> _Function:
    """Return a function that looks up its results, from a function of a binary64 that depends only on `half` of the
    binary32 to which the number is rounded to odd."""

    def of_single(x: Array) -> Array:
        return function(x.view(np.float32).astype(np.float64).view(np.uint64))

    of_half = tabulated(16)(lambda x: of_single(x.astype(np.uint32) << np.uint32(16)))

    @wraps(function)
    def reading(x: Array) -> Array:
        if np.size(x) < ENOUGH:
            return function(x)
        return of_half(half(single_to_odd(x.view(np.float64)).view(np.uint32)))

    return reading


def tabulated(width: int, other: int = 0) -> Callable[[_Function], _Function]:
    """Return a decorator for a function of one operand of `width` bits, or of two operands with at most 16 bits
    together. The function then looks up its results where many are wanted at a time."""
    least = min(ENOUGH, 1 << (width + other))

    def decorate(function: _Function) -> _Function:
        def made() -> Array:
            every = every_pattern(width + other)
            if not other:
                return function(every)
            return function((every >> other).astype(np.uint8), (every & ((1 << other) - 1)).astype(np.uint8))

        places = np.array(other, np.uint16)

        @wraps(function)
        def reading(x: Array, *more: Array) -> Array:
            found = _tables.get(function)
            if found is None:
                enough = np.size(x) >= least or _is_asked_often(function)
                if not enough or any(np.shape(y) != np.shape(x) for y in more):
                    return function(x, *more)
                found = kept(function, made)
            if more:
                x = x.astype(np.uint16) << places | more[0]
            # Any index of the unsigned type is in range; "wrap" spares the check.
            result: Array = found.take(x, mode="wrap")
            return result

        return reading

    return decorate


def _is_asked_often(function: _Function) -> bool:
    _asked[function] = asked = _asked.get(function, 0) + 1
    return asked > _OFTEN
