"""Integers and fixed-point numbers, which are integers in units of a power of two."""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import wide
from .binary import Array, Direction
from .comparison import compared

u64 = np.uint64


@dataclass(frozen=True)
class FixedPoint:
    """Integers in units of 2**-point, in two's complement if signed."""

    name: str
    width: int
    signed: bool
    point: int

    @cached_property
    def unsigned(self) -> np.dtype[Any]:
        return np.dtype(next(f"u{size}" for size in (1, 2, 4, 8) if 8 * size >= self.width))

    @cached_property
    def sign(self) -> Any:
        return self.unsigned.type((1 << (self.width - 1)) * self.signed)

    @cached_property
    def range(self) -> tuple[int, int]:
        """The least integer and the largest."""
        largest = (1 << (self.width - self.signed)) - 1
        return -largest - 1 if self.signed else 0, largest

    def most(self, negative: Array) -> Array:
        """Return the largest magnitude of each sign: uint64."""
        largest = (1 << (self.width - self.signed)) - 1
        return np.where(negative, u64(int(self.sign)), u64(largest))


class Magnitude(NamedTuple):
    """A number (-1)**negative * size: uint64."""

    negative: Array
    size: Array


def compareIntegers(x: Array, y: Array, relation: int, f: FixedPoint) -> Array:
    """Return whether x and y are in a relation, as comparison.py defines them."""
    return compared(x ^ f.sign, y ^ f.sign, relation)


def divideIntegers(x: Array, y: Array, f: FixedPoint) -> Array:
    """Return x / y truncated toward zero, modulo 2**width; 0 where y is 0."""
    if f.signed:
        # The least integer divided by -1 wraps around, which NumPy does not promise; therefore magnitudes are divided.
        of_x, of_y = (x & f.sign) != 0, (y & f.sign) != 0
        zero = f.unsigned.type(0)
        size = divideIntegers(np.where(of_x, zero - x, x), np.where(of_y, zero - y, y), replace(f, signed=False))
        return np.where(of_x == of_y, size, zero - size)
    return np.floor_divide(x, y, out=np.zeros_like(x), where=y != 0)


def read(x: Array, f: FixedPoint) -> Magnitude:
    negative = (x & f.sign) != 0
    size = x.astype(u64)
    return Magnitude(negative, np.where(negative, u64((1 << f.width) % (1 << 64)) - size, size))


def write(x: Magnitude, f: FixedPoint) -> Array:
    """Return the encodings; numbers out of range become the nearest end of the range."""
    size = np.minimum(x.size, f.most(x.negative))
    mask = u64((1 << f.width) - 1)
    return (np.where(x.negative, u64(0) - size, size) & mask).astype(f.unsigned)


def congruent(x: Array, source: FixedPoint, f: FixedPoint) -> Array:
    """Return the number of `f` that is congruent to x modulo 2**width: a narrower x is extended, a wider one
    truncated."""
    signed = x.view(f"i{x.dtype.itemsize}") if source.signed and source.width < f.width else x
    return signed.astype(f.unsigned)


def shifted(x: Magnitude, places: int, f: FixedPoint, mode: Direction) -> Array:
    """Return x in other units: with `places` more places behind the point."""
    if places >= 0:
        most = f.most(x.negative)
        fits = x.size <= most >> u64(min(places, 63))
        moved = x.size << u64(min(places, 63))
        return write(Magnitude(x.negative, np.where(fits | (x.size == 0), moved, most)), f)
    return write(Magnitude(x.negative, wide.drop(x.size, np.full_like(x.size, -places), x.negative, mode)), f)


def shiftLeftBy(x: Array, count: Array) -> Array:
    """Return x shifted left by any number of places; 0 from the width on."""
    width = 8 * x.dtype.itemsize
    places = np.minimum(count, count.dtype.type(width - 1)).astype(x.dtype)
    return np.where(count < width, x << places, x.dtype.type(0))


def shiftRightBy(x: Array, count: Array) -> Array:
    """Return x shifted right by any number of places; 0 from the width on."""
    width = 8 * x.dtype.itemsize
    places = np.minimum(count, count.dtype.type(width - 1)).astype(x.dtype)
    return np.where(count < width, x >> places, x.dtype.type(0))
