"""NaNs that are made canonical only where that changes something: not after a function that returns no other NaN, nor
before one. NaNs that cannot occur are not looked for."""

from __future__ import annotations

from collections import Counter

from ..model import BOOL, Interpolator, UnitModel
from ..semantics.program import Apply, Const, Let, Term, Var, mentions
from .terms import Lets, Terms, computes, is_usual_number, substituted, terms


def without_second_canonicalising(lets: Lets, results: Terms) -> tuple[Lets, Terms]:
    """Return lets and results in which no NaN is made canonical that is so already, and no number is tested that cannot
    be a NaN."""
    canonical: set[str] = set()
    # Values converted from integers, which are never NaN.
    numbers: set[str] = set()
    same: dict[str, Term] = {}
    kept: list[Let] = []
    for let in lets:
        value = substituted(let.value, same)
        match value:
            case Apply(function="convert", arguments=(x,)) if x.kind.fixed:
                numbers.add(let.name)
            case Apply(function="isNaN", arguments=(Var() as x,)) if x.name in numbers:
                same[let.name] = Const(BOOL, 0)
            case Apply(function="select", arguments=(Apply(function="isNaN", arguments=(Var() as x,)), _, y)) if (
                x.name in numbers
            ):
                same[let.name] = y
                continue
            case Apply(function="select", arguments=(Const(value=0), _, y)):
                same[let.name] = y
                continue
            case Apply(
                function="select", arguments=(Apply(function="isNaN", arguments=(Var() as x,)), Const() as nan, y)
            ):
                format_ = x.kind.format
                same_value = x == y and x.name in canonical
                if same_value and format_ and nan.value == format_.canonical_nan:
                    same[let.name] = x
                    continue
            case _ if _has_canonical_nan(value, canonical):
                canonical.add(let.name)
        kept.append(let.of(value))
    return tuple(kept), tuple(substituted(r, same) for r in results)


def _has_canonical_nan(term: Term, canonical: set[str]) -> bool:
    """Return whether the canonical NaN is the only NaN that a term can be. This holds for the names in `canonical`."""
    f = term.kind.format
    match term:
        case Var(name=name):
            return name in canonical
        case Const(value=x):
            return f is not None and (not f.is_nan(x) or x == f.canonical_nan)
        case Apply(function="select", arguments=(_, x, y)):
            return _has_canonical_nan(x, canonical) and _has_canonical_nan(y, canonical)
        case Apply(function="copySign", arguments=(Const(value=x), _)):
            return f is not None and not f.is_nan(x)
        case Apply(function="unit", model=UnitModel(core=Interpolator()) as m):
            own = (*m.special.values(), *(o.result for o in m.own if o.operand is not None))
            return all(not m.format.is_nan(x) or x == m.format.canonical_nan for x in own)
    return computes(term)


def without_first_canonicalising(lets: Lets, results: Terms) -> Lets:
    """Return lets that read a number instead of its conversion to its own format, if only functions that compute use
    it."""
    same: dict[str, Term] = {}
    for let in lets:
        match let.value:
            case Apply(function="convert", arguments=(x,), ftz=False) as made if (
                x.kind == made.kind and is_usual_number(x)
            ):
                same[let.name] = x
    if not same:
        return lets
    computing = Counter(
        a.name for let in lets for t in terms(let.value) if computes(t) for a in t.arguments if isinstance(a, Var)
    )
    uses = Counter(name for term in (*(let.value for let in lets), *results) for name in mentions(term))
    late = {name: x for name, x in same.items() if computing[name] == uses[name]}
    return tuple(let.of(late.get(let.name, let.value)) for let in lets)
