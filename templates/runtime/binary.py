"""IEEE 754-2019 binary interchange formats and rounding directions.

A value is an array of any shape, of the unsigned integer type of its format: the bits as they are in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Direction: TypeAlias = str

# The rounding-direction attributes of IEEE 754-2019, 4.3.
roundTiesToEven: Final = "roundTiesToEven"
roundTiesToAway: Final = "roundTiesToAway"
roundTowardZero: Final = "roundTowardZero"
roundTowardNegative: Final = "roundTowardNegative"
roundTowardPositive: Final = "roundTowardPositive"
DIRECTIONS: Final = (roundTiesToEven, roundTiesToAway, roundTowardZero, roundTowardNegative, roundTowardPositive)


@dataclass(frozen=True)
class Format:
    """A binary format laid out as sign, exponent, fraction (IEEE 754-2019, 3.4).

    The width is 8, 16, 32 or 64 bits, with an exponent of at most 11 bits and a fraction of at most 52, so that every
    value of every format is also a binary64 value. `canonical_nan` is the pattern that a computed NaN takes. Integer
    attributes are Python's; the masks and patterns are NumPy scalars of the type `unsigned`.
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    canonical_nan: int

    def __post_init__(self) -> None:
        if self.width not in (8, 16, 32, 64):
            raise ValueError(f"{self.name}: a format is 8, 16, 32 or 64 bits wide, not {self.width}")
        if not (2 <= self.exponent_bits <= 11 and 1 <= self.fraction_bits <= 52):
            raise ValueError(f"{self.name}: an exponent has 2 to 11 bits and a fraction 1 to 52")

    @cached_property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @cached_property
    def precision(self) -> int:
        """p: the number of bits of a significand, the leading one included."""
        return self.fraction_bits + 1

    @cached_property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Formats are keys of tables; with few elements, the look-up takes much of each step.
        return hash((self.exponent_bits, self.fraction_bits, self.canonical_nan))

    @cached_property
    def emax(self) -> int:
        return self.bias

    @cached_property
    def emin(self) -> int:
        return 1 - self.emax

    @cached_property
    def unsigned(self) -> np.dtype[Any]:
        return np.dtype(f"u{self.width // 8}")

    @cached_property
    def signed(self) -> np.dtype[Any]:
        return np.dtype(f"i{self.width // 8}")

    @cached_property
    def native(self) -> np.dtype[Any] | None:
        """The floating-point type of NumPy that computes in this format with the processor's own operations."""
        if (self.exponent_bits, self.fraction_bits) == (8, 23):
            return np.dtype(np.float32)
        if (self.exponent_bits, self.fraction_bits) == (11, 52):
            return np.dtype(np.float64)
        return None

    @cached_property
    def carrier(self) -> np.dtype[Any] | None:
        """The native type in which sums, products and their remainders neither overflow nor underflow.

        It has every product of two values exactly and at least two bits more than the format: a result rounded to odd
        in it can be rounded again (Boldo and Melquiond 2008). None where the format has no such type.
        """
        if self.exponent_bits <= 5 and self.precision <= 11:
            return np.dtype(np.float32)
        if self.exponent_bits <= 8 and self.precision <= 24:
            return np.dtype(np.float64)
        return None

    @cached_property
    def sign_mask(self) -> Any:
        return self.unsigned.type(1 << (self.width - 1))

    @cached_property
    def magnitude_mask(self) -> Any:
        return self.unsigned.type((1 << (self.width - 1)) - 1)

    @cached_property
    def fraction_mask(self) -> Any:
        return self.unsigned.type((1 << self.fraction_bits) - 1)

    @cached_property
    def quiet_mask(self) -> Any:
        """The leading fraction bit: set in a quiet NaN, clear in a signaling one (6.2.1)."""
        return self.unsigned.type(1 << (self.fraction_bits - 1))

    @cached_property
    def infinity(self) -> Any:
        return self.unsigned.type(((1 << self.exponent_bits) - 1) << self.fraction_bits)

    @cached_property
    def largest(self) -> Any:
        """The largest finite number."""
        return self.unsigned.type(int(self.infinity) - 1)

    @cached_property
    def smallest_normal(self) -> Any:
        """2**emin."""
        return self.unsigned.type(1 << self.fraction_bits)

    @cached_property
    def nan(self) -> Any:
        """`canonical_nan` as a NumPy scalar."""
        return self.unsigned.type(self.canonical_nan)


BINARY32: Final = Format("binary32", 8, 23, 0x7FC00000)
BINARY64: Final = Format("binary64", 11, 52, 0x7FF8000000000000)


def native_format(dtype: np.dtype[Any]) -> Format:
    """Return the format of a native floating-point type."""
    return BINARY32 if dtype == np.float32 else BINARY64
