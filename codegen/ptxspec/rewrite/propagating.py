"""NaNs of results, which are rare, so that they are computed only in the lanes that have one, and in the result's own
array; or by the processor, which passes on the NaN that a result takes from an operand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from ..semantics.functions import ALL
from ..semantics.program import Apply, Const, Let, Program, Term, Var, live, mentions, variables
from .formats import is_native
from .terms import Lets, Terms, computes, is_usual_number

Correction: TypeAlias = Callable[[Let, Mapping[str, Term], Counter[str]], Let | None]


def with_corrections(lets: Lets, results: Terms, *corrections: Correction) -> Lets:
    """Return the lets after the first correction that applies to each."""
    values = {let.name: let.value for let in lets}
    uses = Counter(name for term in (*values.values(), *results) for name in mentions(term))
    return tuple(next(filter(None, (c(let, values, uses) for c in corrections)), let) for let in lets)


def replacement(let: Let, values: Mapping[str, Term], uses: Counter[str]) -> Let | None:
    """Return `NaN if isNaN(d) else d` as a replacement in place, if nothing else uses d."""
    match let.value:
        case Apply(
            function="select",
            arguments=(Apply(function="isNaN", arguments=(tested,)) as condition, pattern, Var() as value),
        ) if not variables(pattern) and tested == value and uses[value.name] == 2 and _is_replaced(value, values):
            return replace(
                let, value=Apply(let.value.kind, "replace", (value, condition, pattern), let.value.kind.format)
            )
    return None


def _is_replaced(value: Var, values: Mapping[str, Term]) -> bool:
    """Return whether a function's result is always an array of its own, with numbers of a usual format. A function that
    returns an operand's bits may return the operand's array."""
    made = values.get(value.name)
    if not isinstance(made, Apply) or not variables(made) or not is_usual_number(value):
        return False
    return ALL[made.function].nan in ("canonical", "sign", "quiet")


def propagation(let: Let, values: Mapping[str, Term], uses: Counter[str]) -> Let | None:
    """Return `d = (quieten(a) if isNaN(a) else quieten(b) if isNaN(b) else NaN) if isNaN(d) else d` as a propagation of
    NaNs to d."""
    match let.value:
        case Apply(function="select", arguments=(condition, chosen, Var() as value)):
            made, test, operands = values.get(value.name), _resolved(condition, values), _quietened(chosen, values)
        case _:
            return None
    match test:
        case Apply(function="isNaN", arguments=(tested,)) if tested == value and operands:
            pass
        case _:
            return None
    # The value's array is reused, so only this line and its test may use it.
    if not computes(made) or uses[value.name] != 2 or not is_usual_number(value):
        return None
    return replace(let, value=Apply(let.value.kind, "propagate", (value, *operands), made.format))


def _quietened(term: Term, values: Mapping[str, Term]) -> list[Term] | None:
    """Return the operands of which the first NaN is chosen and made quiet, if the last alternative is the canonical
    NaN."""
    found: list[Term] = []
    rest = _resolved(term, values)
    while isinstance(rest, Apply) and rest.function == "select":
        test, chosen, rest = (_resolved(a, values) for a in rest.arguments)
        match test, chosen:
            case Apply(function="isNaN", arguments=(Var() as x,)), Apply(function="quieten", arguments=(y,)) if x == y:
                found.append(x)
            case _:
                return None
    canonical = isinstance(rest, Const) and rest.kind.format and rest.value == rest.kind.format.canonical_nan
    return found if canonical else None


def _resolved(term: Term, values: Mapping[str, Term]) -> Term:
    return values.get(term.name, term) if isinstance(term, Var) else term


def passing(program: Program) -> Program:
    """Return a program in which an operation passes NaNs on itself if the program propagates the NaNs of all its
    operands in order."""
    values = {let.name: let.value for let in program.lets}
    lets = [let.of(_passed(let.value, values)) for let in program.lets]
    return replace(program, lets=live(lets, program.results))


def _passed(term: Term, values: Mapping[str, Term]) -> Term:
    match term:
        case Apply(function="propagate", arguments=(Var() as value, *operands)):
            made = values.get(value.name)
            if is_arithmetic(made) and not made.mixed and not made.ftz and is_native(made.kind):
                able = (a for a in made.arguments if not (isinstance(a, Const) and _is_finite(a)))
                if list(able) == operands:
                    return replace(made, passes_nans=True)
    return term


def _is_finite(x: Const) -> bool:
    f = x.kind.format
    return f is not None and f.has_infinity and x.value & ~f.sign_bit < f.infinity


def is_arithmetic(term: Term | None) -> TypeGuard[Apply]:
    return isinstance(term, Apply) and ALL[term.function].clause == "5.4.1"
