"""Functions of bits and truth values."""

from __future__ import annotations

from .row import row


@row("number -> bits", bitwise=True, clause="3.4")
def bits(x):  # type: ignore[no-untyped-def]
    """The encoding of x as an unsigned integer of the format's width."""


@row("bits, format -> number", nan="bits", bitwise=True, optional=1, clause="3.4")
def float_of(x, format):  # type: ignore[no-untyped-def]
    """The number whose encoding is x, in the given format (the variant's, when none is given)."""


@row("float -> float", nan="bits", bitwise=True)
def highWord(x):  # type: ignore[no-untyped-def]
    """x with the lower half of its encoding cleared."""


@row("bits, bits -> bits", operator="&", bitwise=True)
def bitAnd(x, y):  # type: ignore[no-untyped-def]
    """Bitwise and."""


@row("bits, bits -> bits", operator="|", bitwise=True)
def bitOr(x, y):  # type: ignore[no-untyped-def]
    """Bitwise or."""


@row("bits, bits -> bits", operator="^", bitwise=True)
def bitXor(x, y):  # type: ignore[no-untyped-def]
    """Bitwise exclusive or."""


@row("bits -> bits", operator="~", bitwise=True)
def bitNot(x):  # type: ignore[no-untyped-def]
    """Every bit inverted."""


@row("bits, count -> bits", operator="<<")
def shiftLeft(x, count):  # type: ignore[no-untyped-def]
    """x moved towards the sign bit by a literal number of places below the width; bits that leave it are lost."""


@row("bits, count -> bits", operator=">>")
def shiftRight(x, count):  # type: ignore[no-untyped-def]
    """x moved away from the sign bit by a literal number of places below the width; zeros come in."""


@row("bits, integer -> bits", operator="<<")
def shiftLeftBy(x, count):  # type: ignore[no-untyped-def]
    """x moved towards the sign bit by an unsigned integer of places; 0 from the width on."""


@row("bits, integer -> bits", operator=">>")
def shiftRightBy(x, count):  # type: ignore[no-untyped-def]
    """x moved away from the sign bit by an unsigned integer of places; 0 from the width on."""


@row("bits, bits -> bool", operator="==")
def sameBits(x, y):  # type: ignore[no-untyped-def]
    """x and y are the same integer."""


@row("bits, bits -> bool", operator="<")
def lessBits(x, y):  # type: ignore[no-untyped-def]
    """x is the smaller of two unsigned integers."""


@row("bool, bool -> bool", operator="and")
def logicalAnd(x, y):  # type: ignore[no-untyped-def]
    """Both x and y are true."""


@row("bool, bool -> bool", operator="or")
def logicalOr(x, y):  # type: ignore[no-untyped-def]
    """At least one of x and y is true."""


@row("bool, bool -> bool", operator="!=")
def logicalXor(x, y):  # type: ignore[no-untyped-def]
    """Exactly one of x and y is true."""


@row("bool -> bool", operator="not")
def logicalNot(x):  # type: ignore[no-untyped-def]
    """x is false."""
