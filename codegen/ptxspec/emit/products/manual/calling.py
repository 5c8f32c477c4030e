"""The opcodes that call each function of the semantics, for the page of functions and for the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from ....check.checking import Checked
from ....model import Code, Instruction, Spec
from ....semantics.functions import TABLE
from ....semantics.parse import parse
from ....semantics.tree import Call, Node
from ...lowering import applications
from ...parts import Parts


def callers(spec: Spec, checked: Iterable[Checked], parts: Parts) -> Mapping[str, Sequence[str]]:
    """Return the opcodes that call each function of the table, by name or as an operator."""
    called = {(n := c.instruction.opcode): parts.of("called", n, "", partial(_called, spec, c)) for c in checked}
    return {f: [opcode for opcode, names in called.items() if f in names] for f in TABLE}


def _called(spec: Spec, checked: Checked) -> set[str]:
    return functions_of(codes_of(spec, checked.instruction)) | _operators(checked)


def codes_of(spec: Spec, instruction: Instruction) -> list[Code]:
    """Return all code that an opcode's page shows."""
    found = [instruction.semantics, *(p.code for p in instruction.hardware)]
    used = {name for v in instruction.variants for name in v.modifiers}
    for name in used:
        m = spec.modifiers[name]
        found += [code for code in (m.raw, m.operand, m.result, m.override) if code]
    rules = {id(rule): rule for v in instruction.variants if (rule := instruction.nan_rule(v))}
    return found + [rule.code for rule in rules.values() if rule.code]


def functions_of(codes: Iterable[Code]) -> set[str]:
    """Return the functions of the table that pieces of semantics call by name."""
    return {name for code in codes for name in _calls(parse(code)) if name in TABLE}


def _calls(node: Node) -> Iterator[str]:
    """Yield the names that part of a tree calls."""
    if isinstance(node, Call):
        yield node.function
    for value in vars(node).values():
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        for part in inner:
            if isinstance(part, Node):
                yield from _calls(part)


def _operators(checked: Checked) -> set[str]:
    """Return the functions that an opcode's programs call and that an operator may stand for. Which one an operator
    stands for depends on the kinds of its operands, so only the programs tell."""
    programs = {id(p): p for of in checked.programs.values() for p in of.values()}
    used = {a.function for p in programs.values() for a in applications(p)}
    return {name for name in used if name in TABLE and TABLE[name].operator}
