"""Cells of corner-case tables: what they stand for in a format, and whether a program agrees with a row."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..literals import parse_number
from ..model import CornerRow, Format, Value
from ..semantics.exact.evaluate import run
from ..semantics.exact.rounding import encode_exact
from ..semantics.program import BOOL, Program

Combine = Callable[..., Iterable[tuple[int, ...]]]
_BITS = re.compile(r"0x[0-9a-f]{2,16}", re.IGNORECASE)
_SIGNED = ("inf", "normal", "subnormal", "maxNormal", "minNormal", "minSubnormal")
_NANS = ("NaN", "qNaN", "sNaN")
CLASSES = (*_NANS, *(s + c for c in _SIGNED for s in "+-"))


class CellError(ValueError):
    """A cell that stands for nothing, or for nothing in a variant's format."""


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


def members(value: Value, format: Format) -> list[int]:
    """Encodings that a cell stands for in an operand's place: a class's ends, and some between. Raises CellError."""
    if value.kind == "class":
        return _class(value.text, format)
    if value.kind == "bits":
        digits = len(value.text) - 2
        if digits * 4 != format.width:
            raise CellError(f"'{value.text}' has {digits * 4} bits, {format.name} has {format.width}")
        return [value.bits]
    if value.kind == "number":
        encoded = encode_exact(value.number, format, value.negative)
        if encoded is None:
            raise CellError(f"'{value.text}' is not exact in {format.name}")
        return [encoded]
    raise CellError(f"'{value.text}' cannot be an operand")


def _class(name: str, f: Format) -> list[int]:
    least = 1 << f.fraction_bits
    inside = 0x5A5A5A5A5A5A5A5A & (least - 1)
    if name in _NANS:
        quiet = [f.infinity | f.quiet_bit, f.infinity | f.quiet_bit | inside, f.sign_bit | f.canonical_nan]
        signaling = [f.infinity | 1, f.sign_bit | f.infinity | (f.quiet_bit - 1)] if f.quiet_bit > 1 else []
        return list(dict.fromkeys({"NaN": quiet + signaling, "qNaN": quiet, "sNaN": signaling}[name]))
    sign = f.sign_bit if name[0] == "-" else 0
    one = f.bias << f.fraction_bits
    magnitudes = {
        "inf": [f.infinity],
        "normal": [least, f.infinity - 1, one, one + inside, least + 1],
        "subnormal": [1, least - 1, inside or 1],
        "maxNormal": [f.infinity - 1],
        "minNormal": [least],
        "minSubnormal": [1],
    }[name[1:]]
    return [sign | m for m in dict.fromkeys(magnitudes)]


def agrees(value: Value, result: int, operands: dict[str, int], format: Format) -> bool:
    """Whether a result is what the cell says. Raises CellError for a cell that means nothing in the format."""
    if value.kind == "bool":
        return result == value.bits
    if value.kind == "operand":
        return result == operands[value.text]
    if value.kind == "class":
        return _in_class(value.text, result, format)
    return result in members(value, format)


def _in_class(name: str, x: int, f: Format) -> bool:
    magnitude = x & ~f.sign_bit
    if name in _NANS:
        quiet = bool(x & f.quiet_bit)
        return magnitude > f.infinity and (name == "NaN" or quiet == (name == "qNaN"))
    least = 1 << f.fraction_bits
    if bool(x & f.sign_bit) != (name[0] == "-"):
        return False
    return {
        "normal": least <= magnitude < f.infinity,
        "subnormal": 0 < magnitude < least,
    }.get(name[1:], x in _class(name, f))


@dataclass(frozen=True)
class Case:
    """A row on one set of operands, with what the program makes of it."""

    operands: tuple[int, ...]
    result: int
    agrees: bool


def diagonal(*columns: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Rows in which every member of every column occurs, as few as that takes."""
    for i in range(max(map(len, columns))):
        yield tuple(c[i % len(c)] for c in columns)


def cases(row: CornerRow, program: Program, combine: Combine = itertools.product) -> Iterator[Case]:
    """Run a row on its cells' members, in every combination unless `combine` says otherwise. Raises CellError."""
    format = program.format
    if (row.result.kind == "bool") != (program.result.kind == BOOL):
        wanted = "true or false" if program.result.kind == BOOL else "a number"
        raise CellError(f"the result is {wanted}, not '{row.result.text}'")
    columns = [members(v, format) for v in row.operands]
    for operands in combine(*columns):
        result = run(program, operands)
        named = dict(zip(program.inputs, operands, strict=True))
        yield Case(operands, result, agrees(row.result, result, named, format))
