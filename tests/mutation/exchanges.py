"""The exchanges that make a mutant of the specification: in code, in notations, and of single values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Exchange(NamedTuple):
    """Characters `start` to `end` of a text become `new`."""

    operator: str
    start: int
    end: int
    new: str


_TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_OTHERS = {
    "+": "-", "-": "+", "*": "/", "/": "*", "&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<", "and": "or",
    "or": "and",
}  # fmt: skip
_NAMES = {
    "maximum": "minimum", "minimum": "maximum", "maximumNumber": "minimumNumber", "minimumNumber": "maximumNumber",
    "isNaN": "isInfinite", "isInfinite": "isNaN", "isFinite": "isNaN", "isZero": "isSubnormal",
    "isSubnormal": "isZero", "isSignMinus": "isZero", "isNormal": "isFinite", "magnitude": "quieten",
    "quieten": "magnitude", "sin": "cos", "cos": "sin", "exp2": "log2", "log2": "exp2", "tanh": "sin",
    "addition": "subtraction", "subtraction": "addition", "multiplication": "addition", "f64": "f32", "s64": "s32",
    "largestOf": "leastOf", "squareRoot": "rSqrt", "rSqrt": "squareRoot", "quietNaN": "infinity",
}  # fmt: skip
_ROUNDINGS = ("roundTiesToEven", "roundTowardZero", "roundTowardNegative", "roundTowardPositive", "roundTiesToAway")
_OPERANDS = {"a": "b", "b": "a", "c": "a", "a0": "a1", "a1": "a0", "d": "a"}
_UNITS = re.compile(r"(?<=unit\()\w+")
# Siblings of modifiers and types.
_SIBLINGS = {
    "rn": "rz", "rz": "rm", "rm": "rp", "rp": "rn", "rni": "rzi", "rzi": "rmi", "rmi": "rpi", "rpi": "rni",
    "f32": "f64", "f64": "f32", "f16": "bf16", "bf16": "f16", "f16x2": "bf16x2", "bf16x2": "f16x2", "f32x2": "f32",
    "s32": "u32", "u32": "s32", "s8": "u8", "u8": "s8", "s16": "u16", "u16": "s16", "s64": "u64", "u64": "s64",
    "b16": "b32", "b32": "b64", "b64": "b32", "ftz": "sat", "sat": "ftz", "relu": "ftz", "approx": "full",
    "full": "approx", "NaN": "ftz", "abs": "NaN", "e4m3x2": "e5m2x2", "e5m2x2": "e4m3x2", "e4m3x4": "e5m2x4",
    "e5m2x4": "e4m3x4", "e2m3x2": "e3m2x2", "e3m2x2": "e2m3x2", "satfinite": "relu", "rnd": "rn", "lt": "le",
    "le": "lt", "eq": "ne", "gt": "ge", "ge": "gt", "oob": "relu", "pzo": "relu", "pred": "b32",
    "b8": "b16",
}  # fmt: skip


def in_code(line: str) -> Iterator[Exchange]:
    """Of a line of the semantics language."""
    code = line.partition("#")[0]
    for m in re.finditer(r"(?<= )(<=|>=|==|!=|<|>)(?= )", code):
        yield Exchange("comparison", *m.span(), _TURNED[m[1]])
    for m in re.finditer(r"(?<= )(\+|-|\*|/|&|\||\^|<<|>>|and|or)(?= )", code):
        yield Exchange("operation", *m.span(), _OTHERS[m[1]])
    for m in re.finditer(r"\b(\w+) (?:-|/) (\w+)\b", code):
        if m[1] != m[2]:
            yield Exchange("operands swapped", m.start(1), m.end(2), f"{m[2]}{code[m.end(1) : m.start(2)]}{m[1]}")
    for m in re.finditer(r"(?<=\()(\w+), (\w+)\b", code):
        if m[1] != m[2] and m[1].upper() != m[1] and not code[: m.start() - 1].endswith(" in "):
            yield Exchange("operands swapped", *m.span(), f"{m[2]}, {m[1]}")
    for m in re.finditer(r"(?<![\w.])(a|b|c|a0|a1)(?!\w)", code):
        yield Exchange("another operand", *m.span(), _OPERANDS[m[1]])
    for m in re.finditer(rf", ({'|'.join(_ROUNDINGS)})\b", code):
        yield Exchange("rounding dropped", *m.span(), "")
        yield Exchange("another rounding", m.start(1), m.end(1), _next(_ROUNDINGS, m[1]))
    for m in re.finditer(r"\b[A-Za-z]\w+\b", code):
        if m[0] in _NAMES:
            yield Exchange("another function", *m.span(), _NAMES[m[0]])
    for m in re.finditer(r"\bnot ", code):
        yield Exchange("condition turned", *m.span(), "")
    for m in re.finditer(r"\b(?:el)?if ([^:]+?)(?=:| else )", code):
        if not m[1].startswith("not "):
            yield Exchange("condition turned", m.start(1), m.end(1), f"not ({m[1]})")
    for m in _UNITS.finditer(code):
        yield Exchange("another unit", *m.span(), {"RCP": "RSQ", "SIN": "COS", "COS": "SIN"}.get(m[0], "RCP"))
    yield from constants(code)


def constants(code: str) -> Iterator[Exchange]:
    for m in re.finditer(r"\b0x[0-9a-f]+(\.[0-9a-f]+)?(p-?\d+)?|(?<![\w.])\d+(?!\w)", code):
        text = m[0]
        if text.startswith("0x") and "p" in text:
            mantissa, _, exponent = text.partition("p")
            yield Exchange("constant", *m.span(), f"{mantissa}p{int(exponent) + 1}")
            if m[1]:
                yield Exchange("constant", *m.span(), f"{mantissa[:-1]}{_digit(mantissa[-1])}p{exponent}")
        elif text.startswith("0x"):
            yield Exchange("constant", *m.span(), text[:-1] + _digit(text[-1]))
        else:
            yield Exchange("constant", *m.span(), str(int(text) + 1))
            if int(text) > 1:
                yield Exchange("constant", *m.span(), str(int(text) - 1))


def _digit(digit: str) -> str:
    return f"{int(digit, 16) ^ 1:x}"


def _next(items: Sequence[str], item: str, step: int = 1) -> str:
    return items[(items.index(item) + step) % len(items)]


def in_ptx(line: str) -> Iterator[Exchange]:
    """Of a line of a recipe."""
    m = re.search(r"\w+[\w.:]* (%\S+), ([^,;{}]+), ([^,;{}]+)(?=[,;])", line)
    if m and m[2] != m[3] and re.match(r"\s*(sub|div|sh[lr]|selp|slct|setp?|copysign)\b", line):
        yield Exchange("operands swapped", m.start(2), m.end(3), f"{m[3]}, {m[2]}")
    for m in re.finditer(r"(?<=\.)\w+(?= |\.)", line):
        if m[0] in _SIBLINGS:
            yield Exchange("modifier", *m.span(), _SIBLINGS[m[0]])
    for m in re.finditer(r"(?<=[ ,])(0x[0-9a-f]+|\d+)(?=[,;])", line):
        for e in constants(m[0]):
            yield e._replace(start=m.start(), end=m.end())


def in_notation(text: str) -> Iterator[Exchange]:
    """Of a selector, or of the names in a line of the syntax. A selector that begins with a dot matches whatever has
    its names: one that may be left out changes nothing there."""
    optional = [m.span() for m in re.finditer(r"\{\.[\w.:]+\}", text)] if text.startswith(".") else []
    for e in _in_notation(text):
        if e.operator == "modifier needed" or not any(start <= e.start < end for start, end in optional):
            yield e


def _in_notation(text: str) -> Iterator[Exchange]:
    for m in re.finditer(r"\{([^{}]+)\}", text):
        members = m[1].split(",")
        if len(members) > 1 and not m[1].startswith("."):
            for i in range(len(members)):
                kept = members[:i] + members[i + 1 :]
                yield Exchange("form dropped", m.start(1), m.end(1), ",".join(kept))
        elif len(members) == 1:
            yield Exchange("modifier dropped", *m.span(), "")
            yield Exchange("modifier needed", *m.span(), m[1])
    for m in re.finditer(r"(?<=[.{,])\w+(?=[.{},: ]|$)", text):
        if m[0] in _SIBLINGS:
            yield Exchange("another modifier", *m.span(), _SIBLINGS[m[0]])


def in_syntax(text: str) -> Iterator[Exchange]:
    spelling, operands = re.match(r"(\S+)(.*)", text).groups()  # type: ignore[union-attr]
    yield from in_notation(spelling)
    for m in re.finditer(r":(\w+)", operands):
        start = len(spelling)
        yield Exchange("type of an operand", start + m.start(), start + m.end(), "")
    for m in re.finditer(r", [abc](?::\w+)?(?=$|,|\s)", operands):
        if ", b" in operands:
            yield Exchange("operand dropped", len(spelling) + m.start(), len(spelling) + m.end(), "")


def in_cell(cell: str) -> Iterator[Exchange]:
    """Of a cell of a corner-case table."""
    whole = (0, len(cell))
    if cell in ("a", "b", "c"):
        yield Exchange("cell", *whole, _OPERANDS[cell])
    elif cell in ("true", "false"):
        yield Exchange("cell", *whole, "false" if cell == "true" else "true")
    elif cell.startswith("0x") and "p" not in cell and "." not in cell:
        yield Exchange("cell", *whole, cell[:-1] + _digit(cell[-1]))
    elif cell in ("NaN", "qNaN", "sNaN"):
        yield Exchange("cell", *whole, {"NaN": "+inf", "qNaN": "sNaN", "sNaN": "1.0"}[cell])
    elif cell[0] in "+-":
        yield Exchange("cell", *whole, {"+": "-", "-": "+"}[cell[0]] + cell[1:])
        other = {"inf": "maxNormal", "normal": "inf", "0.0": "minSubnormal", "maxNormal": "inf"}.get(cell[1:])
        if other:
            yield Exchange("cell", *whole, cell[0] + other)
    else:
        yield Exchange("cell", *whole, f"-{cell}")
        for e in constants(cell):
            if "." not in cell or cell.startswith("0x"):
                yield e._replace(operator="cell", start=e.start, end=e.end)
        if re.fullmatch(r"\d+\.\d+", cell):
            yield Exchange("cell", *whole, f"{float(cell) * 2}")


def in_bound(bound: str) -> Iterator[Exchange]:
    if m := re.fullmatch(r"2\^-(\d+)(\.\d+)?", bound):
        for step in (1, -1):
            yield Exchange("bound", m.start(1), m.end(1), str(int(m[1]) + step))
    else:
        yield Exchange("bound", 0, len(bound), str(int(bound) * 2))


def in_range(text: str) -> Iterator[Exchange]:
    for m in re.finditer(r"\d+(?=pi)|(?<=\^)-?\d+|(?<=, )\d+(?=\))|(?<=\()0\.5", text):
        new = "0.25" if m[0] == "0.5" else str(int(m[0]) // 2 if abs(int(m[0])) > 1 else int(m[0]) + 1)
        yield Exchange("range", *m.span(), new)
    if text.startswith("positive and finite outside"):
        yield Exchange("range", 0, len("positive and finite outside "), "")


def in_number(text: str) -> Iterator[Exchange]:
    """Of a number, hexadecimal or not, or the last one in a text such as 535.54.03."""
    if m := re.search(r"(\d+)(?=\D*$)", text):
        if text.startswith("0x") or re.search(r"p-?\d+$", text):
            yield from constants(text)
        else:
            yield Exchange("number", m.start(), m.end(), str(int(m[1]) + 1).zfill(len(m[1])))
