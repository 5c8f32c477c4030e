"""Global memory as a kernel sees it: the arrays of a call, each at an address of its own; and the steps that read and
write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .binary import Array
from .conditions import Guard
from .signature import Type
from .steps import is_signed, kept, resized

# The addresses of an array, from its first on: its number, counted from 1, stands above this bit.
_ABOVE = 40
_BELOW = (1 << _ABOVE) - 1
# Local memory is an array with a row for each lane, whose addresses stand apart so that none runs into the next one.
_APART = 1 << 24
_ROW = 16  # bytes that the length of a row is a multiple of


def address_of(number: int) -> int:
    """Return the address of the array that was added first, for 0, second, for 1, and so on."""
    return number + 1 << _ABOVE


class AddressError(IndexError):
    """The error for an address outside of all arrays, or between the elements of one."""


class Access(NamedTuple):
    """An access to memory: the statement, and its line."""

    line: int
    text: str


class Memory:
    """The arrays of a call. `thread` says which thread of the kernel a lane is."""

    def __init__(self, thread: Callable[[int], str]) -> None:
        self._thread = thread
        self._names: list[str] = []
        self._arrays: list[NDArray[Any]] = []
        self._sizes: dict[int, int] = {}  # of the rows of local memory, by the numbers of their arrays

    def add(self, name: str, array: NDArray[Any]) -> int:
        """Return the address of an array, which is the same for one that comes twice. Raises ValueError for one whose
        elements do not stand one behind another."""
        for number, known in enumerate(self._arrays):
            if known is array:
                return address_of(number)
        if not array.flags.c_contiguous:
            told = "np.ascontiguousarray copies it, and the kernel writes into the copy"
            raise ValueError(f"{name} is an array whose elements are not contiguous; {told}")
        self._names.append(name)
        self._arrays.append(array)
        return address_of(len(self._arrays) - 1)

    def add_local(self, name: str, size: int) -> int:
        """Return the number of a variable that each lane has for itself."""
        self._names.append(name)
        self._arrays.append(np.zeros(0, np.uint8))
        self._sizes[len(self._names) - 1] = size
        return len(self._names) - 1

    def begin(self, number: int, lanes: int) -> Array:
        """Give so many lanes a variable of their own, of zeros, and return its addresses."""
        self._arrays[number] = np.zeros((lanes, -(-self._sizes[number] // _ROW) * _ROW), np.uint8)
        return np.uint64(address_of(number)) + np.arange(lanes, dtype=np.uint64) * np.uint64(_APART)

    def load(self, at: Access, addresses: Array, lanes: NDArray[np.intp], width: int, count: int) -> list[Array]:
        """Return what stands at addresses, one for each of the lanes: `count` words of `width` bytes in a row."""
        found = [np.empty(addresses.size, f"u{width}") for _ in range(count)]
        for array, here, index in self._places(at, addresses, lanes, width, count, False):
            words = self._words(array, width)
            for i, x in enumerate(found):
                x[here] = words[index + i]
        return found

    def store(self, at: Access, addresses: Array, lanes: NDArray[np.intp], words: Sequence[Array]) -> None:
        """Write words in a row, where several lanes have an address those of the last one."""
        width = words[0].itemsize
        for array, here, index in self._places(at, addresses, lanes, width, len(words), True):
            to = self._words(array, width)
            for i, x in enumerate(words):
                to[index + i] = x[here]

    def _words(self, number: int, width: int) -> NDArray[Any]:
        data = self._arrays[number].reshape(-1).view(np.uint8)
        return data[: data.size // width * width].view(f"u{width}")

    def _places(
        self, at: Access, addresses: Array, lanes: NDArray[np.intp], width: int, count: int, writes: bool
    ) -> Iterator[tuple[int, Any, NDArray[np.intp]]]:
        """Yield each array with the lanes that mean it, and the words in it that they mean."""
        numbers = (addresses >> np.uint64(_ABOVE)).astype(np.int64) - 1
        # Most accesses mean one array.
        everywhere = numbers.size and (numbers == numbers[0]).all()
        for number in numbers[:1] if everywhere else np.unique(numbers):
            here: Any = slice(None) if everywhere else numbers == number
            offsets = (addresses[here] & np.uint64(_BELOW)).astype(np.intp)
            size = self._arrays[number].nbytes if 0 <= number < len(self._arrays) else 0
            rows: Any = 0
            if number in self._sizes:
                rows, offsets = np.divmod(offsets, _APART)
                rows, size = rows * self._arrays[number].shape[1], self._sizes[number]
            wrong = (offsets + width * count > size) | (offsets % (width * count) != 0)
            if wrong.any():
                first = int(np.flatnonzero(wrong)[0])
                raise self._error(at, int(addresses[here][first]), int(lanes[here][first]), int(number), width * count)
            if writes and not self._arrays[number].flags.writeable:
                raise ValueError(f"{at.line}: {at.text} writes into {self._names[number]}, which is read-only")
            yield int(number), here, (rows + offsets) // width

    def _error(self, at: Access, address: int, lane: int, number: int, width: int) -> AddressError:
        who = f"{at.line}: {at.text}: {self._thread(lane)}"
        if not 0 <= number < len(self._arrays):
            return AddressError(f"{who}: {address:#x} is not an address in any array")
        name, offset, size = self._names[number], address & _BELOW, self._arrays[number].nbytes
        if number in self._sizes:
            offset, size = offset % _APART, self._sizes[number]
        place = f"byte {offset} of {name}"
        if offset % width:
            return AddressError(
                f"{who}: {place} is not aligned for {width} bytes, which must be at a multiple of {width}"
            )
        return AddressError(f"{who}: {place} is out of range: it has {size} bytes")


@dataclass(frozen=True, eq=False)
class Load:
    """A read of words in a row. `types` are those of the registers, of which each takes a word; the bits above it are
    zeros, or copies of its sign."""

    line: int
    text: str
    address: int
    offset: int
    type: Type
    types: tuple[Type, ...]
    results: tuple[int | None, ...]
    before: tuple[int | None, ...]
    guard: Guard | None

    @property
    def reads(self) -> set[int]:
        held = set() if self.guard is None else {*self.guard.values, *(v for v in self.before if v is not None)}
        return {self.address, *held}

    @property
    def writes(self) -> set[int]:
        return {v for v in self.results if v is not None}

    def run(self, values: dict[int, Array], size: int, memory: Memory) -> None:
        lanes = active(self.guard, values, size)
        addresses = values[self.address][lanes] + np.uint64(self.offset % (1 << 64))
        width = self.type.bits.itemsize
        words = memory.load(Access(self.line, self.text), addresses, lanes, width, len(self.results))
        made = []
        for x, t in zip(words, self.types, strict=True):
            whole = np.zeros(size, t.bits)
            whole[lanes] = resized(x, t, is_signed(self.type))
            made.append(whole)
        for i, x in zip(self.results, kept(made, self.before, self.guard, values, size), strict=True):
            if i is not None:
                values[i] = x


@dataclass(frozen=True, eq=False)
class Store:
    """A write of words in a row."""

    line: int
    text: str
    address: int
    offset: int
    sources: tuple[int, ...]
    guard: Guard | None

    @property
    def reads(self) -> set[int]:
        return {self.address, *self.sources, *(self.guard.values if self.guard else ())}

    @property
    def writes(self) -> set[int]:
        return set()

    def run(self, values: dict[int, Array], size: int, memory: Memory) -> None:
        lanes = active(self.guard, values, size)
        addresses = values[self.address][lanes] + np.uint64(self.offset % (1 << 64))
        memory.store(Access(self.line, self.text), addresses, lanes, [values[i][lanes] for i in self.sources])


def active(guard: Guard | None, values: dict[int, Array], size: int) -> NDArray[np.intp]:
    """Return the lanes in which a guard holds."""
    return np.arange(size) if guard is None else np.flatnonzero(guard.holds(values, size))
