"""Units that are made up.

They have coefficients, word lengths, squarers and biases of their own, and look at fourteen
bits of a fraction, so that a whole domain is 16,384 operands. What they compute is worked out here with fractions,
apart from the two back ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from ptxspec.model import Argument, Fitted, Format, Interpolator, UnitModel, Word, float_in
from ptxspec.proving.gpu.special import special

Array = np.ndarray[Any, np.dtype[Any]]

BITS = 14
# More than any term has behind its point, so that sums are those of integers.
PLACES = 80
NAN, INFINITY, SIGN = 0x7FFFFFFF, 0x7F800000, 1 << 31


@dataclass(frozen=True)
class MadeUp:
    """A unit with 2**m segments an octave. `function` takes the octave and the place in it."""

    name: str
    function: Callable[[int, float], float]
    m: int
    points: tuple[int, int, int]
    drop: int
    columns: bool
    bias: Fraction
    point: int
    octaves: int = 1
    table: tuple[tuple[int, int, int], ...] = field(default=(), compare=False)

    @property
    def places(self) -> int:
        return BITS - 2 if self.name == "SIN" else BITS

    def with_table(self) -> MadeUp:
        """A quadratic through nine Chebyshev nodes of each segment, its coefficients rounded."""
        nodes = (np.cos(np.pi * (np.arange(9) + 0.5) / 9) + 1) / 2
        rows = []
        for octave in range(self.octaves):
            for i in range(1 << self.m):
                x = nodes * 2.0 ** (self.places - BITS - self.m)
                y = [self.function(octave, i * 2.0 ** (self.places - BITS - self.m) + float(v)) for v in x]
                c2, c1, c0 = np.polyfit(x, y, 2)
                rows.append(tuple(round(float(c) * 2.0**p) for c, p in zip((c0, c1, c2), self.points, strict=True)))
        return replace(self, table=tuple(rows))  # type: ignore[arg-type]

    def polynomial(self, place: int) -> Fraction:
        """The sum for the integer of an argument, rounded down."""
        local = self.places - self.m
        segment, x = divmod(place, 1 << local)
        c0, c1, c2 = (c << PLACES - p for c, p in zip(self.table[segment], self.points, strict=True))
        if self.columns:
            # Every product of two bits by itself: a pair of different ones counts double and so stands a column higher.
            ones = [i for i in range(local) if x >> i & 1]
            products = [2 * i for i in ones] + [i + j + 1 for i in ones for j in ones if i < j]
            square = sum(2**p for p in products if p >= self.drop)
        else:
            square = x * x // 2**self.drop * 2**self.drop
        total = c0 + (c1 * x >> BITS) + (c2 * square >> 2 * BITS) + int(self.bias * 2**PLACES)
        return Fraction(total >> PLACES - self.point, 2**self.point)

    def __call__(self, x: int) -> int:
        """The result for an encoding."""
        special = self.special(x)
        if special is not None:
            return special
        value = Fraction(float(np.uint32(x).view(np.float32)))
        exponent = (x >> 23 & 255) - 127
        fraction = x >> (23 - BITS) & (1 << BITS) - 1
        if self.name == "RCP":
            result = self.polynomial(fraction) / power(exponent) * (1 if value > 0 else -1)
        elif self.name == "RSQ":
            result = self.polynomial(fraction + (exponent % 2 << BITS)) / power(exponent // 2)
        elif self.name == "LG2":
            result = self.polynomial(fraction) + exponent
        elif self.name == "EX2":
            fixed = math.floor(value * 2**BITS)
            if not -200 << BITS < fixed < 200 << BITS:
                return INFINITY if fixed > 0 else 0
            result = self.polynomial(fixed % 2**BITS) * power(fixed // 2**BITS)
        else:
            quarter, place = divmod(math.floor(abs(value) * 2**BITS), 2**self.places)
            if quarter % 2:
                place = 2**self.places - 1 - place
            result = self.polynomial(place) * (-1 if quarter % 4 >= 2 else 1) * (1 if value > 0 else -1)
        return truncated(result)

    def model(self, format: Format) -> UnitModel:
        """The same as a file of spec/units/ says it."""
        kind, exponent, more = {
            "RCP": ("significand", -1, {"odd": True}),
            "RSQ": ("significand", -1, {"octaves": 2}),
            "LG2": ("significand", None, {}),
            "EX2": ("fixed", 1, {}),
            "SIN": ("turns", 0, {"odd": True, "mirror": "complement"}),
        }[self.name]
        operands = {"+zero": 0, "-zero": SIGN, "+infinity": INFINITY, "-infinity": SIGN | INFINITY, "nan": NAN}
        if self.name in ("RSQ", "LG2"):
            operands["negative"] = SIGN | 0x3F800000
        given = {name: self.special(x) for name, x in operands.items()}
        c0, c1, c2 = (Word(39, p) for p in self.points)
        core = Interpolator((c0, c1, c2), self.drop, self.columns, self.bias, 1 << self.m, self.table)
        return UnitModel(
            self.name, self.name, ("sm_90", "sm_90"), format, Argument(kind, BITS, **more), exponent, self.point, 24,
            given, core, Fitted("", "", 1),
        )  # fmt: skip

    def special(self, x: int) -> int | None:
        sign, magnitude = x & SIGN, x & ~SIGN
        if magnitude > INFINITY:
            return NAN
        zero, infinity = {
            "RCP": (sign | INFINITY, sign),
            "RSQ": (sign | INFINITY, NAN if sign else 0),
            "LG2": (SIGN | INFINITY, NAN if sign else INFINITY),
            "EX2": (0x3F800000, 0 if sign else INFINITY),
            "SIN": (sign, NAN),
        }[self.name]
        if magnitude < 1 << 23:
            return zero
        if magnitude == INFINITY:
            return infinity
        return NAN if sign and self.name in ("RSQ", "LG2") else None


@cache
def power(exponent: int) -> Fraction:
    """That of two, which Fraction takes its time for."""
    return Fraction(2) ** exponent


def truncated(value: Fraction) -> int:
    """The binary32 number next to a value toward zero; a zero where that is subnormal."""
    sign = SIGN if value < 0 else 0
    if value == 0:
        return 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < power(exponent)
    if exponent > 127:
        return sign | INFINITY
    significand = math.floor(size * power(23 - exponent))
    return sign | ((exponent + 127) << 23) + significand - (1 << 23) if exponent >= -126 else sign


UNITS = {
    u.name: u.with_table()
    for u in (
        MadeUp("RCP", lambda o, x: 1 / (1 + x), 4, (25, 20, 16), 7, True,
               Fraction(3, 2**26), 24),
        MadeUp("RSQ", lambda o, x: ((1 + x) * 2**o) ** -0.5, 4, (26, 19, 17), 6, False,
               Fraction(5, 2**28), 24, octaves=2),
        MadeUp("EX2", lambda o, x: 2**x, 3, (24, 19, 17), 8, True, Fraction(1, 2**25), 23),
        MadeUp("LG2", lambda o, x: math.log2(1 + x), 4, (25, 19, 15), 5, False,
               Fraction(-1, 2**26), 24),
        MadeUp("SIN", lambda o, x: math.sin(2 * math.pi * x), 3, (25, 16, 10), 3, True,
               Fraction(1, 2**27), 24),
    )
}  # fmt: skip


def special_values(f: Format) -> Array:
    return np.array(special(float_in(f), 1), np.uint64)
