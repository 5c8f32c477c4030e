"""The exact evaluation of a special function unit, one operand at a time with Python's integers.

The steps are those of a table-based quadratic interpolator (S. F. Oberman and M. Y. Siu, ARITH 2005; J.-A. Pineiro,
Oberman, J.-M. Muller and J. D. Bruguera, IEEE Transactions on Computers 54(3), 2005): an argument is reduced to a
segment and a place in it, a quadratic polynomial with coefficients from a table is summed in fixed point, and the sum
is scaled and truncated. `Argument`, `Interpolator`, `Differences` and `UnitModel` document their fields.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from ...model import Argument, Differences, Format, Interpolator, UnitModel
from .rounding import decode, encode_exact

# Returns a function's correctly rounded result for its name, an encoding and the format.
Rounded = Callable[[str, int, Format], int]


class Shifts(NamedTuple):
    """The shifts of a sum's terms C0, C1 x and C2 x**2 that give its last place the value 2**-point. `out` shifts the
    sum back to the result's last place; `bias` is in units of the sum's last place."""

    point: int
    c0: int
    c1: int
    c2: int
    out: int
    bias: int


def shifts(core: Interpolator, argument: Argument, point: int) -> Shifts:
    """Return the shifts of a sum whose result has `point` bits after the point."""
    c0, c1, c2 = (w.point for w in core.words)
    c1, c2 = c1 + argument.bits, c2 + 2 * argument.bits - core.drop
    last = max(c0, c1, c2, point, core.bias.denominator.bit_length() - 1)
    return Shifts(last, last - c0, last - c1, last - c2, last - point, int(core.bias * (1 << last)))


def evaluate(model: UnitModel, x: int, rounded: Rounded) -> int:
    """Return the encoding of the result for that of an operand, in the model's format."""
    f, argument = model.format, model.argument
    special = None if argument.kind == "pattern" else _special(model, x)
    if special is not None:
        return special
    k, place, negative = _reduce(argument, x, f)
    scale = 0 if model.exponent is None else k * model.exponent
    if isinstance(model.core, Differences):
        return _differing(model, model.core, place, scale, negative, rounded)
    for own in model.own:
        if own.operand == x:
            return own.result
    value = _sum(model, k, place)
    negative ^= value < 0
    value = abs(value)
    excess = value.bit_length() - model.precision
    significand = value >> excess if excess >= 0 else value << -excess
    sign = f.sign_bit if negative else 0
    if value == 0:
        return sign
    exponent = value.bit_length() - 1 - model.point + scale
    fraction = (significand << (f.precision - model.precision)) & ((1 << f.fraction_bits) - 1)
    return sign | _in_range(exponent + f.bias, fraction, f)


class Reading(NamedTuple):
    """The steps of an interpolator on the way to a result: the argument's scale, the segment of the table and the place
    in it, the coefficients there, and their polynomial in units of 2**-point."""

    scale: int
    segment: int
    place: int
    coefficients: tuple[int, int, int]
    polynomial: int


def reading(model: UnitModel, x: int) -> Reading | None:
    """Return what is read from an interpolator's table; None if nothing is."""
    special = model.argument.kind != "pattern" and _special(model, x) is not None
    if special or isinstance(model.core, Differences):
        return None
    scale, place, _ = _reduce(model.argument, x, model.format)
    segment, within = _segment(model.core, model.argument, place)
    if any(o.operand == x or (o.operand is None and o.place == place) for o in model.own):
        return None
    polynomial = _interpolated(model, place) * (1 << model.point) // 1
    c0, c1, c2 = model.core.coefficients[segment]
    return Reading(scale, segment, within, (c0, c1, c2), polynomial)


def _in_range(biased: int, fraction: int, f: Format) -> int:
    """Return the magnitude for an exponent field that may be out of the format's range. Tiny results become zero."""
    encoded = biased << f.fraction_bits | fraction
    return 0 if biased < 1 else min(encoded, f.infinity)


def _special(model: UnitModel, x: int) -> int | None:
    """Return the result of an operand that is not reduced; None for all others."""
    f, sign = model.format, "-" if x & model.format.sign_bit else "+"
    magnitude = x & ~f.sign_bit
    if magnitude > f.infinity:
        return model.special["nan"]
    if magnitude == f.infinity:
        return model.special[f"{sign}infinity"]
    if magnitude >> f.fraction_bits == 0:
        return model.special[f"{sign}zero"]
    if sign == "-" and "negative" in model.special:
        return model.special["negative"]
    if model.argument.kind == "octaves":
        exponent = (magnitude >> f.fraction_bits) - f.bias
        if exponent < model.argument.first:
            return x
        if exponent > model.argument.last:
            return model.special[f"{sign}infinity"]
    return None


def _reduce(a: Argument, x: int, f: Format) -> tuple[int, int, bool]:
    """Return the scale, the integer that selects segment and place, and whether the result is negative."""
    if a.kind == "pattern":
        return 0, x, False
    negative = a.odd and x & f.sign_bit != 0
    magnitude = x & ~f.sign_bit
    ones = (1 << a.places) - 1
    if a.kind in ("significand", "octaves"):
        exponent = (magnitude >> f.fraction_bits) - f.bias
        fraction = magnitude >> (f.fraction_bits - a.bits) & ones
        if a.kind == "octaves":
            return exponent, (exponent - a.first) << a.bits | fraction, negative
        k, octave = divmod(exponent, a.octaves)
        return k, octave << a.bits | fraction, negative
    if a.kind == "fixed":
        fixed = decode(x, f) * (1 << a.bits) // 1
        if a.negative != "floor" and x & f.sign_bit:
            size = decode(magnitude, f) * (1 << a.bits) // 1
            fixed = -size - (a.negative == "complement" and size & ones != 0)
        return fixed >> a.bits, fixed & ones, negative
    angle = decode(magnitude, f) * a.factor
    if a.kept:
        last = Fraction(2) ** ((magnitude >> f.fraction_bits) - f.bias - a.kept)
        angle = angle // last * last
    fixed = angle * (1 << a.bits) // 1
    quarter, place = (fixed >> a.places) + a.phase, fixed & ones
    if quarter & 1:
        place = ones - place if a.mirror == "complement" else ones + 1 - place
    return 0, place, negative ^ (quarter & 2 != 0)


def _segment(core: Interpolator, argument: Argument, place: int) -> tuple[int, int]:
    """Return the segment that contains a place, and the place in it."""
    local = argument.places - (core.segments.bit_length() - 1)
    # A place of a whole quarter is the end of the last segment.
    segment = min(place >> local, len(core.coefficients) - 1)
    return segment, place - (segment << local)


def _sum(model: UnitModel, k: int, place: int) -> int:
    """Return the polynomial in units of 2**-point, plus the scale if the model adds it."""
    own = next((o.sum for o in model.own if o.operand is None and o.place == place), None)
    total = own if own is not None else _interpolated(model, place)
    if model.exponent is None:
        total += k
    number = total * (1 << model.point)
    return int(number) if model.rounding == "roundTowardZero" else number // 1


def _interpolated(model: UnitModel, place: int) -> Fraction:
    """Return the polynomial's exact value."""
    core = model.core
    assert isinstance(core, Interpolator)
    segment, x = _segment(core, model.argument, place)
    c0, c1, c2 = core.coefficients[segment]
    s = shifts(core, model.argument, model.point)
    square = _square(x >> core.unseen << core.unseen, core.drop, core.columns)
    return Fraction((c0 << s.c0) + (c1 * x << s.c1) + (c2 * square << s.c2) + s.bias, 1 << s.point)


def _square(x: int, drop: int, columns: bool) -> int:
    """Return x squared in units of 2**drop, without the bits below; see `Interpolator`."""
    if not columns:
        return x * x >> drop
    bits = [i for i in range(x.bit_length()) if x >> i & 1]
    crossed = (1 << (i + j + 1) for i in bits for j in bits if i < j and i + j + 1 >= drop)
    return sum(crossed, sum(1 << 2 * i for i in bits if 2 * i >= drop)) >> drop


def _differing(model: UnitModel, core: Differences, place: int, scale: int, negative: bool, rounded: Rounded) -> int:
    """Return the correctly rounded result at a place, moved by the number of steps in the table, and scaled."""
    f, a = model.format, model.argument
    operand = place
    if a.kind == "significand":
        fraction = place & ((1 << a.bits) - 1)
        operand = (f.bias + (place >> a.bits)) << f.fraction_bits | fraction << (f.fraction_bits - a.bits)
    elif a.kind == "fixed":
        encoded = encode_exact(Fraction(place, 1 << a.bits), f)
        assert encoded is not None
        operand = encoded
    # Encodings without the bits that results lack, as integers in the order of the numbers.
    cut = f.precision - model.precision
    half = f.sign_bit >> cut
    base = rounded(core.function, operand, f) >> cut
    step = int.from_bytes(_table(core.text)[place * core.width : (place + 1) * core.width], "little", signed=True)
    order = (base if base < half else half - 1 - base) + step
    result = (order if order >= 0 else half - 1 - order) << cut
    if a.kind == "pattern":
        return result
    magnitude = result & ~f.sign_bit
    fraction = magnitude & ((1 << f.fraction_bits) - 1)
    sign = (result ^ (f.sign_bit if negative else 0)) & f.sign_bit
    return sign | _in_range((magnitude >> f.fraction_bits) + scale, fraction, f)


@cache
def _table(text: str) -> bytes:
    return unpack(text)


def pack(data: bytes) -> str:
    """Return differences as a file contains them: compressed, in lines of base85."""
    text = base64.b85encode(zlib.compress(data, 9)).decode()
    return "".join(text[i : i + 120] + "\n" for i in range(0, len(text), 120))


def unpack(text: str, most: int = -1) -> bytes:
    """Return the bytes that were packed, but no more than `most` + 1: a short text can expand to very many. Raises
    ValueError, zlib.error."""
    stream = zlib.decompressobj()
    found = stream.decompress(base64.b85decode("".join(text.split())), most + 1)
    if len(found) != most + 1 and not stream.eof:
        raise ValueError("its end is missing")
    return found
