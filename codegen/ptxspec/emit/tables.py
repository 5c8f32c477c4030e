"""The part of a program that NumPy reads from a table: its end, if that depends on one value with few patterns.

A value of at most 16 bits has few, and so have two of eight. So has a binary32 number if the rest of the program
depends only on its upper 16 bits, with the last one set if anything is cut off: the rest compares it with numbers of
few bits, or converts it to a format with two bits less. Since that bit is odd, the half lies between the same numbers
as the whole, and between the same midpoints (Boldo and Melquiond 2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..model import BOOL, Format, Kind
from ..rewrite.comparing import RELATION
from ..rewrite.formats import is_usual
from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Program, Term, Var, mentions, variables
from .lowering import applications

# The clauses of functions of the language that take longer than reading a table.
_LONG = {"5.4.1", "5.4.2, 5.8", "5.9", "9.2", "9.6"}
_CHOOSING = {"maximum", "minimum", "maximumNumber", "minimumNumber", "within"}
_CLASSES = {"isNaN", "isInfinite", "isFinite", "isZero", "isSubnormal", "isNormal", "isSignMinus"}


@dataclass(frozen=True)
class Tail:
    """The end of a program. `decorator` and `argument` name the decorator of tables.py that reads it."""

    program: Program
    decorator: str
    argument: str = ""


def split(program: Program) -> tuple[Program, Tail | None]:
    """Return a program without its end, and the end, which takes the program's new result as its operand; the whole
    program and None if no end can be read."""
    if len(program.results) > 1 or not any(map(_is_of_several, applications(program))):
        return program, None
    if (whole := _read(program)) is not None:
        return replace(program, lets=()), whole
    found: list[tuple[int, Var]] = []
    found += [(i, Var(let.value.kind, let.name)) for i, let in enumerate(program.lets, 1)]
    for i, value in found:
        rest = replace(program, inputs=(value,), lets=program.lets[i:])
        tail = _read(rest)
        if tail is not None:
            return replace(program, lets=program.lets[:i], results=(value,)), tail
    return program, None


def multiplied(program: Program) -> list[Kind]:
    """Return the kinds of the three operands if they and the result have few bits and the first two are used only as
    factors of fused multiply-adds; otherwise nothing."""
    kinds = [i.kind for i in program.inputs]
    few = len(kinds) == 3 and len(program.results) == 1
    if not few or any(k.format is None or k.width > 8 for k in (*kinds, program.results[0].kind)):
        return []
    factors = program.inputs[:2]
    fused = [a for a in applications(program) if a.function == "fusedMultiplyAdd" and a.arguments[:2] == factors]
    used = [name for t in (*(let.value for let in program.lets), *program.results) for name in mentions(t)]
    return kinds if fused and sum(used.count(f.name) for f in factors) == 2 * len(fused) else []


def _is_of_several(a: Apply) -> bool:
    """Return whether a function converts, or computes in several formats or in one that processors lack."""
    converts = a.function in ("convert", "convertBounded") and a.kind != a.arguments[0].kind
    return converts or a.mixed or (a.mode != "" and a.format is not None and not is_usual(a.format))


def _read(rest: Program) -> Tail | None:
    """Return the end if it takes long and depends only on its operands, which have few patterns."""
    _, *more = rest.inputs
    known = {*(i.name for i in rest.inputs), *(let.name for let in rest.lets)}
    terms = [*(let.value for let in rest.lets), *rest.results]
    long = any(a.function in TABLE and TABLE[a.function].clause in _LONG for a in applications(rest))
    if not long or any(variables(t) - known for t in terms) or rest.results[0].kind.width > 64:
        return None
    widths = [i.kind.width for i in rest.inputs]
    if len(more) < 2 and sum(widths) <= 16 and all(i.kind != BOOL for i in rest.inputs):
        return Tail(rest, "tabulated", ", ".join(map(str, widths)))
    if more or not _sees_a_half(rest):
        return None
    return Tail(rest, "halved" if widths == [32] else "quartered")


def _sees_a_half(program: Program) -> bool:
    """Return whether the upper half of the operand suffices, with a last bit for the rest. The operand is a binary32
    number, or a binary64 number that is rounded to odd in binary32."""
    (value,) = program.inputs
    f = value.kind.format
    if f is None or not is_usual(f) or (f.exponent_bits, f.fraction_bits) not in ((8, 23), (11, 52)):
        return False
    whole = {value.name: True}
    for let in program.lets:
        seen = _is_whole(let.value, whole)
        if seen is None:
            return False
        whole[let.name] = seen
    return _is_whole(program.results[0], whole) is False and program.results[0].kind.width <= 16


def _is_whole(term: Term, whole: Mapping[str, bool]) -> bool | None:
    """Return whether a term has more bits than the half contains; None if the term depends on more than the half."""
    if isinstance(term, Const):
        return False
    if isinstance(term, Var):
        return whole[term.name]
    arguments = [_is_whole(a, whole) for a in term.arguments]
    if None in arguments:
        return None
    if True not in arguments:
        return False
    pairs = zip(term.arguments, arguments, strict=True)
    # Operands of comparisons and choices must be even in the half's last place.
    numbers = ((a, w) for a, w in pairs if a.kind != RELATION)
    short = all(w or (isinstance(a, Const) and _is_even(a)) for a, w in numbers)
    one = arguments.count(True) == 1
    if term.function in _CLASSES or (term.function == "compare" and short and one):
        return False
    if term.function == "convert":
        return False if _is_short(term.kind) else True if term.kind == term.arguments[0].kind and not term.ftz else None
    if (term.function in _CHOOSING and short and one) or term.function in ("flushed", "magnitude", "negate"):
        return True
    if term.function == "select" and not arguments[0]:
        return (
            True
            if all(w or isinstance(a, Const) for a, w in zip(term.arguments[1:], arguments[1:], strict=True))
            else None
        )
    if term.function == "copySign" and (arguments[0] or isinstance(term.arguments[0], Const)):
        return True
    return None


def _is_even(number: Const) -> bool:
    """Return whether binary32's upper 16 bits represent a number, with the last of them zero."""
    if number.kind.width == 32:
        return not number.value & 0x1FFFF
    exponent = (number.value >> 52 & 0x7FF) - 1023
    inside = -126 <= exponent <= 127 or not number.value << 1 & (1 << 64) - 1
    return inside and not number.value & (1 << 46) - 1


def _is_short(kind: Kind) -> bool:
    """Return whether a format is short, by the same rule as conversion.py."""
    f = kind.format
    return (
        isinstance(f, Format)
        and f.fraction_bits <= 5
        and f.emin - f.has_zero * f.fraction_bits >= -127
        and f.emax <= 127
    )
