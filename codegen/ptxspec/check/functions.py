"""Functions that a standard defines, as instructions of one variant, which are compiled and emitted like all others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..diagnostics import Diagnostic, SpecError
from ..model import Code, Defined, Executed, Instruction, Opening, Operand, Spec, Type, Variant
from ..semantics.compile import Compiler
from ..semantics.program import Program

# The kind of truth values, by the name of their type.
_PREDICATE = "pred"


def check_functions(compiler: Compiler) -> list[Diagnostic]:
    """Return the errors in the semantics of functions."""
    errors: list[Diagnostic] = []
    for f in compiler.spec.functions.defined:
        for code, result in ((f.semantics, f.type), *((o.when, _predicate(compiler.spec)) for o in f.open)):
            try:
                compiled(compiler, f.name, code, f.type, f.operands, result)
            except SpecError as e:
                errors += e.diagnostics
    return errors


def compiled(
    compiler: Compiler, name: str, code: Code, type: Type, operands: int, result: Type
) -> tuple[Instruction, Mapping[Variant, Mapping[str | None, Program]]]:
    """Return a function of `operands` operands of a type as an instruction, and its program. Raises SpecError."""
    place = "p" if result.name == _PREDICATE else "d"
    opcode = re.sub(r"\W", "_", name)
    sources = tuple(Operand(n, type) for n in "abc"[:operands])
    v = Variant(opcode, (), (type,), Operand(place, result), None, sources, listed=True)
    made = Instruction(
        opcode=opcode, path=code.path, summary=name, description="", pages=(), syntax=(), observed="", rules=(),
        assembler_rules=(), tolerated=(), elsewhere=None, other_modifiers=(), empty_types=(), operand_rules=(),
        means=(), semantics=code, nan=(), corner_tables=(), accuracy=(), notes=(), variants=(v,),
    )  # fmt: skip
    return made, {v: {None: compiler.program(made, v, None)}}


def openings(
    compiler: Compiler, f: Defined | Executed, type: Type
) -> Sequence[tuple[Opening, Instruction, Mapping[Variant, Mapping[str | None, Program]]]]:
    """Return what a function of a type leaves open, each with the predicate that says for which operands. Raises
    SpecError."""
    return [
        (o, *compiled(compiler, f"{f.name}_open_{i}", o.when, type, f.operands, _predicate(compiler.spec)))
        for i, o in enumerate(f.open)
    ]


def _predicate(spec: Spec) -> Type:
    return spec.types[_PREDICATE]
