"""Registers of mma that some of each four lanes provide, as a constant of the statement chooses: metadata and
scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import tensor
from .binary import Array
from .layouts import Given, Integers
from .matrices.forms import Form
from .operands import OperandError
from .tensor_cores import CHOICES

LANES = 32
Places = tuple[tuple[int, int, int], ...]


class Chosen:
    """A register in those lanes for which `given.chosen` is the value of the constant of this name. It contains `count`
    numbers of `bits` bits each, of a matrix of `size` rows and columns."""

    def __init__(self, form: Form, size: tuple[int, int], count: int, bits: int, given: Given, constant: str) -> None:
        self._choices, self._constant = CHOICES.of(form), constant
        self._size, self._bits, self._numbers = size, bits, np.arange(count)
        lanes = np.arange(LANES)
        lane, i = np.meshgrid(lanes, self._numbers, indexing="ij")
        self._rows, self._columns = (np.broadcast_to(x, lane.shape) for x in given.of(lane, i))
        self._chosen = np.broadcast_to(given.chosen(lanes), LANES)

    def _checked(self, constant: str, given: int) -> int:
        choices = self._choices[constant]
        if given not in choices:
            raise OperandError(f"{constant} must be one of {', '.join(map(str, choices))}, not {given}")
        return given

    def _lanes(self, chosen: int) -> Integers:
        return np.flatnonzero(self._chosen == self._checked(self._constant, chosen))

    def _packed(self, x: Array | Integers, chosen: int, first: int = 0) -> Array:
        """Return the registers of 32 lanes, with the numbers from position `first` on; those of other lanes are
        zero."""
        lanes = self._lanes(chosen)
        numbers = x[..., self._rows[lanes], self._columns[lanes]].astype(np.uint32) << self._shifts(first)
        found = np.zeros((*x.shape[:-2], LANES, 1), np.uint32)
        found[..., lanes, 0] = np.bitwise_or.reduce(numbers, -1)
        return found

    def _unpacked(self, name: str, registers: Any, chosen: int, first: int = 0) -> Array:
        """Return the numbers in the chosen lanes. Raises OperandError."""
        given, lanes = np.asarray(registers), self._lanes(chosen)
        if given.dtype.kind not in "ui" or given.dtype.itemsize != 4 or given.shape[-2:] != (LANES, 1):
            shape = f"{given.dtype} {given.shape}"
            raise OperandError(f"{name} must be a register of 32 bits in each of 32 lanes, (32, 1), not {shape}")
        numbers = given.view(np.uint32)[..., lanes, :] >> self._shifts(first) & np.uint32((1 << self._bits) - 1)
        found = np.zeros((*given.shape[:-2], *self._size), np.uint32)
        found[..., self._rows[lanes], self._columns[lanes]] = numbers
        return found

    def _where(self, row: int, column: int, chosen: int, first: int = 0) -> tuple[int, int]:
        """Return the lane that has a number, and the number's lowest bit."""
        lanes = self._lanes(chosen)
        ((at, i),) = np.argwhere((self._rows[lanes] == row) & (self._columns[lanes] == column))
        return int(lanes[at]), (first + int(i)) * self._bits

    def _shifts(self, first: int) -> Array:
        return ((self._numbers + first) * self._bits).astype(np.uint32)


class Metadata(Chosen):
    """The register of a sparse form that gives the places of the stored elements of A in their groups: four bits for
    each group. `size` is that of A as it is stored."""

    def __init__(self, form: Form, given: Given) -> None:
        self._stored = tensor.stored(form)
        self.size = self._stored.size
        groups = self.size[0], self.size[1] // self._stored.each
        super().__init__(form, groups, 8, 4, given, "selector")

    def pack(self, metadata: Any, selector: int = 0) -> Array:
        """Return the registers of 32 lanes, as (..., 32, 1) of bits, with the places that ptxemu.mma accepts as
        metadata. Raises OperandError."""
        return self._packed(self._stored.codes(self._stored.places(metadata)), selector)

    def unpack(self, registers: Any, selector: int = 0) -> Integers:
        """Return the places of the stored elements, from the chosen lanes. Raises OperandError."""
        return self._stored.of_codes(self._unpacked("metadata", registers, selector).astype(np.int64))

    def where(self, row: int, column: int, selector: int = 0) -> Places:
        """Return the lane, the register and the lowest bit of the place of a stored element. Raises IndexError."""
        _in("metadata", row, column, self.size)
        group, j = divmod(column, self._stored.each)
        lane, bit = self._where(row, group, selector)
        return ((lane, 0, bit + j * 2 // self._stored.each * 2),)


class BlockScales(Chosen):
    """The register of the scales of A's rows or of B's columns: a byte for each, from the byte-id on."""

    def __init__(self, form: Form, matrix: str, size: tuple[int, int], given: Given) -> None:
        super().__init__(form, size, form.scales, 8, given, f"thread-id-{matrix}")
        self.name, self.size, self.type = f"scale_{matrix}", size, form.scale_type
        self._bytes = f"byte-id-{matrix}"

    def pack(self, scales: Any, byte: int = 0, thread: int = 0) -> Array:
        """Return the registers of 32 lanes, as (..., 32, 1) of bits, of scales as ptxemu.mma takes them. Raises
        OperandError."""
        x = tensor.bits_of(scales, self.name, self.type)
        if x.shape[-2:] != self.size:
            raise OperandError(f"{self.name} must have the shape {self.size}, not {x.shape}")
        return self._packed(x, thread, self._checked(self._bytes, byte))

    def unpack(self, registers: Any, byte: int = 0, thread: int = 0) -> Array:
        """Return the scales in these bytes of the chosen lanes. Raises OperandError."""
        found = self._unpacked(self.name, registers, thread, self._checked(self._bytes, byte))
        return tensor.elements_of(found, self.type)

    def where(self, row: int, column: int, byte: int = 0, thread: int = 0) -> Places:
        """Return the lane, the register and the lowest bit of a scale. Raises IndexError."""
        _in(self.name, row, column, self.size)
        lane, bit = self._where(row, column, thread, self._checked(self._bytes, byte))
        return ((lane, 0, bit),)


def _in(name: str, row: int, column: int, size: tuple[int, int]) -> None:
    if not (0 <= row < size[0] and 0 <= column < size[1]):
        raise IndexError(f"{name} has {size[0]} rows of {size[1]}, and no element {row}, {column}")
