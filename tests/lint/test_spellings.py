"""Spellings, modifiers and constants: lint's verdict is ptxas's, line by line."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.linting import (
    ENDS,
    FLAGS,
    HEADS,
    NEWEST,
    Pair,
    disagreements,
    disagreements_on,
    pairs,
    spelled_types,
    spoilt,
    written,
)
from helpers.repository import database
from helpers.sizes import each_size, spread
from ptxspec import Database, Variant
from ptxspec.model import Spec
from ptxspec.proving.ptxas.combinations import Combinations

pytestmark = pytest.mark.inputs(
    "requirements",
    "spec/assembler.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/ptx",
    "codegen/ptxspec/query",
    "codegen/ptxspec/proving/ptxas",
)


def drawn(db: Database, r: random.Random) -> tuple[str, int]:
    """One of them, or of those with more modifiers of the first place."""
    heads = r.sample(HEADS[1:], r.choice((0, 1, 1, 1, 2)))
    flags = [n for n in FLAGS if r.random() < 0.5]
    opcode, type_ = r.choice(list(db.opcodes)), r.choice(spelled_types(db))
    if db.is_elsewhere(opcode, (type_,)):
        return drawn(db, r)
    return ".".join((opcode, *heads, *flags, type_)), r.randint(1, 4)


@pytest.mark.sampled(3)
@each_size
@pytest.mark.parametrize("pair", ENDS)
def test_spellings_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, pair: Pair, whole: bool) -> None:
    r = random.Random(str(pair))
    some = [written(db, *drawn(db, r)) for _ in range(2_000 if whole else 250)]
    assert disagreements(db, ptxas, some, pair) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", database().opcodes)
def test_combinations_of_names_are_judged_as_ptxas_judges_them(
    db: Database, ptxas: Path, spec: Spec, opcode: str
) -> None:
    """Lint agrees with ptxas on the combinations that `verify` asks about: on as many as it judges in some seconds."""
    combinations = Combinations(spec, opcode)
    every = [s for block in combinations.asked() for s in combinations.statements(block)[0]]
    for pair in ENDS:
        some = random.Random(f"{opcode} {pair}").sample(every, min(len(every), 2_000))
        assert disagreements(db, ptxas, some, pair) == []


def variants_on(db: Database, ptxas: Path, variants: Sequence[Variant], where: Sequence[Pair]) -> list[str]:
    statements = [written(db, v.spelling, v.operands) for v in variants]
    parts = [where[i : i + 20] for i in range(0, len(where), 20)]
    return [w for some in parts for w in disagreements_on(db, ptxas, statements, some)]


def test_variants_are_judged_as_ptxas_judges_them_on_some_targets_and_versions(db: Database, ptxas: Path) -> None:
    some = random.Random(1).sample(pairs(db), 8)
    assert variants_on(db, ptxas, spread(db.variants, 200), some) == []


@pytest.mark.exhaustive
def test_variants_are_judged_as_ptxas_judges_them_on_all_targets_and_versions(db: Database, ptxas: Path) -> None:
    """Variants that need the same are judged alike: of each opcode one variant of each requirement is tried everywhere,
    all variants on some pairs."""
    first = {(v.opcode, v.requires): v for v in reversed(db.variants)}
    assert variants_on(db, ptxas, list(first.values()), pairs(db)) == []
    assert variants_on(db, ptxas, db.variants, spread(pairs(db), 30)) == []


@pytest.mark.sampled(1)
@each_size
@pytest.mark.parametrize("pair", [NEWEST, ("sm_61", "8.2")])
def test_spoilt_statements_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, pair: Pair, whole: bool) -> None:
    # ptxas stops at what it cannot read, so that a batch is judged in many runs.
    some = spoilt(db, 3_000 if whole else 200, pair)
    assert disagreements(db, ptxas, some, pair, batch=200) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(12))
def test_many_spoilt_statements_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, seed: int) -> None:
    pair = random.Random(seed).choice(pairs(db))
    assert disagreements(db, ptxas, spoilt(db, 4_000, seed), pair, batch=300) == []


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "constant",
    [
        "1e-400", "4.9e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "1e308", "1.7976931348623159e308",
        "1e309", "-1e309", "1e-40", "1e39", "0e-400", f"0e-{'9' * 30}",
        f"{2.0**-1074:.1074f}", f"{2.0**-1074:.1074f}1", "1.0+", "(1.0+)",
        "1.0/0.0", "1.0/-0.0", "1.0/(2.0-2.0)", "1.0/(1e-200*1e-200)", "1.0/(1e308*1e308)", "1e308+1e308", "((1.0)",
        "1.0)", "()", "((1.0))", "(1.0+2.0)*-3.0", "1.0++-1.0", "1.0**2.0", "*1.0", "1.0 2.0", "(1.0)(2.0)",
        "0f3F800000+1.0", "+0f3F800000", "(0f3F800000)", "0d3FF0000000000000+1.0", "-0d3FF0000000000000",
        "1.0/0d0000000000000000", "0d0000000000000001", "1.0+1", "1.0/0", "1.0+%f0", "1.e5", "1e", "08.0",
    ],
)  # fmt: skip
def test_constants_are_computed_as_by_ptxas(db: Database, ptxas: Path, constant: str) -> None:
    # One at a time: after an overflow ptxas finds another one in a constant that is right.
    for type_, register in (("f32", "%f"), ("f64", "%d")):
        assert disagreements(db, ptxas, [f"mul.{type_} {register}0, {register}1, {constant};"], NEWEST) == []


@pytest.mark.sampled(3)
@each_size
@pytest.mark.parametrize("type_", ["f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "f32x2"])
def test_each_modifier_of_the_assembler_is_taken_or_refused_as_by_ptxas(
    db: Database, ptxas: Path, type_: str, whole: bool
) -> None:
    """The record of repeated, ignored and leading modifiers holds for every variant."""
    assembler = db.data["assembler"]
    ignored = [n for group in assembler["ignored"] for n in group]
    some = []
    variants = [v for v in db.variants if v.types[-1] == type_]
    for v in variants if whole else spread(variants, 8):
        opcode, *names = v.spelling.split(".")
        added = [names[:1] + names, *([n, *names] for n in ignored), *([*names, n] for n in names)]
        some += [written(db, ".".join((opcode, *names)), v.operands) for names in added]
        some += [
            written(db, ".".join((opcode, *p)), v.operands) for p in itertools.islice(itertools.permutations(names), 24)
        ]
    assert disagreements(db, ptxas, some, NEWEST) == []
