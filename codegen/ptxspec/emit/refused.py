"""Spellings that the manual lists and the assembler takes nowhere, as the explainer asks for them."""

from __future__ import annotations

from typing import Any

from ..model import Instruction, Spec, Variant
from ..semantics.compile import Compiler


def refused(spec: Spec, instruction: Instruction, v: Variant) -> dict[str, Any]:
    """Return what is known of one. `means` is the longer spelling that it is short for, and where there is none, `same`
    the variant that computes the same."""
    longer = instruction.stands_for(v)
    same = "" if longer else _without_what_does_nothing(spec, instruction, v)
    return {
        "variant": v.spelling,
        "operands": v.operands,
        "manual": v.manual.as_json() if v.manual else None,
        "means": longer.spelling if longer else None,
        **({"same": same} if same else {}),
    }


def _without_what_does_nothing(spec: Spec, instruction: Instruction, v: Variant) -> str:
    """Return the variant that computes the same without one of the modifiers; empty where there is none."""
    compiler, (modifiers, *rest) = Compiler(spec), v.form
    fewer = [w for m in sorted(modifiers) for w in instruction.variants if w.form == (modifiers - {m}, *rest)]
    own = compiler.program(instruction, v, None)
    return next((w.spelling for w in fewer if compiler.program(instruction, w, None) is own), "")
