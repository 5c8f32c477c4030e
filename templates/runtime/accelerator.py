"""Kernels in C: the folder native/ holds the C of every function that has one, compiling.py makes libraries of it.

Before it is used, a kernel must agree with NumPy's on a thousand operands. Whatever goes wrong is said in one line on
stderr, and NumPy goes on.

The environment variable PTXEMU_ACCELERATOR switches: 1 is on, 0 off; unset, it is on where the wheel `ziglang`, which
is a C compiler, is installed.
"""

from __future__ import annotations

import ctypes
import os
from _thread import RLock
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from . import environment
from .binary import Array, Format
from .compiling import Failure, library, say, source

# Elements for which a list of undecided lanes is held at a time.
_SLICE: Final = 1 << 16
_lock = RLock()
_kernels: dict[str, Native | None] = {}


def _after_fork() -> None:
    """Another thread may have held the lock, which this process does not have."""
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Native(NamedTuple):
    """A kernel in C. Its arrays are contiguous, aligned and of one size; the last receives the result, and may be one
    of the others but overlap none otherwise. `decides`: it lists the lanes that it leaves to `function`."""

    run: Callable[..., int | None]
    decides: bool
    function: Callable[..., Array]

    def __call__(self, arrays: Sequence[Array], lanes: int = 1) -> None:
        """Fill the last array; each element holds `lanes` values."""
        if self.decides:
            self._decide(arrays, lanes)
        else:
            self._run(arrays, arrays[0].size * lanes)

    def _run(self, arrays: Sequence[Array], size: int) -> int | None:
        return self.run(ctypes.c_size_t(size), *(ctypes.c_void_p(x.ctypes.data) for x in arrays))

    def _decide(self, arrays: Sequence[Array], lanes: int) -> None:
        flat = [x.reshape(-1) for x in arrays]
        undecided = np.empty(_SLICE * lanes, np.uintp)
        for start in range(0, flat[0].size, _SLICE):
            *operands, result = (x[start : start + _SLICE] for x in flat)
            # An operand in the result's place is gone when it is asked for again.
            operands = [x.copy() if np.may_share_memory(x, result) else x for x in operands]
            count = self._run([*operands, result, undecided], result.size * lanes)
            if count:
                places = undecided[:count]
                unsigned = np.dtype(f"u{operands[0].itemsize // lanes}")
                with np.errstate(all="ignore"):
                    found = self.function(*(x.view(unsigned)[places] for x in operands))
                result.view(found.dtype)[places] = found

    def takes(self, arrays: Sequence[Array]) -> bool:
        """Can these be handed over as they are?"""
        result = arrays[-1]
        return all(
            x.shape == result.shape
            and x.flags.c_contiguous
            and x.flags.aligned
            and x.dtype.isnative
            and _apart(x, result)
            for x in arrays
        )


def _apart(x: Array, result: Array) -> bool:
    same = x.ctypes.data == result.ctypes.data and x.itemsize == result.itemsize
    return same or not np.may_share_memory(x, result)


def native(
    spelling: str, opcode: str, function: Callable[..., Array], f: Format, operands: int, predicate: bool
) -> Native | None:
    """The kernel in C that does what `function` does to operands of the format `f`; None where there is none, or the
    compiler, or it fails."""
    name = function.__name__
    with _lock:
        if name not in _kernels:
            try:
                _kernels[name] = _proved(spelling, opcode, function, f, operands, predicate)
            except Failure as e:
                _kernels[name] = None
                say(f"{e}; NumPy goes on")
        return _kernels[name]


def _proved(
    spelling: str, opcode: str, function: Callable[..., Array], f: Format, operands: int, predicate: bool
) -> Native | None:
    name = function.__name__
    if name not in exported(opcode):
        return None
    kernel = load(opcode, {name: function}, spelling)[name]
    columns = trial(f, operands)
    result = np.empty(columns[0].shape, np.bool_ if predicate else f.unsigned)
    kernel([*columns, result])
    with np.errstate(all="ignore"):
        if not np.array_equal(result, np.broadcast_to(function(*columns), result.shape)):
            raise Failure(f"the compiled {spelling} disagrees with NumPy's and is not used")
    return kernel


def trial(f: Format, operands: int) -> list[Array]:
    """Operands on which a kernel proves itself: combinations of values at the edges of the format, and any patterns."""
    one, last, least = f.bias << f.fraction_bits, int(f.infinity), int(f.smallest_normal)
    half = int(f.quiet_mask)
    edges = [0, 1, least - 1, least, least + 1, one // 2, one - 1, one, one + 1, one + half]
    edges += [last // 2, last - least, last - 1, last, last + 1, last + half]
    patterns = np.array(edges + [e | int(f.sign_mask) for e in edges], f.unsigned)
    columns = []
    for i in range(operands):
        # Counted numbers, scattered by multiplication and folding.
        noise = np.arange(1024 * i + 1, 1024 * i + 1025, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        noise ^= noise >> np.uint64(29)
        noise *= np.uint64(0xBF58476D1CE4E5B9)
        noise ^= noise >> np.uint64(32)
        chosen = patterns[noise[:768] % np.uint64(patterns.size)]
        columns.append(np.concatenate([chosen, noise[768:].astype(f.unsigned)]))
    return columns


@cache
def exported(opcode: str) -> dict[str, str]:
    """The functions of an opcode that have C, each with what heads it there, as kernel.h says."""
    lines = source(f"{opcode}.c").decode().splitlines()
    heads = (line.partition("(") for line in lines if line.startswith(("LANE_", "DECIDING_")))
    return {rest.partition(",")[0]: head for head, _, rest in heads}


def load(opcode: str, functions: Mapping[str, Callable[..., Array]], what: str) -> dict[str, Native]:
    """Functions of an opcode as kernels, by name: one library. Raises Failure."""
    has = exported(opcode)
    kernels = [f"EXPORT_{has[name]}({name})" for name in functions]
    return library(opcode, next(iter(functions)), kernels, what, lambda path: _kernels_of(path, functions))


def _kernels_of(path: str, functions: Mapping[str, Callable[..., Array]]) -> dict[str, Native]:
    # What options of $CC link to a library may set the thread's flushing or precision as it is loaded.
    with environment.ordinary():
        library = ctypes.CDLL(path)
    found = {}
    for name, function in functions.items():
        decides = hasattr(library, f"{name}_decide")
        run = getattr(library, f"{name}_decide" if decides else f"{name}_run")
        run.restype = ctypes.c_size_t if decides else None
        found[name] = Native(run, decides, function)
    return found
