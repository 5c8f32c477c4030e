"""Accounts of roundings: the numbers around an exact value, and which of them was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...model import FixedPoint, Format
from ..program import Apply
from .results import Number
from .rounding import decode, round_to, round_to_integral, rounds_beyond


@dataclass(frozen=True)
class Neighbour:
    """A number next to the exact one. It has no bits if the format lacks it: the zero of a format without zeros, and
    the number that would follow the largest one."""

    bits: int | None
    value: Fraction


@dataclass(frozen=True)
class Rounding:
    """The rounding of a function's exact result to a number of a format.

    `below` and `above` are the numbers around it; None if it is a number of the format or far beyond all of them.
    `choice` is "exact", "below" or "above"; "flushed" if a tiny result became a zero; "overflow" if it was too large
    for the format, and "end" if it was out of an integer type's range. `integral`: the choice is between whole numbers
    of the format. `mode` is not used if the exact result has random bits."""

    function: str
    exact: Number
    to: Format | FixedPoint
    mode: str
    ftz: bool
    below: Neighbour | None
    above: Neighbour | None
    result: int
    choice: str
    integral: bool = False

    @property
    def value(self) -> Fraction | None:
        """The exact value; its magnitude for a format without a sign."""
        value = self.exact.value
        return value if value is None or _signed(self.to) else abs(value)

    @property
    def is_tiny(self) -> bool:
        """Return whether the value before rounding was smaller than every normal number."""
        to, value = self.to, self.value
        return isinstance(to, Format) and value is not None and 0 < abs(value) < decode(to.least_normal, to)

    @property
    def place(self) -> Fraction | None:
        """The position of the exact value between below and above, from 0 to 1."""
        if self.below is None or self.above is None or self.value is None:
            return None
        return (self.value - self.below.value) / (self.above.value - self.below.value)

    @property
    def is_tie(self) -> bool:
        return self.place == Fraction(1, 2) and self.exact.nearness == "equal"


def rounding(t: Apply, exact: Number, result: int) -> Rounding:
    """Return the account of an operation that rounds."""
    to = t.kind.fixed or t.format
    assert to is not None
    integral = t.function == "roundToIntegral"
    below = above = None
    value = exact.value if exact.value is None or _signed(to) else abs(exact.value)
    if value is None:
        choice = "end" if isinstance(to, FixedPoint) else "exact"
    elif isinstance(to, FixedPoint):
        below, above = _whole(value, to)
        units = round_to_integral(value * (1 << to.point), t.mode)
        in_range = to.least <= units <= to.largest
        choice = _side(value, Fraction(units, 1 << to.point)) if in_range else "end"
    else:
        below, above = _integers(value, to) if integral else _neighbours(value, to)
        if to.magnitude(result) > to.largest or _is_saturated(t, exact, value, to):
            choice = "overflow"
        elif value and t.ftz and to.is_zero(result) and abs(value) < decode(to.least_normal, to):
            choice = "flushed"
        else:
            choice = _side(value, decode(result, to))
    return Rounding(t.function, exact, to, t.mode, t.ftz, below, above, result, choice, integral)


def _signed(to: Format | FixedPoint) -> bool:
    return isinstance(to, FixedPoint) or to.signed


def _side(value: Fraction, rounded: Fraction) -> str:
    return "exact" if rounded == value else "below" if rounded < value else "above"


def _is_saturated(t: Apply, exact: Number, value: Fraction, f: Format) -> bool:
    """Return whether a value overflows in a format whose overflow gives the largest number."""
    return f.overflow == "largest" and exact.random is None and rounds_beyond(value, f, t.mode)


def _whole(value: Fraction, to: FixedPoint) -> tuple[Neighbour | None, Neighbour | None]:
    """Return the numbers around a value that are integers in units of 2**-point."""
    units = value * (1 << to.point)
    if units.denominator == 1:
        return None, None

    def neighbour(n: int) -> Neighbour:
        bits = n & ((1 << to.width) - 1) if to.least <= n <= to.largest else None
        return Neighbour(bits, Fraction(n, 1 << to.point))

    low = units.numerator // units.denominator
    return neighbour(low), neighbour(low + 1)


def _integers(value: Fraction, f: Format) -> tuple[Neighbour | None, Neighbour | None]:
    """Return the whole numbers of the format around a value."""
    if value.denominator == 1:
        return None, None
    low = value.numerator // value.denominator
    return (
        Neighbour(round_to(Fraction(low), f, "roundTowardZero", False), Fraction(low)),
        Neighbour(round_to(Fraction(low + 1), f, "roundTowardZero", False, low + 1 == 0), Fraction(low + 1)),
    )


def _neighbours(value: Fraction, f: Format) -> tuple[Neighbour | None, Neighbour | None]:
    """Return the numbers of a format around a value; none if it is one itself."""
    size = abs(value)
    inner = round_to(size, f, "roundTowardZero", False)
    found = decode(inner, f)
    if found == size:
        return None, None
    if found > size:
        near, far = Neighbour(None, Fraction(0)), Neighbour(inner, found)
    elif inner < f.largest:
        outer = inner + 1 if f.has_subnormals or inner >= f.least_normal else f.least_normal
        near, far = Neighbour(inner, found), Neighbour(outer, decode(outer, f))
    else:
        near, far = Neighbour(inner, found), Neighbour(None, 2 * found - decode(inner - 1, f))
        if far.value <= size:
            return (None, None)
    if value > 0:
        return near, far
    return _negative(far, f), _negative(near, f)


def _negative(n: Neighbour, f: Format) -> Neighbour:
    return Neighbour(None if n.bits is None else n.bits | f.sign_bit, -n.value)
