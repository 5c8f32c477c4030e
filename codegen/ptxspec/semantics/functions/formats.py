"""Functions that ask about formats. They are answered when the code is read."""

from __future__ import annotations

from .row import row


@row("any -> format")
def formatOf(x):  # type: ignore[no-untyped-def]
    """The format of a number, for comparison with another, as in `formatOf(x) == f32`; bits and truth values have
    none."""


@row("format -> fact")
def isInteger(format):  # type: ignore[no-untyped-def]
    """The format is an integer type or a fixed-point format."""


@row("format -> literal")
def largestOf(format):  # type: ignore[no-untyped-def]
    """The largest finite number of a format, as a literal."""


@row("format -> literal")
def widthOf(format):  # type: ignore[no-untyped-def]
    """The number of bits of an encoding, as a literal."""
