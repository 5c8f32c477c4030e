"""Kinds of values, the formats of numbers, and the types that spellings name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..basis import Basis
from .code import Code

# IEEE 754-2019, 4.3. The first is the default.
ROUNDINGS = ("roundTiesToEven", "roundTiesToAway", "roundTowardZero", "roundTowardNegative", "roundTowardPositive")
OVERFLOWS = ("infinity", "nan", "largest")


@dataclass(frozen=True, eq=False)
class Format:
    """A binary floating-point format: a sign if it is `signed`, an exponent, a fraction.

    From the largest magnitude down, its encodings are `nans` NaNs, an infinity if it has one, and numbers. Exponent
    field 0 has zero and the subnormal numbers; in a format without a zero it is an exponent like the others, and in one
    without subnormal numbers it has zeros only. `overflow` is what a number that is too large becomes unless it is
    rounded toward zero: "infinity", "nan" or "largest". `canonical_nan` is the result of an invalid operation; it is a
    number in a format without NaNs. In a register the encoding is `shift` bits above the lowest of `container` bits.

    A format without a sign has magnitudes only: a number that is converted to it loses its sign. Each format is one
    object."""

    name: str
    exponent_bits: int
    fraction_bits: int
    bias: int
    nans: int
    canonical_nan: int
    overflow: str = "infinity"
    signed: bool = True
    has_zero: bool = True
    has_subnormals: bool = True  # only with a zero
    has_infinity: bool = True
    container: int = 0
    shift: int = 0

    @cached_property
    def width(self) -> int:
        return self.signed + self.exponent_bits + self.fraction_bits

    @property
    def precision(self) -> int:
        return self.fraction_bits + 1

    @property
    def sign_bit(self) -> int:
        """The sign bit; 0 in a format without a sign."""
        return self.magnitudes if self.signed else 0

    @cached_property
    def magnitudes(self) -> int:
        """The number of encodings of one sign. Magnitudes are less than this."""
        return 1 << (self.exponent_bits + self.fraction_bits)

    @cached_property
    def first_nan(self) -> int:
        """The least magnitude that is a NaN."""
        return self.magnitudes - self.nans

    @property
    def infinity(self) -> int:
        """The encoding of +infinity."""
        assert self.has_infinity, f"{self.name} has no infinity"
        return self.first_nan - 1

    @cached_property
    def largest(self) -> int:
        """The encoding of the largest number."""
        return self.first_nan - 1 - self.has_infinity

    @property
    def least_normal(self) -> int:
        """The encoding of the smallest normal number."""
        return 1 << self.fraction_bits if self.has_zero else 0

    @cached_property
    def emin(self) -> int:
        return self.has_zero - self.bias

    @cached_property
    def emax(self) -> int:
        return (self.largest >> self.fraction_bits) - self.bias

    def magnitude(self, bits: int) -> int:
        return bits & (self.magnitudes - 1)

    def is_nan(self, bits: int) -> bool:
        return self.magnitude(bits) >= self.first_nan

    def is_infinite(self, bits: int) -> bool:
        return self.has_infinity and self.magnitude(bits) == self.infinity

    def is_zero(self, bits: int) -> bool:
        if not self.has_subnormals:
            return self.has_zero and self.magnitude(bits) < self.least_normal
        return self.magnitude(bits) == 0

    def is_subnormal(self, bits: int) -> bool:
        return self.has_subnormals and 0 < self.magnitude(bits) < self.least_normal

    def is_normal(self, bits: int) -> bool:
        return self.least_normal <= self.magnitude(bits) <= self.largest

    @property
    def quiet_bit(self) -> int:
        """The first fraction bit, which tells quiet NaNs from signaling ones where a format has both."""
        return 1 << (self.fraction_bits - 1)

    @cached_property
    def is_ieee(self) -> bool:
        """Return whether it is declared like an interchange format of IEEE 754: with a sign, zeros, subnormal numbers
        and infinities, with NaNs as all other encodings of the largest exponent, and with the width of a processor's
        integers."""
        whole = self.signed and self.has_zero and self.has_subnormals and self.has_infinity
        usual = self.nans == (1 << self.fraction_bits) - 1 and self.bias == (1 << (self.exponent_bits - 1)) - 1
        fitting = self.container == self.width in (8, 16, 32, 64) and self.exponent_bits > 1 and self.fraction_bits > 0
        return whole and usual and fitting and self.overflow == "infinity"


def ieee(name: str, exponent_bits: int, fraction_bits: int, canonical_nan: int) -> Format:
    """A format like the interchange formats of IEEE 754-2019, 3.4."""
    return Format(
        name=name,
        exponent_bits=exponent_bits,
        fraction_bits=fraction_bits,
        bias=(1 << (exponent_bits - 1)) - 1,
        nans=(1 << fraction_bits) - 1,
        canonical_nan=canonical_nan,
        container=1 + exponent_bits + fraction_bits,
    )


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Integers in units of 2**-point, in two's complement where they are signed."""

    name: str
    width: int
    signed: bool
    point: int

    @property
    def least(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def largest(self) -> int:
        return (1 << (self.width - self.signed)) - 1

    def value(self, bits: int) -> int:
        """The integer that an encoding stands for, in units of 2**-point."""
        return bits - (1 << self.width) if self.signed and bits >> (self.width - 1) else bits


class Kind(NamedTuple):
    """The kind of a value: `sort` is "bool", "bits", "integer" or "float". Fixed-point numbers are of sort
    "integer"."""

    sort: str
    width: int = 1
    format: Format | None = None
    fixed: FixedPoint | None = None

    @property
    def storage(self) -> int:
        """The width of the smallest unsigned integer type that can hold an encoding."""
        return next(w for w in (8, 16, 32, 64) if w >= self.width)

    def __str__(self) -> str:
        if self.format is not None:
            return f"{self.format.name} float"
        if self.fixed is not None:
            return f"{self.fixed.name} {'fixed-point number' if self.fixed.point else 'integer'}"
        return f"{self.width} bits" if self.sort == "bits" else "bool"


BOOL = Kind("bool")


def bits_of(width: int) -> Kind:
    return Kind("bits", width)


def float_in(format: Format) -> Kind:
    return Kind("float", format.width, format)


def integer_in(fixed: FixedPoint) -> Kind:
    return Kind("integer", fixed.width, fixed=fixed)


def number_in(format: Format | FixedPoint) -> Kind:
    return float_in(format) if isinstance(format, Format) else integer_in(format)


@dataclass(frozen=True)
class NanRule:
    """A rule for NaN results. Without code, their bits stay as the operation left them."""

    name: str
    summary: str
    basis: Basis
    unspecified: str
    code: Code | None


@dataclass(frozen=True)
class Languages:
    """A type in other languages: the type of CUDA C++ that holds its values, the header that declares it, and the type
    of a lane in Triton; empty where there is none."""

    cuda: str = ""
    header: str = ""
    triton: str = ""


@dataclass(frozen=True, eq=False)
class Type:
    """A type that spellings and operands name. `kind` is that of a lane, which has `lane_width` bits of the register;
    `nan` is None if no result is a NaN. No register holds an operand of a type that `is_constant`. `enters` and
    `leaves` are the statements that write a word to the condition code and read it back: {operand} is the word, {own} a
    register for them. Each type is one object."""

    name: str
    kind: Kind
    lanes: int
    lane_width: int
    nan: NanRule | None
    constraint: str
    registers: str
    summary: str
    in_languages: Languages = Languages()
    enters: str = ""
    leaves: str = ""

    @property
    def is_constant(self) -> bool:
        return self.constraint == "n"

    @property
    def width(self) -> int:
        return self.lane_width * self.lanes

    @property
    def shift(self) -> int:
        """The number of bits between the lowest bit of a lane's part of the register and that of its encoding."""
        return self.kind.format.shift if self.kind.format else 0

    def unpack(self, bits: int) -> list[int]:
        """Return the lanes' encodings in a register's bits, the lowest lane first."""
        mask = (1 << self.kind.width) - 1
        return [bits >> (i * self.lane_width + self.shift) & mask for i in range(self.lanes)]

    def pack(self, lanes: list[int]) -> int:
        """Return a register's bits from the lanes' encodings."""
        return sum(x << (i * self.lane_width + self.shift) for i, x in enumerate(lanes))
