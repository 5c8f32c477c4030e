"""The rules by which differences between a peer's results and PTX's are sorted, on made-up results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ptxspec.model import Format
from scoreboard import rules
from scoreboard.rules import Asked, classify, verdict
from scoreboard.values import numbers, shown

F32 = Format("f32", 8, 23, 127, nans=(1 << 23) - 1, canonical_nan=0x7FFFFFFF)
F16 = Format("f16", 5, 10, 15, nans=(1 << 10) - 1, canonical_nan=0x7FFF)
E4M3 = Format("e4m3", 4, 3, 7, nans=1, canonical_nan=0x7F, overflow="nan", has_infinity=False)
E2M1 = Format("e2m1", 2, 1, 1, nans=0, canonical_nan=0x7, overflow="largest", has_infinity=False)
UE8M0 = Format(
    "ue8m0", 8, 0, 127, nans=1, canonical_nan=0xFF, overflow="nan", signed=False, has_zero=False, has_infinity=False
)  # fmt: skip

TO_F16 = Asked((F32,), F16, "rn")
TO_E4M3 = Asked((F32,), E4M3, "rn", saturates=True)
TO_E2M1 = Asked((F32,), E2M1, "rn", saturates=True)
TO_SCALE = Asked((F32,), UE8M0, "rz")
SUM = Asked((F16, F16), F16, "rn")
LEAST = Asked((F16, F16), F16, selects=True)


def f32(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def f16(value: float) -> int:
    return int(np.float16(value).view(np.uint16))


def kind(asked: Asked, operands: list[int], ptx: int, peer: int | None, **twice: int) -> str | None:
    """Return the kind of one difference; a peer without a result raised an error."""
    given = [np.array([x], np.uint64) for x in operands]
    refused = np.array([peer is None])
    found = classify(
        asked, given, np.array([ptx], np.uint64), np.array([peer or 0], np.uint64), refused,
        {via: np.array([x], np.uint64) for via, x in twice.items()},
    )  # fmt: skip
    assert len(found) < 2
    return next(iter(found), None)


def test_equal_bits_are_no_difference() -> None:
    assert kind(TO_F16, [f32(1)], 0x3C00, 0x3C00) is None
    assert kind(SUM, [0x7E00, 0x7E00], 0x7FFF, 0x7FFF) is None


@pytest.mark.parametrize(
    ("asked", "operands", "ptx", "peer", "named"),
    [
        (TO_F16, [0x7FC00000], 0x7FFF, 0x7E00, "NaN bits"),
        (LEAST, [0x7E00, 0x7E00], 0x7FFF, 0x7E00, "NaN bits"),
        (TO_E2M1, [0x7FC00000], 0x7, 0x8, "NaN operand"),
        (TO_E2M1, [0x7FC00000], 0x7, None, "NaN operand"),
        (TO_E4M3, [f32(1e6)], 0x7E, 0x7F, "saturation"),
        (TO_E4M3, [f32(np.inf)], 0x7E, 0x7F, "saturation"),
        (TO_E4M3, [f32(-464)], 0xFE, 0xFF, "saturation"),
        (LEAST, [f16(1), 0x7D00], f16(1), 0x7F00, "signalling NaN"),
        (LEAST, [f16(0.0), f16(-0.0)], 0x8000, 0x0000, "signed zero"),
        (TO_SCALE, [f32(-1)], 0x7F, 0xFF, "no such number"),
        (TO_SCALE, [f32(0)], 0x00, 0xFF, "no such number"),
    ],
)
def test_a_choice_that_is_left_open_is_a_policy(
    asked: Asked, operands: list[int], ptx: int, peer: int | None, named: str
) -> None:
    assert kind(asked, operands, ptx, peer) == named
    assert verdict(named) == ("NaN bits" if named == "NaN bits" else "policy")


@pytest.mark.parametrize(
    ("asked", "operands", "ptx", "peer", "named"),
    [
        # The largest number of e4m3 is 448, and 463 is nearer to it than to 480.
        (TO_E4M3, [f32(463)], 0x7E, 0x7F, "NaN"),
        (TO_E4M3, [f32(1)], 0x38, None, "no result"),
        (TO_E4M3, [0x7FC00000], 0x7F, 0x7E, "NaN"),
        (SUM, [0x7E00, f16(1)], 0x7FFF, f16(1), "NaN"),
        # A quiet NaN beside a number is ignored by IEEE 754-2008, too.
        (LEAST, [f16(1), 0x7E00], f16(1), 0x7E00, "NaN"),
        (SUM, [f16(1), f16(-1)], 0x0000, 0x8000, "sign of zero"),
        (TO_F16, [f32(2.0**-24)], 0x0001, 0x0000, "flushed subnormal"),
        # f16 overflows to an infinity: no saturation was asked for.
        (TO_F16, [f32(65519)], 0x7BFF, 0x7C00, "overflow"),
        (TO_F16, [f32(1e6)], 0x7C00, 0x7BFF, "overflow"),
        (TO_F16, [f32(1.0001)], 0x3C00, 0x3C01, "other rounding"),
        (TO_F16, [f32(1)], 0x3C00, 0xBC00, "other number"),
        (TO_F16, [f32(1)], 0x3C00, 0x4000, "other number"),
        (TO_SCALE, [f32(3)], 0x80, 0x81, "other rounding"),
        (TO_SCALE, [f32(3)], 0x80, 0xFF, "NaN"),
    ],
)
def test_another_result_than_ieee_754_fixes_is_wrong(
    asked: Asked, operands: list[int], ptx: int, peer: int | None, named: str
) -> None:
    assert kind(asked, operands, ptx, peer) == named
    assert verdict(named) == "wrong"


def test_a_result_of_rounding_twice_is_told_from_another_rounding() -> None:
    operand = [f32(1.0001)]
    assert kind(TO_F16, operand, 0x3C00, 0x3C01, bf16=0x3C01) == "double rounding through bf16"
    assert kind(TO_F16, operand, 0x3C00, 0x3C01, bf16=0x3C00) == "other rounding"
    assert verdict("double rounding through bf16") == "wrong"


def test_each_difference_is_of_one_kind() -> None:
    rng = np.random.default_rng(1)
    operands = [rng.integers(0, 1 << 16, 1 << 14, dtype=np.uint16) for _ in range(2)]
    ptx, peer = (rng.integers(0, 1 << 16, 1 << 14, dtype=np.uint16) for _ in range(2))
    refused = rng.random(1 << 14) < 0.1
    for asked in (SUM, LEAST):
        found = classify(asked, operands, ptx, peer, refused, {})
        assert np.array_equal(sum(where.astype(int) for where in found.values()), (ptx != peer) | refused)
        assert set(rules.explained(found)) == set(found)


@pytest.mark.parametrize(("format", "dtype"), [(F32, np.float32), (F16, np.float16)])
def test_encodings_have_the_values_that_numpy_gives_them(format: Format, dtype: Any) -> None:
    bits = np.random.default_rng(2).integers(0, 1 << format.width, 1 << 16).astype(f"u{format.width // 8}")
    with np.errstate(invalid="ignore"):
        values = bits.view(dtype).astype(np.float64)
    assert np.array_equal(numbers(bits, format), values, equal_nan=True)


def test_an_example_shows_the_encoding_and_its_value() -> None:
    assert shown(0x7E, E4M3) == "0x7e (448.0)"
    assert shown(0x8, E2M1) == "0x8 (-0.0)"
    assert shown(0xFF, UE8M0) == "0xff (nan)"
    assert shown(0x00, UE8M0) == f"0x00 ({2.0**-127!r})"
