"""Programs rewritten for NumPy: with functions that do several steps at once, or compute only the few lanes that need
it.

Four rewritings are done here, besides those of the called modules; none changes a bit of a result. C uses those that
make a program shorter. Rewritings that rely on encodings apply only to formats like IEEE 754's:

- Operands that are flushed on their own lines are flushed by the operation that uses them, if it can (`Flushing`).
- A NaN is not made canonical after a function that returns no other NaN, nor before one.
- A NaN of a computed result is made canonical in place.
- The NaN that a NaN result takes from an operand is rare, so it is computed only in those lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeGuard

from ..model import BOOL, Interpolator, UnitModel
from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Let, Program, Term, Var, live, mentions, variables
from .clamping import clamping
from .comparing import comparing
from .converting import converting_late, is_usual, without_quotients, without_widening

FLUSH = "flushed"
# (value, x, ...): in lanes where the value and some x are NaNs, the first of those NaNs, made quiet. The value's array
# is reused.
PROPAGATE = "propagate"
# (x, condition, pattern): x, with the pattern written in place where the condition holds.
REPLACE = "replace"
# Tests whose result flushing does not change.
_UNFLUSHED = ("isNaN", "isSignaling", "isInfinite", "isFinite", "isSignMinus")

Lets: TypeAlias = tuple[Let, ...]
Terms: TypeAlias = tuple[Term, ...]
Correction: TypeAlias = Callable[[Let, Mapping[str, Term], Counter[str]], Let | None]


@dataclass(frozen=True)
class Flushing(Apply):
    """A function that treats subnormal operands as zeros of the same sign."""


def fuse(program: Program) -> Program:
    """Return a program with the same results that makes fewer passes over its operands. It may call the functions named
    above."""
    lets, results = _without_second_canonicalising(program.lets, program.results)
    lets = converting_late(_without_first_canonicalising(lets, results))
    lets = _with_corrections(_flushing_late(lets, results), results, _propagation, _replacement)
    lets, results = _flushing_operands(lets, results)
    lets, results = comparing(clamping(lets), results)
    return replace(program, lets=live(lets, results), results=results)


def shorten(program: Program) -> Program:
    """Return a program with the same results in fewer lines. It may call `FLUSH`, `PROPAGATE`, and the functions that
    the called modules add."""
    lets, results = _without_second_canonicalising(program.lets, program.results)
    lets = without_quotients(without_widening(_without_first_canonicalising(lets, results), short=True))
    lets = _with_corrections(_flushing_late(lets, results), results, _propagation)
    lets, results = comparing(clamping(lets), results)
    return replace(program, lets=live(lets, results), results=results)


def _is_usual_number(term: Term) -> bool:
    return term.kind.format is not None and is_usual(term.kind.format)


def _computes(term: Term | None) -> TypeGuard[Apply]:
    """Return whether this is a function that computes with numbers, so that it can flush its operands itself, and its
    NaN is canonical."""
    return isinstance(term, Apply) and term.function in TABLE and TABLE[term.function].nan == "canonical"


def _flushes(term: Term) -> TypeGuard[Apply]:
    """Return whether this is a function that can flush its operands itself: one that computes or compares."""
    if _computes(term):
        return True
    return isinstance(term, Apply) and term.function in TABLE and TABLE[term.function].clause == "5.11"


def _map(term: Term, by_name: Mapping[str, Term]) -> Term:
    if not by_name:
        return term
    if isinstance(term, Var):
        return by_name.get(term.name, term)
    if isinstance(term, Apply):
        return term.of(_map(a, by_name) for a in term.arguments)
    return term


def _without_second_canonicalising(lets: Lets, results: Terms) -> tuple[Lets, Terms]:
    canonical: set[str] = set()
    # Values converted from integers, which are never NaN.
    numbers: set[str] = set()
    same: dict[str, Term] = {}
    kept: list[Let] = []
    for let in lets:
        value = _map(let.value, same)
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
    return tuple(kept), tuple(_map(r, same) for r in results)


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
    return _computes(term)


def _without_first_canonicalising(lets: Lets, results: Terms) -> Lets:
    """Return lets that read a number instead of its conversion to its own format, if only functions that compute use
    it."""
    same: dict[str, Term] = {}
    for let in lets:
        match let.value:
            case Apply(function="convert", arguments=(x,), ftz=False) as made if (
                x.kind == made.kind and _is_usual_number(x)
            ):
                same[let.name] = x
    if not same:
        return lets
    computing = Counter(
        a.name for let in lets for t in _terms(let.value) if _computes(t) for a in t.arguments if isinstance(a, Var)
    )
    uses = Counter(name for term in (*(let.value for let in lets), *results) for name in mentions(term))
    late = {name: x for name, x in same.items() if computing[name] == uses[name]}
    return tuple(let.of(late.get(let.name, let.value)) for let in lets)


def _terms(term: Term) -> Iterator[Term]:
    """Yield a term and the terms in it."""
    yield term
    for a in term.arguments if isinstance(term, Apply) else ():
        yield from _terms(a)


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
        ) if x == y == z and _is_usual_number(x):
            return x
    return None


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
        return TABLE[term.function].bitwise and all(map(_bitwise, term.arguments))
    return True


def _flushing_late(lets: Lets, results: Terms) -> Lets:
    """Return lets in which flushing on a line of its own becomes `FLUSH` around the uses, if all of them can flush."""
    if not any(t.function == "isSubnormal" for let in lets for t in _terms(let.value) if isinstance(t, Apply)):
        return lets
    late: dict[str, Apply] = {}
    found: list[Let] = []
    signs = _signs(lets, results)
    for let in lets:
        x = _flushed(let.value)
        if let.name in signs:
            let = let.of(_map(let.value, {name: flush.arguments[0] for name, flush in late.items()}))
        if x is not None:
            late[let.name] = _flush(x)
        else:
            let = let.of(_with_flushes(let.value))
            match let.value:
                # An operation that changes only the sign may as well be flushed afterwards.
                case Apply(function=function, arguments=(Var(name=name),)) if (
                    TABLE[function].nan == "sign" and name in late
                ):
                    early = let.value.of(late[name].arguments)
                    unflushed = f"_unflushed_{let.name}"
                    found.append(replace(let, name=unflushed, value=early))
                    late[let.name] = late[name].of((Var(early.kind, unflushed),))
        found.append(let)
    return tuple(let.of(late.get(let.name) or _with_flushed_operands(let.value, late)) for let in found)


def _flush(x: Term) -> Apply:
    return Apply(x.kind, FLUSH, (x,), x.kind.format)


def _with_flushes(term: Term) -> Term:
    """Return a term in which flushing inside a line becomes `FLUSH`, if the function around it can flush."""
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
        return _map(term, {name: flush.arguments[0] for name, flush in late.items()})
    if _flushes(term):
        return term.of(_map(a, late) if isinstance(a, Var) else a for a in term.arguments)
    return term.of(_with_flushed_operands(a, late) for a in term.arguments)


def _flushing_operands(lets: Lets, results: Terms) -> tuple[Lets, Terms]:
    """Return lets and results in which functions flush their operands themselves, if some operand must be flushed and
    flushing the others changes nothing."""
    terms = (*(let.value for let in lets), *results)
    if not any(t.function == FLUSH for term in terms for t in _terms(term) if isinstance(t, Apply)):
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
        asked = [a for a in term.arguments if isinstance(a, Apply) and a.function == FLUSH]
        if not _flushes(term) or not asked or not all(a in asked or is_flushed(a) for a in term.arguments):
            return term.of(map(changed, term.arguments))
        bare = tuple(a.arguments[0] if isinstance(a, Apply) and a.function == FLUSH else a for a in term.arguments)
        return Flushing(**{**vars(term), "arguments": bare})

    found = []
    for let in lets:
        found.append(let.of(changed(let.value)))
        if isinstance(let.value, Apply) and let.value.ftz:
            flushed.add(let.name)
    return tuple(found), tuple(map(changed, results))


def _with_corrections(lets: Lets, results: Terms, *corrections: Correction) -> Lets:
    """Return the lets after the first correction that applies to each."""
    values = {let.name: let.value for let in lets}
    uses = Counter(name for term in (*values.values(), *results) for name in mentions(term))
    return tuple(next(filter(None, (c(let, values, uses) for c in corrections)), let) for let in lets)


def _replacement(let: Let, values: Mapping[str, Term], uses: Counter[str]) -> Let | None:
    """Return `NaN if isNaN(d) else d` as a replacement in place, if nothing else uses d."""
    match let.value:
        case Apply(
            function="select",
            arguments=(Apply(function="isNaN", arguments=(tested,)) as condition, pattern, Var() as value),
        ) if not variables(pattern) and tested == value and uses[value.name] == 2 and _is_replaced(value, values):
            return replace(
                let, value=Apply(let.value.kind, REPLACE, (value, condition, pattern), let.value.kind.format)
            )
    return None


def _is_replaced(value: Var, values: Mapping[str, Term]) -> bool:
    """Return whether a function's result is always an array of its own, with numbers of a usual format. A function that
    returns an operand's bits may return the operand's array."""
    made = values.get(value.name)
    if not isinstance(made, Apply) or not variables(made) or not _is_usual_number(value):
        return False
    return made.function in TABLE and TABLE[made.function].nan in ("canonical", "sign", "quiet")


def _propagation(let: Let, values: Mapping[str, Term], uses: Counter[str]) -> Let | None:
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
    if not _computes(made) or uses[value.name] != 2 or not _is_usual_number(value):
        return None
    return replace(let, value=Apply(let.value.kind, PROPAGATE, (value, *operands), made.format))


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
