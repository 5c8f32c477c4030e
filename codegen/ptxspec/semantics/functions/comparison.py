"""Functions that choose, classify and compare."""

from __future__ import annotations

from .row import row


@row("float -> float", nan="sign", bitwise=True, clause="5.5.1")
def magnitude(x):  # type: ignore[no-untyped-def]
    """x with the sign bit cleared, also for a NaN (the standard's abs, whose name is a modifier's)."""


@row("float -> float", operator="unary -", nan="sign", bitwise=True, clause="5.5.1", needs="sign")
def negate(x):  # type: ignore[no-untyped-def]
    """x with the sign bit inverted, also for a NaN."""


@row("float, float -> float", nan="sign", bitwise=True, clause="5.5.1", needs="sign")
def copySign(x, y):  # type: ignore[no-untyped-def]
    """x with the sign bit of y."""


@row("float -> float", nan="quiet", bitwise=True, clause="6.2.1", needs="quiet bit")
def quieten(x):  # type: ignore[no-untyped-def]
    """x with the first fraction bit set, which makes a signaling NaN quiet and keeps its payload. Meant for NaNs."""


@row("float, format -> float", nan="bits", clause="6.2.3", needs="IEEE")
def convertNaN(x, format):  # type: ignore[no-untyped-def]
    """A NaN in another format, quiet or signaling: its sign and the leading bits of its fraction. A narrower fraction
    may turn a signaling NaN into an infinity. Meant for NaNs."""


@row("float, float -> float", nan="canonical", clause="9.6")
def maximum(x, y):  # type: ignore[no-untyped-def]
    """The larger of x and y, +0 above -0; a NaN when either is a NaN."""


@row("float, float -> float", nan="canonical", clause="9.6")
def minimum(x, y):  # type: ignore[no-untyped-def]
    """The smaller of x and y, -0 below +0; a NaN when either is a NaN."""


@row("float, float -> float", nan="canonical", clause="9.6")
def maximumNumber(x, y):  # type: ignore[no-untyped-def]
    """The larger of x and y, +0 above -0; when one is a NaN, the other; a NaN when both are."""


@row("float, float -> float", nan="canonical", clause="9.6")
def minimumNumber(x, y):  # type: ignore[no-untyped-def]
    """The smaller of x and y, -0 below +0; when one is a NaN, the other; a NaN when both are."""


@row("bool, any, any -> any", operator="if else", nan="operand")
def select(condition, x, y):  # type: ignore[no-untyped-def]
    """x where the condition holds, else y; written `x if condition else y`."""


@row("float -> bool", clause="5.7.2")
def isSignMinus(x):  # type: ignore[no-untyped-def]
    """The sign bit is set; true of -0 and of NaNs with that bit."""


@row("float -> bool", clause="5.7.2")
def isNormal(x):  # type: ignore[no-untyped-def]
    """x is finite, not zero and not subnormal."""


@row("float -> bool", clause="5.7.2")
def isFinite(x):  # type: ignore[no-untyped-def]
    """x is zero, subnormal or normal."""


@row("float -> bool", clause="5.7.2")
def isZero(x):  # type: ignore[no-untyped-def]
    """x is +0 or -0."""


@row("float -> bool", clause="5.7.2")
def isSubnormal(x):  # type: ignore[no-untyped-def]
    """x is not zero and smaller in magnitude than every normal number."""


@row("float -> bool", clause="5.7.2")
def isInfinite(x):  # type: ignore[no-untyped-def]
    """x is an infinity."""


@row("float -> bool", clause="5.7.2")
def isNaN(x):  # type: ignore[no-untyped-def]
    """x is a NaN, quiet or signaling."""


@row("float -> bool", clause="5.7.2", needs="quiet bit")
def isSignaling(x):  # type: ignore[no-untyped-def]
    """x is a NaN with the first fraction bit clear."""


@row("float, float -> bool", operator="==", clause="5.11")
def compareEqual(x, y):  # type: ignore[no-untyped-def]
    """x equals y; false when either is a NaN, true of +0 and -0."""


@row("float, float -> bool", operator="!=", clause="5.11")
def compareNotEqual(x, y):  # type: ignore[no-untyped-def]
    """The negation of compareEqual: true when either is a NaN."""


@row("float, float -> bool", operator="<", clause="5.11")
def compareLess(x, y):  # type: ignore[no-untyped-def]
    """x is less than y; false when either is a NaN."""


@row("float, float -> bool", operator="<=", clause="5.11")
def compareLessEqual(x, y):  # type: ignore[no-untyped-def]
    """x is less than or equal to y; false when either is a NaN."""


@row("float, float -> bool", operator=">", clause="5.11")
def compareGreater(x, y):  # type: ignore[no-untyped-def]
    """x is greater than y; false when either is a NaN."""


@row("float, float -> bool", operator=">=", clause="5.11")
def compareGreaterEqual(x, y):  # type: ignore[no-untyped-def]
    """x is greater than or equal to y; false when either is a NaN."""


@row("integer, integer -> bool", operator="==")
def sameInteger(x, y):  # type: ignore[no-untyped-def]
    """x and y are the same integer."""


@row("integer, integer -> bool", operator="<")
def lessInteger(x, y):  # type: ignore[no-untyped-def]
    """x is the smaller of two integers of one type."""
