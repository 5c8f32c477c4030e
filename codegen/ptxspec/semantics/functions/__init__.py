"""The manual of the semantics language: every function that a specification may call.

A specification's semantics is written in a small subset of Python's syntax. It has assignments, `if`/`elif`/`else`,
conditional expressions, `and`/`or`/`not`, comparisons, helper `def`s without recursion, and calls of the functions of
the table; an operator is another spelling of the function that names it as written. Values are of four kinds:

  bool     true or false
  bits     an unsigned integer of a width, written as an integer
  integer  an integer of a type such as s32, or a fixed-point number, which is an integer in units of 2**-point
  float    a number of a format; literals are integers, `2**n` and exact hexadecimal floats such as 0x1.8p-3

A parameter that is a number accepts a float or an integer, one that is whole an integer or bits.

Every value has one kind and format, fixed when the code is read. A literal gets the format of the value that it is
combined with, and must be exact in it.

Names in scope are the source operands, by their names in the syntax, and the static names. Whatever depends only on
static names is decided before the program is built. The static names are

  each modifier            true where the variant has it, if its name can be written as one
  each group of modifiers  the name of the member that the variant has, as in `cmp == "lt"` or `cmp in ("lt", "ltu")`;
                           by itself, whether it has one
  operands                 the number of a lane's source operands
  type, sourceType         the first and the last type that the spelling ends in
  rounding                 the direction in which operations round
  target                   every comparison with it is false if no target is given
  quietNaN, infinity       of the variant's format: its result's, or for a predicate its first source's
  every type, format, rounding direction and target by its name

The result is assigned to `d`; a predicate to `p`, and the second one of p|q to `q`.

A function of arithmetic returns the exact result, rounded once to the format in the variant's rounding direction, and
flushed if the variant flushes. Two such calls in one expression are an error: name the first result, or use
fusedMultiplyAdd.

A function with a format as its last argument returns the result in that format, like IEEE 754's formatOf operations:
its operands may have any formats, the exact result is rounded once, and a literal gets the format of the result.
Without a format, the operands and the result have the same one.

Formats are as declared. A function that makes no sense in a format is refused there: `negate` and subtraction without a
sign, `quieten` and `isSignaling` where NaNs are not distinguished as in IEEE 754, and the elementary functions in all
formats that are not declared like one of IEEE 754.

The NaN that a function of the table may return has one of these names:

  canonical  the canonical NaN of the format: the function computes with numbers, and no bit of an operand's NaN is kept
  operand    an operand's NaN, bit for bit
  sign       an operand's NaN except for its sign
  quiet      an operand's NaN, made quiet
  bits       any pattern

A function whose result is a format, a literal or a fact asks about formats, and is as static as the names above.

The bitwise functions compute each bit of their result from the operands' bits in the same place.

The functions have no bodies here: each back end implements all of them. The exact one and those that write code also
implement the functions into which rewriting combines several calls, and no others.
"""

from __future__ import annotations

from . import arithmetic, combined, comparison, formats, logic  # noqa: F401 each adds its rows to the table
from .row import ALL, COMBINED, NANS, SORTS, TABLE, Function

__all__ = ["ALL", "COMBINED", "NANS", "SORTS", "TABLE", "Function"]
