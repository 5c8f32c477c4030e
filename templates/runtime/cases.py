"""Operations whose results IEEE 754 fixes, by which environment.py judges what it sets.

A case is a function, its operands, and the results to nearest, toward negative, toward positive and toward zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .binary import BINARY32, BINARY64, Array, Format

Case = tuple[Callable[..., Any], tuple[float, ...], tuple[float, float, float, float]]


def _cast(x: Array) -> Array:
    return x.astype(np.float32)


def _widen(x: Array) -> Array:
    return x.astype(np.float64)


def _of_long(x: Array) -> Array:
    return (x.astype(np.int64) | 1).astype(x.dtype)


def _of_unsigned_long(x: Array) -> Array:
    return (x.astype(np.uint64) | np.uint64(1)).astype(x.dtype)


def _of_nothing(x: Array) -> Array:
    return x.astype(np.int64).astype(x.dtype)


def _of_unsigned_nothing(x: Array) -> Array:
    return x.astype(np.uint64).astype(x.dtype)


def of_long_integers(f: Format) -> Iterator[Case]:
    """Yield integers of 64 bits, which are too long for the format by their last bit."""
    for e in (f.precision + 6, 62):
        x, u = 2.0**e, 2.0 ** (e - f.fraction_bits)
        yield _of_long, (x,), (x, x, x + u, x)
        yield _of_long, (-x,), (-x, -x, -x + u / 2, -x + u / 2)
        yield _of_unsigned_long, (x,), (x, x, x + u, x)
    yield _of_unsigned_long, (2.0**63,), (2.0**63, 2.0**63, 2.0**63 + 2.0 ** (63 - f.fraction_bits), 2.0**63)
    yield _of_nothing, (0.0,), (0.0,) * 4
    yield _of_unsigned_nothing, (0.0,), (0.0,) * 4


def always(f: Format) -> Iterator[Case]:
    """Yield cases far from subnormal numbers: the same with flushing and without."""
    u, largest, infinity = 2.0**-f.fraction_bits, float(np.finfo(f.native).max), float("inf")
    yield np.add, (1, u / 8), (1, 1, 1 + u, 1)
    yield np.add, (-1, -u / 8), (-1, -1 - u, -1, -1)
    yield np.subtract, (1, 1), (0.0, -0.0, 0.0, 0.0)
    yield np.add, (largest, largest), (infinity, largest, infinity, largest)
    yield np.multiply, (1 + u, 1 + u), (1 + 2 * u, 1 + 2 * u, 1 + 3 * u, 1 + 2 * u)
    yield np.multiply, (-1 - u, 1 + u), (-1 - 2 * u, -1 - 3 * u, -1 - 2 * u, -1 - 2 * u)
    yield np.divide, (1, 1 + u), (1 - u, 1 - u, 1 - u / 2, 1 - u)
    yield np.divide, (-1, 1 + u), (-1 + u, -1 + u / 2, -1 + u, -1 + u)
    yield np.sqrt, (1 + 2 * u,), (1 + u, 1, 1 + u, 1)
    yield np.sqrt, (1 + u,), (1, 1, 1 + u, 1)
    if f is BINARY64:
        yield _cast, (1 + 2.0**-26,), (1, 1, 1 + 2.0**-23, 1)
        yield _cast, (-1 - 2.0**-26,), (-1, -1 - 2.0**-23, -1, -1)


def gradual(f: Format) -> Iterator[Case]:
    """Yield subnormal operands and results, without flushing."""
    least = 2.0**f.emin
    smallest = least * 2.0**-f.fraction_bits
    yield np.add, (least / 2, -smallest), (least / 2 - smallest,) * 4
    yield np.multiply, (smallest, 0.5), (0.0, 0.0, smallest, 0.0)
    yield np.multiply, (-smallest, 0.5), (-0.0, -smallest, -0.0, -0.0)
    if f is BINARY64:
        yield _cast, (2.0**-150,), (0.0, 0.0, 2.0**-149, 0.0)


def flushed_results(f: Format) -> Iterator[Case]:
    """Yield tiny results, which are zeros. Tiny is judged after rounding with unbounded exponent."""
    u, least = 2.0**-f.fraction_bits, 2.0**f.emin
    yield np.add, (least * (1 + u), -least), (0.0,) * 4
    yield np.multiply, (-least, 0.5), (-0.0,) * 4
    yield np.multiply, (least * (1 + u), 1 - u), (least, 0.0, least, 0.0)
    yield np.multiply, (-least * (1 + u), 1 - u), (-least, -least, -0.0, -0.0)
    yield np.divide, (-least, 2), (-0.0,) * 4
    if f is BINARY64:
        yield _cast, (-(2.0**-127),), (-0.0,) * 4
        yield _cast, (2.0**-126 * (1 - 2.0**-30),), (2.0**-126, 0.0, 2.0**-126, 0.0)


def kept_operands(f: Format) -> Iterator[Case]:
    """Yield subnormal operands where only results are flushed."""
    u, least = 2.0**-f.fraction_bits, 2.0**f.emin
    yield np.add, (1, least / 2), (1, 1, 1 + u, 1)
    yield np.add, (least / 2, least / 2), (least,) * 4
    yield np.multiply, (2 / u, least * u), (2 * least,) * 4
    yield np.divide, (least / 2, -least / 2), (-1,) * 4


def flushed_operands(f: Format) -> Iterator[Case]:
    """Yield subnormal operands, which count as zeros of their sign."""
    u, least, infinity = 2.0**-f.fraction_bits, 2.0**f.emin, float("inf")
    yield np.add, (1, least / 2), (1,) * 4
    yield np.add, (least / 2, least / 2), (0.0,) * 4
    yield np.subtract, (-least / 2, least * u), (-0.0,) * 4
    yield np.multiply, (2 / u, -least * u), (-0.0,) * 4
    yield np.divide, (1, -least / 2), (-infinity,) * 4
    yield np.sqrt, (least / 2,), (0.0,) * 4
    yield np.equal, (least / 2, -least * u), (1,) * 4
    yield np.less, (0, least / 2), (0,) * 4
    if f is BINARY32:
        yield _widen, (-least / 2,), (-0.0,) * 4
