"""Values that reveal rounding, flushing, overflow and NaN rules, as encodings of one lane."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ...model import FixedPoint, Format, Kind

# Up to the first number of bits, two operands have all encodings; up to the second, three have.
_FEW, _FEWEST = 8, 4


@lru_cache(maxsize=64)
def special(kind: Kind, count: int) -> tuple[int, ...]:
    """Return the special values of one of `count` operands; there are fewer for three."""
    if kind.width <= (_FEW if count < 3 else _FEWEST):
        return tuple(range(1 << kind.width))
    if kind.format is not None:
        return _floats(kind.format, count)
    return _integers(kind.fixed, count) if kind.fixed is not None else _bits(kind.width, count)


def _floats(f: Format, count: int) -> tuple[int, ...]:
    least, one, top = 1 << f.fraction_bits, f.bias << f.fraction_bits, f.largest + 1
    half, payload = least >> 1, 0x2468ACE13579BDF & (least - 1)
    positive = [0, 1, least - 1, least, one - 1, one, one + 1, top - 1, top, top | half, top | 1]
    if count < 3:

        def power(exponent: int) -> int:
            return (exponent + f.bias) << f.fraction_bits

        positive += [2, 3, half - 1, half, half + 1, least + 1, 2 * least - 1, 2 * least, top - 2, top - least]
        positive += [one + half, one + half + 1, one + least - 1, power(1), power(-1), power(1) + half]
        positive += [power(f.precision) - 1, power(f.precision) + 1, power(-f.precision), power(-f.precision - 1) + 1]
        positive += [
            power(f.emax // 2) + half,
            power(f.emin // 2),
            power(-2) | 0x5555555555555 >> (52 - f.fraction_bits),
        ]
        positive += [power(1) | 0x921FB54442D18 >> (52 - f.fraction_bits), top | (least - 1)]
        positive += [top | half | payload, top | (payload & (half - 1)) | 1]
    magnitudes = [x for x in dict.fromkeys(positive) if 0 <= x < f.magnitudes]
    return tuple(sign | x for sign in dict.fromkeys((0, f.sign_bit)) for x in magnitudes)


def _integers(f: FixedPoint, count: int) -> tuple[int, ...]:
    """Return both ends of a range, zero, and powers of two with their neighbours."""
    powers = range(f.width) if count < 3 else (0, f.width // 2, f.width - 1)
    near = [sign * (1 << n) + step for n in powers for sign in (1, -1) for step in (-1, 0, 1)]
    return _encodings([0, f.least, f.largest, *near], f)


def _encodings(values: Iterable[int], f: FixedPoint) -> tuple[int, ...]:
    return tuple(dict.fromkeys(x & ((1 << f.width) - 1) for x in values if f.least <= x <= f.largest))


def _bits(width: int, count: int) -> tuple[int, ...]:
    """Return bit patterns: none set, all, each by itself, and every second one."""
    every = (1 << width) - 1
    half = every >> (width // 2)
    single = [1 << n for n in (range(width) if count < 3 else (0, width - 1))]
    return tuple(dict.fromkeys([0, every, half, every ^ half, *single, every // 3, every // 3 << 1]))
