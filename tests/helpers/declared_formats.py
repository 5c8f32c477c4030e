"""Formats of all kinds that may be declared, and usual ones."""

from __future__ import annotations

from ptxspec.model import Format
from ptxspec.model.formats import ieee


def like(name: str, bits: tuple[int, int], bias: int, nans: int, invalid: int, overflow: str, **has: bool) -> Format:
    return Format(
        name=name,
        exponent_bits=bits[0],
        fraction_bits=bits[1],
        bias=bias,
        nans=nans,
        canonical_nan=invalid,
        overflow=overflow,
        **has,
    )


BARE = {"signed": False, "has_zero": False, "has_subnormals": False, "has_infinity": False}
FORMATS = [
    like("e4m3", (4, 3), 7, 1, 0x7F, "largest", has_infinity=False),
    like("overflows_to_nan", (4, 3), 7, 1, 0x7F, "nan", has_infinity=False),
    like("without_nan", (3, 2), 3, 0, 0x1F, "largest", has_infinity=False),
    like("e2m1", (2, 1), 1, 0, 0x7, "largest", has_infinity=False),
    like("invalid_is_zero", (2, 3), 1, 0, 0, "largest", has_infinity=False),
    like("powers", (8, 0), 127, 1, 0xFF, "largest", **BARE),
    like("magnitudes", (4, 3), 7, 1, 0x7F, "nan", signed=False, has_infinity=False),
    like("without_zero", (3, 3), 5, 2, 0x3F, "infinity", has_zero=False, has_subnormals=False),
    like("without_subnormals", (4, 2), 9, 3, 0x3D, "largest", has_subnormals=False),
    like("as_ieee", (5, 2), 15, 3, 0x7F, "infinity"),
]
USUAL = [
    ieee("f16", 5, 10, 0x7FFF), ieee("bf16", 8, 7, 0x7FFF), ieee("f32", 8, 23, 0x7FFFFFFF),
    ieee("f64", 11, 52, 0xFFF8000000000000),
]  # fmt: skip
