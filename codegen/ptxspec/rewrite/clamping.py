"""Clamped results, each computed by one function instead of two or more choices.

In formats like IEEE 754's, results that are clamped between zero and a number are compared as integers: the encodings
of positive numbers are in the order of the numbers, and those of negative numbers are negative as signed integers. A
NaN of a computed result is the canonical one. If that has all bits but the sign, it is the largest of these integers,
and one more is the least. In other formats, a number with a sign becomes zero if the canonical NaN has no sign.
Operands of binary32 may have any NaN: they are clamped between two numbers as the processor does it.
"""

from __future__ import annotations

from ..model import Format
from ..semantics.functions import ALL
from ..semantics.program import Apply, Const, Let, Term, Var
from .formats import is_native, is_usual


def clamping(lets: tuple[Let, ...]) -> tuple[Let, ...]:
    """Return lets in which the choices that clamp a number between constants are one function."""
    canonical: set[str] = set()
    unsigned: set[str] = set()
    no_sign: set[str] = set()

    def changed(term: Term) -> Term:
        match term:
            case Apply(
                function="minimumNumber", arguments=(Apply(function="maximumNumber", arguments=(Var() as x, low)), most)
            ) if x.name in canonical and _is_zero(low) and isinstance(most, Const) and _is_positive(most):
                return _clamped(term, x, most.value)
            case Apply(function="maximum", arguments=(Var() as x, low)) if x.name in canonical and _is_zero(low):
                return _clamped(term, x, _format(x).canonical_nan)
            case Apply(function="maximum", arguments=(Var() as x, low)) if x.name in unsigned and _is_zero(low):
                return Apply(term.kind, "withoutSign", (x,), x.kind.format)
            case Apply(function="select", arguments=(Apply(function="isZero", arguments=(Var() as x,)), zero, y)) if (
                x == y and x.name in no_sign and _is_zero(zero) and _has_two_zeros(x)
            ):
                return x
            case Apply(
                function="minimum",
                arguments=(Apply(function="maximum", arguments=(y, Const() as low)), Const() as high),
            ) if is_native(term.kind) and term.kind.width == 32 and _is_finite(low) and _is_finite(high):
                return Apply(term.kind, "within", (changed(y), low, high), term.format)
            case Apply():
                return term.of(map(changed, term.arguments))
        return term

    found = []
    for let in lets:
        made = let.of(changed(let.value))
        if _is_canonical(made.value):
            canonical.add(let.name)
        elif _is_unsigned(made.value):
            unsigned.add(let.name)
        if isinstance(made.value, Apply) and made.value.function in ("clamped", "withoutSign"):
            no_sign.add(let.name)
        found.append(made)
    return tuple(found)


def _clamped(term: Apply, x: Var, most: int) -> Apply:
    return Apply(term.kind, "clamped", (x, Const(x.kind, most)), _format(x))


def _format(x: Var) -> Format:
    assert x.kind.format is not None
    return x.kind.format


def _is_canonical(term: Term) -> bool:
    """Return whether this is a number whose only possible NaN has all bits but the sign."""
    f = term.kind.format
    if not isinstance(term, Apply) or f is None or not is_usual(f) or f.canonical_nan != f.sign_bit - 1:
        return False
    return ALL[term.function].nan == "canonical"


def _is_unsigned(term: Term) -> bool:
    """Return whether this is a computed number of a format unlike IEEE 754's whose canonical NaN, if any, has no
    sign."""
    f = term.kind.format
    if not isinstance(term, Apply) or f is None or is_usual(f) or not (f.signed and f.has_subnormals):
        return False
    return not f.canonical_nan & f.sign_bit and ALL[term.function].nan == "canonical"


def _has_two_zeros(x: Var) -> bool:
    """Return whether the format has exactly one zero of each sign."""
    return _format(x).has_subnormals


def _is_finite(number: Const) -> bool:
    """Return whether this is a finite number other than zero."""
    f = number.kind.format
    return f is not None and 0 < number.value & (f.sign_bit - 1) <= f.largest


def _is_zero(term: Term) -> bool:
    return isinstance(term, Const) and term.value == 0


def _is_positive(number: Const) -> bool:
    f = number.kind.format
    return f is not None and 0 < number.value <= f.largest
