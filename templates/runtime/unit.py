"""A special function unit on arrays of bit patterns, as it was recovered from a recording.

A table-based quadratic interpolator (S. F. Oberman and M. Y. Siu, ARITH 2005): an argument is reduced to a segment and
a place in it, a quadratic polynomial with coefficients from a table is summed in fixed point, the sum is scaled and
truncated. Where no such table was found, results are told by their differences from correctly rounded ones. Everything
is computed in integers, but the correctly rounded results. units.py holds what is known.
"""

# mypy: no-warn-return-any
# NumPy's stubs call what operators make of arrays of any type Any.

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from . import arithmetic, elementary
from .binary import Array, Format, roundTiesToEven


@dataclass(frozen=True, eq=False)
class Unit:
    """One function of the unit on some targets.

    `kind` and the fields up to `mirror` say how an argument is reduced (see `reduce`), those up to `special` what
    becomes of the sum: a number with `point` bits after the point, times 2 to the power of `exponent` times the scale
    (None: plus the scale), truncated to `precision` bits. `special` are the results of +zero, -zero, +infinity,
    -infinity, NaN and negative numbers (-1: these have none of their own).

    `coefficients` are the rows C0, C1, C2 of the sum

        C0 << shifts[0] + C1 * x << shifts[1] + C2 * square << shifts[2] + bias

    which is shifted right by shifts[3]. The square lacks what stands below 2**drop: with `columns` the partial products
    there, else the bits. Without coefficients, `differences` is a zlib stream in base85 of little-endian integers of
    `width` bytes: the steps in the last place by which a result differs from that of `function`."""

    format: Format
    kind: str
    bits: int
    octaves: int
    first: int
    last: int
    odd: bool
    phase: int
    mirror: str
    exponent: int | None
    point: int
    precision: int
    special: tuple[int, int, int, int, int, int]
    segments: int = 0
    drop: int = 0
    columns: bool = False
    shifts: tuple[int, int, int, int] = (0, 0, 0, 0)
    bias: int = 0
    coefficients: tuple[tuple[int, int, int], ...] = field(default=(), repr=False)
    function: str = ""
    width: int = 1
    differences: str = field(default="", repr=False)

    @cached_property
    def places(self) -> int:
        """The bits of an argument's integer within an octave or a quarter."""
        return self.bits - 2 if self.kind == "turns" else self.bits

    @cached_property
    def local(self) -> int:
        """The bits of a place within its segment."""
        return self.places - (self.segments.bit_length() - 1)

    @cached_property
    def table(self) -> tuple[Array, Array, Array]:
        """C0 with the bias, C1 and C2 by segment, in units of the sum's last place but for the factors x and square."""
        c0, c1, c2 = np.array(self.coefficients, np.int64).T
        first, second, third, _ = self.shifts
        return (c0 << first) + self.bias, c1 << second, c2 << third

    @cached_property
    def squares(self) -> Array:
        """The square, without its last `drop` places, of every place in a segment and its end: int64."""
        return square(np.arange((1 << self.local) + 1, dtype=np.int64), self.drop, self.columns)

    @cached_property
    def steps(self) -> Array:
        """The differences by the integer of the argument."""
        return np.frombuffer(zlib.decompress(base64.b85decode("".join(self.differences.split()))), f"<i{self.width}")


def square(x: Array, drop: int, columns: bool) -> Array:
    """x squared in units of 2**drop, for int64 from 0 on; with `columns`, without the partial products below, of which
    those of two different bits stand once, in the column above their own."""
    whole = x * x
    if columns:
        # Bit i meets itself in column 2 i, and bit j below it in column i + j + 1.
        for i in range(drop):
            below = x & ((1 << max(0, min(i, drop - 1 - i))) - 1)
            lost = (below << (i + 1)) + ((1 << 2 * i) if 2 * i < drop else 0)
            whole -= ((x >> i) & 1) * lost
    return whole >> drop


def unit(x: Array, u: Unit) -> Array:
    """What the unit makes of x, bits of its format."""
    operands = np.atleast_1d(x)
    if u.kind == "pattern":
        result = _differing(u, operands.astype(np.int64), np.zeros(1, np.int64))
    else:
        scale, place, negative = reduce(operands, u)
        result = _differing(u, place, scale) if u.function else finish(interpolate(place, u), scale, u)
        np.bitwise_xor(result, u.format.sign_mask, out=result, where=negative)
        _specials(operands, result, u)
    return result if np.shape(x) else result[0]


def reduce(x: Array, u: Unit) -> tuple[Array, Array, Array]:
    """The scale and the integer that picks segment and place, both int64, and whether the sign is to be inverted.

    Of special operands they mean nothing. kind:

      significand  `bits` bits of the fraction, above them what tells `octaves` apart; the scale is the rest of the
                   exponent
      octaves      as well, for exponents from `first` on; the scale is the exponent
      fixed        `bits` bits after the point, rounded down; the scale is what stands before it
      turns        an angle in turns with `bits` bits after the point, plus `phase` quarters, within its quarter,
                   mirrored in odd ones; the scale is 0
    """
    f = u.format
    magnitude = (x & f.magnitude_mask).astype(np.int64)
    sign = x > f.magnitude_mask
    exponent = (magnitude >> f.fraction_bits) - f.bias
    ones = (1 << u.places) - 1
    none = np.zeros(x.shape, bool)
    if u.kind in ("significand", "octaves"):
        fraction = magnitude >> (f.fraction_bits - u.bits) & ones
        if u.kind == "octaves":
            above = np.clip(exponent, u.first, u.last)
            return exponent, (above - u.first) << u.bits | fraction, sign if u.odd else none
        return exponent // u.octaves, (exponent % u.octaves) << u.bits | fraction, sign if u.odd else none
    significand = (magnitude & int(f.fraction_mask)) | 1 << f.fraction_bits
    distance = exponent - f.fraction_bits + u.bits
    if u.kind == "fixed":
        # What is shifted further to the left is beyond every exponent anyway.
        left = np.clip(distance, 0, 62 - f.precision)
        significand = np.where(sign, -significand, significand)
        fixed = np.where(distance < 0, significand >> np.clip(-distance, 0, 63), significand << left)
        return fixed >> u.bits, fixed & ones, none
    # Whole turns are lost on the left.
    fixed = np.where(distance < 0, significand >> np.clip(-distance, 0, 63), significand << np.clip(distance, 0, 63))
    quarter, place = (fixed >> u.places) + u.phase, fixed & ones
    mirrored = ones - place if u.mirror == "complement" else ones + 1 - place
    negative = quarter & 2 != 0
    return np.zeros(x.shape, np.int64), np.where(quarter & 1, mirrored, place), negative ^ sign if u.odd else negative


def interpolate(place: Array, u: Unit) -> Array:
    """The polynomial in units of 2**-point: int64."""
    # A place that is a whole quarter lies at the end of the last segment.
    segment = np.minimum(place >> u.local, len(u.coefficients) - 1)
    x = place - (segment << u.local)
    c0, c1, c2 = u.table
    total = c1[segment]
    total *= x
    curve = c2[segment]
    curve *= u.squares[x]
    total += curve
    total += c0[segment]
    total >>= u.shifts[3]
    return total


def finish(value: Array, scale: Array, u: Unit) -> Array:
    """The number that a sum stands for, in bits: normalised and truncated."""
    f = u.format
    if u.exponent is None:
        value = value + (scale << u.point)
    size = np.abs(value)
    # A float64 of up to 62 bits may be rounded up to the next power of two.
    length = np.frexp(size.astype(np.float64))[1].astype(np.int64)
    length -= size < np.int64(1) << np.maximum(length - 1, 0)
    excess = length - u.precision
    significand = np.where(excess >= 0, size >> np.maximum(excess, 0), size << np.maximum(-excess, 0))
    fraction = (significand << (f.precision - u.precision)) & int(f.fraction_mask)
    biased = length + (f.bias - 1 - u.point)
    if u.exponent is not None:
        biased += scale * u.exponent
    biased[size == 0] = 0
    result = _in_range(biased, fraction, f)
    result[value < 0] |= f.sign_mask
    return result


def _in_range(biased: Array, fraction: Array, f: Format) -> Array:
    """Magnitudes from exponent fields that may be beyond the format's; what is tiny is a zero."""
    top = (1 << f.exponent_bits) - 1
    result = np.minimum(np.clip(biased, 0, top) << f.fraction_bits | fraction, int(f.infinity))
    return np.where(biased < 1, 0, result).astype(f.unsigned)


def _specials(x: Array, result: Array, u: Unit) -> None:
    """Put in the results of operands that are not reduced."""
    f = u.format
    magnitude, sign = x & f.magnitude_mask, x > f.magnitude_mask
    zero, negative_zero, infinity, negative_infinity, nan, negative = (f.unsigned.type(max(s, 0)) for s in u.special)
    if u.kind == "octaves":
        np.copyto(result, x, where=magnitude < f.unsigned.type((u.first + f.bias) << f.fraction_bits))
        far = magnitude >= f.unsigned.type((u.last + 1 + f.bias) << f.fraction_bits)
        np.copyto(result, np.where(sign, negative_infinity, infinity), where=far)
    if u.special[5] >= 0:
        np.copyto(result, negative, where=sign)
    np.copyto(result, np.where(sign, negative_zero, zero), where=magnitude < f.smallest_normal)
    np.copyto(result, np.where(sign, negative_infinity, infinity), where=magnitude == f.infinity)
    np.copyto(result, nan, where=magnitude > f.infinity)


def _differing(u: Unit, place: Array, scale: Array) -> Array:
    """The correctly rounded results at places, and as many steps away as the table says, scaled."""
    f = u.format
    # Encodings without the bits that results do not have, as integers in the order of the numbers.
    cut = f.precision - u.precision
    half = int(f.sign_mask) >> cut
    base = (rounded(place, u) >> f.unsigned.type(cut)).astype(np.int64)
    order = np.where(base < half, base, half - 1 - base) + u.steps[place]
    result = np.where(order >= 0, order, half - 1 - order).astype(f.unsigned) << f.unsigned.type(cut)
    if u.kind == "pattern":
        return result
    assert u.exponent is not None
    magnitude = (result & f.magnitude_mask).astype(np.int64)
    biased = (magnitude >> f.fraction_bits) + scale * u.exponent
    return _in_range(biased, magnitude & int(f.fraction_mask), f) | (result & f.sign_mask)


def rounded(place: Array, u: Unit) -> Array:
    """The function's results at places, rounded to nearest; "reciprocal" is a division of 1."""
    f = u.format
    operand = place
    if u.kind == "significand":
        fraction = place & ((1 << u.bits) - 1)
        operand = ((f.bias + (place >> u.bits)) << f.fraction_bits) | fraction << (f.fraction_bits - u.bits)
    elif u.kind == "fixed":
        length = np.frexp(place.astype(np.float64))[1].astype(np.int64)
        shifted = (place << np.maximum(f.precision - length, 0)) & int(f.fraction_mask)
        operand = np.where(place == 0, 0, (length - 1 - u.bits + f.bias) << f.fraction_bits | shifted)
    x = operand.astype(f.unsigned)
    if u.function == "reciprocal":
        one = f.unsigned.type(f.bias << f.fraction_bits)
        return arithmetic.division(np.broadcast_to(one, x.shape), x, f, roundTiesToEven, False)
    home = arithmetic if hasattr(arithmetic, u.function) else elementary
    result: Array = getattr(home, u.function)(x, f, roundTiesToEven, False)
    return result
