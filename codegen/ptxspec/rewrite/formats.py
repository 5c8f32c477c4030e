"""The formats that code is written for."""

from __future__ import annotations

from ..model import Format, Kind


def is_usual(f: Format) -> bool:
    """Return whether a format is declared like IEEE 754's and has the width of a processor's integers. ptxemu has code
    of its own for such formats."""
    return f.is_ieee and f.width in (8, 16, 32, 64) and f.exponent_bits > 1 and f.fraction_bits > 0


def is_native(kind: Kind) -> bool:
    """Return whether the processor computes in a format, as `Format.native` of templates/runtime/binary.py does."""
    f = kind.format
    return f is not None and is_usual(f) and (f.exponent_bits, f.fraction_bits) in ((8, 23), (11, 52))
