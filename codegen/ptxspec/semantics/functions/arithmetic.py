"""Functions that compute: arithmetic, conversion, elementary functions, the special function unit."""

from __future__ import annotations

from .row import row


@row("float, float, format -> float", operator="+", rounds=True, nan="canonical", optional=1, clause="5.4.1")
def addition(x, y, format):  # type: ignore[no-untyped-def]
    """x + y. An exact zero sum of operands with unlike signs is +0, and -0 under roundTowardNegative (6.3)."""


@row(
    "float, float, format -> float",
    operator="-",
    rounds=True,
    nan="canonical",
    optional=1,
    clause="5.4.1",
    needs="sign",
)
def subtraction(x, y, format):  # type: ignore[no-untyped-def]
    """x - y, which is x + (-y)."""


@row("float, float, format -> float", operator="*", rounds=True, nan="canonical", optional=1, clause="5.4.1")
def multiplication(x, y, format):  # type: ignore[no-untyped-def]
    """x * y. Zero times infinity is an invalid operation: a NaN."""


@row("float, float -> float", operator="/", rounds=True, nan="canonical", clause="5.4.1")
def division(x, y):  # type: ignore[no-untyped-def]
    """x / y. A finite number over zero is an infinity; 0/0 and infinity over infinity are NaN."""


@row("float, float, float, format -> float", rounds=True, nan="canonical", optional=1, clause="5.4.1")
def fusedMultiplyAdd(x, y, z, format):  # type: ignore[no-untyped-def]
    """x * y + z, rounded once."""


@row("float -> float", rounds=True, nan="canonical", clause="5.4.1")
def squareRoot(x):  # type: ignore[no-untyped-def]
    """The square root of x; of -0 it is -0, of other negative numbers NaN."""


@row("number, format, rounding -> number", rounds=True, nan="canonical", optional=1, clause="5.4.2, 5.8")
def convert(x, format, rounding):  # type: ignore[no-untyped-def]
    """x in another format, rounded in the given direction (the variant's, when none is given). In an integer type or
    fixed-point format, x is clamped to the range, and a NaN gives 0."""


@row("float, format, bits -> float", rounds=True, nan="canonical")
def convertStochastic(x, format, random):  # type: ignore[no-untyped-def]
    """x in another format, rounded with random bits: away from zero if the discarded part of its magnitude, as a
    fraction of the last place, plus the bits as a binary fraction is one or more; else toward zero. Overflow is as to
    nearest."""


@row("float -> float", rounds=True, nan="canonical", clause="5.9", needs="IEEE")
def roundToIntegral(x):  # type: ignore[no-untyped-def]
    """x rounded to a whole number in the variant's direction, in x's format; a zero has the sign of x."""


@row("whole, whole -> whole", operator="+")
def addIntegers(x, y):  # type: ignore[no-untyped-def]
    """x + y modulo 2**width, of two integers of one type or bits of one width."""


@row("whole, whole -> whole", operator="-")
def subtractIntegers(x, y):  # type: ignore[no-untyped-def]
    """x - y modulo 2**width, of two integers of one type or bits of one width."""


@row("whole, whole -> whole", operator="*")
def multiplyIntegers(x, y):  # type: ignore[no-untyped-def]
    """x * y modulo 2**width, of two integers of one type or bits of one width."""


@row("integer, integer -> integer", operator="/")
def divideIntegers(x, y):  # type: ignore[no-untyped-def]
    """x / y rounded to an integer toward zero, modulo 2**width, of two integers of one type; 0 where y is 0."""


@row("integer, format -> integer", clause="")
def congruent(x, format):  # type: ignore[no-untyped-def]
    """The number of an integer type that differs from x by a multiple of 2**width: the lower bits of a wider x, or a
    narrower x itself if the type has it."""


@row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def exp2(x):  # type: ignore[no-untyped-def]
    """2 to the power x; of zeros it is 1."""


@row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def log2(x):  # type: ignore[no-untyped-def]
    """The logarithm of x to base 2; of zeros it is -infinity, of negative numbers NaN."""


@row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def sin(x):  # type: ignore[no-untyped-def]
    """The sine of x radians; of a zero it is that zero, of infinities NaN."""


@row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def cos(x):  # type: ignore[no-untyped-def]
    """The cosine of x radians; of infinities it is NaN."""


@row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def tanh(x):  # type: ignore[no-untyped-def]
    """The hyperbolic tangent of x; of a zero it is that zero."""


@row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def rSqrt(x):  # type: ignore[no-untyped-def]
    """One over the square root of x; of a zero it is the infinity of its sign, of negative numbers NaN."""


@row("unit, float -> float", nan="bits")
def unit(name, x):  # type: ignore[no-untyped-def]
    """The result of a unit of spec/units.yaml for x, bit for bit. It may be called only under `hardware:`, which
    applies to targets where the unit was recorded."""
