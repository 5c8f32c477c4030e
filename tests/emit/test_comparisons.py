"""Comparisons and selections, against the four relations and the tables of truth, written anew."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import ptxemu
import pytest
from helpers.arithmetic_package import PATHS, taking
from helpers.grids import near, pairs, special, uniform
from helpers.repository import database
from helpers.sizes import each_size, spread
from oracles import relations
from oracles.relations import FLOATS, Bits, lane, unsigned, width
from ptxemu import environment
from ptxspec import Variant

RANDOM = 3_000


def groups() -> dict[str, list[Variant]]:
    """The variants of each form, with and without .ftz."""
    found: dict[str, list[Variant]] = defaultdict(list)
    for opcode in relations.OPCODES:
        for v in database().opcodes[opcode].variants:
            found[".".join((opcode, *(["ftz"] if "ftz" in v.modifiers else []), *v.types))].append(v)
    return found


GROUPS = groups()


@cache
def values(type_: str) -> tuple[Bits, Bits]:
    """Pairs of one type: all of special values, random ones, and random ones near each other."""
    rng = np.random.default_rng([width(type_), type_ in FLOATS])
    if type_ in FLOATS:
        fields = FLOATS[type_]
        columns = pairs(special(*fields))
        more = [np.concatenate([uniform(rng, RANDOM, *fields), n]) for n in near(rng, RANDOM, *fields)]
    else:
        ends = [0, 1, 2, *((1 << (width(type_) - 1)) + i for i in (-1, 0, 1)), *((1 << width(type_)) - i for i in (1, 2))]
        columns = pairs(np.array(ends, unsigned(type_)))
        more = [rng.integers(0, 1 << width(type_), RANDOM, unsigned(type_)) for _ in range(2)]
    a, b = (np.concatenate(c) for c in zip(columns, more, strict=True))
    return a[: a.size & ~1], b[: b.size & ~1]


@cache
def predicates(count: int) -> Bits:
    return np.random.default_rng(count).random(count) < 0.5


def operands(v: Variant) -> list[Bits]:
    """Operands of a variant, lane by lane; two lanes beside each other share a predicate."""
    numbers = [lane(s.type) for s in v.sources if s.type != "pred"]
    selects = len(numbers) > 2
    a, b = values(numbers[-1])
    columns = [*(np.resize(x, a.size) for x in values(numbers[0])), a] if selects else [a, b]
    if len(numbers) < len(v.sources):
        columns.append(np.repeat(predicates(a.size // 2), 2))
    return columns


def run(v: Variant, columns: list[Bits]) -> list[Bits]:
    """The emulator's results, lane by lane."""
    packed = v.sources[0].type.endswith("x2")
    if packed:
        columns = [x[::2] if x.dtype == bool else x.view("u4") for x in columns]
    found = ptxemu.execute(v.spelling, *columns, results=2 if v.second else 1)
    if v.result_registers > 1:
        return [np.stack(found, axis=-1).reshape(-1)]
    results = found if isinstance(found, tuple) else (found,)
    return [r.view("u2") if packed and r.dtype != bool else r for r in results]


def check(v: Variant, columns: list[Bits]) -> None:
    for got, want in zip(run(v, columns), relations.expected(v.spelling, columns), strict=True):
        assert got.dtype == want.dtype
        wrong = np.flatnonzero(got != want)
        if wrong.size:
            shown = ", ".join(hex(int(x[wrong[0]])) for x in columns)
            pytest.fail(f"{v} of {shown}: {got[wrong[0]]}, not {want[wrong[0]]}; {wrong.size} of {got.size} wrong")


@each_size
@pytest.mark.parametrize("group", GROUPS)
def test_special_values_and_some_random_ones(group: str, whole: bool) -> None:
    for v in GROUPS[group] if whole else spread(GROUPS[group], 6):
        for path in PATHS if "ftz" in v.modifiers else ("by itself",):
            with taking(path, environment):
                check(v, operands(v))


@each_size
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_all_pairs_of_16_bits(type_: str, whole: bool) -> None:
    """Each relation of every pair; with a few values of one operand where not all are asked for."""
    every = np.arange(1 << 16, dtype=np.uint16)
    for a in every if whole else special(*FLOATS[type_])[::5]:
        columns = [np.full_like(every, a), every]
        found = relations.relation(*columns, type_)
        for operator in ("lt", "eq", "gt", "nan") if whole else relations.HOLDS.keys() & database().modifiers:
            got = ptxemu.execute(f"setp.{operator}.{type_}", *columns)
            assert (got == np.isin(found, list(relations.HOLDS[operator]))).all(), (operator, hex(a))


def test_unequal_is_false_of_a_nan_and_its_unordered_kin_is_true() -> None:
    nan, one = np.float32(np.nan), np.float32(1)
    assert not ptxemu.execute("setp.ne.f32", nan, one) and not ptxemu.execute("setp.ne.f32", nan, nan)
    assert ptxemu.execute("setp.neu.f32", nan, one) and ptxemu.execute("setp.neu.f32", nan, nan)


def test_the_predicates_of_two_lanes_are_not_complements() -> None:
    a, b = (np.array(x, np.float16).view(np.uint32)[0] for x in ([1, 1], [2, 3]))
    assert ptxemu.execute("setp.lt.f16x2", a, b) == (True, True)
    assert ptxemu.execute("setp.lt.f32", np.float32(1), np.float32(2), results=2) == (True, False)
