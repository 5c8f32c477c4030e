"""MPFR, through gmpy2, as the judge of single exact numbers: what they round to, and between which numbers they lie.

Formats unlike IEEE 754's are judged by the list of their numbers, as ml_dtypes has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import cache
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import ml_dtypes
import numpy as np

from oracles.mpfr import ROUNDING, context, decode, unsigned_type

# Exponent and fraction bits.
FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52), "tf32": (8, 10), "e5m2": (5, 2)}
DECODED = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
}
# More than the exponents and fractions of three f64 span.
_EXACTLY = 10_000
EXACT: dict[str, Callable[..., Any]] = {
    "addition": lambda x, y: x + y,
    "subtraction": lambda x, y: x - y,
    "multiplication": lambda x, y: x * y,
    "fusedMultiplyAdd": lambda x, y, z: x * y + z,
    "convert": lambda x: x,
    "roundToIntegral": lambda x: x,
}
NEAR: dict[str, Callable[..., Any]] = {
    "division": lambda x, y: x / y,
    "squareRoot": gmpy2.sqrt,
    "exp2": gmpy2.exp2,
    "log2": gmpy2.log2,
    "sin": gmpy2.sin,
    "cos": gmpy2.cos,
    "tanh": gmpy2.tanh,
    "rSqrt": gmpy2.rec_sqrt,
}


def _wide(precision: int) -> AbstractContextManager[Any]:
    emax = gmpy2.get_emax_max() // 2
    return gmpy2.context(precision=precision, emax=emax, emin=-emax)  # type: ignore[no-any-return]


def _fraction(x: Any) -> Fraction | None:
    """None of an infinity."""
    return Fraction(*map(int, x.as_integer_ratio())) if gmpy2.is_finite(x) else None


def of(function: str, operands: Sequence[Fraction], bits: int = 200) -> Fraction:
    """A function of finite numbers: without any error where that can be, else with so many bits."""
    with _wide(_EXACTLY if function in EXACT else bits):
        numbers = [gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator)) for x in operands]
        found = _fraction({**EXACT, **NEAR}[function](*numbers))
    assert found is not None
    return found


def value_of(bits: int, format_: str) -> Fraction | None:
    """The number of an encoding; None of an infinity and a NaN."""
    if format_ in FIELDS:
        fields = FIELDS[format_]
        found = float(decode(np.array([bits], unsigned_type(*fields)), *fields)[0])
    else:
        found = float(np.array([bits], np.uint8).view(DECODED[format_])[0])
    return Fraction(found) if np.isfinite(found) else None


def rounded(value: Fraction, format_: str, mode: str, ftz: bool) -> Fraction | None:
    """A number in a format; None of an infinity. A tiny one is a zero where these are flushed."""
    if format_ not in FIELDS or mode not in ROUNDING:
        return _nearer(value, format_, mode)
    fields, number = FIELDS[format_], gmpy2.mpq(value.numerator, value.denominator)
    if ftz:
        with gmpy2.context(context(*fields, mode, unbounded=True)):
            if abs(gmpy2.mpfr(number)) < gmpy2.mpfr(2) ** (2 - (1 << (fields[0] - 1))):
                return Fraction(0)
    with gmpy2.context(context(*fields, mode)):
        return _fraction(gmpy2.mpfr(number))


def _nearer(value: Fraction, format_: str, mode: str) -> Fraction | None:
    """One of the two numbers around, where MPFR has not the format or not the direction."""
    low, high = around(value, format_)
    if low is None or high is None or low == high:
        return low if high is None else high
    if mode == "roundTiesToEven":
        upper = high - value < value - low
        return high if upper or (high - value == value - low and numbers(format_).index(low) % 2) else low
    toward_high = {
        "roundTiesToAway": high - value < value - low or (high - value == value - low and value > 0),
        "roundTowardZero": value < 0,
        "roundTowardNegative": False,
        "roundTowardPositive": True,
    }
    return high if toward_high[mode] else low


def integral(value: Fraction, mode: str) -> int:
    """The whole number next to a number in a direction."""
    function = {
        "roundTiesToEven": gmpy2.rint,
        "roundTiesToAway": gmpy2.rint_round,
        "roundTowardZero": gmpy2.rint_trunc,
        "roundTowardNegative": gmpy2.rint_floor,
        "roundTowardPositive": gmpy2.rint_ceil,
    }[mode]
    with _wide(_EXACTLY):
        return int(function(gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))))


@cache
def numbers(format_: str) -> tuple[Fraction, ...]:
    """All finite numbers of a narrow format, in order."""
    dtype = np.dtype(DECODED[format_])
    width = {"e2m3": 6, "e3m2": 6, "e2m1": 4}.get(format_, 8)
    values = np.arange(1 << width, dtype=np.uint8).view(dtype).astype(np.float64)
    return tuple(sorted({Fraction(float(x)) for x in values if np.isfinite(x)}))


def around(value: Fraction, format_: str) -> tuple[Fraction | None, Fraction | None]:
    """The nearest numbers of a format that are not above, and not below; None where there is no finite one."""
    if format_ in FIELDS:
        low, high = (rounded(value, format_, mode, False) for mode in ("roundTowardNegative", "roundTowardPositive"))
        return low, high
    low = max((x for x in numbers(format_) if x <= value), default=None)
    return low, min((x for x in numbers(format_) if x >= value), default=None)
