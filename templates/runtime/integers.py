"""Integers and fixed-point numbers, which are integers in units of a power of two: comparison, and what they exchange
with floats (IEEE 754-2019, 5.4.1, 5.8)."""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import wide
from .arithmetic import convert as convert_float, elementwise
from .binary import BINARY64, Array, Direction, Format, roundTiesToEven
from .declared import Declared, encode, flushed, integral, values

u64 = np.uint64


@dataclass(frozen=True)
class FixedPoint:
    """Integers in units of 2**-point, in two's complement where they are signed."""

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

    def most(self, negative: Array) -> Array:
        """The largest magnitude of each sign: uint64."""
        largest = (1 << (self.width - self.signed)) - 1
        return np.where(negative, u64(int(self.sign)), u64(largest))


class Magnitude(NamedTuple):
    """(-1)**negative * size: uint64."""

    negative: Array
    size: Array


def lessInteger(x: Array, y: Array, f: FixedPoint) -> Array:
    """x is less than y."""
    return (x ^ f.sign) < (y ^ f.sign)


def _read(x: Array, f: FixedPoint) -> Magnitude:
    negative = (x & f.sign) != 0
    size = x.astype(u64)
    return Magnitude(negative, np.where(negative, u64((1 << f.width) % (1 << 64)) - size, size))


def _write(x: Magnitude, f: FixedPoint) -> Array:
    """The encodings, of the end of the range where they are out of it."""
    size = np.minimum(x.size, f.most(x.negative))
    mask = u64((1 << f.width) - 1)
    return (np.where(x.negative, u64(0) - size, size) & mask).astype(f.unsigned)


def _as_double(x: Array, f: Format | Declared, daz: bool) -> Array:
    """The values of floats, which float64 has all."""
    if isinstance(f, Declared):
        return values(flushed(x, f) if daz else x, f)
    return convert_float(x, f, BINARY64, roundTiesToEven, False, daz).view(np.float64)


@elementwise(1)
def convert(
    x: Array,
    source: Format | Declared | FixedPoint,
    f: Format | Declared | FixedPoint,
    mode: Direction,
    ftz: bool,
    daz: bool = False,
) -> Array:
    """A number of any kind as one of any other, rounded once. Integers out of range are the end of it; NaN is 0."""
    if isinstance(source, FixedPoint):
        if isinstance(f, FixedPoint):
            return _shifted(_read(x, source), f.point - source.point, f, mode)
        return _as_float(_read(x, source), source.point, f, mode, ftz)
    value = _as_double(x, source, daz)
    if isinstance(f, FixedPoint):
        return _as_integer(value, f, mode)
    if isinstance(f, Declared):
        return encode(value, f, mode, ftz)
    return convert_float(value.view(np.uint64), BINARY64, f, mode, ftz)


def _as_integer(value: Array, f: FixedPoint, mode: Direction) -> Array:
    negative = np.signbit(value)
    size = integral(np.ldexp(np.abs(value), f.point), negative, mode)
    np.copyto(size, 0, where=np.isnan(value))
    # The largest uint64 is no float64; the power of two behind it is.
    beyond = size >= 2.0**64
    whole = np.where(beyond, 0, size).astype(u64)
    return _write(Magnitude(negative, np.where(beyond, ~u64(0), whole)), f)


def _shifted(x: Magnitude, places: int, f: FixedPoint, mode: Direction) -> Array:
    """In other units: so many more places behind the point."""
    if places >= 0:
        most = f.most(x.negative)
        fits = x.size <= most >> u64(min(places, 63))
        moved = x.size << u64(min(places, 63))
        return _write(Magnitude(x.negative, np.where(fits | (x.size == 0), moved, most)), f)
    return _write(Magnitude(x.negative, wide.drop(x.size, np.full_like(x.size, -places), x.negative, mode)), f)


def _as_float(x: Magnitude, point: int, f: Format | Declared, mode: Direction, ftz: bool) -> Array:
    shift = 64 - wide.bit_length(x.size)
    exponent = np.where(x.size == 0, wide.ZERO_EXPONENT, -point - shift)
    exact = wide.Finite(x.negative, exponent, x.size << (shift.astype(u64) & u64(63)))
    if isinstance(f, Format):
        return wide.pack(exact, False, f, mode, ftz)
    # Cut off to float64's precision, with a last bit for what is lost.
    kept = (x.size >> u64(11)) | ((x.size & u64((1 << 11) - 1)) != 0)
    whole = np.where(x.size >> u64(53) != 0, np.ldexp(kept.astype(np.float64), 11), x.size.astype(np.float64))
    return encode(np.ldexp(np.where(x.negative, -whole, whole), -point), f, mode, ftz)
