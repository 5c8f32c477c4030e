"""cvt.rs held against a model that its author compared with a GPU, written anew from what he documents of it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import ptxemu
import pytest
from helpers.repository import specification
from numpy.typing import NDArray
from ptxspec.model import Format
from ptxspec.semantics.exact.rounding import decode, round_to

Words = NDArray[np.uint32]
SPEC = specification()
MODEL = SPEC.published["quant_cast_bench"]
ONE_IN = 1 << 16


def mirrored(x: int, width: int) -> int:
    return int(f"{x:0{width}b}"[::-1], 2)


def by_halves(w: int) -> list[int]:
    """Lanes 0 and 1 read the lower half, lanes 2 and 3 the upper one: the odd ones from the other end."""
    halves = w & 0xFFFF, w >> 16
    return [x for half in halves for x in (half, mirrored(half, 16))]


def by_bytes(w: int) -> list[int]:
    """As by halves, of which one has the even bytes, the other the odd ones."""
    even, odd = (w >> 16 & 0xFF) << 8 | w & 0xFF, (w >> 24) << 8 | w >> 8 & 0xFF
    return [x for half in (even, odd) for x in (half, mirrored(half, 16))]


# The 16 random bits that each lane reads, lane 0 first.
RANDOM: dict[str, Callable[[int], list[int]]] = {
    "cvt.rs.bf16x2.f32": lambda w: [w & 0xFFFF, w >> 16],
    "cvt.rs.satfinite.e4m3x4.f32": by_halves,
    "cvt.rs.satfinite.e2m1x4.f32": by_bytes,
}


def rounded(x: int, random: int, to: Format, saturates: bool) -> int:
    """A number of single precision in a format: away from zero where its distance from the neighbour nearer to zero, in
    units of theirs, and the random bits as a fraction come to 1. Where it saturates, what is too large is cut first."""
    f32 = SPEC.formats["f32"]
    assert isinstance(f32, Format)
    sign = bool(x & f32.sign_bit)
    if f32.is_infinite(x):
        return to.largest | (to.sign_bit if sign else 0) if saturates else to.infinity | (to.sign_bit if sign else 0)
    value = abs(decode(x, f32))
    if saturates:
        value = min(value, decode(to.largest, to))
    exponent = max(to.emin, value.numerator.bit_length() - value.denominator.bit_length() - 1 if value else to.emin)
    while Fraction(2) ** (exponent + 1) <= value:
        exponent += 1
    step = Fraction(2) ** (exponent - to.fraction_bits)
    low = value // step
    up = (value / step - low) + Fraction(random, ONE_IN) >= 1
    return round_to((low + up) * step, to, "roundTiesToEven", False, sign) | (to.sign_bit if sign else 0)


def operands(spelling: str, count: int) -> tuple[list[Words], Words]:
    """Numbers in the ranges that its author names, of all exponents around them, and special ones."""
    r = np.random.default_rng(len(spelling))
    lanes = 2 if "x2" in spelling else 4
    columns = []
    for _ in range(lanes):
        scale = r.choice(np.array([1.0, 2.0**-8, 2.0**-10, 300.0, 2.0**-1, 2.0**-130, 2.0**120], np.float64), count)
        with np.errstate(all="ignore"):
            x = (r.standard_normal(count) * scale).astype(np.float32).view(np.uint32)
        # Ties with what the random bits can tell, and infinities.
        x[::7] &= np.uint32(0xFFFFFF00)
        x[::101] = r.choice(np.array([0x7F800000, 0xFF800000, 0, 0x7F7FFFFF, 1], np.uint32), len(x[::101]))
        columns.append(x)
    return columns, r.integers(0, 1 << 32, count, dtype=np.uint32)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("spelling", RANDOM)
def test_stochastic_rounding_is_that_of_the_model(spelling: str) -> None:
    (v,) = (v for v in SPEC.instructions["cvt"].variants if v.spelling == spelling)
    kernel = ptxemu.compile(spelling, target="sm_100a")
    assert kernel.claim == "reported" and ptxemu.compile(spelling, target="sm_103a").claim == "unjudged"
    columns, words = operands(spelling, 4000)
    found = kernel(*columns, words)
    to = v.result.kind.format
    assert to is not None
    width = v.result.type.width // v.result.type.lanes
    for i, w in enumerate(words.tolist()):
        # The first source is the highest lane.
        lanes = [int(c[i]) for c in reversed(columns)]
        want = [rounded(x, r, to, "satfinite" in spelling) for x, r in zip(lanes, RANDOM[spelling](w), strict=True)]
        got = [int(found[i]) >> width * lane & ((1 << width) - 1) for lane in range(len(lanes))]
        assert got == want, (spelling, list(map(hex, lanes)), hex(w))


def test_each_report_has_a_test() -> None:
    assert {r.variant for r in MODEL.reports} == RANDOM.keys()
    assert {t for r in MODEL.reports for t in r.targets} == {"sm_100a"}
