"""Arithmetic operations as processors have them, for the kernels in C: the formats, the NaN that an operation passes
on, and when binary32 suffices instead of binary64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

from ..model import Kind
from ..semantics.functions import TABLE
from ..semantics.program import Apply, Const, Program, Term, Var, live
from .converting import is_usual
from .fusing import PROPAGATE
from .lowering import ELEMENTARY, applications


def is_native(kind: Kind) -> bool:
    """Return whether the processor computes in a format, as `Format.native` of templates/runtime/binary.py does."""
    f = kind.format
    return f is not None and is_usual(f) and (f.exponent_bits, f.fraction_bits) in ((8, 23), (11, 52))


@dataclass(frozen=True)
class Passing(Apply):
    """An operation of arithmetic that passes on the first NaN of its operands."""


def passing(program: Program) -> Program:
    """Return a program in which an operation passes NaNs on itself if the program propagates the NaNs of all its
    operands in order."""
    values = {let.name: let.value for let in program.lets}
    lets = [let.of(_passed(let.value, values)) for let in program.lets]
    return replace(program, lets=live(lets, program.results))


def _passed(term: Term, values: Mapping[str, Term]) -> Term:
    match term:
        case Apply(function=name, arguments=(Var() as value, *operands)) if name == PROPAGATE:
            made = values.get(value.name)
            if is_arithmetic(made) and not made.mixed and not made.ftz and is_native(made.kind):
                able = (a for a in made.arguments if not (isinstance(a, Const) and _is_finite(a)))
                if list(able) == operands:
                    return Passing(**vars(made))
    return term


def _is_finite(x: Const) -> bool:
    f = x.kind.format
    return f is not None and f.has_infinity and x.value & ~f.sign_bit < f.infinity


def is_arithmetic(term: Term | None) -> TypeGuard[Apply]:
    return isinstance(term, Apply) and term.function in TABLE and TABLE[term.function].clause == "5.4.1"


def is_eased(program: Program) -> bool:
    """Return whether a program of binary32 is computed in binary64 only because of subnormal numbers. Programs with
    units or elementary functions are not: those take longer than that."""
    every = list(applications(program))
    single = all(_is_single(x.kind) for x in (program.results[0], *program.inputs))
    return single and any(map(is_direct, every)) and not any(a.model or a.function in ELEMENTARY for a in every)


def is_direct(t: Apply) -> bool:
    """Return whether operations.h has this operation twice, in binary64 and in binary32."""
    twice = t.function in ("multiplication", "division", "squareRoot", "fusedMultiplyAdd")
    # For the others, binary32 cannot tell which results are tiny.
    able = not t.ftz or t.function == "fusedMultiplyAdd"
    return twice and able and not (t.mixed or isinstance(t, Passing)) and _is_single(t.kind)


def _is_single(kind: Kind) -> bool:
    return is_native(kind) and kind.width == 32
