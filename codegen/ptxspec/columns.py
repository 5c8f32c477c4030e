"""Operands of one type as text, read all at once where all are bits, decimals or integers: as parse_operand of
evaluate.py reads one after another, which takes many times as long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .evaluate import parse_operand
from .model import BOOL, Format, Type

# What decimals and integers are written with. Python takes more for a number, as 1_000 and nan.
_OF_INTEGERS = frozenset("0123456789+-")
_OF_DECIMALS = _OF_INTEGERS | frozenset(".eE")
# By exponent and fraction bits. A number of bfloat16 is the upper half of one of binary32.
_NATIVE: dict[tuple[int, int], np.dtype[Any]] = {
    (5, 10): np.dtype(np.float16),
    (8, 7): np.dtype(np.float32),
    (8, 23): np.dtype(np.float32),
    (11, 52): np.dtype(np.float64),
}


def read(texts: Sequence[str], t: Type) -> NDArray[Any] | None:
    """The bits of registers of a type; None where some text is something else, or nothing that the type takes."""
    if t.kind == BOOL or not texts:
        return None
    f, characters = t.kind.format, frozenset("".join(texts))
    if "x" in characters:
        return _of_bits(texts, t)
    try:
        if f is not None and f.is_ieee and t.lanes == 1 and characters <= _OF_DECIMALS:
            return _of_decimals(texts, t, f)
        if f is None and not (t.kind.fixed and t.kind.fixed.point) and characters <= _OF_INTEGERS:
            signed = t.kind.fixed is not None and t.kind.fixed.signed
            return np.array([*map(int, texts)], f"{'i' if signed else 'u'}{t.width // 8}").view(f"u{t.width // 8}")
    except (ValueError, OverflowError):
        pass  # none is a number, or it is beyond the type
    return None


def _of_bits(texts: Sequence[str], t: Type) -> NDArray[Any] | None:
    length, whole = 2 + t.width // 4, "".join(texts)
    heads = (whole[i::length] for i in range(2))
    if {*map(len, texts)} != {length} or [set(h) for h in heads] != [{"0"}, {"x"}]:
        return None
    try:
        digits = np.frombuffer(whole.encode("ascii"), np.uint8).reshape(-1, length)[:, 2:]
        found = np.frombuffer(bytes.fromhex(digits.tobytes().decode("ascii")), f">u{t.width // 8}")
    except ValueError:
        return None
    return found.astype(f"u{t.width // 8}")


def _of_decimals(texts: Sequence[str], t: Type, f: Format) -> NDArray[Any] | None:
    native = _NATIVE.get((f.exponent_bits, f.fraction_bits))
    if native is None:
        return None
    numbers = np.array([*map(float, texts)])
    with np.errstate(all="ignore"):
        single = numbers.astype(native)
        bits = _encoded(single, f)
        if f.width < 64:
            # What is written lies between neighbours of the number that it was rounded to first.
            first = single if f.width < single.itemsize * 8 else numbers
            below, above = (np.nextafter(first, first.dtype.type(end)) for end in (-np.inf, np.inf))
            one, other = (_encoded(x.astype(native), f) for x in (below, above))
            for i in np.flatnonzero((one != other) & (numbers != 0)).tolist():
                bits[i] = parse_operand(texts[i], t)
    return bits


def _encoded(x: NDArray[Any], f: Format) -> NDArray[Any]:
    """Numbers of a native type, rounded to nearest where the format is the upper half of that."""
    bits: NDArray[Any] = x.view(f"u{x.itemsize}")
    if f.width == 8 * x.itemsize:
        return bits
    halfway: NDArray[Any] = bits + (bits >> 16 & 1) + 0x7FFF
    return (halfway >> 16).astype(np.uint16)
