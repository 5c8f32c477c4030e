"""The check of a specification: its semantics against its corner cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..diagnostics import Diagnostic, Mark, SpecError, TooLargeError
from ..literals import describe
from ..model import CornerRow, Instruction, Spec, Variant
from ..read.cells import CellError
from ..recipes.proof import Prover
from ..semantics.compile import Compiler
from ..semantics.program import Program
from . import folding, hazards, stages
from .corner_cases import Case, cases, count
from .functions import check_functions
from .packed import Packed, Programs

# The instruction with the most cases has a seventh of that.
_MAX_CASES = 50_000


@dataclass(frozen=True)
class Checked:
    """An instruction with correct semantics, and each variant's programs (key None: without a target). Equal programs
    are one object."""

    instruction: Instruction
    programs: Mapping[Variant, Programs]

    def __reduce__(self) -> tuple[Any, ...]:
        return Checked, (self.instruction, Packed.of(self.programs))


def check(
    spec: Spec,
    compiler: Compiler | None = None,
    before: Spec | None = None,
    known: Mapping[str, Checked] = MappingProxyType({}),
) -> tuple[list[Checked], list[Diagnostic]]:
    """Specialise every variant, run every corner case, and compare every recipe with its variant. Errors are returned
    as diagnostics. A compiler that has already seen the specification need not compile again. Opcodes in `known` were
    found right in the specification before, which is the same except for other opcodes; they are not checked again."""
    checked, errors = [], []
    compiler = compiler or Compiler(spec)
    for instruction in spec.instructions.values():
        if instruction.opcode in known:
            checked.append(known[instruction.opcode])
            continue
        one, found = check_instruction(compiler, instruction)
        errors += found
        if not found:
            checked.append(one)
    if not known:
        errors += check_functions(compiler)
    if not errors:
        errors = Prover(spec, compiler).check(before, known)
    return checked, sorted(_one_at_each_place(errors))


def _one_at_each_place(errors: list[Diagnostic]) -> list[Diagnostic]:
    """Return one error for each place: a mistake is found in every variant that has it, and may be worded with its
    names."""
    first: dict[tuple[str, int, int], Diagnostic] = {}
    for e in errors:
        first.setdefault((e.path, e.mark.line, e.mark.column), e)
    return list(first.values())


def check_instruction(compiler: Compiler, instruction: Instruction) -> tuple[Checked, list[Diagnostic]]:
    errors: list[Diagnostic] = []
    made: dict[Variant, Programs] = {}
    for variant in instruction.variants:
        try:
            made[variant] = compiler.programs(instruction, variant)
            # The machine code must be right even while its units are unknown.
            for path in instruction.hardware_paths(variant):
                compiler.program(instruction, variant, None, path)
        except TooLargeError as e:
            errors += e.diagnostics
            break
        except SpecError as e:
            errors += e.diagnostics
    if not errors:
        errors = _corner_cases(instruction, made)
        own = {v: programs[None] for v, programs in made.items()}
        errors += hazards.contradictions(instruction, own) + folding.contradictions(compiler.spec, instruction, own)
        errors += stages.without_effect(compiler.spec, instruction)
    return Checked(instruction, made), errors


def _corner_cases(instruction: Instruction, made: Mapping[Variant, Programs]) -> list[Diagnostic]:
    errors: list[Diagnostic] = []
    # Of variants that compute the same, one is enough.
    different: dict[int, dict[int, tuple[Variant, Program]]] = {}
    for variant in instruction.variants:
        program = made[variant][None]
        for table in instruction.corner_tables_of(variant):
            for row in table.rows_of(variant):
                different.setdefault(id(row), {}).setdefault(id(program), (variant, program))
    judged = 0
    for table in instruction.corner_tables:
        for row in table.rows:
            for variant, program in different.get(id(row), {}).values():
                try:
                    judged += count(row, program)
                    if judged > _MAX_CASES:
                        help = (
                            "a class of operands counts as several cases, as does each variant that computes otherwise"
                        )
                        return [
                            _at_row(
                                instruction, row.mark, f"with this row, there are more than {_MAX_CASES} cases", help
                            )
                        ]
                    wrong = next((c for c in cases(row, program) if not c.agrees), None)
                except CellError as e:
                    errors.append(_at_row(instruction, row.mark, f"{e}, in {variant}", "narrow the table with `for:`"))
                    break
                if wrong:
                    errors.append(_contradiction(instruction, row, variant, program, wrong))
                    break
    return errors


def _contradiction(i: Instruction, row: CornerRow, variant: Variant, program: Program, case: Case) -> Diagnostic:
    operands = ", ".join(describe(o, i.kind) for o, i in zip(case.operands, program.inputs, strict=True))
    told = list(zip(row.results, case.results, program.results, strict=False))
    got = "|".join(describe(r, term.kind) for _, r, term in told)
    wanted = "|".join(value.text for value, _, _ in told)
    message = f"the semantics contradicts this row: {variant.spelling} of {operands} is {got}, not {wanted}"
    return _at_row(i, row.mark, message, f"fix the row, or the semantics in line {i.semantics.start.line}")


def _at_row(instruction: Instruction, mark: Mark, message: str, help: str) -> Diagnostic:
    lines = instruction.semantics.lines
    source = lines[mark.line - 1] if mark.line <= len(lines) else ""
    return Diagnostic(instruction.path, mark, message, help, source)
