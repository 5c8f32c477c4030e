"""Programs as NumPy runs them best: what the emulator's functions do at once, and what only few lanes need.

Three rewritings, none of which changes a bit:

- Operands flushed on their own lines are flushed by the operation that uses them, where it can (`daz`).
- A NaN is not made canonical again behind a function that delivers nothing else.
- What is computed only where a condition holds that is rare, because it corrects a result, is computed there alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Let, Program, Term, Var, variables

FLUSH = "flushed"
EXTREMES = ("maximum", "minimum", "maximumNumber", "minimumNumber")
# These change nothing but the sign, so that flushing may as well come after them.
_OF_THE_SIGN = ("magnitude", "negate")


@dataclass(frozen=True)
class Amendment:
    """name = `value`, and where the condition holds what `program` gives for its inputs."""

    name: str
    value: Var
    condition: Term
    program: Program
    let: Let


@dataclass(frozen=True)
class Fused:
    inputs: tuple[str, ...]
    steps: tuple[Let | Amendment, ...]
    result: Term


def fuse(program: Program) -> Fused:
    """A program that does the same in fewer passes over its operands."""
    lets, result = _without_second_canonicalising(program.lets, program.result)
    lets = _flushing_late(lets)
    used = set(_names(result, lets))
    lets = tuple(let for let in lets if let.name in used)
    return Fused(program.inputs, _with_amendments(lets, result, program), result)


def flushes_operands(function: str) -> bool:
    """Can the emulator's function flush its own operands?"""
    return function in EXTREMES or (function in TABLE and TABLE[function].rounds)


def _names(result: Term, lets: tuple[Let, ...]) -> Iterator[str]:
    needed = variables(result)
    for let in reversed(lets):
        if let.name in needed:
            yield let.name
            needed |= variables(let.value)


def _map(term: Term, by_name: Mapping[str, Term]) -> Term:
    if isinstance(term, Var):
        return by_name.get(term.name, term)
    if isinstance(term, Apply):
        return replace(term, arguments=tuple(_map(a, by_name) for a in term.arguments))
    return term


def _without_second_canonicalising(lets: tuple[Let, ...], result: Term) -> tuple[tuple[Let, ...], Term]:
    canonical: set[str] = set()
    same: dict[str, Term] = {}
    kept: list[Let] = []
    for let in lets:
        value = _map(let.value, same)
        match value:
            case Apply(function="select", arguments=(Apply(function="isNaN", arguments=(Var() as x,)), Const() as nan, y)):
                format_ = x.kind.format
                if x == y and x.name in canonical and format_ and nan.value == format_.canonical_nan:
                    same[let.name] = x
                    continue
            case Apply(function=function) if flushes_operands(function):
                canonical.add(let.name)
        kept.append(replace(let, value=value))
    return tuple(kept), _map(result, same)


def _flushed(term: Term) -> Var | None:
    """x of `copySign(0, x) if isSubnormal(x) else x`."""
    match term:
        case Apply(
            function="select",
            arguments=(
                Apply(function="isSubnormal", arguments=(Var() as x,)),
                Apply(function="copySign", arguments=(Const(value=0), y)),
                z,
            ),
        ) if x == y == z:
            return x
    return None


def _flushing_late(lets: tuple[Let, ...]) -> tuple[Let, ...]:
    """Flushing on a line of its own becomes `FLUSH` around the uses, if all of them can do it."""
    late: dict[str, Apply] = {}
    found: list[Let] = []
    for let in lets:
        x = _flushed(let.value)
        if x is not None:
            late[let.name] = Apply(let.value.kind, FLUSH, (x,), x.kind.format)
        elif isinstance(let.value, Apply) and let.value.function in _OF_THE_SIGN:
            (argument,) = let.value.arguments
            if isinstance(argument, Var) and argument.name in late:
                early = replace(let.value, arguments=late[argument.name].arguments)
                name = f"{let.name}_unflushed"
                found.append(replace(let, name=name, value=early))
                late[let.name] = replace(late[argument.name], arguments=(Var(early.kind, name),))
        found.append(let)
    return tuple(replace(let, value=late.get(let.name) or _with_flushed_operands(let.value, late)) for let in found)


def _with_flushed_operands(term: Term, late: Mapping[str, Apply]) -> Term:
    if not isinstance(term, Apply):
        return term
    if flushes_operands(term.function):
        return replace(term, arguments=tuple(_map(a, late) if isinstance(a, Var) else a for a in term.arguments))
    return replace(term, arguments=tuple(_with_flushed_operands(a, late) for a in term.arguments))


def _with_amendments(lets: tuple[Let, ...], result: Term, program: Program) -> tuple[Let | Amendment, ...]:
    steps: list[Let | Amendment] = []
    uses = Counter(name for term in (*(let.value for let in lets), result) for name in variables(term))
    fresh = {let.name for let in lets if isinstance(let.value, Apply) and flushes_operands(let.value.function)}
    gone: set[str] = set()
    for i, let in reversed(list(enumerate(lets))):
        if let.name in gone:
            continue
        match let.value:
            case Apply(function="select", arguments=(condition, corrected, Var() as value)) if value.name in fresh:
                inner = _only_for(corrected, lets[:i], variables(condition) | {value.name}, uses, result)
                # The value is overwritten, so nobody else may look at it: only this line and its condition.
                watched = [x for x in lets[:i] if value.name in variables(x.value) and x not in inner]
                if len(inner) > 1 and all(x.name in variables(condition) for x in watched):
                    inputs = tuple(n for n in program.inputs if any(n in variables(x.value) for x in inner))
                    outer = {x.name for x in lets} - {x.name for x in inner}
                    if not any(variables(x.value) & outer for x in inner) and inputs:
                        part = Program(program.format, inputs, inner, corrected)
                        steps.append(Amendment(let.name, value, condition, part, let))
                        gone |= {x.name for x in inner}
                        continue
        steps.append(let)
    return tuple(reversed(steps))


def _only_for(term: Term, lets: tuple[Let, ...], others: set[str], uses: Counter[str], result: Term) -> tuple[Let, ...]:
    """The lines that nothing but the term needs."""
    needed, taken, seen = variables(term), [], Counter(variables(term))
    for let in reversed(lets):
        if let.name in needed and let.name not in others and uses[let.name] == seen[let.name]:
            taken.append(let)
            needed |= variables(let.value)
            seen.update(variables(let.value))
    return tuple(reversed(taken))
