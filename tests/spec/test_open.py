"""Everything that a variant is said to leave open can arise in it: some operands give what is named there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest
from helpers.repository import specification
from ptxspec.literals import parse_number
from ptxspec.model import Kind, Variant
from ptxspec.recipes.operands import core, specials
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.exact.evaluate import run
from ptxspec.semantics.exact.rounding import encode_exact
from ptxspec.semantics.program import Program

SPEC = specification()
COMPILER = Compiler(SPEC)
# What a program does not show: which of several readings is the hardware's, of operands that everyone has.
NOT_DECIDED = {
    "which random bits each of four lanes reads, in NVIDIA's own words",
    "which way sm_1x rounds the sum of the cut product and c",
    "which bits the out-of-bounds NaN has and in which operands it counts",
    "whether b is rounded to the result's format first, and in which direction",
    "what a division by zero gives",
    "what the remainder of a division by zero is",
    "what c = -2**31 gives",
    "what the bits above the lower 32 of a result in a wider register are",
}


def program(v: Variant, without: set[str], more: tuple[str, ...] = ()) -> Program:
    """Return the program that a variant would have with other modifiers."""
    names = (*(m for m in v.modifiers if m not in without), *more)
    return COMPILER.program(SPEC.instructions[v.opcode], replace(v, modifiers=names), None)


@cache
def operands(kinds: tuple[Kind, ...]) -> list[tuple[int, ...]]:
    """Special values in all combinations, a NaN among zeros, and what gives a number just below the normal ones."""
    # Of formats without a sign and a zero there are few that are special.
    few = [len(kinds) > 2 and not (k.format and not k.format.signed) for k in kinds]
    columns = [[*dict.fromkeys(core(k) if f else specials(k))] for k, f in zip(kinds, few, strict=True)]
    found = [*itertools.product(*columns)]
    found += [
        tuple(k.format.first_nan if k is nan else 0 for k in kinds) for nan in kinds if nan.format and nan.format.nans
    ]
    if len(kinds) > 1 and all(k.format for k in kinds):
        ends = [(k.format.largest, k.format.largest | k.format.sign_bit) for k in kinds]  # type: ignore[union-attr]
        found += itertools.product(*ends)
        one, *ones = (k.format.bias << k.format.fraction_bits for k in kinds)  # type: ignore[union-attr]
        f = kinds[0].format
        assert f is not None
        small, below_two, large = f.least_normal, one + f.least_normal - 1, 2 * f.bias << f.fraction_bits
        rest = [0] * (len(kinds) - 2)
        # Quotients and a product just below the smallest normal number.
        pairs = [(small, ones[0] + 1), (below_two, large), (one - 1, small)]
        found += [(x | s, y, *rest) for x, y in pairs for s in (0, f.sign_bit)]
    return found


def given(p: Program) -> list[tuple[int, ...]]:
    found = list(operands(tuple(i.kind for i in p.inputs)))
    f = p.inputs[0].kind.format
    if len(p.inputs) == 1 and f and f.has_infinity:
        # Their reciprocals lie just below the normal numbers.
        large = 2 * f.bias - 1 << f.fraction_bits
        found += [(large + n | s,) for n in range(4) for s in (0, f.sign_bit)]
    return found


@cache
def results(p: Program) -> dict[tuple[int, ...], int]:
    return {x: run(p, x)[0] for x in given(p)}


def encoded(text: str, kind: Kind) -> int | None:
    number = parse_number(text)
    assert number is not None, text
    if kind.format:
        return encode_exact(number[0], kind.format, number[1])
    assert kind.fixed is not None
    return int(number[0] * (1 << kind.fixed.point)) & ((1 << kind.width) - 1)


def gives(p: Program, text: str) -> bool:
    return encoded(text, p.results[0].kind) in results(p).values()


def turned(v: Variant, m: re.Match[str]) -> bool:
    """Without the modifier there is the one, with it the other."""
    modifier, old, new = m.groups()
    return gives(program(v, {modifier}), old) and gives(program(v, set()), new)


def becomes_normal(v: Variant, m: re.Match[str]) -> bool:
    """Rounding gives the smallest normal number of what is smaller."""
    rounded, cut = program(v, {"ftz", "sat"}), program(v, {"ftz", "sat", "rn", "rz", "rm", "rp"}, ("rz",))
    f = rounded.results[0].kind.format
    assert f is not None
    pairs = zip(results(rounded).values(), results(cut).values(), strict=True)
    return any(f.magnitude(x) == f.least_normal and f.is_subnormal(y) for x, y in pairs)


def sign_shows(v: Variant, m: re.Match[str]) -> bool:
    p = program(v, set())
    f = p.inputs[0].kind.format
    assert f is not None
    subnormal = [x for x in results(p) if f.is_subnormal(x[0]) and x[0] < f.sign_bit]
    return any(results(p)[x] != results(p)[(x[0] | f.sign_bit, *x[1:])] for x in subnormal)


def is_nan(v: Variant, m: re.Match[str]) -> bool:
    p = program(v, set())
    f = p.results[0].kind.format
    return f is not None and any(map(f.is_nan, results(p).values()))


def is_number(kind: Kind, bits: int) -> bool:
    return kind.format is None or not (kind.format.is_nan(bits) or kind.format.is_infinite(bits))


def overflows(v: Variant, m: re.Match[str]) -> bool:
    """Numbers give an infinity of the format."""
    p = program(v, set())
    f = p.results[0].kind.format
    numbers = (r for x, r in results(p).items() if all(is_number(k.kind, y) for k, y in zip(v.sources, x, strict=True)))
    return f is not None and f.name == m[1] and any(map(f.is_infinite, numbers))


DECIDED: dict[str, Callable[[Variant, re.Match[str]], bool]] = {
    r"whether \.(\w+) turns (\S+) into (\S+)": turned,
    r"numbers below \S+ become (\S+) or (\S+)": lambda v, m: any(gives(program(v, set()), x) for x in m.groups()),
    r"only rounding makes normal": becomes_normal,
    r"whether a flushed operand keeps its sign": sign_shows,
    r"NaN result|a NaN becomes": is_nan,
    r"infinite operands|infinities": lambda v, m: any(s.kind.format and s.kind.format.has_infinity for s in v.sources),
    r"overflow of (\w+)": overflows,
    r"\.ftz": lambda v, m: "ftz" in v.modifiers,
}


@pytest.mark.exhaustive
def test_what_is_open_can_be_asked() -> None:
    idle, asked = [], 0
    for v, text in opens():
        found = [(decide, m) for pattern, decide in DECIDED.items() if (m := re.search(pattern, text))]
        assert found or text in NOT_DECIDED, f"how is it decided whether {v} has this: {text}"
        asked += 1
        if not all(decide(v, m) for decide, m in found):
            idle.append(f"{v}: {text}")
    assert asked > 1000
    assert idle == []


def opens() -> Iterator[tuple[Variant, str]]:
    for i in SPEC.instructions.values():
        for n in i.notes:
            for v in i.variants if n.open else ():
                if n.selector.matches(v):
                    yield v, n.open
