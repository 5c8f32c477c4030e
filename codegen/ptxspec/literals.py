"""Numbers as people write and read them: decimals, hexadecimal floats, bits."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from .model import Format
from .semantics.exact.rounding import decode, round_to

_HEX_FLOAT = re.compile(r"([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d+)", re.IGNORECASE)
_DECIMAL = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?", re.IGNORECASE)
# Beyond the exponents of every format.
_FAR = 20_000


def parse_number(text: str) -> tuple[Fraction, bool] | None:
    """A decimal or hexadecimal number as an exact value and its sign; None for anything else.

    A number that is larger or smaller than every format's may come back as another one that is so."""
    hexadecimal = _HEX_FLOAT.fullmatch(text)
    match = hexadecimal or _DECIMAL.fullmatch(text)
    if match is None:
        return None
    sign, part = match[1], match[3] or ""
    digits = match[2] + part
    if not digits:
        return None
    # 1e999999999 written out would fill the memory; no digits before it bring such a number back.
    far = _FAR + 4 * len(text)
    exponent = max(-far, min(far, _integer(match[4] or "0")))
    if hexadecimal:
        value = int(digits, 16) * Fraction(2) ** (exponent - 4 * len(part))
    else:
        value = _integer(digits) * Fraction(10) ** (exponent - len(part))
    return (-value if sign == "-" else value), sign == "-"


def _integer(digits: str) -> int:
    """Of any number of digits: `int` refuses thousands."""
    return int(Decimal(digits))


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
