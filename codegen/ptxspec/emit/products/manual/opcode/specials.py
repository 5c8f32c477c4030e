"""The results of special values: NaN, zero, subnormal numbers and infinity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....model import Instruction, NanRule
from .about import About
from .classes import Classes, classes


@dataclass(frozen=True)
class Specials:
    """The section. `operands` are the names of operands with columns in the corner cases, `cases` the number of
    rows."""

    classes: Classes | None
    nan_rules: Sequence[tuple[NanRule, Sequence[str]]]
    operands: Sequence[str]
    cases: int


def section(about: About) -> Specials:
    i = about.instruction
    return Specials(classes(about), _nan_rules(i), _names(i), sum(len(t.rows) for t in i.corner_tables))


def _names(instruction: Instruction) -> list[str]:
    columns = max((len(r.operands) for t in instruction.corner_tables for r in t.rows), default=0)
    return next(([s.name for s in v.sources] for v in instruction.variants if len(v.sources) == columns), [])


def _nan_rules(instruction: Instruction) -> list[tuple[NanRule, list[str]]]:
    """Return the NaN rules that the variants follow, each with its variants: first the rules that the instruction
    states, then the default rules of types."""
    numeric = [v for v in instruction.variants if v.result.type.nan]
    stated = [(selector, rule) for selector, rule in instruction.nan if any(map(selector.matches, numeric))]
    others: dict[str, tuple[NanRule, list[str]]] = {}
    for v in numeric:
        if not any(selector.matches(v) for selector, _ in stated):
            rule = instruction.nan_rule(v)
            assert rule is not None
            types = others.setdefault(rule.name, (rule, []))[1]
            if v.result.type.name not in types:
                types.append(v.result.type.name)
    shared = {v.type_names[0] for v in numeric if any(selector.matches(v) for selector, _ in stated)}
    return [(rule, [selector.text or "all"]) for selector, rule in stated] + [
        (rule, [f"other .{t}" if t in shared else f".{t}" for t in types]) for rule, types in others.values()
    ]
