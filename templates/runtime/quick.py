"""Calls on few elements: what a call finds out of its arrays' types it keeps for the next one.

Arrays of any kind are checked, broadcast and cut into blocks, which takes ten times as long as adding two numbers.
Where arrays of the same types came before and are one block at most, that is not done again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from .binary import Array
from .environment import undisturbed

_ARRAY: Final = np.ndarray
# By the types of the arrays.
Key: TypeAlias = "tuple[np.dtype[Any], ...]"


class Plan(NamedTuple):
    """What becomes of arrays: `function` takes them as one of the types of `operands` each, of one dimension, up to
    `most` numbers, with `gaps` between them or without. What it returns, or the first of that, is kept as `lane`, and
    comes as `made`."""

    function: Callable[..., Any]
    operands: Key
    gaps: bool
    most: int
    lane: np.dtype[Any]
    made: np.dtype[Any]


def called(plans: Mapping[Key, Plan], arrays: tuple[Any, ...]) -> Any:
    """The result; None where arrays of these types are the first, or what they are is not read quickly."""
    try:
        function, operands, gaps, most, lane, made = plans[tuple([x.dtype for x in arrays])]
    except (AttributeError, KeyError, TypeError):
        return None
    shape = arrays[0].shape
    if shape and len(shape) == 1:
        for x in arrays:
            if type(x) is not _ARRAY or x.shape != shape or not (gaps or x.flags.c_contiguous):
                return None
        read = list(map(_ARRAY.view, arrays, operands))
    else:
        read = _flat(arrays, operands, shape)
    if not read or not 0 < len(read[0]) <= most:
        return None
    found = undisturbed(function, read)
    if type(found) is not _ARRAY and isinstance(found, (tuple, list)):
        found = found[0]
    # What is returned may be an operand itself, a number or a row of a table.
    if type(found) is _ARRAY and found.shape == read[0].shape and found.dtype == lane:
        result = found.copy()
    else:
        result = np.empty(len(read[0]), lane)
        result[...] = found
    if made is not lane:
        result = result.view(made)
    return result if len(shape) == 1 else result.reshape(shape) if shape else result[0]


def _flat(arrays: Sequence[Any], operands: Key, shape: tuple[int, ...]) -> list[Array]:
    """Single numbers, and arrays of several dimensions; nothing where they are something else."""
    for x in arrays:
        # Subclasses may hold what an array does not, as a mask.
        if x.shape != shape or not (type(x) is _ARRAY or isinstance(x, np.generic)):
            return []
    if not shape:
        try:
            return list(map(np.frombuffer, arrays, operands))
        except (TypeError, ValueError):
            pass  # a number of another package
    elif any(type(x) is not _ARRAY for x in arrays):
        return []
    return [np.array(x, ndmin=1).reshape(-1).view(t) for x, t in zip(arrays, operands, strict=True)]
