"""The results that comparisons and selections must return, found without the specification: of two values exactly one
of four relations holds, and each operator is a set of these (PTX ISA 9.4, 9.3.1, 9.7.7 and 9.7.8).

Values are bits, as arrays of unsigned integers; predicates are arrays of bool."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[Any]

FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
LESS, EQUAL, GREATER, UNORDERED = range(4)
# The relations of which each operator is true.
HOLDS = {
    "eq": {EQUAL},
    "ne": {LESS, GREATER},
    "lt": {LESS},
    "le": {LESS, EQUAL},
    "gt": {GREATER},
    "ge": {EQUAL, GREATER},
    "equ": {EQUAL, UNORDERED},
    "neu": {LESS, GREATER, UNORDERED},
    "ltu": {LESS, UNORDERED},
    "leu": {LESS, EQUAL, UNORDERED},
    "gtu": {GREATER, UNORDERED},
    "geu": {EQUAL, GREATER, UNORDERED},
    "num": {LESS, EQUAL, GREATER},
    "nan": {UNORDERED},
    # Of unsigned integers alone.
    "lo": {LESS},
    "ls": {LESS, EQUAL},
    "hi": {GREATER},
    "hs": {EQUAL, GREATER},
}
OF_FLOATS = tuple(name for name in HOLDS if name not in ("lo", "ls", "hi", "hs"))
# By the comparison and the predicate.
TRUTH = {
    "and": [[False, False], [False, True]],
    "or": [[False, True], [True, True]],
    "xor": [[False, True], [True, False]],
}
OPCODES = ("setp", "set", "selp", "slct")


def lane(type_: str) -> str:
    return type_.removesuffix("x2").removesuffix("x4")


def width(type_: str) -> int:
    """Of a lane."""
    return 1 + sum(FLOATS[lane(type_)]) if lane(type_) in FLOATS else int(lane(type_)[1:])


def unsigned(type_: str) -> np.dtype[Any]:
    return np.dtype(f"u{width(type_) // 8}")


def flushed(x: Bits, type_: str) -> Bits:
    """Subnormal numbers as zeros of their sign."""
    e, f = FLOATS[type_]
    sign = x.dtype.type(1 << (e + f))
    magnitude = x & x.dtype.type((1 << (e + f)) - 1)
    return np.where(magnitude >> x.dtype.type(f) == 0, x & sign, x)


def order(x: Bits, type_: str) -> tuple[Bits, Bits]:
    """Integers that are ordered as the values are, and which values are unordered."""
    if type_ not in FLOATS:
        return x.view(f"{'i' if type_[0] == 's' else 'u'}{x.dtype.itemsize}"), np.zeros(x.shape, np.bool_)
    e, f = FLOATS[type_]
    size = (x & x.dtype.type((1 << (e + f)) - 1)).astype(np.int64 if x.itemsize > 2 else np.int32)
    # Both zeros are the integer 0.
    return np.where(x >> x.dtype.type(e + f) != 0, -size, size), size > (((1 << e) - 1) << f)


def relation(a: Bits, b: Bits, type_: str) -> Bits:
    """Return which of the four relations holds for each pair."""
    (x, no), (y, nor) = order(a, type_), order(b, type_)
    return np.where(no | nor, UNORDERED, np.where(x < y, LESS, np.where(x > y, GREATER, EQUAL)))


@lru_cache(maxsize=2)
def _relation_once(a: bytes, b: bytes, type_: str, ftz: bool) -> Bits:
    values = [np.frombuffer(x, unsigned(type_)) for x in (a, b)]
    return relation(*(flushed(x, type_) if ftz else x for x in values), type_)


def _compared(modifiers: Sequence[str], type_: str, operands: Sequence[Bits], negated: bool = False) -> Bits:
    """Return what setp gives as p, or as q where the comparison is negated."""
    a, b, *predicate = operands
    found = _relation_once(a.tobytes(), b.tobytes(), type_, "ftz" in modifiers)
    (operator,) = HOLDS.keys() & set(modifiers)
    holds = np.isin(found, list(HOLDS[operator])) ^ negated
    for name in TRUTH.keys() & set(modifiers):
        holds = np.array(TRUTH[name])[holds.astype(int), predicate[0].astype(int)]
    return holds


def expected(spelling: str, operands: Sequence[Bits]) -> tuple[Bits, ...]:
    """The results of one lane, the q of p|q among them."""
    opcode, *modifiers = spelling.split(".")
    if opcode == "setp":
        type_ = lane(modifiers[-1])
        p = _compared(modifiers, type_, operands)
        has_second = type_ not in ("f16", "bf16")
        return (p, _compared(modifiers, type_, operands, negated=True)) if has_second else (p,)
    a, b, c = operands[:3] if opcode != "set" else (*operands, None)[:3]
    if opcode == "selp":
        return (np.where(c, a, b),)
    if opcode == "slct":
        selector = modifiers[-1]
        c = flushed(c, "f32") if "ftz" in modifiers else c
        return (np.where(np.isin(relation(c, np.zeros_like(c), selector), list(HOLDS["ge"])), a, b),)
    # Packed integers have one type for all.
    source = modifiers[-1]
    result = source if source[0] in "su" and "x" in source else modifiers[-2]
    return (
        np.where(_compared(modifiers, lane(source), operands), true(result, source), 0).astype(held(result, source)),
    )


def held(result: str, source: str) -> np.dtype[Any]:
    """The integers of a lane of what set gives: u32 and s32 hold the lanes of a packed comparison, 16 bits each."""
    return np.dtype("u2") if lane(source) in FLOATS and source.endswith("x2") else unsigned(result)


def true(result: str, source: str) -> int:
    """The lane that set writes where the comparison holds: all ones, or 1.0."""
    if lane(result) not in FLOATS:
        return (1 << (8 * held(result, source).itemsize)) - 1
    e, f = FLOATS[lane(result)]
    return ((1 << (e - 1)) - 1) << f
