"""Kernels with independent threads, on arrays: each lane is a thread."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import plain
from .binary import Array
from .entries import Entry, Given, Parameter, read_entry
from .kernels import is_integer
from .memory import Load, Memory, Store
from .operands import OperandError
from .rows import UnknownTargetError, target_named
from .steps import done_with, is_signed, resized

_WARP = 32
_LARGEST = (2**31 - 1, 65535, 65535)  # blocks of a grid, by axis
_THREADS = 1024  # of a block
_LOCAL = 1 << 26  # bytes of local memory of the threads that are run together


def kernel(source: str | os.PathLike[str], name: str | None = None, target: str | None = None) -> ThreadKernel:
    """Return a kernel of a module of PTX, such as nvcc -ptx writes, as a function of arrays.

    `source` is the text, or a path; `name` is the kernel's name, needed where there are several. Statements are run one
    by one, each for many threads at once. A kernel may have guards, branches to labels further down, parameters, global
    memory and special registers, but no loops, no calls, no shared memory, and no thread may wait for another.

    Raises StatementError with every statement that cannot be run, ValueError where there is no such kernel, OSError for
    a file that cannot be read."""
    if isinstance(source, os.PathLike) or (isinstance(source, str) and re.fullmatch(r"[^\n{}]+\.ptx", source)):
        source = Path(source).read_text("utf-8")
    if not isinstance(source, str):
        raise TypeError(f"a module must be a string or a path, not a {type(source).__name__}")
    if not (target is None or isinstance(target, str)):
        raise UnknownTargetError(f"a target must be a string such as 'sm_90', not a {type(target).__name__}")
    return ThreadKernel(read_entry(source, name, target and target_named(target)))


class ThreadKernel:
    """A kernel that can be called on arrays: `kernel(grid, block, *arguments)`.

    For a parameter of 64 bits, pass an array, to whose first element it then points, or an integer; for others, a
    number of Python or NumPy. For a structure, pass bytes, or a tuple of its members, each as it is aligned."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self.name, self.target = entry.name, entry.target
        self._steps = list(zip(entry.steps, done_with(entry.steps, set()), strict=True))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(p.name for p in self._entry.parameters)

    def __repr__(self) -> str:
        return f"<ptxemu kernel {self.name}({', '.join(f'.{p.type} {p.name}' for p in self._entry.parameters)})>"

    def __call__(self, grid: int | Sequence[int], block: int | Sequence[int], *arguments: Any) -> None:
        """Run a grid of blocks of threads. Each size is a number or up to three numbers.

        Raises OperandError (a TypeError) for arguments of another number or kind, ValueError for impossible sizes and
        arrays, AddressError (an IndexError) for addresses outside of the arrays."""
        blocks, threads = _size("grid", grid, _LARGEST), _size("block", block, (_THREADS,) * 3)
        if np.prod(threads) > _THREADS:
            raise ValueError(f"a block has at most {_THREADS} threads, not {int(np.prod(threads))}")
        parameters = self._entry.parameters
        if len(arguments) != len(parameters):
            raise OperandError(f"{self.name} takes {len(parameters)} arguments, not {len(arguments)}")
        plain.check_processor()
        launch = _Launch(blocks, threads)
        memory = Memory(launch.thread)
        for variable in self._entry.variables:
            memory.add(variable.name, variable.data)
        local = {x.value: memory.add_local(x.name, x.size) for x in self._entry.local}
        given = [_as_bytes(p, x, memory) for p, x in zip(parameters, arguments, strict=True)]
        numbers = {v: _number(g, given[g.parameter]) for v, g in self._entry.given.items()}
        with np.errstate(all="ignore"):
            for count in launch.parts(min(plain.BLOCK, _LOCAL // max(1, sum(x.size for x in self._entry.local)))):
                values: dict[int, Array] = {v: memory.begin(number, count) for v, number in local.items()}
                values |= {v: np.full(count, x) for v, x in (*self._entry.constants.items(), *numbers.items())}
                self._run(launch, count, values, memory)

    def _run(self, launch: _Launch, count: int, values: dict[int, Array], memory: Memory) -> None:
        """Run some threads, statement by statement. `values` are those that are known already."""
        special = launch.special(count)
        for named in self._entry.specials:
            if named.name not in special:
                written = re.sub(r"_([xyzw])$", r".\1", named.name)
                raise ValueError(f"{self.name} reads %{written}, which has no value here")
            values[named.value] = special[named.name]().astype(named.type.bits)
        for step, unwanted in self._steps:
            if isinstance(step, Load | Store):
                step.run(values, count, memory)
            else:
                step.run(values, count)
            for value in unwanted:
                values.pop(value, None)


class _Launch:
    """The threads of a call, block by block. `first` is the thread of the first lane."""

    def __init__(self, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
        self._grid, self._block = grid, block
        self._threads = int(np.prod(block))
        self.first = 0

    def parts(self, at_once: int) -> Iterator[int]:
        """Yield the number of threads that run together, whole blocks with about `at_once` threads, and set `first`."""
        blocks = int(np.prod(self._grid))
        together = max(1, at_once // self._threads)
        for start in range(0, blocks, together):
            self.first = start * self._threads
            yield min(together, blocks - start) * self._threads

    def thread(self, lane: int) -> str:
        """Return a description of the thread that a lane is."""
        number, thread = divmod(self.first + lane, self._threads)
        inside, outside = (
            ", ".join(str(int(c)) for c in _coordinates(np.array(n), sizes))
            for n, sizes in ((thread, self._block), (number, self._grid))
        )
        return f"thread ({inside}) of block ({outside})"

    def special(self, count: int) -> dict[str, Callable[[], Array]]:
        """Return the functions that compute special registers, by name."""
        numbers, threads = np.divmod(np.arange(self.first, self.first + count), self._threads)
        lanes = threads % _WARP
        bit = np.uint64(1) << lanes.astype(np.uint64)
        found: dict[str, Callable[[], Array]] = {
            "laneid": lambda: lanes,
            "warpid": lambda: threads // _WARP,
            "nwarpid": lambda: np.full(count, -(-self._threads // _WARP)),
            "lanemask_eq": lambda: bit,
            "lanemask_lt": lambda: bit - np.uint64(1),
            "lanemask_le": lambda: 2 * bit - np.uint64(1),
            "lanemask_gt": lambda: ~(2 * bit - np.uint64(1)),
            "lanemask_ge": lambda: ~(bit - np.uint64(1)),
        }
        for name, of, sizes in (("tid", threads, self._block), ("ctaid", numbers, self._grid)):
            for axis, place in enumerate("xyz"):
                found[f"{name}_{place}"] = partial(_coordinate, of, sizes, axis)
                found[f"n{name}_{place}"] = partial(np.full, count, sizes[axis])
        return found


def _coordinate(numbers: NDArray[Any], sizes: Sequence[int], axis: int) -> NDArray[Any]:
    return _coordinates(numbers, sizes)[axis]


def _coordinates(numbers: NDArray[Any], sizes: Sequence[int]) -> tuple[NDArray[Any], ...]:
    x, y, _ = sizes
    return numbers % x, numbers // x % y, numbers // (x * y)


def _size(what: str, given: Any, largest: Sequence[int]) -> tuple[int, ...]:
    """Return the size of a grid or a block along three axes."""
    found = tuple(given) if isinstance(given, Sequence) else (given,)
    if not 1 <= len(found) <= 3 or not all(map(is_integer, found)):
        raise TypeError(f"a {what} must be a number or up to three numbers, not {given!r}")
    sizes = tuple(map(int, (*found, 1, 1)[:3]))
    if not all(1 <= n <= most for n, most in zip(sizes, largest, strict=True)):
        raise ValueError(f"a {what} must have at least 1 and at most {tuple(largest)} along each axis, not {given!r}")
    return sizes


def _as_bytes(p: Parameter, x: Any, memory: Memory) -> bytes:
    """Return an argument as the bytes of its parameter."""
    if isinstance(x, np.ndarray) and x.ndim and p.size == 8:
        return np.uint64(memory.add(p.name, x)).tobytes()
    if isinstance(x, tuple):
        made = b""
        for part in x:
            is_array = isinstance(part, np.ndarray) and part.ndim
            piece = np.asarray(np.uint64(memory.add(p.name, part)) if is_array else part)
            made += bytes(-len(made) % piece.dtype.itemsize) + piece.tobytes()
        made += bytes(-len(made) % p.alignment)
    elif isinstance(x, bytes | bytearray):
        made = bytes(x)
    elif isinstance(x, np.generic | np.ndarray):
        made = x.tobytes()
    elif isinstance(x, int) and p.type[0] in "bsu":
        if not -(1 << 8 * p.size - 1) <= x < 1 << 8 * p.size:
            raise OperandError(f"{p.name} is a .{p.type} parameter, for which {x} is out of range")
        made = (x & (1 << 8 * p.size) - 1).to_bytes(p.size, "little")
    elif isinstance(x, int | float) and p.type in ("f16", "f32", "f64"):
        made = np.array(x, f"f{p.size}").tobytes()
    else:
        raise OperandError(f"{p.name} is a .{p.type} parameter of {p.size} bytes, which cannot be a {type(x).__name__}")
    if len(made) != p.size:
        raise OperandError(f"{p.name} is a .{p.type} parameter of {p.size} bytes, but {len(made)} were given")
    return made


def _number(g: Given, data: bytes) -> np.generic:
    """Return part of a parameter as the bits of a register."""
    x = np.frombuffer(data, g.type.bits, 1, g.offset)
    found: np.generic = resized(x, g.register, is_signed(g.type))[0]
    return found
