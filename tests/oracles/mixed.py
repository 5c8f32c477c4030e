"""The results that a form of several types must return, found without the specification: by MPFR, and in 8 bits and
fewer by ml_dtypes, which says what numbers the encodings are.

Every number of these formats is a binary64 number, and so is every result. MPFR rounds the exact result of such
operands once, to the precision and the exponents of the result's format; what is too large for a format without
infinities is decided afterwards, as the manual says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

import gmpy2  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from oracles import mpfr
from oracles.rationals import DECODED

Bits: TypeAlias = NDArray[Any]

# The formats of IEEE 754's kind: exponent and fraction bits.
FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "e5m2": (5, 2)}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "e5m2": 0x7F, "e4m3": 0x7F}
LARGEST = {"e5m2": 57344.0, "e4m3": 448.0}
# Lanes and the bits of each in a register; e2m1p4 has a byte for each number.
WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "e2m1": 4}
MODES = {"rn": "roundTiesToEven", "rz": "roundTowardZero", "rm": "roundTowardNegative", "rp": "roundTowardPositive"}
# The manual's 9.7.5.4 can be read as a product with an operand that was converted before: MPFR cannot tell the reading.
READ_IN_TWO_WAYS = ("mul.bf16x2.bf16x2.f16x2", "mul.f16x2.f16x2.bf16x2")
OPERATIONS = {"add": "addition", "sub": "subtraction", "mul": "multiplication", "fma": "fusedMultiplyAdd"}


def split(spelling: str) -> tuple[str, set[str], tuple[str, ...]]:
    """Opcode, modifiers and types."""
    opcode, *names = spelling.split(".")
    types = tuple(n for n in names if lane(n) in (*FIELDS, *DECODED))
    return opcode, set(names) - set(types), types


def judged(spelling: str) -> bool:
    """An operation of arithmetic that has several types."""
    opcode, _, types = split(spelling)
    return opcode in OPERATIONS and len(types) > 1


def lane(type_: str) -> str:
    return type_.removesuffix("x2").removesuffix("x4").removesuffix("p4")


def lanes(type_: str) -> int:
    return int(type_[-1]) if type_.endswith(("x2", "x4")) else 1


def width(type_: str) -> int:
    """The bits of a lane's part of the register."""
    return 8 if "p4" in type_ else WIDTH.get(lane(type_), 8)


def sources(spelling: str) -> list[str]:
    """The types of the operands: the manual's a and b have the types that follow the result's, c has the result's, and
    in what ends in a type for each operand every operand has its own."""
    opcode, _, (result, *others) = split(spelling)
    if opcode == "fma":
        a, b = (others * 2)[:2]
        return [a, b, others[2] if len(others) == 3 else result]
    return others if len(others) == 2 else [others[0], result]


def decode(bits: Bits, format_: str) -> NDArray[np.float64]:
    if format_ == "f32":
        with np.errstate(all="ignore"):
            return bits.astype(np.uint32).view(np.float32).astype(np.float64)
    return _numbers(format_).take(bits)


@cache
def _numbers(format_: str) -> NDArray[np.float64]:
    if format_ in FIELDS:
        return mpfr.decode(np.arange(1 << (1 + sum(FIELDS[format_]))), *FIELDS[format_])
    size = {"e2m1": 16, "e2m3": 64, "e3m2": 64}.get(format_, 256)
    with np.errstate(all="ignore"):
        return np.arange(size, dtype=np.uint8).view(DECODED[format_]).astype(np.float64)


def expected(spelling: str, operands: Sequence[Bits]) -> Bits:
    """The results of one lane: bits of its format for operands of bits of theirs."""
    opcode, modifiers, (result, *_) = split(spelling)
    format_ = lane(result)
    mode = next((MODES[m] for m in sorted(modifiers) if m in MODES), MODES["rn"])
    ftz = "ftz" in modifiers
    kinds = tuple(map(lane, sources(spelling)))
    given = tuple(np.ascontiguousarray(x).tobytes() for x in operands)
    dtypes = tuple(x.dtype.str for x in operands)
    value = _rounded(OPERATIONS[opcode], given, dtypes, kinds, format_, mode, ftz)
    if "sat" in modifiers:
        value = np.where(np.isnan(value) | (value <= 0), 0.0, np.minimum(value, 1.0))
    if format_ in LARGEST:
        largest = LARGEST[format_]
        if "satfinite" in modifiers:
            value = np.clip(value, -largest, largest)
        elif format_ == "e4m3":
            value = np.where(np.abs(value) > largest, np.nan, value)
    return _encoded(value, format_)


def _encoded(value: NDArray[np.float64], format_: str) -> Bits:
    if format_ in FIELDS:
        return mpfr.encode(value, *FIELDS[format_], NAN[format_])
    with np.errstate(all="ignore"):
        bits = value.astype(DECODED[format_]).view(np.uint8)
    assert np.array_equal(decode(bits, format_), value, equal_nan=True), "a value that the format does not have"
    return np.where(np.isnan(value), np.uint8(NAN[format_]), bits).astype(np.uint8)


@lru_cache(maxsize=4)
def _rounded(
    operation: str,
    operands: tuple[bytes, ...],
    dtypes: tuple[str, ...],
    kinds: tuple[str, ...],
    format_: str,
    mode: str,
    ftz: bool,
) -> NDArray[np.float64]:
    """The exact result in the precision of a format, subnormal where that is; too large where the format has no
    infinity. Computed once for variants that differ in what happens afterwards."""
    values = []
    for bits, dtype, kind in zip(operands, dtypes, kinds, strict=True):
        value = decode(np.frombuffer(bits, dtype), kind)
        if ftz:
            least = 2.0 ** (2 - (1 << (FIELDS[kind][0] - 1)))
            value = np.where(np.abs(value) < least, np.copysign(0.0, value), value)
        values.append(value)
    numbers = [mpfr.from_floats(v) for v in values]
    apply = mpfr.OPERATIONS[operation]
    fields = FIELDS.get(format_, (4, 3))
    context = mpfr.context(*fields, mode)
    if format_ not in FIELDS:
        context.emax = 1 << 20
    with gmpy2.context(context):
        found = np.array(list(map(float, apply(*numbers))), np.float64)
    if ftz:
        found = mpfr.flushed(found, apply, numbers, fields, mode)
    return found
