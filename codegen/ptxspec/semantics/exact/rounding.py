"""Exact numbers in and out of a format: the one place where the exact back end rounds."""

from __future__ import annotations

from fractions import Fraction

from ...model import Format


def decode(bits: int, format: Format) -> Fraction:
    """The value of a finite encoding, without the sign of a zero."""
    fraction = bits & ((1 << format.fraction_bits) - 1)
    exponent = (bits >> format.fraction_bits) & ((1 << format.exponent_bits) - 1)
    if exponent:
        fraction |= 1 << format.fraction_bits
    scale = max(exponent, 1) - format.bias - format.fraction_bits
    value = Fraction(fraction << scale) if scale >= 0 else Fraction(fraction, 1 << -scale)
    return -value if bits & format.sign_bit else value


def encode_exact(value: Fraction, format: Format, negative_zero: bool = False) -> int | None:
    """The encoding of a value that the format holds exactly; None for any other."""
    bits = round_to(value, format, "roundTowardZero", False, negative_zero)
    return bits if decode(bits, format) == value else None


def round_to(value: Fraction, format: Format, mode: str, ftz: bool, negative: bool = False) -> int:
    """Round an exact value once. `negative` is the sign of a zero value.

    With `ftz`, a result is flushed to a zero of its sign when it is tiny: below the smallest normal number after
    rounding with unbounded exponent. That is how the assembler folds constants, and what an x86 processor calls
    tininess after rounding."""
    if value == 0:
        return format.sign_bit if negative else 0
    sign = format.sign_bit if value < 0 else 0
    magnitude = abs(value)
    exponent = _floor_log2(magnitude)
    away = mode == ("roundTowardNegative" if sign else "roundTowardPositive")
    if ftz and exponent < format.emin:
        quantum = exponent - format.fraction_bits
        if _rounded(magnitude, quantum, mode, away) < 1 << (format.emin - quantum):
            return sign
    quantum = max(exponent, format.emin) - format.fraction_bits
    integer = _rounded(magnitude, quantum, mode, away)
    encoded = integer + ((max(exponent, format.emin) - format.emin) << format.fraction_bits)
    if encoded >= format.infinity:
        to_infinity = away or mode in ("roundTiesToEven", "roundTiesToAway")
        encoded = format.infinity if to_infinity else format.infinity - 1
    return sign | encoded


def _floor_log2(magnitude: Fraction) -> int:
    e = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    power = Fraction(1 << e) if e >= 0 else Fraction(1, 1 << -e)
    return e if power <= magnitude else e - 1


def _rounded(magnitude: Fraction, quantum: int, mode: str, away: bool) -> int:
    """magnitude / 2**quantum as an integer."""
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
