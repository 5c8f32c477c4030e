"""Cells of corner-case tables: what they stand for in a format, and whether a result is what they say."""

from __future__ import annotations

import re
from functools import lru_cache

from ..literals import parse_number
from ..model import BOOL, Format, Kind, Value
from ..semantics.exact.rounding import encode_exact

_BITS = re.compile(r"0x[0-9a-f]{2,16}", re.IGNORECASE)
_SIGNED = ("inf", "normal", "subnormal", "maxNormal", "minNormal", "minSubnormal")
_NANS = ("NaN", "qNaN", "sNaN")
CLASSES = (*_NANS, *(s + c for c in _SIGNED for s in "+-"))


class CellError(ValueError):
    """The error for a cell that means nothing, at all or in a variant's format."""


def parse_value(text: str | bool, operands: tuple[str, ...]) -> Value:
    """Read a cell; `operands` are the names that it may refer to. Raises CellError."""
    if isinstance(text, bool):
        return Value(str(text).lower(), "bool", bits=int(text))
    if text in CLASSES:
        return Value(text, "class")
    if text in operands:
        return Value(text, "operand")
    if _BITS.fullmatch(text):
        return Value(text, "bits", bits=int(text, 16))
    number = parse_number(text)
    if number is None:
        raise CellError(f"'{text}' is neither a class of values, a number nor bits")
    return Value(text, "number", *number)


@lru_cache(maxsize=1 << 14)
def members(value: Value, kind: Kind) -> tuple[int, ...]:
    """Return encodings that a cell stands for as an operand: for a class, its ends and some between. Raises
    CellError."""
    if (value.kind == "bool") != (kind == BOOL):
        wrong = "is not true or false" if kind == BOOL else f"is a truth value, not a {kind}"
        raise CellError(f"'{value.text}' {wrong}")
    if value.kind == "bool":
        return (value.bits,)
    if value.kind == "class":
        if kind.format is None:
            raise CellError(f"'{value.text}' is a class of floats, not of {kind}")
        return _class(value.text, kind.format)
    if value.kind == "bits":
        digits = len(value.text) - 2
        if digits != -(-kind.width // 4) or value.bits >> kind.width:
            raise CellError(f"'{value.text}' has {digits * 4} bits, {_name(kind)} has {kind.width}")
        return (value.bits,)
    if value.kind == "number":
        return (_encoded(value, kind),)
    raise CellError(f"'{value.text}' cannot be an operand")


def _name(kind: Kind) -> str:
    return kind.format.name if kind.format else str(kind)


def _encoded(value: Value, kind: Kind) -> int:
    """Return the encoding of a number. Raises CellError if the kind has no exact one."""
    encoded = None
    if kind.format is not None:
        encoded = encode_exact(value.number, kind.format, value.negative)
    elif kind.fixed is not None:
        scaled = value.number * (1 << kind.fixed.point)
        if scaled.denominator == 1 and kind.fixed.least <= scaled <= kind.fixed.largest:
            encoded = int(scaled) & ((1 << kind.width) - 1)
    elif value.text.isdigit() and value.number < 1 << kind.width:
        encoded = int(value.number)
    if encoded is None:
        raise CellError(f"'{value.text}' is not exact in {_name(kind)}")
    return encoded


@lru_cache(maxsize=1 << 10)
def _class(name: str, f: Format) -> tuple[int, ...]:
    """Return encodings of a class: its ends, and some between. Raises CellError if the format does not have the
    class."""
    least, one = f.least_normal, f.bias << f.fraction_bits
    inside = 0x5A5A5A5A5A5A5A5A & ((1 << f.fraction_bits) - 1)
    if name in _NANS:
        found = _nans(name, f, inside)
    else:
        if name[0] == "-" and not f.signed:
            raise CellError(f"{f.name} has no sign, and so no {name}")
        if not f.has_subnormals and name.lower().endswith("subnormal"):
            raise CellError(f"{f.name} has no subnormal numbers")
        magnitudes = {
            "inf": [f.infinity] if f.has_infinity else [],
            "normal": [m for m in (least, f.largest, one, one + inside, least + 1) if least <= m <= f.largest],
            "subnormal": [1, least - 1, inside or 1],
            "maxNormal": [f.largest],
            "minNormal": [least],
            "minSubnormal": [1],
        }[name[1:]]
        found = [(f.sign_bit if name[0] == "-" else 0) | m for m in magnitudes]
    if not found:
        raise CellError(f"{f.name} has no {name.lstrip('+-')}")
    return tuple(dict.fromkeys(found))


def _nans(name: str, f: Format, inside: int) -> list[int]:
    if not f.is_ieee:
        every = [f.first_nan, f.magnitudes - 1] if f.nans else []
        return [sign | m for m in every for sign in (0, f.sign_bit)] if name == "NaN" else []
    quiet = [f.infinity | f.quiet_bit, f.infinity | f.quiet_bit | inside, f.sign_bit | f.canonical_nan]
    signaling = [f.infinity | 1, f.sign_bit | f.infinity | (f.quiet_bit - 1)] if f.quiet_bit > 1 else []
    return {"NaN": quiet + signaling, "qNaN": quiet, "sNaN": signaling}[name]


def agrees(value: Value, result: int, operands: dict[str, int], kind: Kind) -> bool:
    """Return whether a result is what the cell says. Raises CellError for a cell that means nothing for the kind."""
    if value.kind == "operand":
        return result == operands[value.text]
    if value.kind == "class" and kind.format is not None:
        return _in_class(value.text, result, kind.format)
    return result in members(value, kind)


def is_of(value: Value, sort: str, kind: Kind) -> bool:
    """Return whether a cell stands for some float of a sort that modifiers change."""
    f = kind.format
    if f is None or value.kind in ("bool", "operand"):
        return False
    try:
        return any(_is_of(x, sort, f) for x in members(value, kind))
    except CellError:
        # The error is reported when the row is run.
        return False


def _is_of(x: int, sort: str, f: Format) -> bool:
    negative = bool(x & f.sign_bit) and not f.is_nan(x)
    match sort:
        case "NaN":
            return f.is_nan(x)
        case "infinite":
            return f.is_infinite(x)
        case "overflow":
            return f.overflow == "nan" and f.is_nan(x)
        case "subnormal":
            return f.is_subnormal(x)
        case "negative":
            return negative
        case "negative zero":
            return negative and f.is_zero(x)
        case "above one":
            return not negative and f.bias << f.fraction_bits < x < f.first_nan
    raise AssertionError(sort)


def _in_class(name: str, x: int, f: Format) -> bool:
    ends = _class(name, f)
    if name in _NANS:
        return f.is_nan(x) and (name == "NaN" or bool(x & f.quiet_bit) == (name == "qNaN"))
    if bool(x & f.sign_bit) != (name[0] == "-"):
        return False
    return {"normal": f.is_normal(x), "subnormal": f.is_subnormal(x)}.get(name[1:], x in ends)
