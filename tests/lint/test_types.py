"""Types of other sections, and forms of two types."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from helpers.linting import NEWEST, Pair, disagreements, register, spelled_types, written
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.proving.ptxas.asking import judge

pytestmark = pytest.mark.inputs(
    "requirements",
    "spec/assembler.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/ptx",
    "codegen/ptxspec/query",
    "codegen/ptxspec/proving/ptxas",
)


def other_types(db: Database) -> list[str]:
    """The types that no variant of the database is spelled with."""
    own = set(spelled_types(db))
    return [t for t in (*db.types, *db.other_types) if t not in own and t != "pred"]


@pytest.mark.sampled(0)
@each_size
@pytest.mark.parametrize("pair", [NEWEST, ("sm_100", "8.6"), ("sm_90", "8.8"), ("sm_20", "3.1")])
def test_every_two_types_together_are_judged_as_ptxas_judges_them(
    db: Database, ptxas: Path, pair: Pair, whole: bool
) -> None:
    other = other_types(db)
    types = list(itertools.product((*spelled_types(db), *other), repeat=2))
    some = [
        (opcode, one, two)
        for opcode in db.opcodes
        for one, two in types
        if not (one in other and two in other) and not db.is_elsewhere(opcode, (one, two))
    ]
    assert len(some) > 10_000
    # All where most is taken; elsewhere some.
    count = 250 if not whole else len(some) if pair == NEWEST else 40_000
    statements = [of_two_types(db, *s) for s in spread(some, count)]
    assert disagreements(db, ptxas, statements, pair) == []


def of_two_types(db: Database, opcode: str, one: str, two: str) -> str:
    variants = db.opcodes[opcode].variants
    rounding = ".rn" if any("rn" in v.names for v in variants) else ""
    scalar = [v for v in variants if "xorsign" not in v.names and v.types[-1] != "f32x2"]
    count = 2 if opcode in ("max", "min") else max(v.operands for v in scalar)
    operands = [register(db, t) for t in (one, *[two] * (count - 1), one)]
    return f"{opcode}{rounding}.{one}.{two} {', '.join(f'{r}{i}' for i, r in enumerate(operands))};"


@each_size
def test_a_single_type_of_another_section_is_refused_where_ptxas_knows_no_such_instruction(
    db: Database, ptxas: Path, whole: bool
) -> None:
    """The instructions that it knows are not judged."""
    other = other_types(db)
    for opcode in db.opcodes if whole else spread(list(db.opcodes), 2):
        missing = [t for t in other if not db.is_elsewhere(opcode, (t,))]
        heads = ("", ".rn", ".lo", ".wide", ".approx", ".cc")
        some = [
            f"{opcode}{head}.{t} {', '.join(f'{register(db, t)}{i}' for i in range(n + 1))};"
            for t in missing
            for head in heads
            for n in (1, 2, 3)
        ]
        assert disagreements(db, ptxas, some, NEWEST) == []
        assert [f for t in set(other) - set(missing) for f in db.lint(f"{opcode}.rn.{t} a, b, c;")] == []


@each_size
def test_a_type_that_does_nothing_stands_beside_that_of_every_variant(db: Database, ptxas: Path, whole: bool) -> None:
    target, ptx = NEWEST
    empty = {name: about.data["assembler"]["empty_types"] for name, about in db.opcodes.items()}
    # Products of integers have others, beside which lint leaves a spelling alone that ptxas refuses.
    products = {v for v in db.opcodes["mul"].variants if {"hi", "lo", "wide"} & {*v.names}}
    some, variants = [], [v for v in db.available(target, ptx) if empty[v.opcode] and v not in products]
    for v in variants if whole else spread(variants, 100):
        spelled, _, type_ = v.spelling.rpartition(".")
        # A second result of another type is not left out.
        second = v.second not in (None, v.result)
        registers = written(db, v.spelling, v.operands, second).partition(" ")[2]
        some += [f"{spelled}.{t}.{type_} {registers}" for t in empty[v.opcode]]
    assert len(some) > (1_000 if whole else 200)
    assert not any(judge(ptxas, some, target, ptx)) and not any(map(db.lint, some))


def test_forms_that_other_instructions_have_are_left_alone(db: Database, ptxas: Path) -> None:
    forms = [(o, types) for o in db.opcodes for types in db.opcodes[o].data["assembler"]["elsewhere"]]
    assert len(forms) > 6 and ("mov", "b128") in forms
    # What has come into the database is judged.
    assert ("add", "s32") not in forms and db.lint("add.foo.s32 %r0, %r1, %r2;") != []
    assert [found for o, types in forms for found in db.lint(f"{o}.foo.{types} a, {{b}}, 1, _;")] == []


def test_a_type_that_is_refused_is_pointed_at(db: Database) -> None:
    found = db.lint("add.f32.s32 %f0, %f1, %f2;\nadd.f32.f32 %f0, %f1, %f2;\nfma.rn.e5m2 %r0, %r1, %r2, %r3;")
    assert [(f.line, f.code, f.source[f.at : f.at + f.length]) for f in found] == [
        (1, "illegal-type", ".s32"),
        (2, "illegal-type", ".f32"),
        (3, "illegal-type", ".e5m2"),
    ]
