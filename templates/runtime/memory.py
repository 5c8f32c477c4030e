"""Global memory as a kernel sees it: the arrays of a call, each at an address of its own; and the steps that access
it."""

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

# The number of an array, counted from 1, is above this bit of an address; below it is the offset in the array.
_ABOVE = 40
_BELOW = (1 << _ABOVE) - 1
# Local memory is an array with a row for each lane. Rows have addresses so far apart that none reaches the next.
_APART = 1 << 24
_ROW = 16  # the length of a row is a multiple of so many bytes


def address_of(number: int) -> int:
    """Return the address of the array that was added as number `number`, counted from 0."""
    return number + 1 << _ABOVE


class AddressError(IndexError):
    """An error for an address outside of all arrays, or one that is not aligned."""


class Access(NamedTuple):
    """An access to memory: the line and the text of its statement."""

    line: int
    text: str


class Memory:
    """The arrays of a call. `thread` describes the kernel's thread that a lane is."""

    def __init__(self, thread: Callable[[int], str]) -> None:
        self._thread = thread
        self._names: list[str] = []
        self._arrays: list[NDArray[Any]] = []
        self._sizes: dict[int, int] = {}  # bytes in a row of local memory, by array

    def add(self, name: str, array: NDArray[Any]) -> int:
        """Return the address of an array; one that is added twice keeps its address. Raises ValueError for an array
        that is not contiguous."""
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
        """Return the number of a variable of which each lane has its own."""
        self._names.append(name)
        self._arrays.append(np.zeros(0, np.uint8))
        self._sizes[len(self._names) - 1] = size
        return len(self._names) - 1

    def begin(self, number: int, lanes: int) -> Array:
        """Give each of `lanes` lanes a variable of its own, filled with zeros, and return its addresses."""
        self._arrays[number] = np.zeros((lanes, -(-self._sizes[number] // _ROW) * _ROW), np.uint8)
        return np.uint64(address_of(number)) + np.arange(lanes, dtype=np.uint64) * np.uint64(_APART)

    def load(self, at: Access, addresses: Array, lanes: NDArray[np.intp], width: int, count: int) -> list[Array]:
        """Return the words at addresses, one address for each lane: `count` consecutive words of `width` bytes."""
        found = [np.empty(addresses.size, f"u{width}") for _ in range(count)]
        for array, here, index in self._places(at, addresses, lanes, width, count, False):
            words = self._words(array, width)
            for i, x in enumerate(found):
                x[here] = words[index + i]
        return found

    def store(self, at: Access, addresses: Array, lanes: NDArray[np.intp], words: Sequence[Array]) -> None:
        """Write consecutive words. Where several lanes have the same address, the last one wins."""
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
        """Yield each array, the lanes that access it, and the indices of the words that they access."""
        numbers = (addresses >> np.uint64(_ABOVE)).astype(np.int64) - 1
        # Most accesses are to a single array.
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
    """A read of consecutive words. `types` are those of the registers, one for each word; bits above a word become
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
    """A write of consecutive words."""

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
    """Return the lanes in which a guard is true."""
    return np.arange(size) if guard is None else np.flatnonzero(guard.holds(values, size))
