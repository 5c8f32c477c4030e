"""Numbers as people write and read them."""

from __future__ import annotations

import struct
from fractions import Fraction

import pytest
from helpers.repository import specification
from ptxspec.__main__ import main
from ptxspec.evaluate import parse_operand
from ptxspec.literals import decimal, encode_nearest, parse_number
from ptxspec.semantics.exact.rounding import decode

TYPES = specification().types
NARROW = {t.kind.format.name: t.kind.format for t in TYPES.values() if t.kind.format and t.kind.format.width <= 16}


@pytest.mark.parametrize("name", NARROW)
def test_a_number_of_a_narrow_format_is_told_exactly_where_17_digits_do(name: str) -> None:
    f = NARROW[name]
    finite = [x for x in range(1 << f.width) if not f.is_nan(x) and not f.is_infinite(x)]
    for bits in finite[:: 1 if f.width <= 8 else 37]:
        text = decimal(bits, f)
        number = parse_number(text.lstrip("≈"))
        assert number is not None
        if text.startswith("≈"):
            assert encode_nearest(abs(number[0]), f) == f.magnitude(bits)
            assert len(str(abs(decode(bits, f)).numerator * 5**200).strip("0")) > 17
        else:
            assert number == (decode(bits, f), bool(bits & f.sign_bit))


@pytest.mark.parametrize(
    ("type", "bits", "text"),
    [
        ("e5m2x2", 0x32, "0.1875"),
        ("e5m2x2", 0x01, "0.0000152587890625"),
        ("f16", 0x3DFC, "1.49609375"),
        ("f16", 0x0001, "5.9604644775390625e-08"),
        ("f16", 0xFBFF, "-65504.0"),
        ("bf16", 0x714A, "≈1e+30"),
        ("bf16", 0xF14A, "≈-1e+30"),
        ("ue8m0x2", 0x00, "2^-127"),
        ("f32", 0x3DCCCCCD, "0.1"),
    ],
)
def test_decimals(type: str, bits: int, text: str) -> None:
    f = TYPES[type].kind.format
    assert f is not None and decimal(bits, f) == text


@pytest.mark.parametrize("x", [1.0, -0.0, 70000.0, 2.0**-149, float("inf"), -1.5e-42, 3.4e38])
def test_constants_of_ptx_are_operands_everywhere(x: float) -> None:
    single, double = (struct.pack(code, x).hex() for code in (">f", ">d"))
    assert parse_operand(f"0f{single}", TYPES["f32"]) == int(single, 16)
    assert parse_operand(f"0D{double.upper()}", TYPES["f64"]) == int(double, 16)
    exact = x.hex() if x not in (float("inf"),) else "inf"
    for name in ("f16", "bf16", "f64", "f32"):
        of_single = struct.unpack(">f", bytes.fromhex(single))[0]
        assert parse_operand(f"0d{double}", TYPES[name]) == parse_operand(exact, TYPES[name])
        assert parse_operand(f"0f{single}", TYPES[name]) == parse_operand(float.hex(of_single), TYPES[name])
    assert parse_operand("0f7fc00123", TYPES["f32"]) == 0x7FC00123


def test_what_is_told_of_a_number_is_read_again() -> None:
    assert parse_number("2^-127") == (Fraction(1, 2**127), False) and parse_number("-2^3") == (Fraction(-8), True)
    assert parse_operand("≈1e+30", TYPES["bf16"]) == 0x714A
    assert parse_operand("2^-127,2^1", TYPES["ue8m0x2"]) == 0x8000


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_an_operand_beyond_its_format_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    assert "note: 70000 is +inf in f16, whose largest number is 65504.0\n" in said(
        capsys, "eval", "add.f16", "70000", "1"
    )
    assert "note: 1e-9 is 0.0 in f16, whose smallest number is 5.9604644775390625e-08" in said(
        capsys, "eval", "add.f16", "1", "1e-9"
    )
    assert "note" not in said(capsys, "eval", "add.f16", "65504", "inf")


def test_lanes_are_labelled_in_the_order_in_which_they_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "eval", "cvt.rn.satfinite.e5m2x2.f32", "0.75", "0.1875")
    assert "  d  lane 0: 0.1875 0x1.8p-3 0x32, lane 1: 0.75 0x1.8p-1 0x3a  0x3a32\n" in told
    assert "  a  lane 0: 1.0 0x1p+0 0x3c00, lane 1: 2.0 " in said(capsys, "eval", "neg.f16x2", "1,2")
