"""Programs that differ only in constants, as one program with parameters: a relation, an operator, the values that a
condition chooses from. One function then serves them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..model import Kind
from ..semantics.program import Apply, Const, Program, Term, Var
from .comparing import OPERATOR, RELATION


class Member(NamedTuple):
    """A program with parameters in place of constants, and the constants by the parameters' names."""

    program: Program
    parameters: tuple[tuple[str, Const], ...]


def members(programs: Sequence[Program], apart: Kind | None = None) -> list[Member]:
    """Return each program as a member of its family. Programs that differ in constants of the kind `apart` are in
    different families."""
    families: dict[object, list[int]] = {}
    for i, program in enumerate(programs):
        own = tuple(c.value for c in _constants(program) if c.kind == apart)
        families.setdefault((_shape(program), own), []).append(i)
    found: dict[int, Member] = {}
    for family in families.values():
        constants = [list(_constants(programs[i])) for i in family]
        columns = list(zip(*constants, strict=True))
        names, by_column, used = [], {}, Counter[str]()
        for column in columns:
            values = tuple(c.value for c in column)
            if len(set(values)) == 1:
                names.append("")
                continue
            if values not in by_column:
                stem = _stem(column[0].kind)
                used[stem] += 1
                by_column[values] = f"{stem}_{used[stem]}" if used[stem] > 1 else stem
            names.append(by_column[values])
        for i, found_in in zip(family, constants, strict=True):
            parameters = {name: c for name, c in zip(names, found_in, strict=True) if name}
            found[i] = Member(_with_parameters(programs[i], names), tuple(parameters.items()))
    return [found[i] for i in range(len(programs))]


def _stem(kind: Kind) -> str:
    # A specification cannot use these names.
    return {RELATION: "_relation", OPERATOR: "_operator"}.get(kind, "_constant")


def _is_eligible(within: Apply, constant: Const) -> bool:
    return within.function == "select" or constant.kind in (RELATION, OPERATOR)


def _terms(program: Program) -> list[Term]:
    return [*(let.value for let in program.lets), *program.results]


def _shape(program: Program) -> object:
    """Return the part that programs of one family share. Values that a condition chooses from may differ in kind if
    their widths are equal."""

    def of(term: Term) -> object:
        if isinstance(term, Var):
            return term.name, term.kind.storage
        if not isinstance(term, Apply):
            return term
        arguments = tuple(
            a.kind.storage if isinstance(a, Const) and _is_eligible(term, a) else of(a) for a in term.arguments
        )
        kind = term.kind.storage if term.function == "select" and _has_constants(term) else term.kind
        kinds = tuple(a.kind for a in term.arguments if isinstance(a, Var))
        how = term.format, term.mode, term.ftz, term.count, id(term.model), term.daz, term.passes_nans
        return term.function, kind, arguments, kinds, how

    inputs = tuple((i.name, i.kind) for i in program.inputs)
    return inputs, tuple(let.name for let in program.lets), tuple(map(of, _terms(program)))


def _has_constants(select: Apply) -> bool:
    return all(isinstance(a, Const) for a in select.arguments[1:])


def _constants(program: Program) -> Iterator[Const]:
    """Yield the constants that may be parameters, in the order of the program."""
    pending: list[tuple[Apply | None, Term]] = [(None, t) for t in reversed(_terms(program))]
    while pending:
        within, term = pending.pop()
        if isinstance(term, Apply):
            pending += [(term, a) for a in reversed(term.arguments)]
        elif isinstance(term, Const) and within is not None and _is_eligible(within, term):
            yield term


def _with_parameters(program: Program, names: Sequence[str]) -> Program:
    rest = iter(names)

    def of(term: Term) -> Term:
        if not isinstance(term, Apply):
            return term
        return term.of(argument(term, a) for a in term.arguments)

    def argument(within: Apply, a: Term) -> Term:
        if isinstance(a, Const) and _is_eligible(within, a):
            name = next(rest)
            return Var(a.kind, name) if name else a
        return of(a)

    lets = tuple(let.of(of(let.value)) for let in program.lets)
    return replace(program, lets=lets, results=tuple(map(of, program.results)))


def common_name(names: Sequence[str], is_taken: Callable[[str], bool]) -> str:
    """Return the common part of functions' names, for one function that serves them all; if that is taken, one of the
    names."""
    parts = [name.split("_") for name in names]
    shared = "_".join(p for p in parts[0] if all(p in other for other in parts))
    return next(name for name in (shared, *names) if not is_taken(name))
