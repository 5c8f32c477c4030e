"""Calls on few elements: what a call finds out of its arrays' types it keeps for the next one.

Arrays of any kind are checked, broadcast and cut into blocks, which takes ten times as long as adding two numbers.
Where arrays of the same types came before and are one block at most, that is not done again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from .binary import Array
from .surroundings import undisturbed

if TYPE_CHECKING:
    from .background import Meter

_ARRAY: Final = np.ndarray
_BOOL: Final = np.dtype(bool)
# Of arrays.
Types: TypeAlias = "tuple[np.dtype[Any], ...]"


class Plan(NamedTuple):
    """What becomes of arrays: `function` takes them as one of the types of `operands` each, of one dimension, up to
    `most` numbers, with `gaps` between them or without; at the places of `truths`, as bools where a byte is not 0. What
    it returns, or as many of that as there are `lanes`, is kept as one of these each, and comes as `made`. A `meter`
    adds up the time."""

    function: Callable[..., Any]
    operands: Types
    truths: Sequence[int]
    gaps: bool
    most: int
    lanes: Types
    made: Types
    meter: Meter | None = None

    def called(self, arrays: Sequence[Any], out: Any = None, alone: bool = False) -> Any:
        """The result; None where arrays are not what is read quickly, or it has a place already."""
        if out is not None:
            return None
        function, operands, truths, gaps, most, lanes, made, meter = self
        try:
            shape = arrays[0].shape
            is_row = len(shape) == 1
        except (AttributeError, TypeError):
            return None  # no array
        if is_row:
            for x in arrays:
                if type(x) is not _ARRAY or x.shape != shape or not (gaps or x.flags.c_contiguous):
                    return None
            read = list(map(_ARRAY.view, arrays, operands))
        elif shape and arrays[0].size > most:
            return None
        else:
            read = _flat(arrays, operands, shape)
        if not read or not 0 < len(read[0]) <= most:
            return None
        for i in truths:
            read[i] = read[i].astype(_BOOL)
        if meter is None:
            found = undisturbed(function, read)
        else:
            start = perf_counter()
            found = undisturbed(function, read)
            meter.add(perf_counter() - start)
        if len(lanes) > 1:
            # What else is returned nobody asked for.
            return tuple(map(_kept, found, repeat(read[0].shape), lanes, made, repeat(shape)))
        if type(found) is not _ARRAY and isinstance(found, (tuple, list)):
            found = found[0]
        return _kept(found, read[0].shape, lanes[0], made[0], shape)


def _kept(found: Any, flat: tuple[int, ...], lane: np.dtype[Any], made: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """What a function made of arrays of the shape `flat`, as an array of its own: found may be an operand itself, a
    number or a row of a table."""
    if type(found) is _ARRAY and found.shape == flat and found.dtype == lane:
        result = found.copy()
    else:
        result = np.empty(flat, lane)
        result[...] = found
    if made is not lane:
        result = result.view(made)
    return result if len(shape) == 1 else result.reshape(shape) if shape else result[0]


class Registered(NamedTuple):
    """A kernel in C. `views` are what its ufunc takes the arrays and gives its results as, where some are no types of
    NumPy's own; the results come as `made`. Up to `most` elements no thread is worth it. Where it `decides`, it says
    which lanes it leaves undecided."""

    ufunc: np.ufunc
    views: Types | None
    made: Types
    most: int
    decides: bool

    def called(self, arrays: Sequence[Any], out: Any = None, alone: bool = False) -> Any:
        """The result, in `out` where given; None where it takes more than the ufunc. `alone`: on one thread, however
        many elements there are."""
        views, most, is_flat = self.views, self.most, True
        if alone and not self.decides:
            most = sys.maxsize
        if out is not None and not self._fills(out, most):
            return None
        for x in arrays:
            if (type(x) is not _ARRAY and not isinstance(x, np.generic)) or x.size > most:
                return None
            if x.ndim > 1:
                is_flat = False
        # Where there is one dimension, the result is as large as the largest.
        if not is_flat and not _makes_at_most(most, arrays):
            return None
        if views is not None:
            try:
                arrays = list(map(_ARRAY.view, arrays, views))
            except TypeError:  # numbers among them
                arrays = [x.view(t) for x, t in zip(arrays, views, strict=False)]
        try:
            if out is not None:
                self.ufunc(*arrays, out=out if views is None else out.view(views[-1]))
                return out
            found = self.ufunc(*arrays)
        except ValueError:
            return None  # shapes that do not broadcast, and what cannot be written
        if self.decides:
            found, undecided = found
            if b"\1" in undecided.tobytes():
                return None
        if views is None:
            return found
        if type(found) is tuple:
            return tuple([x.view(t) for x, t in zip(found, self.made, strict=True)])
        return found.view(self.made[0])

    def _fills(self, out: Any, most: int) -> bool:
        """Is this a place for the result? An operand in it is gone when undecided lanes are asked for again."""
        is_one = type(out) is _ARRAY and len(self.made) == 1 and not self.decides
        return is_one and out.dtype == self.made[0] and out.size <= most


def _makes_at_most(most: int, arrays: Sequence[Any]) -> bool:
    """Do arrays broadcast to so many elements at most?"""
    product = 1
    for x in arrays:
        product *= x.size
    if product <= most:
        return True
    try:
        return np.broadcast(*arrays).size <= most
    except ValueError:
        return False


def _flat(arrays: Sequence[Any], operands: Types, shape: tuple[int, ...]) -> list[Array]:
    """Single numbers, and arrays of several dimensions; nothing where they are something else."""
    for x in arrays:
        # Subclasses may hold what an array does not, as a mask.
        if not (type(x) is _ARRAY or isinstance(x, np.generic)) or x.shape != shape:
            return []
    if not shape:
        try:
            return list(map(np.frombuffer, arrays, operands))
        except (TypeError, ValueError):
            pass  # a number of another package
    elif any(type(x) is not _ARRAY for x in arrays):
        return []
    return [np.array(x, ndmin=1).reshape(-1).view(t) for x, t in zip(arrays, operands, strict=True)]
