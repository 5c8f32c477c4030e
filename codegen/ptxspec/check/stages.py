"""The check that each modifier does something: its stages change a float, or the semantics reads it."""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..model import Instruction, Modifier, Spec, Variant
from ..semantics.resolve import names_read


def without_effect(spec: Spec, instruction: Instruction) -> list[Diagnostic]:
    """Return an error for each modifier whose stages have nothing to change in a variant, and that no code reads. Where
    `acts_on` says on which formats a modifier acts, it is meant to act on no others."""
    codes = (instruction.semantics, *(p.code for p in instruction.hardware))
    read = frozenset[str]().union(*map(names_read, codes))
    read = read.union(instruction.acts_on, *(members for group, members in spec.groups.items() if group in read))
    found: dict[str, Diagnostic] = {}
    for v in instruction.variants:
        for name in {*v.modifiers} - read - found.keys():
            m = spec.modifiers[name]
            if (m.operand or m.result) and not (m.raw or m.override or _acts(m, v)):
                changed = "operands and results" if m.operand and m.result else "operands" if m.operand else "results"
                message = f".{name} changes {changed} that are numbers of a floating-point format, and {v} has none"
                help = f"read `{name}` in the semantics, as in `d = x if {name} else y`, or remove it from the syntax"
                found[name] = instruction.semantics.error(instruction.semantics.start, message, help)
    return [*found.values()]


def _acts(m: Modifier, v: Variant) -> bool:
    changed = [*(v.results if m.result else ()), *(s for s in v.sources if m.operand and not s.copied)]
    return any(o.kind.format is not None for o in changed)
