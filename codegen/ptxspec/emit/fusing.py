"""Programs as NumPy runs them best: what the emulator's functions do at once, and what only few lanes need.

Three rewritings, none of which changes a bit:

- Operands flushed on their own lines are flushed by the operation that uses them, where it can (`daz`).
- A NaN is not made canonical again behind a function that delivers nothing else.
- What is computed only where a condition holds that is rare, because it corrects a result, is computed there alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Let, Program, Term, Var, live, variables

FLUSH = "flushed"
EXTREMES = ("maximum", "minimum", "maximumNumber", "minimumNumber")
# These change nothing but the sign, so that flushing may as well come after them.
_OF_THE_SIGN = ("magnitude", "negate")
_OF_SINGLE_BITS = ("bits", "float_of", "bitAnd", "bitOr", "bitXor", "bitNot", "negate")


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
    lets = live(list(_flushing_late(lets, result)), result)
    return Fused(program.inputs, _with_amendments(lets, result, program), result)


def flushes_operands(function: str) -> bool:
    """Can the emulator's function flush its own operands?"""
    return function in EXTREMES or (function in TABLE and TABLE[function].rounds)


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
            case Apply(
                function="select", arguments=(Apply(function="isNaN", arguments=(Var() as x,)), Const() as nan, y)
            ):
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


def _signs(lets: tuple[Let, ...], result: Term) -> set[str]:
    """What is used for its sign alone, and is made of such by functions of single bits: flushing does not change it."""
    others = set(variables(result))
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
        return term.function in _OF_SINGLE_BITS and all(map(_bitwise, term.arguments))
    return True


def _flushing_late(lets: tuple[Let, ...], result: Term) -> tuple[Let, ...]:
    """Flushing on a line of its own becomes `FLUSH` around the uses, if all of them can do it."""
    late: dict[str, Apply] = {}
    found: list[Let] = []
    signs = _signs(lets, result)
    for let in lets:
        x = _flushed(let.value)
        if let.name in signs:
            let = replace(let, value=_map(let.value, {name: flush.arguments[0] for name, flush in late.items()}))
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
                        values = {x.name: x.value for x in lets}
                        condition = _needed(_resolved(condition, values), values[value.name], part) or condition
                        steps.append(Amendment(let.name, value, condition, part, let))
                        gone |= {x.name for x in inner}
                        continue
        steps.append(let)
    return _without_unused(tuple(reversed(steps)), result)


def _without_unused(steps: tuple[Let | Amendment, ...], result: Term) -> tuple[Let | Amendment, ...]:
    needed, kept = variables(result), []
    for step in reversed(steps):
        if step.name in needed:
            kept.append(step)
            of_step = step.value if isinstance(step, Let) else step.condition
            needed |= variables(of_step) | (set() if isinstance(step, Let) else {step.value.name, *step.program.inputs})
    return tuple(reversed(kept))


def _only_for(term: Term, lets: tuple[Let, ...], others: set[str], uses: Counter[str], result: Term) -> tuple[Let, ...]:
    """The lines that nothing but the term needs."""
    needed, taken, seen = variables(term), [], Counter(variables(term))
    for let in reversed(lets):
        if let.name in needed and let.name not in others and uses[let.name] == seen[let.name]:
            taken.append(let)
            needed |= variables(let.value)
            seen.update(variables(let.value))
    return tuple(reversed(taken))


def _resolved(term: Term, values: Mapping[str, Term]) -> Term:
    return values.get(term.name, term) if isinstance(term, Var) else term


def _needed(condition: Term, made: Term, part: Program) -> Term | None:
    """Where an amendment replaces a NaN by another than the canonical one, if that can be told from the operands."""
    values = {let.name: let.value for let in part.lets}
    rest, alternatives = _resolved(part.result, values), []
    while isinstance(rest, Apply) and rest.function == "select":
        alternative, _, rest = (_resolved(a, values) for a in rest.arguments)
        alternatives.append(alternative)
    match condition, rest, made:
        case Apply(function="isNaN"), Const(value=constant), Apply(function=function, arguments=arguments, format=f):
            # What rounds makes a NaN of every NaN.
            of_operands = all(
                isinstance(a, Apply) and a.function == "isNaN" and a.arguments[0] in arguments for a in alternatives
            )
            if alternatives and of_operands and TABLE[function].rounds and f and constant == f.canonical_nan:
                return reduce(lambda x, y: Apply(x.kind, "logicalOr", (x, y)), alternatives)
    return None
