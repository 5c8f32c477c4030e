"""Results that are clamped between zero and some number, as integers.

The encodings of positive numbers are in the order of the numbers, and those of negative ones are negative as signed
integers. A NaN of a computed result is the canonical one; where that has all bits but the sign it is the largest of
these integers, and one more is the least.
"""

from __future__ import annotations

from ..model import Format
from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Let, Term, Var
from .converting import is_usual

# (x, most): x, whose NaN is the canonical one, from +0 up to `most`. A NaN is +0, but where `most` is that NaN.
CLAMPED = "clamped"


def clamping(lets: tuple[Let, ...]) -> tuple[Let, ...]:
    """Lets whose choices between a computed number and constants, of which the lower is zero, are one function."""
    canonical: set[str] = set()

    def changed(term: Term) -> Term:
        match term:
            case Apply(
                function="minimumNumber", arguments=(Apply(function="maximumNumber", arguments=(Var() as x, low)), most)
            ) if x.name in canonical and _is_zero(low) and isinstance(most, Const) and _is_positive(most):
                return _clamped(term, x, most.value)
            case Apply(function="maximumNumber", arguments=(Var() as x, low)) if x.name in canonical and _is_zero(low):
                return _clamped(term, x, _format(x).infinity)
            case Apply(function="maximum", arguments=(Var() as x, low)) if x.name in canonical and _is_zero(low):
                return _clamped(term, x, _format(x).canonical_nan)
            case Apply():
                return term.of(map(changed, term.arguments))
        return term

    found = []
    for let in lets:
        made = let.of(changed(let.value))
        if _is_canonical(made.value):
            canonical.add(let.name)
        found.append(made)
    return tuple(found)


def _clamped(term: Apply, x: Var, most: int) -> Apply:
    return Apply(term.kind, CLAMPED, (x, Const(x.kind, most)), _format(x))


def _format(x: Var) -> Format:
    assert x.kind.format is not None
    return x.kind.format


def _is_canonical(term: Term) -> bool:
    """Is this a number whose NaN, if it is one, has all bits but the sign?"""
    f = term.kind.format
    if not isinstance(term, Apply) or f is None or not is_usual(f) or f.canonical_nan != f.sign_bit - 1:
        return False
    return term.function == CLAMPED or (term.function in TABLE and TABLE[term.function].nan == "canonical")


def _is_zero(term: Term) -> bool:
    return isinstance(term, Const) and term.value == 0


def _is_positive(number: Const) -> bool:
    f = number.kind.format
    return f is not None and 0 < number.value <= f.largest
