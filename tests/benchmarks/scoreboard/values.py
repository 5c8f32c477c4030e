"""Encodings and the numbers that they stand for, in any of PTX's formats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracles.mpfr import encode
from ptxspec.model import Format

Bits = NDArray[Any]

FORMATS = ("f64", "f32", "f16", "bf16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0")


def magnitude(bits: Bits, f: Format) -> NDArray[np.uint64]:
    return bits.astype(np.uint64) & np.uint64(f.magnitudes - 1)


def is_negative(bits: Bits, f: Format) -> NDArray[np.bool_]:
    return (bits.astype(np.uint64) & np.uint64(f.sign_bit)) != 0


def is_nan(bits: Bits, f: Format) -> NDArray[np.bool_]:
    return magnitude(bits, f) >= np.uint64(f.first_nan)


def numbers(bits: Bits, f: Format) -> NDArray[np.float64]:
    """Return the value of each encoding; every number of these formats is a binary64 number."""
    size = magnitude(bits, f)
    field = (size >> np.uint64(f.fraction_bits)).astype(np.int64)
    hidden = np.where((field > 0) | (not f.has_zero), 1 << f.fraction_bits, 0)
    significand = (size & np.uint64((1 << f.fraction_bits) - 1)).astype(np.int64) + hidden
    # What stands above the largest number is no number, and its value is not kept.
    field = np.minimum(field, f.largest >> f.fraction_bits)
    value = np.ldexp(significand.astype(np.float64), np.maximum(field, int(f.has_zero)) - f.bias - f.fraction_bits)
    value = np.where(size > np.uint64(f.largest), np.inf, value)
    value = np.where(size >= np.uint64(f.first_nan), np.nan, value)
    return np.where(is_negative(bits, f), -value, value)


def ieee_encoding(values: NDArray[np.float64], f: Format) -> NDArray[np.uint64]:
    """Return the encodings of numbers that one of IEEE 754's formats has."""
    return encode(values, f.exponent_bits, f.fraction_bits).astype(np.uint64)


def shown(bits: int, f: Format) -> str:
    """Return an encoding with its value, as in 0x3c00 (1.0)."""
    return f"0x{bits:0{-(-f.width // 4)}x} ({float(numbers(np.uint64([bits]), f)[0])!r})"
