"""Exact numbers to and from a format: the only place where the exact back end rounds."""

from __future__ import annotations

from fractions import Fraction

from ...model import FixedPoint, Format


def decode(bits: int, format: Format) -> Fraction:
    """Return the value of a finite encoding, without the sign of a zero."""
    significand = bits & ((1 << format.fraction_bits) - 1)
    exponent = (bits & (format.magnitudes - 1)) >> format.fraction_bits
    if exponent or not format.has_zero:
        significand |= 1 << format.fraction_bits
    elif not format.has_subnormals:
        return Fraction(0)
    scale = max(exponent, int(format.has_zero)) - format.bias - format.fraction_bits
    value = Fraction(significand << scale) if scale >= 0 else Fraction(significand, 1 << -scale)
    return -value if bits & format.sign_bit else value


def encode_exact(value: Fraction, format: Format, negative_zero: bool = False) -> int | None:
    """Return the encoding of a value that the format has exactly; None for any other."""
    bits = round_to(value, format, "roundTowardZero", False, negative_zero)
    exact = decode(bits, format) == value and (format.signed or not negative_zero)
    return bits if exact else None


def round_to(value: Fraction, format: Format, mode: str, ftz: bool, negative: bool = False) -> int:
    """Round an exact value once. `negative` is the sign of a zero value.

    With `ftz`, a tiny result is flushed to a zero of its sign. It is tiny if it is below the smallest normal number
    after rounding with unbounded exponent. The assembler folds constants in this way, and x86 processors define
    tininess after rounding so.

    A format without a sign rounds the magnitude. A format without a zero gives its smallest number for all smaller
    ones."""
    f = format
    # The numerator has the sign: comparing fractions takes as long as all the rest.
    numerator = value.numerator
    sign = f.sign_bit if (numerator < 0 or (not numerator and negative)) else 0
    if not numerator:
        return sign
    magnitude = -value if numerator < 0 else value
    exponent = floor_log2(magnitude)
    away = mode == ("roundTowardNegative" if sign else "roundTowardPositive")
    if exponent < f.emin:
        if not f.has_zero:
            return sign
        quantum = exponent - f.fraction_bits
        if ftz and _rounded(magnitude, quantum, mode, away) < 1 << (f.emin - quantum):
            return sign
        if not f.has_subnormals:
            return sign | _rounded(magnitude, f.emin, mode, away) << f.fraction_bits
    encoded = _unbounded(magnitude, exponent, f, mode, away)
    if encoded <= f.largest:
        return sign | encoded
    if away or mode in ("roundTiesToEven", "roundTiesToAway"):
        return overflow(f, sign)
    return sign | f.largest


def rounds_beyond(value: Fraction, f: Format, mode: str) -> bool:
    """Return whether a value would round beyond the largest number in magnitude if the format had more numbers."""
    if abs(value) <= decode(f.largest, f):
        return False
    away = mode == ("roundTowardNegative" if value < 0 and f.signed else "roundTowardPositive")
    return _unbounded(abs(value), floor_log2(abs(value)), f, mode, away) > f.largest


def _unbounded(magnitude: Fraction, exponent: int, f: Format, mode: str, away: bool) -> int:
    """Return the encoding that a magnitude rounds to, as if there were numbers above the largest one."""
    quantum = max(exponent, f.emin) - f.fraction_bits
    encoded = _rounded(magnitude, quantum, mode, away) + ((max(exponent, f.emin) - f.emin) << f.fraction_bits)
    # In a format without a zero, exponent field 0 is that of the smallest numbers.
    return encoded if f.has_zero else encoded - (1 << f.fraction_bits)


def truncated_with(value: Fraction, f: Format, addend: Fraction) -> Fraction:
    """Add a fraction of a value's last place in a format to its magnitude, and truncate it there."""
    if value == 0:
        return value
    place = Fraction(2) ** (max(floor_log2(abs(value)), f.emin) - f.fraction_bits)
    kept = place * ((abs(value) / place + addend) // 1)
    return -kept if value < 0 else kept


def overflow(f: Format, sign: int) -> int:
    """Return what a number that is too large becomes, and an infinity in a format without one."""
    if f.overflow == "nan":
        return f.canonical_nan
    return sign | (f.infinity if f.overflow == "infinity" else f.largest)


def round_to_integer(value: Fraction, fixed: FixedPoint, mode: str) -> int:
    """Return the encoding of a value rounded in a direction to an integer in units of 2**-point, and clamped to the
    range."""
    negative = value.numerator < 0
    away = mode == ("roundTowardNegative" if negative else "roundTowardPositive")
    magnitude = _rounded(-value if negative else value, -fixed.point, mode, away)
    found = min(max(-magnitude if negative else magnitude, fixed.least), fixed.largest)
    return found & ((1 << fixed.width) - 1)


def round_to_integral(value: Fraction, mode: str) -> int:
    """Return a value rounded to an integer in a direction."""
    away = mode == ("roundTowardNegative" if value < 0 else "roundTowardPositive")
    magnitude = _rounded(abs(value), 0, mode, away)
    return -magnitude if value < 0 else magnitude


def floor_log2(magnitude: Fraction) -> int:
    """Return the exponent of the largest power of two that is not above a magnitude."""
    numerator, denominator = magnitude.numerator, magnitude.denominator
    e = numerator.bit_length() - denominator.bit_length()
    reached = denominator << e <= numerator if e >= 0 else denominator <= numerator << -e
    return e if reached else e - 1


def _rounded(magnitude: Fraction, quantum: int, mode: str, away: bool) -> int:
    """Return magnitude / 2**quantum, rounded to an integer."""
    numerator, denominator = magnitude.numerator, magnitude.denominator
    if quantum > 0:
        denominator <<= quantum
    else:
        numerator <<= -quantum
    integer, rest = divmod(numerator, denominator)
    if mode == "roundTiesToEven":
        return integer + (2 * rest > denominator or (2 * rest == denominator and integer & 1))
    if mode == "roundTiesToAway":
        return integer + (2 * rest >= denominator)
    return integer + (away and rest > 0)
