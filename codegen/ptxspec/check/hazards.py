"""The check of hazards: the semantics must not give what the machine code is said to do instead."""

from __future__ import annotations

from collections.abc import Mapping

from ..diagnostics import Diagnostic
from ..model import HazardRule, Instruction, Variant
from ..semantics.program import Program
from .folding import in_register


def contradictions(instruction: Instruction, programs: Mapping[Variant, Program]) -> list[Diagnostic]:
    """Return errors for hazards that the semantics contradicts. Programs that compute the same are one object."""
    found = []
    for rule in instruction.hazards:
        said = next(
            (s for v in filter(rule.selector.matches, instruction.variants) if (s := _same(rule, v, programs))), ""
        )
        if said:
            lines = instruction.semantics.lines
            help = "narrow the hazard with `for:`, or remove it"
            found.append(Diagnostic(instruction.path, rule.mark, said, help, lines[rule.mark.line - 1]))
    return found


def _same(rule: HazardRule, v: Variant, programs: Mapping[Variant, Program]) -> str:
    """Return why a rule describes no hazard of a variant; empty where it does."""
    proof, program = rule.proof, programs[v]
    if proof.drops or proof.adds:
        modifiers, types, operands = v.form
        form = (proof.code_of(modifiers), types, operands)
        other = next(w for w in programs if w.form == form)
        return f"the semantics of {v} and {other} are the same: this is no hazard" if programs[other] is program else ""
    if proof.folds:
        *arguments, result = proof.folds
        if len(arguments) != len(program.inputs):
            return f"{v} has {len(program.inputs)} operands, and `folds` {len(arguments)} before the result"
        if in_register(v, program, arguments) == result:
            return f"the semantics of {v} gives {result:#x}, too: this is no hazard"
    return ""
