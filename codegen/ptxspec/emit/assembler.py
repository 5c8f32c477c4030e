"""The facts about an opcode's assembler that codegen/ptxspec/catalog/known.py reads, for the emulator and for JSON."""

from __future__ import annotations

from typing import Any

from ..model import Instruction, Spec, Variant
from ..semantics.compile import Compiler


def assembler(spec: Spec, instruction: Instruction) -> dict[str, Any]:
    """Return the other instructions of the opcode's name, and the spellings that the manual lists and the assembler
    accepts nowhere."""
    elsewhere, compiler = instruction.elsewhere, Compiler(spec)
    return {
        "elsewhere": None if elsewhere is None else [".".join(form) for form in elsewhere],
        "empty_types": list(instruction.empty_types),
        "other_modifiers": list(instruction.other_modifiers),
        "observed": instruction.observed or None,
        "refused": [_refused(compiler, instruction, v) for v in instruction.refused],
    }


def _refused(compiler: Compiler, instruction: Instruction, v: Variant) -> dict[str, Any]:
    """Return the facts about a refused spelling. `means` is the longer spelling that it is short for. Without one,
    `same` is the variant that computes the same."""
    longer = instruction.stands_for(v)
    same = "" if longer else _without_what_does_nothing(compiler, instruction, v)
    return {
        "variant": v.spelling,
        "operands": v.operands,
        "manual": v.manual.as_json() if v.manual else None,
        "means": longer.spelling if longer else None,
        **({"same": same} if same else {}),
    }


def _without_what_does_nothing(compiler: Compiler, instruction: Instruction, v: Variant) -> str:
    """Return the variant that computes the same without one of the modifiers; empty if there is none."""
    modifiers, *rest = v.form
    fewer = [w for m in sorted(modifiers) for w in instruction.variants if w.form == (modifiers - {m}, *rest)]
    own = compiler.program(instruction, v, None)
    return next((w.spelling for w in fewer if compiler.program(instruction, w, None) is own), "")
