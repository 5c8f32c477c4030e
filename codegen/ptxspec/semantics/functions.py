"""The manual of the semantics language: every function that a specification may call.

A specification's semantics is written in a small subset of Python's syntax. It has assignments, `if`/`elif`/`else`,
conditional expressions, `and`/`or`/`not`, comparisons, helper `def`s without recursion, and calls of the functions
below; an operator is another spelling of the function whose row names it. Values are of four kinds:

  bool     true or false
  bits     an unsigned integer of a width, written as an integer
  integer  an integer of a type such as s32, or a fixed-point number, which is an integer in units of 2**-point
  float    a number of a format; literals are integers, `2**n` and exact hexadecimal floats such as 0x1.8p-3

Every value has one kind and format, fixed when the code is read. A literal takes the format of what it is combined
with, and must be exact in it.

Names in scope are the source operands, by the names that the syntax gives them, and the static names: what depends on
these alone is decided before the program is built. Static are

  each modifier            true where the variant has it, if its name can be written as one
  each group of modifiers  the name of the member that the variant has, as in `cmp == "lt"` or `cmp in ("lt", "ltu")`;
                           by itself, whether it has one
  operands                 the number of a lane's source operands
  type, sourceType         the first and the last type that the spelling ends in
  rounding                 the direction in which operations round
  target                   comparing it is false throughout where no target is given
  quietNaN, infinity       of the variant's format: its result's, of a predicate its first source's
  every type, format, rounding direction and target by its name

The result is assigned to `d`; a predicate to `p`, and the second one of p|q to `q`.

A function marked `rounds` delivers the exact result, rounded once to the format under the variant's rounding
direction, and flushed where the variant flushes. Two such calls in one expression are an error: name the first
result, or use fusedMultiplyAdd.

A format is what its declaration says it is. A function that a format has no sense for is refused there: `negate` and
subtraction without a sign, `quieten` and `isSignaling` where NaNs are not told apart as in IEEE 754, and the elementary
functions in every format that is not declared like one of IEEE 754.

A function that returns a float says which NaN it returns, where it returns one:

  canonical  the canonical NaN of the format: the function computes with numbers, and no bit of an operand's NaN is kept
  operand    an operand's NaN, bit for bit
  sign       an operand's NaN but for its sign
  quiet      an operand's NaN, made quiet
  bits       whatever pattern comes out

A function marked `bitwise` makes each bit of its result of the operands' bits in the same place.

The functions have no bodies: a back end implements each row of `TABLE`, and nothing else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Function:
    """One row. `parameters` and `result` are of "float", "integer", "bits", "bool", "any", or, for parameters that must
    be known when the code is read, "format", "rounding", "unit" and "count"; "number" is a float or an integer of a
    format of its own. `needs` is what a format must have for the function to make sense in it: "sign", "quiet bit",
    or "IEEE" where it must be declared like a format of IEEE 754. `nan` says which NaN it returns: one of `NANS`, or
    nothing where the result is no float."""

    name: str
    names: tuple[str, ...]
    parameters: tuple[str, ...]
    result: str
    doc: str
    optional: int = 0
    operator: str = ""
    rounds: bool = False
    bitwise: bool = False
    nan: str = ""
    clause: str = ""
    needs: str = ""


NANS = ("canonical", "operand", "sign", "quiet", "bits")
TABLE: dict[str, Function] = {}


def _row(signature: str, **said: Any) -> Any:
    """Add a row: of kinds "float, float -> float", and what else is said of the function."""

    def add(f: Callable[..., None]) -> Callable[..., None]:
        left, result = (part.strip() for part in signature.split("->"))
        parameters = tuple(p.strip() for p in left.split(",") if p.strip())
        names, doc = tuple(inspect.signature(f).parameters), inspect.getdoc(f) or ""
        found = TABLE[f.__name__] = Function(f.__name__, names, parameters, result, doc, **said)
        assert found.nan in NANS if result in ("float", "number", "any") else not found.nan, f.__name__
        return f

    return add


# Arithmetic


@_row("float, float -> float", operator="+", rounds=True, nan="canonical", clause="5.4.1")
def addition(x, y):  # type: ignore[no-untyped-def]
    """x + y. An exact zero sum of operands with unlike signs is +0, and -0 under roundTowardNegative (6.3)."""


@_row("float, float -> float", operator="-", rounds=True, nan="canonical", clause="5.4.1", needs="sign")
def subtraction(x, y):  # type: ignore[no-untyped-def]
    """x - y, which is x + (-y)."""


@_row("float, float -> float", operator="*", rounds=True, nan="canonical", clause="5.4.1")
def multiplication(x, y):  # type: ignore[no-untyped-def]
    """x * y. Zero times infinity is an invalid operation: a NaN."""


@_row("float, float -> float", operator="/", rounds=True, nan="canonical", clause="5.4.1")
def division(x, y):  # type: ignore[no-untyped-def]
    """x / y. A finite number over zero is an infinity; 0/0 and infinity over infinity are NaN."""


@_row("float, float, float -> float", rounds=True, nan="canonical", clause="5.4.1")
def fusedMultiplyAdd(x, y, z):  # type: ignore[no-untyped-def]
    """x * y + z, rounded once."""


@_row("float -> float", rounds=True, nan="canonical", clause="5.4.1")
def squareRoot(x):  # type: ignore[no-untyped-def]
    """The square root of x; of -0 it is -0, of other negative numbers NaN."""


@_row("number, format, rounding -> number", rounds=True, nan="canonical", optional=1, clause="5.4.2, 5.8")
def convert(x, format, rounding):  # type: ignore[no-untyped-def]
    """x in another format, rounded in the given direction (the variant's, when none is given). An integer type or
    fixed-point format gives the nearest number that it has where x is beyond it, and 0 for a NaN."""


@_row("any -> format")
def formatOf(x):  # type: ignore[no-untyped-def]
    """The format of a number, to be compared with one, as in `formatOf(x) == f32`."""


# Elementary functions


@_row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def exp2(x):  # type: ignore[no-untyped-def]
    """2 to the power x; 1 of zeros."""


@_row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def log2(x):  # type: ignore[no-untyped-def]
    """The logarithm of x to base 2; of zeros it is -infinity, of negative numbers NaN."""


@_row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def sin(x):  # type: ignore[no-untyped-def]
    """The sine of x radians; of a zero it is that zero, of infinities NaN."""


@_row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def cos(x):  # type: ignore[no-untyped-def]
    """The cosine of x radians; of infinities it is NaN."""


@_row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def tanh(x):  # type: ignore[no-untyped-def]
    """The hyperbolic tangent of x; of a zero it is that zero."""


@_row("float -> float", rounds=True, nan="canonical", clause="9.2", needs="IEEE")
def rSqrt(x):  # type: ignore[no-untyped-def]
    """One over the square root of x; of a zero it is the infinity of its sign, of negative numbers NaN."""


# The special function unit


@_row("unit, float -> float", nan="bits")
def unit(name, x):  # type: ignore[no-untyped-def]
    """What a unit of spec/units.yaml makes of x, bit for bit. It is called under `hardware:` only, which applies to
    targets where that was recorded."""


# Sign and selection


@_row("float -> float", nan="sign", bitwise=True, clause="5.5.1")
def magnitude(x):  # type: ignore[no-untyped-def]
    """x with the sign bit cleared, also for a NaN (the standard's abs, whose name is a modifier's)."""


@_row("float -> float", operator="unary -", nan="sign", bitwise=True, clause="5.5.1", needs="sign")
def negate(x):  # type: ignore[no-untyped-def]
    """x with the sign bit inverted, also for a NaN."""


@_row("float, float -> float", nan="sign", bitwise=True, clause="5.5.1", needs="sign")
def copySign(x, y):  # type: ignore[no-untyped-def]
    """x with the sign bit of y."""


@_row("float -> float", nan="quiet", bitwise=True, clause="6.2.1", needs="quiet bit")
def quieten(x):  # type: ignore[no-untyped-def]
    """x with the first fraction bit set, which makes a signaling NaN quiet and keeps its payload. Meant for NaNs."""


@_row("float, float -> float", nan="canonical", clause="9.6")
def maximum(x, y):  # type: ignore[no-untyped-def]
    """The larger of x and y, +0 above -0; a NaN when either is a NaN."""


@_row("float, float -> float", nan="canonical", clause="9.6")
def minimum(x, y):  # type: ignore[no-untyped-def]
    """The smaller of x and y, -0 below +0; a NaN when either is a NaN."""


@_row("float, float -> float", nan="canonical", clause="9.6")
def maximumNumber(x, y):  # type: ignore[no-untyped-def]
    """The larger of x and y, +0 above -0; when one is a NaN, the other; a NaN when both are."""


@_row("float, float -> float", nan="canonical", clause="9.6")
def minimumNumber(x, y):  # type: ignore[no-untyped-def]
    """The smaller of x and y, -0 below +0; when one is a NaN, the other; a NaN when both are."""


@_row("bool, any, any -> any", operator="if else", nan="operand")
def select(condition, x, y):  # type: ignore[no-untyped-def]
    """x where the condition holds, else y; written `x if condition else y`."""


# Classification


@_row("float -> bool", clause="5.7.2")
def isSignMinus(x):  # type: ignore[no-untyped-def]
    """The sign bit is set; true of -0 and of NaNs with that bit."""


@_row("float -> bool", clause="5.7.2")
def isNormal(x):  # type: ignore[no-untyped-def]
    """x is finite, not zero and not subnormal."""


@_row("float -> bool", clause="5.7.2")
def isFinite(x):  # type: ignore[no-untyped-def]
    """x is zero, subnormal or normal."""


@_row("float -> bool", clause="5.7.2")
def isZero(x):  # type: ignore[no-untyped-def]
    """x is +0 or -0."""


@_row("float -> bool", clause="5.7.2")
def isSubnormal(x):  # type: ignore[no-untyped-def]
    """x is not zero and smaller in magnitude than every normal number."""


@_row("float -> bool", clause="5.7.2")
def isInfinite(x):  # type: ignore[no-untyped-def]
    """x is an infinity."""


@_row("float -> bool", clause="5.7.2")
def isNaN(x):  # type: ignore[no-untyped-def]
    """x is a NaN, quiet or signaling."""


@_row("float -> bool", clause="5.7.2", needs="quiet bit")
def isSignaling(x):  # type: ignore[no-untyped-def]
    """x is a NaN with the first fraction bit clear."""


# Comparison


@_row("float, float -> bool", operator="==", clause="5.11")
def compareEqual(x, y):  # type: ignore[no-untyped-def]
    """x equals y; false when either is a NaN, true of +0 and -0."""


@_row("float, float -> bool", operator="!=", clause="5.11")
def compareNotEqual(x, y):  # type: ignore[no-untyped-def]
    """The negation of compareEqual: true when either is a NaN."""


@_row("float, float -> bool", operator="<", clause="5.11")
def compareLess(x, y):  # type: ignore[no-untyped-def]
    """x is less than y; false when either is a NaN."""


@_row("float, float -> bool", operator="<=", clause="5.11")
def compareLessEqual(x, y):  # type: ignore[no-untyped-def]
    """x is less than or equal to y; false when either is a NaN."""


@_row("float, float -> bool", operator=">", clause="5.11")
def compareGreater(x, y):  # type: ignore[no-untyped-def]
    """x is greater than y; false when either is a NaN."""


@_row("float, float -> bool", operator=">=", clause="5.11")
def compareGreaterEqual(x, y):  # type: ignore[no-untyped-def]
    """x is greater than or equal to y; false when either is a NaN."""


@_row("integer, integer -> bool", operator="==")
def sameInteger(x, y):  # type: ignore[no-untyped-def]
    """x and y are the same integer."""


@_row("integer, integer -> bool", operator="<")
def lessInteger(x, y):  # type: ignore[no-untyped-def]
    """x is the smaller of two integers of one type."""


# Bits


@_row("number -> bits", bitwise=True, clause="3.4")
def bits(x):  # type: ignore[no-untyped-def]
    """The encoding of x as an unsigned integer of the format's width."""


@_row("bits, format -> number", nan="bits", bitwise=True, optional=1, clause="3.4")
def float_of(x, format):  # type: ignore[no-untyped-def]
    """The number whose encoding is x, in the given format (the variant's, when none is given)."""


@_row("float -> float", nan="bits", bitwise=True)
def highWord(x):  # type: ignore[no-untyped-def]
    """x with the lower half of its encoding cleared."""


@_row("bits, bits -> bits", operator="&", bitwise=True)
def bitAnd(x, y):  # type: ignore[no-untyped-def]
    """Bitwise and."""


@_row("bits, bits -> bits", operator="|", bitwise=True)
def bitOr(x, y):  # type: ignore[no-untyped-def]
    """Bitwise or."""


@_row("bits, bits -> bits", operator="^", bitwise=True)
def bitXor(x, y):  # type: ignore[no-untyped-def]
    """Bitwise exclusive or."""


@_row("bits -> bits", operator="~", bitwise=True)
def bitNot(x):  # type: ignore[no-untyped-def]
    """Every bit inverted."""


@_row("bits, count -> bits", operator="<<")
def shiftLeft(x, count):  # type: ignore[no-untyped-def]
    """x moved towards the sign bit by a literal number of places below the width; what leaves is lost."""


@_row("bits, count -> bits", operator=">>")
def shiftRight(x, count):  # type: ignore[no-untyped-def]
    """x moved away from the sign bit by a literal number of places below the width; zeros come in."""


@_row("bits, bits -> bool", operator="==")
def sameBits(x, y):  # type: ignore[no-untyped-def]
    """x and y are the same integer."""


@_row("bits, bits -> bool", operator="<")
def lessBits(x, y):  # type: ignore[no-untyped-def]
    """x is the smaller of two unsigned integers."""


# Logic


@_row("bool, bool -> bool", operator="and")
def logicalAnd(x, y):  # type: ignore[no-untyped-def]
    """Both hold."""


@_row("bool, bool -> bool", operator="or")
def logicalOr(x, y):  # type: ignore[no-untyped-def]
    """At least one holds."""


@_row("bool, bool -> bool", operator="!=")
def logicalXor(x, y):  # type: ignore[no-untyped-def]
    """Exactly one holds."""


@_row("bool -> bool", operator="not")
def logicalNot(x):  # type: ignore[no-untyped-def]
    """It does not hold."""
