"""Results of the semantics, worked out by hand."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction
from functools import cache

import pytest
from helpers.sizes import each_size
from helpers.variants import variant
from ptxspec.check.checking import Checked
from ptxspec.model import Spec
from ptxspec.semantics.exact.evaluate import run


def f32(x: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", x))[0])


def f64(x: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


INF32, NAN32 = 0x7F800000, 0x7FFFFFFF
SIGN32, SIGN64 = 1 << 31, 1 << 63
MIN32, MAX32, TINY32 = 0x00800000, 0x7F7FFFFF, 0x00000001
NAN64 = 0x7FFFFFFF00000000

# spelling, target, operands, result
RESULTS = [
    ("fma.rn.sat.oob.f16", None, (0x4000, 0x4000, 0x3C00), 0x3C00),
    ("fma.rz.bf16", None, (0x3F81, 0x3F81, 0x0000), 0x3F82),  # 1 + 2^-6 + 2^-14
    ("fma.rp.bf16x2", None, (0x3F81, 0x3F81, 0x0000), 0x3F83),
    ("mad.f32", None, (0x3F800001, 0x3F800001, f32(-1.0)), f32(2.0**-22)),
    ("mad.f32", "sm_13", (0x3F800001, 0x3F800001, f32(-1.0)), f32(2.0**-22)),
    ("mad.f32", "sm_20", (0x3F800001, 0x3F800001, f32(-1.0)), f32(2.0**-22 + 2.0**-46)),
    ("mad.f32", "sm_13", (TINY32, MAX32, SIGN32), 0),
    ("mad.f32", "sm_20", (TINY32, f32(1.0), 0), TINY32),
    ("mad.sat.f32", "sm_13", (f32(3.0), f32(1.0), f32(0.5)), f32(1.0)),
    ("div.approx.f32", None, (f32(-3.0), MAX32), SIGN32),
    ("div.approx.f32", None, (INF32, MAX32), NAN32),
    ("div.approx.f32", None, (0x7FC00000, MAX32), NAN32),
    ("div.approx.f32", None, (f32(2.0**126), f32(2.0**126)), f32(1.0)),
    ("div.full.f32", None, (f32(2.0**127), f32(2.0**127)), f32(1.0)),
    ("div.full.f32", None, (INF32, MAX32), INF32),
    ("div.f32", None, (MIN32, f32(2.0)), 0),
    ("div.f32", None, (f32(1.0), SIGN32 | TINY32), SIGN32 | INF32),
    ("div.approx.f32", "sm_10", (MIN32, f32(2.0)), 0),
    ("rcp.rn.ftz.f64", None, (0x7FE0000000000000,), 0),
    ("rcp.approx.f32", None, (f32(2.0**127),), 0x00400000),
    ("rcp.approx.ftz.f32", None, (f32(-(2.0**127)),), SIGN32),
    ("rcp.f32", None, (SIGN32 | TINY32,), SIGN32 | INF32),
    ("rcp.approx.ftz.f64", None, (0xFFF8000000000000,), NAN64),
    ("rcp.approx.ftz.f64", None, (0xFFF0000000000001,), SIGN64),
    ("rcp.approx.ftz.f64", None, (f64(3.0),), 0x3FD5555500000000),
    ("rcp.approx.ftz.f64", None, (f64(-1e-310),), 0xFFF0000000000000),
    ("rcp.approx.ftz.f64", None, (0x7FE0000000000000,), 0),
    ("sqrt.approx.f32", None, (TINY32,), 0x1A3504F3),  # 2^-74.5
    ("sqrt.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32),
    ("sqrt.approx.f32", None, (SIGN32 | TINY32,), NAN32),
    ("sqrt.f32", None, (TINY32,), 0),
    ("rsqrt.approx.f32", None, (f32(4.0),), f32(0.5)),
    ("rsqrt.approx.f32", None, (SIGN32,), SIGN32 | INF32),
    ("rsqrt.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32 | INF32),
    ("rsqrt.approx.f64", None, (0xFFF8000000000001,), 0xFFF8000000000001),
    ("rsqrt.approx.ftz.f64", None, (0xFFF8000000000001,), NAN64),
    ("rsqrt.approx.ftz.f64", None, (0x7FF0000000000001,), 0),
    ("rsqrt.approx.ftz.f64", None, (f64(16.0) | 0xFFFFFFFF,), f64(0.25)),
    ("rsqrt.approx.ftz.f64", None, (f64(-16.0),), NAN64),
    ("sin.approx.f32", None, (f32(1.0),), f32(math.sin(1.0))),
    ("sin.approx.f32", None, (SIGN32 | TINY32,), SIGN32 | TINY32),
    ("sin.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32),
    ("sin.f32", None, (SIGN32 | INF32,), NAN32),
    ("cos.approx.f32", None, (f32(1.0),), f32(math.cos(1.0))),
    ("cos.f32", None, (TINY32,), f32(1.0)),
    ("lg2.approx.f32", None, (TINY32,), f32(-149.0)),
    ("lg2.approx.ftz.f32", None, (SIGN32 | TINY32,), SIGN32 | INF32),
    ("lg2.approx.f32", None, (f32(3.0),), f32(math.log2(3.0))),
    ("lg2.approx.f32", "sm_10", (TINY32,), SIGN32 | INF32),
    ("ex2.approx.f32", None, (f32(-149.0),), TINY32),
    ("ex2.approx.ftz.f32", None, (f32(-127.0),), 0),
    ("ex2.approx.f32", None, (f32(0.5),), f32(math.sqrt(2.0))),
    ("ex2.approx.ftz.f32", None, (0xC1238D46,), 0x3A5B7D5D),
    ("ex2.approx.f16", None, (0xCE00,), 0x0001),  # 2^-24
    ("ex2.approx.ftz.bf16", None, (0x807F,), 0x3F80),
    ("ex2.f32", None, (INF32,), INF32),
    ("tanh.approx.f32", None, (SIGN32 | TINY32,), SIGN32 | TINY32),
    ("tanh.approx.f32", None, (f32(1.0),), f32(math.tanh(1.0))),
    ("tanh.approx.f16", None, (0xFC00,), 0xBC00),
    ("tanh.approx.bf16", None, (0x7FC1,), 0x7FFF),
]


def outcome(
    spec: Spec, checked: dict[str, Checked], spelling: str, target: str | None, operands: tuple[int, ...]
) -> int:
    v = variant(spec, spelling, len(operands))
    programs = checked[v.opcode].programs[v]
    (result,) = run(programs.get(target, programs[None]), operands)
    return result


@pytest.mark.parametrize(("spelling", "target", "operands", "result"), RESULTS)
def test_results(
    spec: Spec, checked: dict[str, Checked], spelling: str, target: str | None, operands: tuple[int, ...], result: int
) -> None:
    got = outcome(spec, checked, spelling, target, operands)
    assert f"{got:#x}" == f"{result:#x}"


@cache
def value32(bits: int) -> Fraction:
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def cut(x: Fraction, digits: int) -> Fraction:
    """The first binary digits of a number."""
    if not x:
        return x
    unit = Fraction(2) ** (math.frexp(float(x))[1] - digits)
    return unit * (abs(x) // unit) * (1 if x > 0 else -1)


@each_size
def test_the_cut_product_of_sm_1x(spec: Spec, checked: dict[str, Checked], whole: bool) -> None:
    rng = random.Random(1)
    tried = 0
    for _ in range(400 if whole else 60):
        a, b = (rng.randrange(2) << 31 | rng.randrange(70, 190) << 23 | rng.randrange(1 << 23) for _ in range(2))
        product = cut(value32(a) * value32(b), 24)
        exponent = max(2, min(250, math.frexp(float(product))[1] + 126 + rng.randrange(-26, 27)))
        c = rng.randrange(2) << 31 | exponent << 23 | rng.randrange(1 << 23)
        total = product + value32(c)
        unit = Fraction(2) ** (math.frexp(float(total))[1] - 24) if total else Fraction(1)
        rounded = round(total / unit) * unit
        if total and not Fraction(2) ** -126 <= abs(rounded) < Fraction(2) ** 128:
            continue
        tried += 1
        expected = f32(float(rounded))
        assert outcome(spec, checked, "mad.ftz.f32", "sm_13", (a, b, c)) == expected
        assert outcome(spec, checked, "mad.f32", "sm_10", (a, b, c)) == expected
    assert tried > (300 if whole else 45)


@pytest.mark.parametrize("spelling", ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"])
def test_results_of_the_upper_word(spec: Spec, checked: dict[str, Checked], spelling: str) -> None:
    """Rounded to nearest in 20 fraction bits, to the last of the numbers that are not flushed."""
    rng = random.Random(2)
    for exponent in (1, 2, 500, 1022, 1023, 1024, 1500, 2000, 2010, 2043, 2044):
        for _ in range(20):
            a = exponent << 52 | rng.randrange(1 << 52)
            d = outcome(spec, checked, spelling, None, (a,))
            assert d & 0xFFFFFFFF == 0
            upper = Fraction(struct.unpack("<d", struct.pack("<Q", a >> 32 << 32))[0])
            got = Fraction(struct.unpack("<d", struct.pack("<Q", d))[0])
            half = Fraction(struct.unpack("<d", struct.pack("<Q", d + (1 << 32)))[0]) - got
            low, high = got - half / 2, got + half / 2
            if d & ((1 << 52) - 1) == 0:
                low = got - half / 4
            if spelling.startswith("rcp"):
                assert low <= 1 / upper <= high
            else:
                assert low * low <= 1 / upper <= high * high
