"""Operands that are read all at once have the bits that each has by itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest
from helpers import ROOT
from helpers.sizes import each_size
from ptxspec import columns
from ptxspec.evaluate import parse_operand
from ptxspec.model import Type
from ptxspec.read.link import read_all

FLOATS = ["f16", "bf16", "f32", "f64"]
INTEGERS = ["u8", "s8", "s16", "u32", "s32", "b32", "s64", "b64"]
# At the ends of formats, and zeros of both signs, of which some are none.
EDGES = [
    "0", "-0", "0.0", "-.0", "1e-400", "-1e-400", "3e-324", "1e400", "-1e400", "65504", "65519.999", "65520", "6e-8",
    "2.98e-8", "3.4028235e38", "3.4028235677973366e38", "3.38e38", "3.396e38", "-1e-46", "7e-46", "1.4e-45", "+5.", "7",
]  # fmt: skip


def named(name: str) -> Type:
    spec = read_all(ROOT).spec
    assert spec is not None
    return spec.types[name]


def decimals(rng: random.Random, count: int) -> Iterator[str]:
    """Of any size, and around the middles between two numbers of a format, where they are rounded either way."""
    for _ in range(count):
        yield f"{rng.uniform(-9, 9):.{rng.randrange(1, 20)}g}"
        yield f"{rng.choice(['', '-', '+'])}.{rng.getrandbits(40)}E{rng.randrange(-330, 320)}"
        odd, power = 2 * rng.getrandbits(rng.choice([8, 11, 24])) + 1, rng.randrange(-160, 100)
        middle = odd * Fraction(2) ** power
        yield from (f"{float(middle):.60e}", f"{float(middle * (1 + Fraction(rng.choice([-1, 1]), 2**60))):.60e}")
        whole = odd << max(power, 0)
        yield from (f"{whole}", f"{whole}.{'0' * 30}1", f"-{10 * whole - 1}e-1")


@each_size
@pytest.mark.parametrize("name", FLOATS)
def test_decimals_are_rounded_once(name: str, whole: bool) -> None:
    t, rng = named(name), random.Random(19)
    texts = [*EDGES, *decimals(rng, 10_000 if whole else 100)]
    found = columns.read(texts, t)
    assert found is not None and found.dtype == f"u{t.width // 8}"
    assert found.tolist() == [parse_operand(text, t) for text in texts]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_those_of_the_type(name: str) -> None:
    t, rng = named(name), random.Random(19)
    fixed = t.kind.fixed
    least, most = (fixed.least, fixed.largest) if fixed else (0, (1 << t.width) - 1)
    texts = [str(least), str(most), "+3", "007", *(str(rng.randint(least, most)) for _ in range(100))]
    found = columns.read(texts, t)
    assert found is not None and found.dtype == f"u{t.width // 8}"
    assert found.tolist() == [parse_operand(text, t) for text in texts]
    for text in (str(least - 1), str(most + 1), "1.0", "3-", "+"):
        assert columns.read(["1", text], t) is None


@pytest.mark.parametrize(
    "text", ["1_000", "nan", "inf", "Infinity", ".", "e5", "1e", "--1", "1.5.2", "٣", "0x1p0", "1,2", ""]
)
def test_what_else_a_number_may_be_is_left_alone(text: str) -> None:
    assert columns.read(["1.5", text], named("f32")) is None


@pytest.mark.parametrize("name", ["f16x2", "e4m3x2", "ue8m0x2", "pred"])
def test_other_types_are_left_alone(name: str) -> None:
    assert columns.read(["1"], named(name)) is None


def test_bits_are_all_of_their_length() -> None:
    t = named("f16")
    found = columns.read(["0x3C00", "0xffff"], t)
    assert found is not None and found.tolist() == [0x3C00, 0xFFFF]
    for text in ("0x3c0", "0X3c00", "003c00", "0x3c_0", "1.5"):
        assert columns.read(["0x3c00", text], t) is None
