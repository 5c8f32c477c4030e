"""Subnormal operands that are flushed by the operation that uses them, if it can, not on lines of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard

from ..semantics.functions import ALL
from ..semantics.program import Apply, Const, Let, Term, Var, variables
from .terms import Lets, Terms, computes, is_usual_number, substituted, terms

# Tests whose result flushing does not change.
_UNFLUSHED = ("isNaN", "isSignaling", "isInfinite", "isFinite", "isSignMinus")


def flushing_late(lets: Lets, results: Terms) -> Lets:
    """Return lets in which flushing on a line of its own becomes `flushed` around its uses, if all can flush."""
    if not any(t.function == "isSubnormal" for let in lets for t in terms(let.value) if isinstance(t, Apply)):
        return lets
    late: dict[str, Apply] = {}
    found: list[Let] = []
    signs = _signs(lets, results)
    for let in lets:
        x = _flushed(let.value)
        if let.name in signs:
            let = let.of(substituted(let.value, {name: flush.arguments[0] for name, flush in late.items()}))
        if x is not None:
            late[let.name] = _flush(x)
        else:
            let = let.of(_with_flushes(let.value))
            match let.value:
                # An operation that changes only the sign may as well be flushed afterwards.
                case Apply(function=function, arguments=(Var(name=name),)) if (
                    ALL[function].nan == "sign" and name in late
                ):
                    early = let.value.of(late[name].arguments)
                    unflushed = f"_unflushed_{let.name}"
                    found.append(replace(let, name=unflushed, value=early))
                    late[let.name] = late[name].of((Var(early.kind, unflushed),))
        found.append(let)
    return tuple(let.of(late.get(let.name) or _with_flushed_operands(let.value, late)) for let in found)


def flushing_operands(lets: Lets, results: Terms) -> tuple[Lets, Terms]:
    """Return lets and results in which functions flush their operands themselves, if some operand must be flushed and
    flushing the others changes nothing."""
    every = (t for term in (*(let.value for let in lets), *results) for t in terms(term))
    if not any(isinstance(t, Apply) and t.function == "flushed" for t in every):
        return lets, results
    flushed: set[str] = set()

    def is_flushed(term: Term) -> bool:
        if isinstance(term, Const):
            f = term.kind.format
            return f is not None and not 0 < term.value & ~f.sign_bit < 1 << f.fraction_bits
        return isinstance(term, Var) and term.name in flushed

    def changed(term: Term) -> Term:
        if not isinstance(term, Apply):
            return term
        asked = [a for a in term.arguments if isinstance(a, Apply) and a.function == "flushed"]
        if not _flushes(term) or not asked or not all(a in asked or is_flushed(a) for a in term.arguments):
            return term.of(map(changed, term.arguments))
        bare = tuple(a.arguments[0] if isinstance(a, Apply) and a.function == "flushed" else a for a in term.arguments)
        return replace(term, arguments=bare, daz=True)

    found = []
    for let in lets:
        found.append(let.of(changed(let.value)))
        if isinstance(let.value, Apply) and let.value.ftz:
            flushed.add(let.name)
    return tuple(found), tuple(map(changed, results))


def _flushed(term: Term) -> Var | None:
    """Return x if the term is `copySign(0, x) if isSubnormal(x) else x`."""
    match term:
        case Apply(
            function="select",
            arguments=(
                Apply(function="isSubnormal", arguments=(Var() as x,)),
                Apply(function="copySign", arguments=(Const(value=0), y)),
                z,
            ),
        ) if x == y == z and is_usual_number(x):
            return x
    return None


def _flush(x: Term) -> Apply:
    return Apply(x.kind, "flushed", (x,), x.kind.format)


def _flushes(term: Term) -> TypeGuard[Apply]:
    """Return whether this is a function that can flush its operands itself: one that computes or compares."""
    if computes(term):
        return True
    return isinstance(term, Apply) and ALL[term.function].clause == "5.11"


def _with_flushes(term: Term) -> Term:
    """Return a term in which flushing inside a line becomes `flushed`, if the function around it can flush."""
    if not isinstance(term, Apply):
        return term
    able, found = _flushes(term), []
    for a in term.arguments:
        x = _flushed(a) if able else None
        found.append(_with_flushes(a) if x is None else _flush(x))
    return term.of(found)


def _with_flushed_operands(term: Term, late: Mapping[str, Apply]) -> Term:
    if not late or not isinstance(term, Apply):
        return term
    if term.function in _UNFLUSHED:
        return substituted(term, {name: flush.arguments[0] for name, flush in late.items()})
    if _flushes(term):
        return term.of(substituted(a, late) if isinstance(a, Var) else a for a in term.arguments)
    return term.of(_with_flushed_operands(a, late) for a in term.arguments)


def _signs(lets: Lets, results: Terms) -> set[str]:
    """Return the names of lets that matter only for their sign and consist of bitwise functions. Flushing does not
    change that sign."""
    others = set[str]().union(*map(variables, results))
    used: set[str] = set()

    def look(term: Term) -> None:
        if isinstance(term, Apply):
            for i, a in enumerate(term.arguments):
                of_the_sign = term.function == "copySign" and i == 1 and isinstance(a, Var)
                (used if of_the_sign else others).update(variables(a) if isinstance(a, Var) else ())
                look(a)

    for let in lets:
        look(let.value)
    return {let.name for let in lets if let.name in used - others and _bitwise(let.value)}


def _bitwise(term: Term) -> bool:
    if isinstance(term, Apply):
        return ALL[term.function].bitwise and all(map(_bitwise, term.arguments))
    return True
