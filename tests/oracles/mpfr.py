"""MPFR, through gmpy2, as the judge of correctly rounded results in binary formats given as bits.

Every value of the formats here is a binary64 value, so that Python floats carry operands and results without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import gmpy2  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[Any]

ROUNDING: dict[str, int] = {
    "roundTiesToEven": gmpy2.RoundToNearest,
    "roundTowardZero": gmpy2.RoundToZero,
    "roundTowardNegative": gmpy2.RoundDown,
    "roundTowardPositive": gmpy2.RoundUp,
}

# Operators and gmpy2's functions look up the current context; sub and sqrt and their like give the same.
OPERATIONS: dict[str, Callable[..., list[Any]]] = {
    "addition": lambda x, y: [a + b for a, b in zip(x, y, strict=True)],
    "subtraction": lambda x, y: [a - b for a, b in zip(x, y, strict=True)],
    "multiplication": lambda x, y: [a * b for a, b in zip(x, y, strict=True)],
    "division": lambda x, y: [a / b for a, b in zip(x, y, strict=True)],
    "fusedMultiplyAdd": lambda x, y, z: list(map(gmpy2.fma, x, y, z)),
    "squareRoot": lambda x: list(map(gmpy2.sqrt, x)),
    "convert": lambda x: [+a for a in x],
}


def unsigned_type(exponent_bits: int, fraction_bits: int) -> np.dtype[Any]:
    width = 1 + exponent_bits + fraction_bits
    return np.dtype(next(f"u{size}" for size in (1, 2, 4, 8) if 8 * size >= width))


def decode(bits: Bits, exponent_bits: int, fraction_bits: int) -> NDArray[np.float64]:
    """The values of bit patterns: float64 of the same shape. Any NaN becomes a NaN."""
    wide = bits.astype(np.uint64)
    fraction = (wide & np.uint64((1 << fraction_bits) - 1)).astype(np.int64)
    field = ((wide >> np.uint64(fraction_bits)) & np.uint64((1 << exponent_bits) - 1)).astype(np.int64)
    bias = (1 << (exponent_bits - 1)) - 1
    significand = np.where(field == 0, fraction, fraction + (1 << fraction_bits)).astype(np.float64)
    special = field == (1 << exponent_bits) - 1
    value = np.ldexp(significand, np.where(special, 1, np.maximum(field, 1)) - bias - fraction_bits)
    value = np.where(special, np.where(fraction == 0, np.inf, np.nan), value)
    negative = wide >> np.uint64(exponent_bits + fraction_bits) == 1
    return np.asarray(np.where(negative, -value, value))


def encode(value: NDArray[np.float64], exponent_bits: int, fraction_bits: int, nan: int | None = None) -> Bits:
    """The patterns of values that the format has; NaN is `nan`, by default all ones without the sign."""
    width = 1 + exponent_bits + fraction_bits
    bias = (1 << (exponent_bits - 1)) - 1
    finite = np.where(np.isfinite(value), np.abs(value), 0.0)
    exponent = np.where(finite == 0, 1 - bias, np.maximum(np.frexp(finite)[1] - 1, 1 - bias))
    count = np.ldexp(finite, fraction_bits - exponent)
    units = count.astype(np.uint64)
    assert np.array_equal(units.astype(np.float64), count), "a value that the format does not have"
    bits = units + ((exponent + bias - 1).astype(np.uint64) << np.uint64(fraction_bits))
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    assert np.all(bits < infinity)
    bits = np.where(np.isinf(value), np.uint64(infinity), bits)
    bits |= np.signbit(value).astype(np.uint64) << np.uint64(width - 1)
    bits = np.where(np.isnan(value), np.uint64((1 << (width - 1)) - 1 if nan is None else nan), bits)
    return bits.astype(unsigned_type(exponent_bits, fraction_bits))


def context(exponent_bits: int, fraction_bits: int, mode: str, unbounded: bool = False) -> Any:
    """The format's MPFR context; `unbounded` keeps its precision and lifts the limits of its exponent."""
    precision, emax = fraction_bits + 1, 1 << (exponent_bits - 1)
    if unbounded:
        return gmpy2.context(precision=precision, emax=1 << 20, emin=-(1 << 20), round=ROUNDING[mode])
    # MPFR's significands lie in [1/2, 1): its exponents are one more than IEEE 754's.
    emin = 4 - emax - precision
    return gmpy2.context(precision=precision, emax=emax, emin=emin, subnormalize=True, round=ROUNDING[mode])


def from_floats(values: NDArray[np.float64]) -> list[Any]:
    """MPFR's numbers of the same values."""
    with gmpy2.context(precision=53, emax=1 << 20, emin=-(1 << 20)):
        # A product with one is exact here, and takes an eighth of the time that mpfr() does.
        one = gmpy2.mpfr(1)
        return [one * x for x in values.tolist()]


def flushed(
    values: NDArray[np.float64],
    apply: Callable[..., Sequence[Any]],
    operands: Sequence[Sequence[Any]],
    format_fields: tuple[int, int],
    mode: str,
) -> NDArray[np.float64]:
    """The results of an operation, with a zero of its sign for each that is below 2**emin where its exponent has no
    limits."""
    with gmpy2.context(context(*format_fields, mode, unbounded=True)):
        least = gmpy2.mpfr(2) ** (2 - (1 << (format_fields[0] - 1)))
        # What rounds to less than that does not round to more where the exponent has its limits.
        small = np.flatnonzero(np.abs(values) <= float(least))
        found = apply(*([x[i] for i in small] for x in operands))
        tiny = small[np.array([-least < value < least for value in found], np.bool_)]
    values[tiny] = np.copysign(0.0, values[tiny])
    return values


def mpfr_apply(
    operation_name: str,
    operands_bits: Sequence[Bits],
    format_fields: tuple[int, int],
    mode: str,
    ftz: bool = False,
    source_fields: tuple[int, int] | None = None,
    nan: int | None = None,
) -> Bits:
    """The correctly rounded results of an operation, as bits.

    operation_name: addition, subtraction, multiplication, division, fusedMultiplyAdd, squareRoot, or convert, whose
      operand is of the format `source_fields`.
    operands_bits: arrays of one shape (or that broadcast) of the format's unsigned type.
    format_fields: (exponent_bits, fraction_bits).
    mode: one of ROUNDING's keys; MPFR has no roundTiesToAway.
    ftz: a result whose rounding with an unbounded exponent is below 2**emin becomes a zero of its sign.
    Returns an array of the broadcast shape. A NaN result is `nan`; by default all ones without the sign.
    """
    arrays = np.broadcast_arrays(*operands_bits)
    fields = source_fields or format_fields
    operands = [from_floats(decode(array.ravel(), *fields)) for array in arrays]
    apply = OPERATIONS[operation_name]
    with gmpy2.context(context(*format_fields, mode)):
        values = np.array(list(map(float, apply(*operands))), np.float64)
    if ftz:
        values = flushed(values, apply, operands, format_fields, mode)
    return encode(values, *format_fields, nan).reshape(arrays[0].shape)
