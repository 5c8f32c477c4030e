"""The results that a conversion to or from a narrow format must return, found without the specification.

NVIDIA's host code judges what it computes. The definition judges the rest (.rz to FP8, .relu, .pzo, scales): of the
numbers that NVIDIA's code decodes, the nearest one in the direction, in exact arithmetic. Numbers of these formats,
multiplied by any scale, are binary64 numbers.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import ptxemu
from ptxspec.check.claims import FIXED

from oracles import conversions, host_code
from oracles.judge import FIELDS, MODES, Bits
from oracles.mpfr import decode, mpfr_apply

NARROW = {"e4m3": 8, "e5m2": 8, "e2m3": 8, "e3m2": 8, "e2m1": 4, "ue8m0": 8, "ue5m3": 8, "s2f6": 8}
UNSIGNED = ("ue8m0", "ue5m3")
# What a NaN becomes; e2m3, e3m2, e2m1 and s2f6 have none, and the largest number takes its place.
NAN = {"e4m3": 0x7F, "e5m2": 0x7F, "e2m3": 0x1F, "e3m2": 0x1F, "e2m1": 0x7, "ue8m0": 0xFF, "ue5m3": 0xFF, "s2f6": 0x7F}
SIGNS = {"e4m3": 0x80, "e5m2": 0x80, "e2m3": 0x20, "e3m2": 0x20, "e2m1": 0x8}


class Conversion(NamedTuple):
    """A spelling with so many operands: its modifiers, what it converts to and from lane by lane, and the scales: "n1"
    has one, "n2" one for each lane."""

    modifiers: frozenset[str]
    to: str
    source: str
    scaling: str
    operands: int

    @property
    def direction(self) -> str:
        return next(m for m in ("rn", "rz", "rp", "rm", "rs") if m in self.modifiers)

    @property
    def is_pair(self) -> bool:
        """The source is one register with two lanes."""
        return self.source != "f32"


def conversion(spelling: str, operands: int = 0) -> Conversion:
    _, *names = spelling.split(".")
    *modifiers, to, source = names
    scaling = next((m.split("::")[1] for m in modifiers if m.startswith("scaled")), "")
    return Conversion(frozenset(modifiers), to.removesuffix("x2"), source.removesuffix("x2"), scaling, operands)


@cache
def spellings() -> tuple[tuple[str, int], ...]:
    """Each with the number of its operands. Of .rs, and of overflow to s2f6, nobody outside says every bit."""
    found = []
    for v in ptxemu.variants():
        if v.spelling.startswith("cvt.") and v.claim in FIXED:
            c = conversion(v.spelling)
            if NARROW.keys() & {c.to, c.source} and "rs" not in c.modifiers and c.to != "s2f6":
                found.append((v.spelling, v.operands))
    return tuple(found)


def judge_of(spelling: str) -> str:
    c = conversion(spelling)
    plain = c.modifiers <= {"rn", "rz", "rp", "satfinite"} and not c.scaling
    if c.to in NARROW:
        hosted = plain and host_code.has(c.to, c.source, c.direction, "satfinite" in c.modifiers)
    else:
        hosted = plain and c.source != "s2f6" and "satfinite" not in c.modifiers
    return "NVIDIA host code" if hosted else "definition"


def expected(spelling: str, x: Bits, scale: Bits) -> Bits:
    """The encodings of the results of lanes `x`, each with the encoding of its scale."""
    c = conversion(spelling)
    if judge_of(spelling) == "NVIDIA host code":
        if c.to not in NARROW:
            return host_code.from_narrow(c.source, c.to, x)
        return host_code.to_narrow(c.to, c.source, c.direction, "satfinite" in c.modifiers, x)
    return by_definition(c, x, scale)


def by_definition(c: Conversion, x: Bits, scale: Bits) -> Bits:
    """As `expected`, by the definition whoever else judges it."""
    value = values(c.source)[x] if c.source in NARROW else decode(x, *FIELDS[c.source])
    if c.scaling == "n1":
        least = 2.0 ** (2 - (1 << (FIELDS[c.source][0] - 1)))
        value = np.where(np.abs(value) < least, np.copysign(0.0, value), value)
    if c.scaling:
        exponent = scale.astype(np.int64) - 127
        value = np.where(scale == 0xFF, np.nan, np.ldexp(value, -exponent if c.to in NARROW else exponent))
    if c.to in NARROW:
        return _to_narrow(c, value)
    return _to_wide(c, value)


@cache
def values(narrow: str) -> Any:
    """The number of each encoding: float64."""
    every = np.arange(1 << {"e2m3": 6, "e3m2": 6}.get(narrow, NARROW[narrow]), dtype=np.uint8)
    if narrow == "s2f6":
        return every.view(np.int8) / 64.0
    return decode(host_code.from_narrow(narrow, "bf16", every), *FIELDS["bf16"])


def _to_narrow(c: Conversion, value: Any) -> Bits:
    sign = SIGNS.get(c.to, 0)
    numbers = values(c.to)[: sign or None]
    numbers = numbers[~np.isnan(numbers) & ~np.isinf(numbers)]
    size = np.abs(np.where(np.isnan(value), 0, value))
    # Behind the largest number the next one would be: half of the way there nearest numbers are those beyond.
    beyond = 2 * numbers[-1] - numbers[-2]
    if c.to == "ue8m0":
        beyond = 2 * numbers[-1]
    ladder = np.append(numbers, beyond)
    below = np.clip(np.searchsorted(ladder, size, "right") - 1, 0, len(ladder) - 2)
    low, high = ladder[below], ladder[below + 1]
    if c.direction == "rz":
        up = np.zeros(size.shape, bool)
    elif c.direction == "rp":
        # Only formats without a sign round so, and they round magnitudes.
        up = size > low
    else:
        # The middle between two neighbours is exact; the even one of them ends in a zero.
        middle = (low + high) / 2
        up = (size > middle) | ((size == middle) & (below % 2 == 1))
    code = below + (up & (size > low))
    too_large = (code >= len(numbers)) | np.isinf(value)
    largest = len(numbers) - 1
    overflowed = largest if "satfinite" in c.modifiers else NAN[c.to]
    code = np.where(too_large, overflowed, code)
    negative = np.signbit(value) & (sign != 0)
    if "relu" in c.modifiers:
        code = np.where(negative, 0, code)
    elif sign:
        kept = negative & ((code != 0) | ("pzo" not in c.modifiers))
        code = np.where(kept, code | sign, code)
    return np.where(np.isnan(value), NAN[c.to], code).astype(np.uint8)


def _to_wide(c: Conversion, value: Any) -> Bits:
    found = mpfr_apply(
        "convert", [value.view(np.uint64)], FIELDS[c.to], MODES[c.direction], source_fields=(11, 52), nan=0x7FFF
    )
    infinity = {"f16": 0x7C00, "bf16": 0x7F80}[c.to]
    if "satfinite" in c.modifiers:
        found = np.where((found & 0x7FFF) == infinity, found - 1, found)
    if "relu" in c.modifiers:
        found = np.where((found & 0x8000) != 0, 0, found)
    return found.astype(np.uint16)


# Operands


@cache
def operands(source: str, to: str, size: int, seed: int = 2026) -> Bits:
    """All encodings of 16 bits and less. Of single precision the numbers of the other format, the middles between them,
    their neighbours, the edges of the range; and so many of any bits, most of them in the range."""
    if source in NARROW:
        return np.arange(len(values(source)), dtype=np.uint8)
    if source != "f32":
        return np.arange(1 << 16, dtype=np.uint16)
    numbers = np.unique(np.abs(values(to)[np.isfinite(values(to))]))
    steps = np.append(numbers, [2 * numbers[-1] - numbers[-2], 2 * numbers[-1]])
    edges = np.concatenate([steps, (steps[1:] + steps[:-1]) / 2, steps[1:2] / 2, [2.0**-149, 2.0**-126, 2.0**-127]])
    exact = edges[edges < 2.0**128].astype(np.float32).view(np.uint32)
    near = np.concatenate(
        [exact, exact + 1, np.maximum(exact, 1) - 1, [0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000]]
    )
    rng = np.random.default_rng(seed)
    low, high = (int(np.log2(numbers[numbers > 0][i])) for i in (0, -1))
    exponent = rng.integers(max(low - 3, -126), min(high + 3, 127), size - size // 4) + 127
    within = exponent.astype(np.uint32) << 23 | rng.integers(0, 1 << 23, exponent.size, dtype=np.uint32)
    positive = np.concatenate([near.astype(np.uint32), within, rng.integers(0, 1 << 31, size // 4, dtype=np.uint32)])
    return np.concatenate([positive, positive | np.uint32(1 << 31)])


def scales(size: int, seed: int = 7) -> Bits:
    """Scales of every sort, most of which leave numbers in range."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(size) < 0.8, rng.integers(119, 136, size), rng.integers(0, 256, size)).astype(np.uint8)


# No negative zeros in other formats


@cache
def without_negative_zeros() -> tuple[str, ...]:
    """Conversions of f32 to 16 bits and tf32 with .pzo."""
    every = {v.spelling for v in ptxemu.variants() if v.spelling.startswith("cvt.") and v.claim in FIXED}
    return tuple(sorted(s for s in every if ".pzo." in s and s.replace(".pzo", "") in conversions.spellings()))


def expected_without(spelling: str, x: Bits) -> Bits:
    """Return MPFR's result without .pzo, with +0.0 for -0.0."""
    want = conversions.expected(spelling.replace(".pzo", ""), x)
    sign = want.dtype.type(1 << (8 * want.dtype.itemsize - 1))
    return np.where(want == sign, want.dtype.type(0), want)
