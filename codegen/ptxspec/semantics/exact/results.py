"""The result of an operation before rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class Number(NamedTuple):
    """A number or an infinity, whose value is None. `negative` is the sign of an infinity or a zero.

    `nearness` relates `value` to the exact result: "equal"; "about", so near that both round alike; "above" or "below",
    the exact result is larger or smaller in magnitude, and rounds alike. `random` is added, in units of the last place,
    before the rest is cut off. `note` names a special case."""

    value: Fraction | None
    negative: bool
    nearness: str = "equal"
    random: Fraction | None = None
    note: str = ""

    @property
    def is_zero(self) -> bool:
        return self.value == 0


@dataclass(frozen=True)
class Invalid:
    """The result of an operation that has no value, with the reason."""

    reason: str


Unrounded = Number | Invalid
