"""Conversions to and from narrow formats, against NVIDIA's own host code, ml_dtypes, and their definitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import ml_dtypes
import numpy as np
import ptxemu
import pytest
from helpers.groups import assert_equal
from helpers.judging import Judged
from helpers.repository import specification
from helpers.sizes import each_size, spread
from oracles import conversions, host_code, narrow
from oracles.judge import Bits
from oracles.narrow import NARROW, Conversion
from ptxspec.model import Format
from ptxspec.semantics.exact.lanes import lanes_of
from ptxspec.semantics.exact.rounding import decode

pytestmark = pytest.mark.inputs("emulator:cvt")

# ml_dtypes rounds to nearest and keeps what these formats have beside numbers for itself.
PEERS = {
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e2m3": "float6_e2m3fn", "e3m2": "float6_e3m2fn",
    "e2m1": "float4_e2m1fn",
}  # fmt: skip


def identify(case: tuple[str, int]) -> str:
    return f"{case[0]}-{case[1]}"


def some() -> Iterator[tuple[str, int]]:
    """Of each pair of formats, with a scale and without, a spelling."""
    groups = defaultdict(list)
    for case in narrow.spellings():
        c = narrow.conversion(*case)
        groups[c.to, c.source, c.scaling].append(case)
    for cases in groups.values():
        yield from spread(cases, 1)


def packed(lanes: Bits, bits: int) -> Bits:
    """Pairs of encodings as registers: the first in the lower half."""
    wide = lanes.astype(np.uint32)
    return (wide[0] | wide[1] << np.uint32(bits)).astype(f"u{max(8, 2 * bits) // 8}")


def check(spelling: str, operands: int, size: int) -> None:
    c = narrow.conversion(spelling, operands)
    x = narrow.operands(c.source, c.to, size)
    # Every number of a narrow format meets every scale.
    count = 256 if c.scaling == "n2" and c.source in NARROW else 1
    x = np.repeat(x, count)
    # The other lane has another number, so that a lane that sees the other shows.
    lanes = np.stack([x, np.roll(x, 17)])
    scale = np.tile(np.arange(256, dtype=np.uint8), x.size // 256) if count > 1 else narrow.scales(x.size)
    scales = np.stack([scale, scale if c.scaling == "n1" else np.roll(scale, 5)])
    given = [packed(lanes, NARROW.get(c.source, 16))] if c.is_pair else [lanes[1], lanes[0]]
    if c.scaling:
        given.append(scale if c.scaling == "n1" else packed(scales, 8))
    want = np.stack([narrow.expected(spelling, a, s) for a, s in zip(lanes, scales, strict=True)])
    if narrow.judge_of(spelling) != "definition":
        assert_equal(spelling, [lanes[0]], narrow.by_definition(c, lanes[0], scales[0]), want[0])
    register = packed(want, NARROW.get(c.to, 16))
    got = ptxemu.compile(spelling, operands)(*given)
    assert_equal(spelling, [lanes[1], lanes[0]], got.view(register.dtype), register)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("case", list(some()), ids=identify)
def test_some_conversions(case: tuple[str, int]) -> None:
    check(*case, size=2000)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", narrow.spellings(), ids=identify)
def test_every_conversion(case: tuple[str, int], judged: Judged) -> None:
    """All operands of 16 bits and less; of single precision every number, every middle and their neighbours, and two
    million of any bits."""
    check(*case, size=1 << 20)
    for by in dict.fromkeys(["definition", narrow.judge_of(case[0])]):
        judged(by, [case])


def test_every_form_is_here() -> None:
    """As many as the manual lists, without .rs and what becomes s2f6: to narrow formats, from them, scales, magnitudes,
    fixed-point numbers."""
    assert len(narrow.spellings()) == 240 + 50 + 9 + (53 - 18) + 8
    assert len(narrow.without_negative_zeros()) == 3 * 8 + 2 * 8


@pytest.mark.parametrize("narrow_format", [f for f in NARROW if f != "s2f6"])
def test_the_definition_and_nvidias_code_agree(narrow_format: str) -> None:
    """The definition, which judges some conversions alone, equals NVIDIA's code wherever there is both."""
    compared = 0
    for source in ("f32", "f16", "bf16"):
        x = narrow.operands(source, narrow_format, 5000)
        for direction, satfinite in ((d, s) for d in ("rn", "rz", "rp") for s in (True, False)):
            if host_code.has(narrow_format, source, direction, satfinite):
                c = Conversion(frozenset([direction, *["satfinite"] * satfinite]), narrow_format, source, "", 1)
                theirs = host_code.to_narrow(narrow_format, source, direction, satfinite, x)
                assert_equal(str(c), [x], narrow.by_definition(c, x, np.zeros_like(x)), theirs)
                compared += 1
    assert compared >= 3


@pytest.mark.parametrize("narrow_format", PEERS)
def test_ml_dtypes_agrees_on_numbers_in_range(narrow_format: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, PEERS[narrow_format]))
    x = narrow.operands("f32", narrow_format, 20_000)
    values = x.view(np.float32)
    x = x[np.abs(values) <= float(ml_dtypes.finfo(dtype).max)]
    got = ptxemu.execute(f"cvt.rn.satfinite.{narrow_format}x2.f32", x, x)
    theirs = x.view(np.float32).astype(dtype).view(np.uint8)
    assert_equal(narrow_format, [x], got.view(got.dtype), packed(np.stack([theirs, theirs]), NARROW[narrow_format]))


@each_size
@pytest.mark.parametrize("spelling", narrow.without_negative_zeros())
def test_pzo_is_the_conversion_without_negative_zeros(spelling: str, whole: bool, judged: Judged) -> None:
    x = conversions.operands(spelling.replace(".pzo", ""), 1 << 18 if whole else 400)
    want = narrow.expected_without(spelling, x)
    kernel = ptxemu.compile(spelling)
    got = kernel(x) if kernel.operands == 1 else (kernel(x, x) >> np.uint32(16)).astype(want.dtype)
    assert_equal(spelling, [x], got, want)
    if whole:
        judged("definition", [(spelling, kernel.operands)])


# Rounding by random bits, which nobody outside has judged: the manual's words in exact fractions


def stochastic(x: float, to: Format, random: Fraction) -> Fraction:
    """The number next to x toward zero, or away from it where the part that is cut off and the random bits carry."""
    size = abs(Fraction(x))
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length(), to.emin)
    exponent -= exponent > to.emin and size < Fraction(2) ** exponent
    place = Fraction(2) ** (exponent - to.fraction_bits)
    return place * ((size / place + random) // 1) * (-1 if x < 0 else 1)


@pytest.mark.parametrize(("to", "bits"), [("f16", 13), ("bf16", 16)])
def test_random_bits_of_two_lanes(to: str, bits: int) -> None:
    rng = np.random.default_rng(3)
    made = specification().formats[to]
    assert isinstance(made, Format)
    spread_out = np.float32(2.0) ** rng.integers(-20, 3, (2, 500)).astype(np.float32)
    a, b = rng.normal(0, 4, (2, 500)).astype(np.float32) * spread_out
    r = rng.integers(0, 1 << 32, 500, dtype=np.uint32)
    got = ptxemu.execute(f"cvt.rs.{to}x2.f32", a, b, r)

    def fraction(word: int) -> Fraction:
        return Fraction(word & ((1 << bits) - 1), 1 << bits)

    for x, y, word, d in zip(a, b, r, got, strict=True):
        assert decode(int(d) >> 16, made) == stochastic(float(x), made, fraction(int(word) >> 16))
        assert decode(int(d) & 0xFFFF, made) == stochastic(float(y), made, fraction(int(word)))


@pytest.mark.parametrize(("to", "want"), [
    ("e4m3x4", [0x2C48, 0x1234, 0x1E6A, 0x5678]),
    ("e2m1x4", [0x6A48, 0x1256, 0x1E2C, 0x3478]),
])  # fmt: skip
def test_which_random_bits_each_of_four_lanes_reads(to: str, want: list[int]) -> None:
    """As a published program's author found it on a GPU: the first of a pair reads its half in reverse."""
    instruction = specification().instructions["cvt"]
    v = next(v for v in instruction.variants if v.spelling == f"cvt.rs.satfinite.{to}.f32")
    assert lanes_of(v.sources[-1], [0x12345678], 4) == want[::-1]
    # Half of the last place rounds away where a lane's highest random bit is set, and where no lane reads it, not.
    half = np.float32({"e4m3x4": 1.0625, "e2m1x4": 1.25}[to])
    width = 8 if to == "e4m3x4" else 4
    for bit in range(32):
        r = np.uint32(1 << bit)
        d = int(ptxemu.execute(v.spelling, *[half] * 4, r))
        away = [d >> width * lane & ((1 << width) - 1) for lane in range(4)]
        low = min(away)
        assert [x > low for x in away] == [bits >> 15 == 1 for bits in lanes_of(v.sources[-1], [int(r)], 4)]
