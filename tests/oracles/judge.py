"""The results that a documented variant must return, found without the specification: by MPFR and the manual's rules.

Only variants whose bits are fixed have a judge; `judged` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
from helpers.grids import moderate, near, near_triples, ragged, uniform
from numpy.typing import NDArray

from oracles import mixed
from oracles.mpfr import decode, mpfr_apply, unsigned_type

Bits: TypeAlias = NDArray[Any]

FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
MODES = {
    "rn": "roundTiesToEven",
    "rz": "roundTowardZero",
    "rm": "roundTowardNegative",
    "rp": "roundTowardPositive",
}
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8000000000000}
ROUNDED = {
    "add": "addition",
    "sub": "subtraction",
    "mul": "multiplication",
    "fma": "fusedMultiplyAdd",
    "mad": "fusedMultiplyAdd",
    "div": "division",
    "rcp": "division",
    "sqrt": "squareRoot",
}
SELECTING = ("min", "max")
BITWISE = ("abs", "neg", "copysign", "testp")
NEEDS_ROUNDING = ("fma", "mad", "div", "rcp", "sqrt")
# What the spellings of PTX 1.x mean.
DEFAULTS = {"div.f64": "div.rn.f64", "mad.f64": "mad.rn.f64", "sqrt.f64": "sqrt.rn.f64"}
OOB_NAN = 0x7FFF


def lane(type_: str) -> str:
    return type_.removesuffix("x2")


def judged(spelling: str) -> bool:
    """The manual and IEEE 754 fix every bit of the variant but a NaN's, whose rule the design fixes. Forms of several
    types have a module of their own."""
    if mixed.judged(spelling):
        return False
    opcode, *modifiers, type_ = DEFAULTS.get(spelling, spelling).split(".")
    if lane(type_) not in (*FIELDS, "f32x2"):
        return False
    if {"approx", "full"} & set(modifiers):
        return False
    if opcode == "mad":
        return True
    if opcode in NEEDS_ROUNDING:
        return bool(MODES.keys() & set(modifiers))
    return opcode in (*ROUNDED, *SELECTING, *BITWISE)


def judge_of(spelling: str) -> str:
    """Return who judges the results of a judged spelling: MPFR those that are rounded, its definition the rest."""
    return "MPFR" if spelling.partition(".")[0] in ROUNDED else "definition"


def expected(spelling: str, operands: Sequence[Bits], arithmetic: Callable[..., Bits] = mpfr_apply) -> Bits:
    """The result of one lane: bits of the lane's format for operands of such bits; bool for a predicate."""
    opcode, *names, type_ = DEFAULTS.get(spelling, spelling).split(".")
    modifiers, format_ = set(names), lane(type_)
    e, f = FIELDS[format_]
    dtype = unsigned_type(e, f)
    sign = dtype.type(1 << (e + f))
    magnitude = dtype.type((1 << (e + f)) - 1)
    infinity = dtype.type(((1 << e) - 1) << f)
    quiet = dtype.type(1 << (f - 1))
    least = dtype.type(1 << f)
    if opcode == "copysign":
        return (operands[1] & magnitude) | (operands[0] & sign)
    if opcode == "testp":
        return _property(operands[0] & magnitude, names[0], infinity, least)
    outside = np.zeros(operands[0].shape, np.bool_)
    if "oob" in modifiers:
        outside = np.logical_or.reduce([x == OOB_NAN for x in operands])
    ftz = "ftz" in modifiers
    if ftz:
        operands = [np.where((x & magnitude) < least, x & sign, x).astype(dtype) for x in operands]
    if opcode in ("abs", "neg"):
        result = operands[0] & magnitude if opcode == "abs" else operands[0] ^ sign
        if format_ == "f64":
            return result
    elif opcode in SELECTING:
        result = _selected(opcode, modifiers, operands, e, f)
    else:
        mode = next((MODES[n] for n in names if n in MODES), MODES["rn"])
        given = list(operands)
        if opcode == "rcp":
            given.insert(0, np.full_like(given[0], ((1 << (e - 1)) - 1) << f))
        if opcode == "mad" and not modifiers & MODES.keys():
            result = _mad_of_sm_1x(tuple(x.tobytes() for x in given), ftz)
        else:
            result = arithmetic(ROUNDED[opcode], given, (e, f), mode, ftz, nan=CANONICAL[format_])
    is_nan = (result & magnitude) > infinity
    if format_ == "f64":
        payload = np.full_like(result, CANONICAL["f64"])
        for x in reversed(operands):
            payload = np.where((x & magnitude) > infinity, x | quiet, payload)
        result = np.where(is_nan, payload, result)
    else:
        result = np.where(is_nan, dtype.type(CANONICAL[format_]), result)
    one = dtype.type(((1 << (e - 1)) - 1) << f)
    negative = (result & sign) != 0
    if "sat" in modifiers:
        result = np.where(is_nan | negative, dtype.type(0), np.minimum(result, one))
    if "relu" in modifiers:
        result = np.where(negative & ~is_nan, dtype.type(0), result)
    return np.where(outside, dtype.type(0), result).astype(dtype)


@lru_cache(maxsize=1)
def _mad_of_sm_1x(of: tuple[bytes, ...], ftz: bool) -> Bits:
    """f32: the product cut to 24 significant bits and then added; as mul and add where the addend is a zero."""
    operands = [np.frombuffer(x, np.uint32) for x in of]
    with np.errstate(all="ignore"):
        a, b, c = (x.view(np.float32) for x in operands)
        product = a.astype(np.float64) * b.astype(np.float64)
        cut = (product.view(np.uint64) & np.uint64(0xFFFFFFFFE0000000)).view(np.float64)
        separate = mpfr_apply("multiplication", operands[:2], FIELDS["f32"], MODES["rn"], ftz)
        plain = mpfr_apply("addition", [separate, operands[2]], FIELDS["f32"], MODES["rn"], ftz)
        total = cut + c.astype(np.float64)
    # A double rounding from 53 to 24 bits does no harm to a sum of two numbers of 24 bits.
    fused = mpfr_apply("convert", [total.view(np.uint64)], FIELDS["f32"], MODES["rn"], ftz, FIELDS["f64"])
    return np.where(c == 0, plain, fused)


def _property(magnitude: Bits, name: str, infinity: Any, least: Any) -> Bits:
    return {
        "finite": magnitude < infinity,
        "infinite": magnitude == infinity,
        "number": magnitude <= infinity,
        "notanumber": magnitude > infinity,
        "normal": ((magnitude >= least) & (magnitude < infinity)) | (magnitude == 0),
        "subnormal": (magnitude > 0) & (magnitude < least),
    }[name]


def _selected(opcode: str, modifiers: set[str], operands: Sequence[Bits], e: int, f: int) -> Bits:
    sign = operands[0].dtype.type(1 << (e + f))
    xorsign = (operands[0] ^ operands[1]) & sign
    if "abs" in modifiers:
        operands = [x & ~sign for x in operands]
    result = operands[0]
    for y in operands[1:]:
        x = result
        u, v = decode(x, e, f), decode(y, e, f)
        zeros = (u == 0) & (v == 0)
        y_wins = (v > u) | (zeros & ((x & sign) != 0)) if opcode == "max" else (v < u) | (zeros & ((y & sign) != 0))
        result = np.where(y_wins, y, x)
        if "NaN" in modifiers:
            result = np.where(np.isnan(u), x, np.where(np.isnan(v), y, result))
        else:
            result = np.where(np.isnan(u), y, np.where(np.isnan(v), x, result))
    if "xorsign" in modifiers:
        result = (result & ~sign) | xorsign
    return result.astype(operands[0].dtype)


@cache
def random_operands(format_: str, count: int, size: int, seed: int = 2026) -> tuple[Bits, ...]:
    """`count` operands: a quarter uniform, a quarter with runs of equal bits, a quarter of moderate size, a quarter
    near each other."""
    e, f = FIELDS[format_]
    rng = np.random.default_rng([seed, count, e, f])
    part = size // 4
    columns = [
        [uniform(rng, size - 3 * part, e, f), ragged(rng, part, e, f), moderate(rng, part, e, f)] for _ in range(count)
    ]
    close = [ragged(rng, part, e, f)] if count == 1 else near(rng, part, e, f)
    if count == 3:
        close = near_triples(rng, part, e, f)
    return tuple(np.concatenate([*c, n]) for c, n in zip(columns, close, strict=True))


@lru_cache(maxsize=2)
def _arithmetic_once(
    name: str, operands: tuple[bytes, ...], fields: tuple[int, int], mode: str, ftz: bool, nan: int
) -> Bits:
    dtype = unsigned_type(*fields)
    return mpfr_apply(name, [np.frombuffer(o, dtype) for o in operands], fields, mode, ftz, nan=nan)


def shared_arithmetic(
    name: str, operands: Sequence[Bits], fields: tuple[int, int], mode: str, ftz: bool = False, nan: int = 0
) -> Bits:
    """MPFR's results, computed once for variants that differ in what happens around the operation."""
    return _arithmetic_once(name, tuple(o.tobytes() for o in operands), fields, mode, ftz, nan)
