"""A special function unit on arrays of bit patterns, as recovered from a recording.

It is a table-based quadratic interpolator (S. F. Oberman and M. Y. Siu, ARITH 2005). An argument is reduced to a
segment and a place in it, a quadratic polynomial with coefficients from a table is summed in fixed point, and the sum
is scaled and truncated. Where no such table was found, results are stored as differences from correctly rounded ones.
Everything but the correctly rounded results is computed in integers. units.py has the recovered data.
"""

# mypy: no-warn-return-any
# NumPy's stubs type the results of operators on arrays as Any.

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from . import arithmetic, elementary
from .binary import Array, Format, roundTiesToEven
from .encoding import mask
from .selection import replace

# Operands that are computed together.
_PART = 1 << 15


@dataclass(frozen=True, eq=False)
class Unit:
    """One function of the unit on some targets.

    `kind` and the fields up to `kept` say how an argument is reduced (see `reduce`). Those up to `own_results` say how
    the sum becomes the result: a number, plus the scale where `exponent` is None, rounded to `point` bits after the
    point, down or `toward_zero`, times 2 to the power of `exponent` times the scale, truncated to `precision` bits.
    `special` are the results for +zero, -zero, +infinity, -infinity, NaN and negative numbers (-1: these have none of
    their own), `own_results` those for single operands; `own_sums` are sums, in units of 2**-point, by their places.

    `coefficients` are the rows C0, C1, C2 of the sum

        C0 << shifts[0] + C1 * x << shifts[1] + C2 * square << shifts[2] + bias

    which has shifts[3] more bits after the point. The square is that of x without its last `unseen` bits. It lacks what
    is below 2**drop: with `columns` the partial products there, else the bits. Without coefficients, `differences` is a
    zlib stream in base85 of little-endian integers of `width` bytes: the steps in the last place by which a result
    differs from that of `function`."""

    format: Format
    kind: str
    bits: int
    octaves: int
    first: int
    last: int
    odd: bool
    phase: int
    mirror: str
    negative: str
    factor: float
    kept: int
    exponent: int | None
    point: int
    precision: int
    toward_zero: bool
    special: tuple[int, int, int, int, int, int]
    own_results: tuple[tuple[int, int], ...] = ()
    own_sums: tuple[tuple[int, int], ...] = ()
    segments: int = 0
    drop: int = 0
    columns: bool = False
    unseen: int = 0
    shifts: tuple[int, int, int, int] = (0, 0, 0, 0)
    bias: int = 0
    coefficients: tuple[tuple[int, int, int], ...] = field(default=(), repr=False)
    function: str = ""
    width: int = 1
    differences: str = field(default="", repr=False)

    @cached_property
    def places(self) -> int:
        """The number of bits of an argument's integer within an octave or a quarter."""
        return self.bits - 2 if self.kind == "turns" else self.bits

    @cached_property
    def local(self) -> int:
        """The number of bits of a place within its segment."""
        return self.places - (self.segments.bit_length() - 1)

    @cached_property
    def table(self) -> tuple[Array, Array, Array]:
        """C0 with the bias, C1 and C2 by segment, in units of the sum's last place, without the factors x and square.
        They are float64, which is quicker, if that has every sum exactly."""
        c0, c1, c2 = np.array(self.coefficients, np.int64).T
        first, second, third, out = self.shifts
        tables = (c0 << first) + self.bias, c1 << second, c2 << third
        factors = 1, 1 << self.local, int(self.squares.max())
        most = sum(int(np.abs(t).max()) * f for t, f in zip(tables, factors, strict=True))
        if self.exponent is None:
            most += 1 << (self.format.exponent_bits + self.point + out)
        dtype = np.float64 if most < 1 << 53 else np.int64
        return tables[0].astype(dtype), tables[1].astype(dtype), tables[2].astype(dtype)

    @cached_property
    def positive(self) -> bool:
        """Return whether all sums are known to be positive. A parabola that is highest within its segment is lowest at
        an end of it."""
        c0, c1, c2 = (c.astype(np.float64) for c in self.table)
        length, least = float(1 << self.local), float(1 << self.shifts[3])
        end = c0 + c1 * length + c2 * float(self.squares.max())
        low = np.minimum(c0, end) + np.where(c2 > 0, np.minimum(c1, 0) * length, 0)
        return self.exponent is not None and bool((low >= least).all()) and all(v > 0 for _, v in self.own_sums)

    @cached_property
    def fits(self) -> bool:
        """Return whether 32 bits are enough for the encodings of sums with their exponents, even beyond the format's
        range."""
        if self.format.width != 32 or not self.positive:
            return False
        c0, c1, c2 = (np.abs(c.astype(np.float64)).max() for c in self.table)
        most = (c0 + c1 * (1 << self.local) + c2 * float(self.squares.max())) * 2.0 ** -self.shifts[3]
        most = max([most, *(float(v) for _, v in self.own_sums)])
        bias = self.format.bias
        farthest = {"significand": bias, "octaves": bias, "turns": 0}.get(self.kind, 2 << bias.bit_length())
        scaled = abs(self.exponent or 0) * farthest
        return int(np.frexp(most)[1]) - self.point + scaled <= bias + 1 and self.point + scaled <= 3 * bias

    @cached_property
    def squares(self) -> Array:
        """The square, without its last `drop` places, of every place in a segment and its end."""
        found = square(np.arange((1 << self.local) + 1, dtype=np.int64), self.drop, self.columns, self.unseen)
        return found.astype(np.uint16 if found.max() < 1 << 16 else np.int64)

    @cached_property
    def steps(self) -> Array:
        """The differences, by the integer of the argument."""
        import base64  # few functions have differences
        import zlib

        return np.frombuffer(zlib.decompress(base64.b85decode("".join(self.differences.split()))), f"<i{self.width}")


def square(x: Array, drop: int, columns: bool, unseen: int = 0) -> Array:
    """Return the square of x without its last `unseen` bits, in units of 2**drop, for int64 from 0 on. With `columns`
    it lacks the partial products below; the product of two different bits counts once, in the column above their
    own."""
    x = x >> unseen << unseen
    whole = x * x
    if columns:
        # Bit i times itself is in column 2 i; bit i times a lower bit j is in column i + j + 1.
        for i in range(drop):
            below = x & ((1 << max(0, min(i, drop - 1 - i))) - 1)
            lost = (below << (i + 1)) + ((1 << 2 * i) if 2 * i < drop else 0)
            whole -= ((x >> i) & 1) * lost
    return whole >> drop


def unit(x: Array, u: Unit) -> Array:
    """Return the results of the unit for x, bits of its format."""
    if np.ndim(x) == 1 and x.size > _PART:
        # Intermediate results of 64 bits take twice the space of operands in a cache.
        return np.concatenate([_part(x[i : i + _PART], u) for i in range(0, x.size, _PART)])
    result = _part(np.atleast_1d(x), u)
    return result if np.shape(x) else result[0]


def _part(operands: Array, u: Unit) -> Array:
    if u.kind == "pattern":
        return _differing(u, operands.astype(np.int64), np.zeros(1, np.int64))
    scale, place, negative = reduce(operands, u)
    result = _differing(u, place, scale) if u.function else finish(interpolate(place, u), scale, u)
    if u.odd or u.kind == "turns":
        signs = mask(negative, u.format)
        signs &= u.format.sign_mask
        result ^= signs
    _specials(operands, result, u)
    return result


def reduce(x: Array, u: Unit) -> tuple[Array, Array, Array]:
    """Return the scale; the integer that selects segment and place, both with a sign; and whether the sign is inverted.

    They mean nothing for special operands. The kinds are:

      significand  `bits` bits of the fraction, below those that tell `octaves` apart; the scale is the rest of the
                   exponent
      octaves      likewise, for exponents from `first` on; the scale is the exponent
      fixed        `bits` bits after the point; the scale is the part before it. A `negative` number is rounded down
                   ("floor"), or its magnitude truncated and subtracted from zero ("negate"), less one unit of
                   the last place where there is a fraction ("complement")
      turns        the product with `factor` as an angle in turns with `bits` bits after the point, plus `phase`
                   quarters, within its quarter, mirrored in odd ones; the scale is 0. Where `kept` is not zero, the
                   product is first truncated to so many bits after the point of the number's significand
    """
    f = u.format
    sign = x > f.magnitude_mask
    none = np.broadcast_to(False, x.shape)
    if u.kind in ("significand", "octaves"):
        # The exponent, without its bias, is above the fraction.
        above = (x & f.magnitude_mask).astype(np.promote_types(f.signed, np.int32))
        above -= f.bias << f.fraction_bits
        negative = sign if u.odd else none
        if u.kind == "octaves":
            exponent = above >> f.fraction_bits
            fraction = above >> (f.fraction_bits - u.bits) & ((1 << u.bits) - 1)
            octave = np.clip(exponent, u.first, u.last) - u.first
            return exponent, octave << u.bits | fraction, negative
        place = above >> (f.fraction_bits - u.bits)
        place &= (u.octaves << u.bits) - 1
        above >>= f.fraction_bits + u.octaves.bit_length() - 1
        return above, place, negative
    number = _float64(x & f.magnitude_mask if u.kind == "turns" or u.negative != "floor" else x, f)
    ones = (1 << u.places) - 1
    if u.kind == "fixed":
        # Numbers further from zero are beyond every exponent.
        most = 2 << (f.exponent_bits - 1)
        np.clip(number, -most, most, out=number)
        number *= 1 << u.bits
        fixed = np.floor(number, out=number).astype(np.int64)
        if u.negative != "floor":
            # -x is ~x + 1, and ~x is one unit less. NumPy's masked copies take many times as long.
            minus = np.negative(sign.view(np.int8)).astype(np.int64)
            one = sign & (fixed & ones == 0) if u.negative == "complement" else sign
            fixed ^= minus
            fixed += one.astype(np.int64)
        return fixed >> u.bits, fixed & ones, none
    number *= u.factor
    if u.kept:
        last = _float64(np.maximum(x & f.infinity, f.smallest_normal), f)
        last *= 2.0**-u.kept
        number /= last
        np.floor(number, out=number)
        number *= last
    # Whole turns are dropped.
    number -= np.floor(number)
    number *= 1 << u.bits
    place = number.astype(np.int32)
    quarter = (place >> u.places) + np.int32(u.phase)
    place &= ones
    odd = quarter & 1
    if u.mirror == "complement":
        place ^= odd * np.int32(ones)
    else:
        np.subtract(1 << u.places, place, out=place, where=odd != 0)
    negative = quarter & 2 != 0
    return np.broadcast_to(np.int32(0), x.shape), place, negative ^ sign if u.odd else negative


def _float64(x: Array, f: Format) -> Array:
    """Return numbers in float64, writable, with zeros for subnormal ones."""
    if f.native is not None:
        return x.view(f.native).astype(np.float64)
    size = (x & f.magnitude_mask).astype(np.int64)
    # The bits of float64 without the sign.
    wide = (size << (52 - f.fraction_bits)) + ((1023 - f.bias) << 52)
    found: Array = np.where(size < int(f.smallest_normal), 0, wide).view(np.float64)
    return np.where(x > f.magnitude_mask, -found, found)


def interpolate(place: Array, u: Unit) -> Array:
    """Return the polynomial with shifts[3] bits more after the point than the result: int64, or float64 where that has
    it exactly."""
    segment = (place >> u.local).astype(np.intp, copy=False)
    if u.mirror == "negate":
        # A place that is a whole quarter is at the end of the last segment.
        np.minimum(segment, len(u.coefficients) - 1, out=segment)
    x = place - (segment << u.local) if u.mirror == "negate" else place & ((1 << u.local) - 1)
    c0, c1, c2 = u.table
    # Indices are in range; a mode spares NumPy the check of each. NumPy is far slower with factors of another dtype.
    total = c1.take(segment, mode="wrap")
    total *= x.astype(total.dtype)
    curve = c2.take(segment, mode="wrap")
    curve *= u.squares.take(x.astype(np.intp, copy=False), mode="wrap").astype(total.dtype)
    total += curve
    total += c0.take(segment, mode="wrap")
    for own, value in u.own_sums:
        total[place == own] = value * 2 ** u.shifts[3]
    return total


def finish(total: Array, scale: Array, u: Unit) -> Array:
    """Return the numbers of sums, in bits: rounded, normalised and truncated."""
    f, out = u.format, u.shifts[3]
    if u.exponent is None:
        total += scale.astype(total.dtype) * (1 << (u.point + out))
    value: Array
    if total.dtype == np.float64:
        total *= 2.0**-out
        value = np.trunc(total, out=total) if u.toward_zero else np.floor(total, out=total)
    else:
        ones = np.where(total < 0, -1, 1)
        value = ((total * ones >> out) * ones if u.toward_zero else total >> out).astype(np.float64)
    # float64 normalises the value; its truncation is the result.
    sign = zero = None
    if not u.positive:
        # Sums have no -0.
        value += 0.0
        sign = (value.view(np.uint64) >> np.uint64(64 - f.width)).astype(f.unsigned) & f.sign_mask
        # A scale would turn a zero into another number.
        zero = value == 0 if u.exponent else None
    if not u.positive:
        np.abs(value, out=value)
    bits = value.view(np.int64)
    bits >>= 53 - u.precision
    if f.precision > u.precision:
        bits <<= f.precision - u.precision
    bits += (f.bias - 1023 - u.point) << f.fraction_bits
    if u.fits:
        # Half as wide is twice as fast.
        bits = bits.astype(np.int32)
    if u.exponent:
        bits += scale.astype(bits.dtype, copy=False) * bits.dtype.type(u.exponent << f.fraction_bits)
    if zero is not None:
        bits[zero] = 0
    result = _in_range(bits, f)
    if sign is not None:
        result |= sign
    return result


def _in_range(encoded: Array, f: Format) -> Array:
    """Return magnitudes from encodings that may be outside the format's range; tiny ones become zero."""
    np.clip(encoded, encoded.dtype.type(0), encoded.dtype.type(f.infinity), out=encoded)
    result = encoded.astype(f.unsigned)
    return replace(result, result < f.smallest_normal, f.unsigned.type(0), f)


def _specials(x: Array, result: Array, u: Unit) -> None:
    """Write the results of operands that are not reduced, or have results of their own."""
    f = u.format
    for operand, own in u.own_results:
        result[x == f.unsigned.type(operand)] = own
    if u.special[5] >= 0:
        replace(result, x > f.magnitude_mask, f.unsigned.type(u.special[5]), f)
    magnitude = x & f.magnitude_mask
    least, most = f.smallest_normal, f.infinity
    if u.kind == "octaves":
        least = f.unsigned.type((u.first + f.bias) << f.fraction_bits)
        most = f.unsigned.type((u.last + 1 + f.bias) << f.fraction_bits)
    zero, negative_zero, infinity, negative_infinity, nan, negative = (f.unsigned.type(max(s, 0)) for s in u.special)
    outside = magnitude - least >= most - least
    if 16 * np.count_nonzero(outside) > outside.size:
        # There may be many NaNs where x is the result of another unit for negative operands; the rest is for few.
        nans = magnitude > f.infinity
        replace(result, nans, nan, f)
        outside &= ~nans
    few = np.flatnonzero(outside)
    if len(few) == 0:
        return
    operands, size = x.reshape(-1)[few], magnitude.reshape(-1)[few]
    sign = operands > f.magnitude_mask
    # Numbers below `first` are their own results.
    found = np.where(sign & (u.special[5] >= 0), negative, operands)
    found = np.where(size < f.smallest_normal, np.where(sign, negative_zero, zero), found)
    large = np.where(sign, negative_infinity, infinity)
    if u.special[5] >= 0:
        large = np.where(sign & (size < f.infinity), negative, large)
    found = np.where(size >= most, large, found)
    result.reshape(-1)[few] = np.where(size > f.infinity, nan, found)


def _differing(u: Unit, place: Array, scale: Array) -> Array:
    """Return the correctly rounded results at places, moved by the steps of the table, and scaled."""
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
    magnitude += scale.astype(np.int64) * (u.exponent << f.fraction_bits)
    return _in_range(magnitude, f) | (result & f.sign_mask)


def rounded(place: Array, u: Unit) -> Array:
    """Return the function's results at places, rounded to nearest; "reciprocal" is a division of 1."""
    f = u.format
    operand = place = place.astype(np.int64)
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
