"""Exact fractions as the judge of rounding: any format, any direction, by the definition."""

from __future__ import annotations

from fractions import Fraction
from math import copysign, isqrt
from typing import Any


def fraction_round(exact: Fraction, negative: bool, f: Any, mode: str, ftz: bool) -> int:
    """Round an exact value (zero has the sign `negative`) by the definition of each direction."""
    size = abs(exact)
    sign: int = negative << (f.width - 1)

    def integer(scaled: Fraction) -> int:
        floor = int(scaled)
        rest = scaled - floor
        up = {
            "roundTiesToEven": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1),
            "roundTiesToAway": rest >= Fraction(1, 2),
            "roundTowardZero": False,
            "roundTowardNegative": negative and rest > 0,
            "roundTowardPositive": not negative and rest > 0,
        }[mode]
        return floor + up

    if not size:
        return sign
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    if ftz:
        unit = Fraction(2) ** (exponent - f.fraction_bits)
        if integer(size / unit) * unit < Fraction(2) ** f.emin:
            return sign
    exponent = max(exponent, f.emin)
    count = integer(size / Fraction(2) ** (exponent - f.fraction_bits))
    bits: int = ((exponent - f.emin) << f.fraction_bits) + count
    if bits >= int(f.infinity):
        inward = mode == "roundTowardZero" or mode == ("roundTowardPositive" if negative else "roundTowardNegative")
        bits = int(f.largest) if inward else int(f.infinity)
    return sign | bits


def fraction_apply(name: str, operands: tuple[float, ...], f: Any, mode: str, ftz: bool) -> int | None:
    """The bits of one result from finite operands; None where an exception decides."""
    values = [Fraction(operand) for operand in operands]
    signs = [copysign(1.0, operand) < 0 for operand in operands]
    if name == "squareRoot":
        if values[0] < 0:
            return None
        if not values[0]:
            return fraction_round(values[0], signs[0], f, mode, ftz)
        # Hundreds of bits and a sticky one are as good as all.
        scale = 1 << 1400
        scaled = values[0] * scale * scale
        floor = isqrt(scaled.numerator // scaled.denominator)
        exact = floor * floor == scaled
        return fraction_round(Fraction(2 * floor + (not exact), 2 * scale), False, f, mode, ftz)
    if name == "division":
        if not values[1]:
            return None
        return fraction_round(values[0] / values[1], signs[0] ^ signs[1], f, mode, ftz)
    if name == "multiplication":
        return fraction_round(values[0] * values[1], signs[0] ^ signs[1], f, mode, ftz)
    if name == "fusedMultiplyAdd":
        values, signs = [values[0] * values[1], values[2]], [signs[0] ^ signs[1], signs[2]]
    total = values[0] + values[1]
    zero = signs[0] if signs[0] == signs[1] else mode == "roundTowardNegative"
    return fraction_round(total, total < 0 if total else zero, f, mode, ftz)
