"""The result of an operation that is not rounded yet."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class Number(NamedTuple):
    """A number or an infinity, of which the value is None. `negative` is the sign of these and of a zero.

    `nearness` says how the value stands to what is meant: "equal"; "about", a value so near that it is rounded alike;
    "above" and "below", what is meant is larger or smaller in magnitude, and rounded alike. `random` is what is added
    in the place behind the last one before the rest is cut off. `note` says what is special."""

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
    """The result of an operation that has no number, with the reason."""

    reason: str


Unrounded = Number | Invalid
