"""Calls on few elements: what a call finds out of its arrays' types it keeps for the next one.

Arrays of any kind are checked, broadcast and cut into blocks, which takes ten times as long as adding two numbers.
Where arrays of the same types came before and are one block at most, that is not done again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from .binary import Array
from .surroundings import as_lines

if TYPE_CHECKING:
    from ctypes import c_size_t

    from .background import Meter

_ARRAY: Final = np.ndarray
# Where a view is alone with its memory, two hold that: the view, and who asks. Where nobody counts, views are copied.
_holders: Final[Callable[[object], int]] = getattr(sys, "getrefcount", lambda _: 0)
_BOOL: Final = np.dtype(bool)
# Of arrays.
Types: TypeAlias = "tuple[np.dtype[Any], ...]"


class Plan:
    """A plan for arrays of these types: `function` takes each as one of `operands`, of one dimension and up to `most`
    numbers, `gaps` between them allowed or not. At the places of `truths` it takes bools, made of bytes that are not 0.
    Its results, of which as many are kept as there are `lanes`, have these types and come as `made`. A `meter` adds up
    the time.

    `called(arrays, out, alone)` is the result, in `out` where given; None where arrays or places are others, or not
    what is read quickly."""

    def __init__(
        self,
        types: Types,
        function: Callable[..., Any],
        operands: Types,
        truths: Sequence[int],
        gaps: bool,
        most: int,
        lanes: Types,
        made: Types,
        meter: Meter | None = None,
    ) -> None:
        reads = tuple(_seen(t, o) for t, o in zip(types, operands, strict=True))
        makes = tuple("" if m is lane else _seen(lane, m) for m, lane in zip(made, lanes, strict=True))
        make = _maker(reads, makes, tuple(truths), gaps, meter is not None)
        self.called: Final[Callable[..., Any]] = make(types, function, operands, most, lanes, made, meter)


def _seen(dtype: np.dtype[Any], as_dtype: np.dtype[Any]) -> str:
    """Return the method by which an array of one type is seen as another: preferably one that does not regroup
    bytes."""
    return "getfield" if dtype.itemsize == as_dtype.itemsize else "view"


@cache
def _maker(
    reads: tuple[str, ...], makes: tuple[str, ...], truths: tuple[int, ...], gaps: bool, metered: bool
) -> Callable[..., Any]:
    """Return a function that makes the `called` of a plan. It is written out for its operands and results, with the
    methods by which these are seen as they are read and made (none: as they are): loops over them took as long as
    adding two numbers."""
    count, results = len(reads), len(makes)

    def of_operands(text: str) -> str:
        return _each(text, count)

    def of_results(text: str) -> str:
        return _each(text, results)

    # Types are mostly the same objects, and identity is faster to check.
    asked = [f"type(x{i}) is _ARRAY and (x{i}.dtype is d{i} or x{i}.dtype == d{i})" for i in range(count)]
    asked += ["len(row := x0.shape) == 1", *(f"x{i}.shape == row" for i in range(1, count))]
    asked += [] if gaps else [f"x{i}.flags.c_contiguous" for i in range(count)]
    placed = [
        f"type(o{i}) is _ARRAY and o{i}.dtype == made{i} and o{i}.shape == x0.shape and o{i}.flags.writeable"
        for i in range(results)
    ]
    quietly, named = as_lines("function", of_operands("y#"))
    lines = [
        "def make(types, function, operands, most, lanes, made, meter):",
        f"    {of_operands('d#')} = types",
        f"    {of_operands('t#')} = operands",
        f"    {of_results('lane#')} = lanes",
        f"    {of_results('made#')} = made",
        "    def called(arrays, out=None, alone=False):",
        f"        if len(arrays) != {count}:",
        "            return None",
        f"        {of_operands('x#')} = arrays",
        f"        if {' and '.join(asked)}:",
        *(f"            y{i} = x{i}.{method}(t{i})" for i, method in enumerate(reads)),
        f"            flat = {'row' if reads[0] == 'getfield' else 'y0.shape'}",
        "            shape = None",
        "        else:",
        "            read = _others(arrays, types, operands, most)",
        "            if not read:",
        "                return None",
        f"            {of_operands('y#')} = read",
        "            flat, shape = y0.shape, x0.shape",
        "        if out is not None:",
        *([] if results == 1 else ["            if type(out) is not tuple or len(out) != len(made):"]),
        *([] if results == 1 else ["                return None"]),
        f"            {of_results('o#')} = {'out,' if results == 1 else 'out'}",
        f"            if not ({' and '.join(placed)}):",
        "                return None",
        "        if not 0 < flat[0] <= most:",
        "            return None",
        *(f"        y{i} = y{i}.astype(_BOOL)" for i in truths),
        *(["        start = perf_counter()"] if metered else []),
        *(f"        {line}" for line in quietly),
        *(["        meter.add(perf_counter() - start)"] if metered else []),
    ]
    if results > 1:
        # Nobody asked for the other results.
        lines.append(f"        {of_results('z#')} = found[:{results}]")
    else:
        lines.append(
            "        z0 = found[0] if type(found) is not _ARRAY and isinstance(found, (tuple, list)) else found"
        )
    for i, method in enumerate(makes):
        seen = f".{method}(made{i})" if method else ""
        lines += [
            f"        if type(z{i}) is _ARRAY and z{i}.shape == flat and z{i}.dtype == lane{i}:",
            # The result may be part of an operand, or of a table.
            f"            if z{i}.base is not None and not (holders(z{i}.base) == 2 and z{i}.flags.carray):",
            f"                z{i} = z{i}.copy()",
            *([f"            z{i} = z{i}{seen}"] if seen else []),
            "        else:",
            f"            z{i} = _filled(z{i}, flat, lane{i}){seen}",
        ]
    lines += ["        if out is not None:"]
    lines += [f"            o{i}[...] = z{i} if shape is None else z{i}.reshape(shape)" for i in range(results)]
    lines += ["            return out"]
    found = "z0" if results == 1 else f"({of_results('z#')})"
    shaped = "_shaped(z0, shape)" if results == 1 else f"({of_results('_shaped(z#, shape)')})"
    lines += [f"        return {found} if shape is None else {shaped}", "    return called"]
    scope: dict[str, Any] = {
        "_ARRAY": _ARRAY, "_BOOL": _BOOL, "_others": _others, "_filled": _filled, "_shaped": _shaped,
        "holders": _holders, "perf_counter": perf_counter, **named,
    }  # fmt: skip
    exec("\n".join(lines), scope)
    make: Callable[..., Any] = scope["make"]
    return make


def _each(text: str, count: int) -> str:
    return "".join(f"{text.replace('#', str(i))}, " for i in range(count))


def _others(arrays: Sequence[Any], types: Types, operands: Types, most: int) -> list[Array]:
    """Return single numbers, and arrays of several dimensions, as arrays of one dimension; nothing where they are
    something else."""
    try:
        shape = arrays[0].shape
        if len(shape) == 1 or (shape and arrays[0].size > most) or tuple([x.dtype for x in arrays]) != types:
            return []
    except (AttributeError, TypeError):
        return []  # no array
    return _flat(arrays, operands, shape)


def _filled(found: Any, flat: tuple[int, ...], lane: np.dtype[Any]) -> Array:
    """Return an array of the shape `flat`, filled with what has another shape: a number, or the row of a table."""
    result = np.empty(flat, lane)
    result[...] = found
    return result


def _shaped(result: Array, shape: tuple[int, ...]) -> Any:
    return result.reshape(shape) if shape else result[0]


class Registered:
    """A plan in C for arrays of these types, whose results come as `made`. Up to `most` elements, threads are not worth
    it. `undecided` grows where the kernel leaves lanes undecided, if it ever does.

    `called(arrays, out, alone)` is the result, in `out` where given; None where arrays or places are others, or it
    takes more than the ufunc. `alone`: on one thread, however many elements there are."""

    def __init__(self, types: Types, ufunc: np.ufunc, made: Types, most: int, undecided: c_size_t | None) -> None:
        self.types, self.ufunc, self.made, self.most, self.undecided = types, ufunc, made, most, undecided
        make = _maker_in_c(len(types), undecided is not None)
        self.called: Final[Callable[..., Any]] = make(types, ufunc, most, undecided, self._called)

    def _called(self, arrays: Sequence[Any], out: Any, alone: bool) -> Any:
        """Return the result as `called` does, for arrays of several dimensions, numbers, and with a place for the
        result."""
        most, is_flat = self.most, True
        if alone and self.undecided is None:
            most = sys.maxsize
        if len(arrays) != len(self.types) or (out is not None and not self._fills(out, most)):
            return None
        for x, t in zip(arrays, self.types, strict=True):
            if (type(x) is not _ARRAY and not isinstance(x, np.generic)) or x.dtype != t or x.size > most:
                return None
            if x.ndim > 1:
                is_flat = False
        # Where there is one dimension, the result is as large as the largest.
        if not is_flat and not _makes_at_most(most, arrays):
            return None
        before = self.undecided.value if self.undecided is not None else 0
        try:
            if out is not None:
                self.ufunc(*arrays, out=out)
                return out
            found = self.ufunc(*arrays)
        except ValueError:
            return None  # shapes that do not broadcast, and what cannot be written
        return found if self.undecided is None or self.undecided.value == before else None

    def _fills(self, out: Any, most: int) -> bool:
        """Return whether this is a place for the result. An operand in it is gone when undecided lanes are asked for
        again."""
        is_one = type(out) is _ARRAY and len(self.made) == 1 and self.undecided is None
        return is_one and out.dtype == self.made[0] and out.size <= most


@cache
def _maker_in_c(count: int, decides: bool) -> Callable[..., Any]:
    """Return a function that makes the `called` of a plan in C, as `_maker` does; it takes few elements side by side
    itself."""
    arrays = _each("x#", count)
    asked = [
        f"type(x{i}) is _ARRAY and (x{i}.dtype is d{i} or x{i}.dtype == d{i}) and x{i}.ndim < 2 and x{i}.size <= most"
        for i in range(count)
    ]
    deciding = ["before = undecided.value", f"found = ufunc({arrays})"]
    deciding += ["return found if undecided.value == before else None"]
    lines = [
        "def make(types, ufunc, most, undecided, called_otherwise):",
        f"    {_each('d#', count)} = types",
        "    def called(arrays, out=None, alone=False):",
        f"        if out is None and len(arrays) == {count}:",
        f"            {arrays} = arrays",
        f"            if {' and '.join(asked)}:",
        "                try:",
        *(f"                    {line}" for line in (deciding if decides else [f"return ufunc({arrays})"])),
        "                except ValueError:",
        "                    return None",
        "        return called_otherwise(arrays, out, alone)",
        "    return called",
    ]
    scope: dict[str, Any] = {"_ARRAY": _ARRAY}
    exec("\n".join(lines), scope)
    make: Callable[..., Any] = scope["make"]
    return make


def _makes_at_most(most: int, arrays: Sequence[Any]) -> bool:
    """Return whether arrays broadcast to this number of elements at most."""
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
    """Return single numbers, and arrays of several dimensions, as arrays of one dimension; nothing where they are
    something else."""
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
