"""Numbers as people write and read them: decimals, hexadecimal floats, bits."""

from __future__ import annotations

import re
from fractions import Fraction

from .model import Format
from .semantics.rounding import decode, round_to

_HEX_FLOAT = re.compile(r"([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d{1,5})", re.IGNORECASE)
# More than any number of any format has; Python limits how many digits it converts.
_MAX_CHARACTERS = 2000
_DECIMAL = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:e([+-]?\d{1,4}))?", re.IGNORECASE)


def parse_number(text: str) -> tuple[Fraction, bool] | None:
    """A decimal or hexadecimal number as an exact value and its sign; None for anything else."""
    if len(text) > _MAX_CHARACTERS:
        return None
    if match := _HEX_FLOAT.fullmatch(text):
        sign, whole, part, exponent = match[1], match[2], match[3] or "", int(match[4])
        if not whole + part:
            return None
        value = Fraction(int(whole + part, 16)) * Fraction(2) ** (exponent - 4 * len(part))
    elif match := _DECIMAL.fullmatch(text):
        sign = match[1]
        value = Fraction(text.lower().lstrip("+-"))
    else:
        return None
    return (-value if sign == "-" else value), sign == "-"


def describe(bits: int, format: Format) -> str:
    """A number for people: decimal, hexadecimal float and bits."""
    encoded = f"0x{bits:0{format.width // 4}x}"
    magnitude = bits & ~format.sign_bit
    sign = "-" if bits & format.sign_bit else "+"
    if magnitude > format.infinity:
        return f"{'NaN' if bits & format.quiet_bit else 'sNaN'} {encoded}"
    if magnitude == format.infinity:
        return f"{sign}inf {encoded}"
    return f"{decimal(bits, format)} {hex_float(bits, format)} {encoded}"


def decimal(bits: int, format: Format) -> str:
    """The shortest decimal that reads back as the same number of the format; inf and nan as Python has them."""
    magnitude = bits & ~format.sign_bit
    sign = "-" if bits & format.sign_bit else ""
    if magnitude > format.infinity:
        return "nan"
    if magnitude == format.infinity:
        return sign + "inf"
    value = abs(decode(bits, format))
    if value == 0:
        return sign + "0.0"
    exact = value.numerator / value.denominator
    for digits in range(1, 18):
        text = f"{exact:.{digits - 1}e}"
        if encode_nearest(Fraction(text), format) == magnitude:
            return sign + repr(float(text))
    return sign + repr(exact)


def encode_nearest(value: Fraction, format: Format) -> int:
    return round_to(value, format, "roundTiesToEven", False)


def hex_float(bits: int, format: Format) -> str:
    value = decode(bits, format)
    sign = "-" if bits & format.sign_bit else ""
    if value == 0:
        return f"{sign}0x0p+0"
    value = abs(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    scaled = value / Fraction(2) ** exponent
    if scaled < 1:
        scaled, exponent = scaled * 2, exponent - 1
    digits = ""
    rest = scaled - 1
    while rest:
        rest *= 16
        digits += f"{rest.numerator // rest.denominator:x}"
        rest -= rest.numerator // rest.denominator
    return f"{sign}0x1{'.' + digits if digits else ''}p{exponent:+d}"
