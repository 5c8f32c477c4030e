"""Traces of variants of every opcode, whose exact values, neighbours and roundings MPFR judges."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from math import floor

import pytest
from helpers import ROOT, repository
from helpers.sizes import each_size
from oracles import rationals
from ptxspec.literals import describe
from ptxspec.model import BOOL, FixedPoint, Kind, Spec, Variant
from ptxspec.proving.gpu.special import special
from ptxspec.roots import Root
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact.accounts import effective, events
from ptxspec.semantics.exact.evaluate import Step, trace
from ptxspec.semantics.exact.roundings import Rounding
from ptxspec.semantics.program import Apply, Program
from ptxspec.tracing import shape, text
from ptxspec.tracing.lines import RoundingModifiers, SpecificationLines, lines

SOURCE = SpecificationLines(Root(ROOT))
OPCODES = sorted(repository.specification().instructions)


def drawn(kind: Kind, count: int, source: random.Random) -> int:
    """A special value, or any bits."""
    if kind == BOOL or source.random() < 0.3:
        return source.randrange(1 << kind.width)
    return source.choice(special(kind, count))


@pytest.mark.sampled(10)
@pytest.mark.parametrize("opcode", OPCODES)
@each_size
def test_a_trace_leads_to_the_result_by_what_mpfr_rounds(spec: Spec, opcode: str, whole: bool) -> None:
    source = random.Random(opcode)
    instruction = spec.instructions[opcode]
    compiler = Compiler(spec)
    for v in source.sample(instruction.variants, min(len(instruction.variants), 40 if whole else 1)):
        program = compiler.programs(instruction, v)[None]
        for i in range(100 if whole else 15):
            operands = [drawn(s.kind, len(v.sources), source) for s in v.sources]
            check(v, program, operands)
            if i < 15:
                shown(spec, v, program, operands)


def check(v: Variant, program: Program, operands: list[int]) -> None:
    results, steps = trace(program, operands)
    last = {step.let.label: step.after for step in steps}
    assert [last[r.name] for r in v.results] == list(results), (v, operands)
    # What is folded has no part in what is shown.
    shown = {s.let.label: s.after for s, does in zip(steps, effective(steps), strict=True) if does}
    assert [shown[r.name] for r in v.results] == list(results)
    for step in steps:
        for e in events(program, step):
            if isinstance(e.account, Rounding):
                judge(e.account)
        exact(program, step)


def shown(spec: Spec, v: Variant, program: Program, operands: list[int]) -> None:
    """Text and JSON of the trace: lines fit a terminal, and the last one has the result."""
    (*_, result), steps = trace(program, operands)
    found = list(lines(SOURCE, 0, program, steps))
    rules = RoundingModifiers.of(m for name, m in spec.modifiers.items() if name in v.modifiers)
    for everything in (False, True):
        told = text.blocks(found, rules, 80, everything, [])
        assert max(map(len, told)) <= 80, (v, operands)
    assert describe(result, v.results[-1].kind).split()[-1] in "\n".join(told)
    assert all(json.dumps(shape.as_json(line, rules)) for line in found)


def judge(a: Rounding) -> None:
    """The numbers around, and the one that was taken."""
    if a.value is None or a.to.name not in (*rationals.FIELDS, *rationals.DECODED):
        if isinstance(a.to, FixedPoint) and a.value is not None:
            judge_integer(a, a.to, a.value)
        return
    to, value = a.to.name, a.value
    if a.integral:
        assert rationals.value_of(a.result, to) == rationals.integral(value, a.mode)
        return
    low, high = rationals.around(value, to)
    if low == high:
        assert a.below is None and a.above is None and a.choice in ("exact", "flushed")
    for n, found in ((a.below, low), (a.above, high)):
        if n is not None and n.bits is not None:
            assert n.value == found == rationals.value_of(n.bits, to), a
    got = rationals.value_of(a.result, to)
    if a.exact.random is not None:
        assert got in (low, high)
        if isinstance(a.place, Fraction):
            away = (1 - a.place if value < 0 else a.place) + a.exact.random >= 1
            assert got == (low if (value < 0) == away else high)
        return
    assert a.choice == "overflow" or got == rationals.rounded(value, to, a.mode, a.ftz), a
    if a.choice == "overflow":
        assert got is None or high is None or low is None or a.to.overflow == "largest"
    taken: dict[str, Fraction | None] = {"below": low, "above": high, "exact": value, "flushed": Fraction(0)}
    assert a.choice == "overflow" or got == taken[a.choice], a


def judge_integer(a: Rounding, to: FixedPoint, value: Fraction) -> None:
    scale = 1 << to.point
    units = rationals.integral(value * scale, a.mode)
    assert to.value(a.result) == min(max(units, to.least), to.largest), a
    assert (a.choice == "end") == (not to.least <= units <= to.largest)
    if a.below and a.above:
        assert (a.below.value * scale, a.above.value * scale) == (floor(value * scale), floor(value * scale) + 1)


def exact(program: Program, step: Step) -> None:
    """The exact value of an operation on values that have names."""
    t = step.let.value
    if not isinstance(t, Apply) or any(isinstance(a, Apply) for a in t.arguments):
        return
    for e in events(program, step):
        a = e.account
        if not isinstance(a, Rounding) or a.exact.value is None or a.exact.random is not None:
            continue
        numbers = list(values(t, step))
        if None in numbers or a.exact.nearness in ("above", "below"):
            continue
        found = rationals.of(a.function, [n for n in numbers if n is not None])
        if a.function in rationals.EXACT:
            assert a.exact.value == found and a.exact.nearness == "equal", (a, numbers)
        else:
            assert abs(a.exact.value - found) <= abs(found) / (1 << 44), (a, numbers)


def values(t: Apply, step: Step) -> Iterator[Fraction | None]:
    """The numbers that an operation is given; None of others."""
    for a in t.arguments:
        bits = a.value if hasattr(a, "value") else step.values[a.name]  # type: ignore[union-attr]
        if a.kind.fixed is not None:
            yield Fraction(a.kind.fixed.value(bits), 1 << a.kind.fixed.point)
        else:
            known = a.kind.format is not None and a.kind.format.name in (*rationals.FIELDS, *rationals.DECODED)
            yield rationals.value_of(bits, a.kind.format.name) if known and a.kind.format else None
