"""Numbers as people write and read them: decimal numbers, hexadecimal floats, bits."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from .model import BOOL, Format, Kind, Type
from .semantics.exact.rounding import decode, floor_log2, round_to

_HEX_FLOAT = re.compile(r"([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d+)", re.IGNORECASE | re.ASCII)
_POWER = re.compile(r"([+-]?)2\^([+-]?\d{1,9})", re.ASCII)
_DECIMAL = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?", re.IGNORECASE | re.ASCII)
# Beyond the exponents of every format.
_FAR = 20_000
# Numbers of formats up to this width are written exactly if this many digits suffice.
_NARROW, _DIGITS = 16, 17
ABOUT = "≈"


def parse_number(text: str) -> tuple[Fraction, bool] | None:
    """Return a decimal or hexadecimal number, or a power such as 2^-127, as an exact value and its sign; None for
    anything else.

    A number that is larger or smaller than every format's may come back as another such number."""
    hexadecimal = _HEX_FLOAT.fullmatch(text)
    if power := _POWER.fullmatch(text):
        value = Fraction(2) ** max(-_FAR, min(_FAR, int(power[2])))
        return (-value if power[1] == "-" else value), power[1] == "-"
    match = hexadecimal or _DECIMAL.fullmatch(text)
    if match is None:
        return None
    sign, part = match[1], match[3] or ""
    digits = match[2] + part
    if not digits:
        return None
    # 1e999999999 written out would fill the memory. No digits before the exponent bring such a number back into range.
    far = _FAR + 4 * len(text)
    exponent = max(-far, min(far, _integer(match[4] or "0")))
    if hexadecimal:
        value = int(digits, 16) * Fraction(2) ** (exponent - 4 * len(part))
    else:
        value = _integer(digits) * Fraction(10) ** (exponent - len(part))
    return (-value if sign == "-" else value), sign == "-"


def _integer(digits: str) -> int:
    """Return an integer of any number of digits, of which `int` refuses thousands."""
    return int(Decimal(digits))


def describe(bits: int, kind: Kind) -> str:
    """Return a value for people; of a float, the decimal number, the hexadecimal float and the bits."""
    f = kind.format
    if kind == BOOL:
        return "true" if bits else "false"
    encoded = hexadecimal(bits, kind.width)
    if kind.fixed is not None:
        return f"{Fraction(kind.fixed.value(bits), 1 << kind.fixed.point)} {encoded}"
    if f is None:
        return encoded
    sign = "-" if bits & f.sign_bit else "+"
    if f.is_nan(bits):
        return f"{'sNaN' if f.is_ieee and not bits & f.quiet_bit else 'NaN'} {encoded}"
    if f.is_infinite(bits):
        return f"{sign}inf {encoded}"
    return f"{decimal(bits, f)} {hex_float(bits, f)} {encoded}"


def registered(bits: int, type_: Type) -> str:
    """Return a register for people: its lanes, the lowest first, and the whole register if its text differs."""
    lanes = [describe(x, type_.kind) for x in type_.unpack(bits)]
    if type_.lanes > 1:
        lanes = [f"lane {i}: {lane}" for i, lane in enumerate(lanes)]
    whole = hexadecimal(bits, type_.width)
    is_said = type_.width == type_.kind.width or lanes[0].endswith(f" {whole}")
    return ", ".join(lanes) + ("" if is_said else f"  {whole}")


def hexadecimal(bits: int, width: int) -> str:
    """Return bits with all hexadecimal digits of their width."""
    return f"0x{bits:0{-(-width // 4)}x}"


def decimal(bits: int, format: Format) -> str:
    """Return a number in decimal. A format without fraction bits gives a power of two.

    In a format of 16 bits or fewer, a number is exact if 17 digits suffice, and otherwise marked with ≈. Numbers that
    are marked or of wider formats have the shortest decimal that reads back as the same number, or their own if that is
    as short. inf and nan are as in Python."""
    sign = "-" if bits & format.sign_bit else ""
    if format.is_nan(bits):
        return "nan"
    if format.is_infinite(bits):
        return sign + "inf"
    value = abs(decode(bits, format))
    if value == 0:
        return sign + "0.0"
    if not format.fraction_bits:
        return f"{sign}2^{floor_log2(value)}"
    if format.width <= _NARROW:
        whole = decimal_number(value, _DIGITS)
        if "..." not in whole:
            return sign + whole
        sign = ABOUT + sign
    exact = value.numerator / value.denominator
    for digits in range(1, 18):
        text = f"{exact:.{digits - 1}e}"
        if encode_nearest(Fraction(text), format) == format.magnitude(bits):
            return sign + min(repr(exact), repr(float(text)), key=len)
    return sign + repr(exact)


def encode_nearest(value: Fraction, format: Format) -> int:
    return round_to(value, format, "roundTiesToEven", False)


def hex_float(bits: int, format: Format) -> str:
    value = decode(bits, format)
    return "-" * bool(bits & format.sign_bit) + hex_number(abs(value))


def hex_number(value: Fraction, most: int | None = None) -> str:
    """Return a number as a hexadecimal float. Dots replace the digits beyond `most` after the point; a number that is
    no sum of powers of two has no last digit."""
    sign, value = "-" * (value < 0), abs(value)
    if value == 0:
        return f"{sign}0x0p+0"
    exponent = floor_log2(value)
    digits = ""
    rest = value / Fraction(2) ** exponent - 1
    while rest and (most is None or len(digits) < most):
        digit, rest = divmod(rest * 16, 1)
        digits += f"{digit:x}"
    return f"{sign}0x1{'.' + digits if digits else ''}{'...' if rest else ''}p{exponent:+d}"


def decimal_number(value: Fraction, most: int) -> str:
    """Return a number in decimal. Dots replace the digits beyond `most`."""
    sign, value = "-" * (value < 0), abs(value)
    if value == 0:
        return f"{sign}0.0"
    # This estimate is at most one too small, next to a power of two.
    exponent = floor_log2(value) * 30103 // 100000 - 1
    while value >= Fraction(10) ** (exponent + 1):
        exponent += 1
    whole, rest = divmod(value / Fraction(10) ** (exponent + 1 - most), 1)
    digits = str(whole)
    digits, dots = (digits, "...") if rest else (digits.rstrip("0"), "")
    if -5 <= exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}{dots}"
    if 0 <= exponent < most:
        digits = digits.ljust(exponent + 2, "0")
        return f"{sign}{digits[: exponent + 1]}.{digits[exponent + 1 :]}{dots}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}{dots}e{exponent:+03d}"
