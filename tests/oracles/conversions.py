"""The results that a conversion between scalar types must return, found without the specification: MPFR rounds what is
rounded, and the rest follows the manual's and ptxas's rules for integers and NaNs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import gmpy2  # type: ignore[import-untyped]
import numpy as np
import ptxemu
from helpers.grids import ragged, special, uniform
from helpers.repository import database
from numpy.typing import NDArray

from oracles.judge import CANONICAL, FIELDS as USUAL, MODES, Bits
from oracles.mpfr import context, decode, encode, from_floats, mpfr_apply, unsigned_type

FIELDS = {**USUAL, "tf32": (8, 10)}
INTEGERS = re.compile(r"[us](8|16|32|64)")
TO_INTEGRAL: dict[str, Callable[[Any], Any]] = {
    "rni": gmpy2.rint,
    "rzi": gmpy2.rint_trunc,
    "rmi": gmpy2.rint_floor,
    "rpi": gmpy2.rint_ceil,
}


class Conversion(NamedTuple):
    """A spelling: its modifiers, what it converts to and from, lane by lane."""

    modifiers: frozenset[str]
    to: str
    source: str
    is_pair: bool

    @property
    def direction(self) -> str:
        return next((m for m in (*MODES, "rna", *TO_INTEGRAL) if m in self.modifiers), "")


def conversion(spelling: str) -> Conversion:
    _, *modifiers, to, source = spelling.split(".")
    return Conversion(frozenset(modifiers), to.removesuffix("x2"), source, to.endswith("x2"))


def is_scalar(spelling: str) -> bool:
    """A conversion between scalar types, to tf32, or of two f32 to a pair."""
    opcode, *names = spelling.split(".")
    known = re.compile(rf"{INTEGERS.pattern}|b?f16|f32|f64")
    types = [n for n in names if known.fullmatch(n.removesuffix("x2")) or n == "tf32"]
    return opcode == "cvt" and types == names[-2:] and {"rs", "pzo"}.isdisjoint(names)


@cache
def spellings() -> tuple[str, ...]:
    return tuple(v.spelling for v in ptxemu.variants() if is_scalar(v.spelling) and ".pack." not in v.spelling)


def is_on(spelling: str, target: str, ptx: str) -> bool:
    """Return whether a conversion from one register exists on a target."""
    return not conversion(spelling).is_pair and database().takes(database().variant(spelling), target, ptx)


def bits(x: Any) -> Bits:
    """Return the contents of an array as unsigned integers."""
    return np.asarray(x).view(f"u{x.dtype.itemsize}")


def is_nan(spelling: str, x: int) -> bool:
    e, f = FIELDS[conversion(spelling).source]
    return (x & ((1 << (e + f)) - 1)) >> f == (1 << e) - 1 and x & ((1 << f) - 1) != 0


def judge_of(spelling: str) -> str:
    """Integers are converted to integers by definition; MPFR judges the rest."""
    c = conversion(spelling)
    return "definition" if INTEGERS.fullmatch(c.to) and INTEGERS.fullmatch(c.source) else "MPFR"


def expected(spelling: str, x: Bits) -> Bits:
    """The result of one lane: bits of its type, for operands that are bits of theirs."""
    c = conversion(spelling)
    if INTEGERS.fullmatch(c.source):
        return _of_integers(c, x)
    e, f = FIELDS[c.source]
    nan = (x & x.dtype.type((1 << (e + f)) - 1)) > x.dtype.type(((1 << e) - 1) << f)
    if "ftz" in c.modifiers and c.source == "f32":
        x = _flushed(x)
    if INTEGERS.fullmatch(c.to):
        return _to_integer(c, x, nan)
    ftz = "ftz" in c.modifiers and c.to == "f32"
    if c.to == c.source:
        bits = encode(_integral_once(x.tobytes(), c.source, c.direction), e, f) if c.direction else x
    else:
        bits = _rounded_once(x.tobytes(), c.source, c.to, c.direction or "rn", ftz and c.source == "f64")
    if ftz:
        bits = _flushed(bits)
    bits = _clamped(c, bits)
    return _in_register(c, np.where(nan, _nan(c, x), bits))


def _in_register(c: Conversion, bits: Bits) -> Bits:
    if c.to == "tf32":
        return bits.astype(np.uint32) << np.uint32(13)
    return bits.astype(unsigned_type(*FIELDS[c.to]))


def _flushed(x: Bits) -> Bits:
    return np.where((x & np.uint32(0x7F800000)) == 0, x & np.uint32(0x80000000), x)


def _clamped(c: Conversion, bits: Bits) -> Bits:
    """Return numbers as .satfinite, .relu and .sat leave them."""
    e, f = FIELDS[c.to]
    sign, infinity = 1 << (e + f), ((1 << e) - 1) << f
    bits = bits.astype(np.uint64)
    magnitude, negative = bits & np.uint64(sign - 1), bits >= sign
    if "satfinite" in c.modifiers:
        bits = np.where(magnitude == infinity, bits - np.uint64(1), bits)
    if "relu" in c.modifiers or "sat" in c.modifiers:
        bits = np.where(negative, np.uint64(0), bits)
    if "sat" in c.modifiers:
        bits = np.minimum(bits, np.uint64(((1 << (e - 1)) - 1) << f))
    return bits


def _nan(c: Conversion, x: Bits) -> Bits:
    """Return the results for operands that are NaNs."""
    if "sat" in c.modifiers:
        return np.zeros(x.shape, np.uint64)
    wide = x.astype(np.uint64)
    ftz, same = "ftz" in c.modifiers, c.to == c.source
    quiet = np.uint64(0x00400000 if c.to == "f32" else 0x0008000000000000)
    if same and c.to in ("f32", "f64") and not (c.direction and c.to == "f32"):
        return wide | quiet if ftz or c.direction else wide
    if (c.to, c.source) == ("f32", "bf16") and not ftz:
        return wide << np.uint64(16)
    if (c.to, c.source) == ("f64", "f32") and not ftz:
        return (
            ((wide >> np.uint64(31)) << np.uint64(63))
            | ((wide << np.uint64(29)) & np.uint64((1 << 62) - 1))
            | (quiet | np.uint64(0x7FF0000000000000))
        )
    if (c.to, c.source) == ("f32", "f64"):
        return (
            ((wide >> np.uint64(63)) << np.uint64(31))
            | ((wide >> np.uint64(29)) & np.uint64(0x7FFFFF))
            | (quiet | np.uint64(0x7F800000))
        )
    canonical = {**CANONICAL, "tf32": 0x3FFFF, "f64": 0x7FFFFFFFE0000000}
    return np.full(x.shape, canonical[c.to], np.uint64)


# What MPFR computes is kept for spellings that differ in what is done with it.


@lru_cache(maxsize=4)
def _rounded_once(x: bytes, source: str, to: str, direction: str, ftz: bool) -> Bits:
    bits = np.frombuffer(x, unsigned_type(*FIELDS[source]))
    if direction != "rna":
        return mpfr_apply("convert", [bits], FIELDS[to], MODES[direction], ftz, FIELDS[source])
    # MPFR has no such direction. A little more than a tie is none; a number of single precision is far from any other.
    doubles = decode(bits, *FIELDS[source]).view(np.uint64)
    more = doubles | np.isfinite(doubles.view(np.float64))
    return mpfr_apply("convert", [more], FIELDS[to], MODES["rn"], source_fields=FIELDS["f64"])


@lru_cache(maxsize=4)
def _integral_once(x: bytes, source: str, direction: str) -> NDArray[np.float64]:
    values = decode(np.frombuffer(x, unsigned_type(*FIELDS[source])), *FIELDS[source])
    exact = from_floats(values)
    with gmpy2.context(precision=53, emax=1 << 20, emin=-(1 << 20), round=gmpy2.RoundToNearest):
        return np.array([float(TO_INTEGRAL[direction](v)) for v in exact], np.float64)


def _to_integer(c: Conversion, x: Bits, nan: Bits) -> Bits:
    least, largest, width = limits(c.to)
    found = _integral_once(x.tobytes(), c.source, c.direction)
    negative, size = np.signbit(found), np.where(nan, 0.0, np.abs(found))
    most = np.where(negative, np.uint64(-least), np.uint64(largest))
    beyond = size >= 2.0**64
    whole = np.where(beyond, most, np.minimum(np.where(beyond, 0.0, size).astype(np.uint64), most))
    special = 1 << (width - 1) if c.source == "f64" or width == 64 else 0
    return np.where(nan, np.uint64(special), np.where(negative, -whole, whole)).astype(f"u{width // 8}")


def limits(type_: str) -> tuple[int, int, int]:
    """The least and the largest number of an integer type, and its width."""
    width = int(type_[1:])
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1, width) if type_[0] == "s" else (0, (1 << width) - 1, width)


def numbers(x: Bits, type_: str) -> list[int]:
    """The integers that bits stand for."""
    return [int(v) for v in x.view(f"i{x.dtype.itemsize}" if type_[0] == "s" else x.dtype).tolist()]


@lru_cache(maxsize=4)
def _from_integers(x: bytes, source: str, to: str, direction: str) -> Bits:
    whole = numbers(np.frombuffer(x, f"u{int(source[1:]) // 8}"), source)
    with gmpy2.context(precision=64, emax=1 << 20, emin=-(1 << 20)):
        exact = [gmpy2.mpfr(v) for v in whole]
    with gmpy2.context(context(*FIELDS[to], MODES[direction])):
        values = np.array([float(+v) for v in exact], np.float64)
    return encode(values, *FIELDS[to])


def _of_integers(c: Conversion, x: Bits) -> Bits:
    if not INTEGERS.fullmatch(c.to):
        return _in_register(c, _clamped(c, _from_integers(x.tobytes(), c.source, c.to, c.direction)))
    least, largest, width = limits(c.to)
    found = numbers(x, c.source)
    if "sat" in c.modifiers:
        found = [min(max(v, least), largest) for v in found]
    return np.array([v & ((1 << width) - 1) for v in found], np.uint64).astype(f"u{width // 8}")


# Operands


def operands(spelling: str, size: int) -> Bits:
    """Bits of the source's type: all where there are so few, else those where conversions go wrong, and random ones."""
    c = conversion(spelling)
    if c.source not in FIELDS:
        width = int(c.source[1:])
        return _every(f"u{width // 8}", size) if width <= 16 else _integers(width, size)
    e, f = FIELDS[c.source]
    return _every("u2", size) if e + f == 15 else _floats(c.source, _target(c), size)


def _target(c: Conversion) -> str:
    return c.to if c.to in FIELDS and c.to != c.source else ""


@lru_cache(maxsize=4)
def _every(dtype: str, size: int) -> Bits:
    every = np.arange(1 << 8 * np.dtype(dtype).itemsize, dtype=np.uint64).astype(dtype)
    if size >= every.size:
        return every
    # Some of each part, and both ends.
    step = every.size // size
    return np.unique(np.concatenate([every[:: step | 1], every[:8], every[-8:], every[every.size // 2 - 8 :][:16]]))


@lru_cache(maxsize=4)
def _integers(width: int, size: int) -> Bits:
    """Integers of all lengths, near powers of two, and in the middle between two numbers of every format."""
    rng = np.random.default_rng([2026, width, size])
    part = size // 3
    plain = (
        rng.integers(0, 1 << width, size - 2 * part, np.uint64, endpoint=False)
        if width < 64
        else rng.integers(0, (1 << 64) - 1, size - 2 * part, np.uint64, endpoint=True)
    )
    short = rng.integers(0, (1 << 64) - 1, part, np.uint64, endpoint=True) >> rng.integers(64 - width, 64, part).astype(
        np.uint64
    )
    precision = rng.choice(np.array([8, 9, 11, 12, 24, 25, 53, 54]), part)
    top = rng.integers(0, 1 << 54, part, np.uint64) >> (np.uint64(54) - precision.astype(np.uint64))
    near = (top << rng.integers(0, width, part).astype(np.uint64)) + rng.integers(-1, 2, part).astype(np.uint64)
    edges = [(1 << i) + d for i in range(width) for d in (-1, 0, 1)] + [(1 << width) - 1, (1 << width) - 2]
    found = np.concatenate([plain, short, near, np.array(edges, np.uint64)]) & np.uint64((1 << width) - 1)
    return found.astype(f"u{width // 8}")


@lru_cache(maxsize=4)
def _floats(source: str, target: str, size: int) -> Bits:
    """Special numbers, random bits, numbers near whole ones and halves, and those near a target's numbers and ties."""
    e, f = FIELDS[source]
    rng = np.random.default_rng([2026, size, e, f, len(target)])
    native, unsigned, part = f"f{(1 + e + f) // 8}", unsigned_type(e, f), size // 4
    found = [special(e, f), uniform(rng, part, e, f), ragged(rng, part, e, f)]
    whole = np.ldexp(rng.integers(0, 1 << 53, part).astype(np.float64), rng.integers(-56, 12, part))
    whole = np.where(rng.integers(0, 3, part) == 0, whole, np.floor(whole) + rng.choice([0.0, 0.5], part))
    found.append((whole * rng.choice([-1.0, 1.0], part)).astype(native).view(unsigned))
    if target and FIELDS[target][1] < f:
        te, tf = FIELDS[target]
        patterns = rng.integers(0, 1 << (1 + te + tf), part // 6 + 1, np.uint64).astype(unsigned_type(te, tf))
        value, after = decode(patterns, te, tf), decode(patterns + patterns.dtype.type(1), te, tf)
        with np.errstate(all="ignore"):
            for point in (value, (value + after) / 2):
                exact = point.astype(native).view(unsigned)
                found += [exact - unsigned.type(1), exact, exact + unsigned.type(1)]
    return np.concatenate(found)
