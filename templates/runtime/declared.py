"""Formats that are not declared like one of IEEE 754's, and integers.

Values are arrays of the unsigned integer type `unsigned`, with the encoding in their lowest bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Declared:
    """A binary floating-point format: a sign where it is `signed`, an exponent, a fraction.

    From the largest magnitude down its encodings are `nans` NaNs, an infinity if it has one, and numbers. Exponent
    field 0 holds zero and the subnormal numbers; without a zero it is an exponent like the others, without subnormal
    numbers all of it is zero. `overflow` is what a number too large becomes where it is not rounded toward zero:
    "infinity", "nan" or "largest". `canonical_nan` is what an invalid operation delivers, in a format without NaNs a
    number. A format without a sign holds magnitudes."""

    name: str
    exponent_bits: int
    fraction_bits: int
    canonical_nan: int
    bias: int
    nans: int
    overflow: str
    signed: bool
    has_zero: bool
    has_subnormals: bool
    has_infinity: bool

    @cached_property
    def width(self) -> int:
        return self.signed + self.exponent_bits + self.fraction_bits

    @cached_property
    def unsigned(self) -> np.dtype[Any]:
        return _unsigned(self.width)

    @cached_property
    def precision(self) -> int:
        return self.fraction_bits + 1

    @cached_property
    def emin(self) -> int:
        return self.has_zero - self.bias

    @cached_property
    def sign_bit(self) -> int:
        """0 in a format without a sign."""
        return self.magnitudes if self.signed else 0

    @cached_property
    def magnitudes(self) -> int:
        """The number of encodings of one sign; each is a magnitude below it."""
        return 1 << (self.exponent_bits + self.fraction_bits)

    @cached_property
    def first_nan(self) -> int:
        """The least magnitude that is a NaN."""
        return self.magnitudes - self.nans

    @cached_property
    def infinity(self) -> int:
        """The encoding of +infinity, where there is one."""
        return self.first_nan - 1

    @cached_property
    def largest(self) -> int:
        """The encoding of the largest number."""
        return self.first_nan - 1 - self.has_infinity

    @cached_property
    def least_normal(self) -> int:
        """The encoding of the smallest normal number."""
        return 1 << self.fraction_bits if self.has_zero else 0

    @cached_property
    def overflown(self) -> tuple[int, bool]:
        """What a number too large becomes, and an infinity where there is none; and whether it takes a sign."""
        found = {"infinity": self.infinity, "nan": self.canonical_nan, "largest": self.largest}[self.overflow]
        return found, self.overflow != "nan"


@dataclass(frozen=True)
class FixedPoint:
    """Integers in units of 2**-point, in two's complement where they are signed."""

    name: str
    width: int
    signed: bool
    point: int

    @cached_property
    def unsigned(self) -> np.dtype[Any]:
        return _unsigned(self.width)

    @cached_property
    def most_negative(self) -> int:
        """The magnitude of the least number."""
        return 1 << (self.width - 1) if self.signed else 0

    @cached_property
    def largest(self) -> int:
        return (1 << (self.width - self.signed)) - 1


def _unsigned(width: int) -> np.dtype[Any]:
    return np.dtype(f"u{next(w for w in (8, 16, 32, 64) if w >= width) // 8}")
