"""The check of constant folding: an entry's rule gives each result that it shows, and the semantics gives another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..diagnostics import Diagnostic, SpecError
from ..model import Folding, Instruction, Spec, Variant
from ..semantics.compile import Compiler
from ..semantics.exact.evaluate import run
from ..semantics.program import Program


def folding_programs(spec: Spec, instruction: Instruction, folding: Folding) -> dict[Variant, Program]:
    """Return, for each variant of an entry, the program of what the assembler computes with constants. Raises SpecError
    if the rule is wrong."""
    nan = instruction.nan if folding.nan is None else ((folding.selector, folding.nan),)
    other = replace(instruction, semantics=folding.semantics or instruction.semantics, nan=nan)
    # A compiler keeps programs by the opcode, and this instruction has the opcode of another.
    compiler = Compiler(spec)
    variants = filter(folding.selector.matches, instruction.variants)
    return {v: compiler.program(other, v, None) for v in variants}


def contradictions(spec: Spec, instruction: Instruction, own: dict[Variant, Program]) -> list[Diagnostic]:
    """Return errors for entries of `folding` whose rule does not give what it shows, and for those with which the
    semantics agrees."""
    found = []
    for folding in instruction.folding:
        try:
            programs = folding_programs(spec, instruction, folding)
        except SpecError as e:
            found += e.diagnostics
            continue
        if said := next((s for v, program in programs.items() if (s := _wrong(folding, v, program, own[v]))), ""):
            line = instruction.semantics.lines[folding.mark.line - 1]
            help = "fix the rule or `shown`, or narrow the entry with `for:`"
            found.append(Diagnostic(instruction.path, folding.mark, said, help, line))
    return found


def _wrong(folding: Folding, v: Variant, program: Program, own: Program) -> str:
    """Return what is wrong with an entry for a variant; empty where nothing is."""
    every = (v.result, *v.sources)
    if any(o.registers or o.lane_bits for o in every) or len({o.lanes for o in every}) > 1:
        return f"the lanes of {v} are in several registers, which `shown` cannot express: narrow the entry with `for:`"
    for *operands, result in folding.shown:
        if len(operands) != len(program.inputs):
            return f"{v} has {len(program.inputs)} operands, and a row of `shown` {len(operands)} before the result"
        registers = zip((*operands, result), (*v.sources, v.result), strict=True)
        if wide := next(((x, o) for x, o in registers if x >> o.type.width), None):
            return f"{wide[0]:#x} does not fit {wide[1].name} of {v}, which has {wide[1].type.width} bits"
        if (got := in_register(v, program, operands)) != result:
            return f"the rule gives {got:#x} for {v}, and `shown` says {result:#x}"
        if in_register(v, own, operands) == result:
            return f"the semantics of {v} gives {result:#x}, too: this entry describes no difference"
    return ""


def in_register(v: Variant, program: Program, operands: Sequence[int]) -> int:
    """Return the result register of a statement whose operands stand in one register each."""
    lanes = zip(*(s.type.unpack(x) for s, x in zip(v.sources, operands, strict=True)), strict=True)
    return v.result.type.pack([run(program, lane)[0] for lane in lanes])
