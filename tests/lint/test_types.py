"""Types of other sections, and forms of two types."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from helpers.linting import (
    FLAGS,
    HEADS,
    NEWEST,
    Pair,
    disagreements,
    pairs,
    places,
)
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.ptxas.asking import judge, statement


@each_size
@pytest.mark.parametrize("pair", [NEWEST, ("sm_100", "8.6"), ("sm_90", "8.8"), ("sm_20", "3.1")])
def test_every_two_types_together_are_judged_as_ptxas_judges_them(
    db: Database, ptxas: Path, pair: Pair, whole: bool
) -> None:
    other, empty = db.data["assembler"]["other_types"], db.data["assembler"]["empty_types"]
    some = []
    for opcode, (one, two) in itertools.product(db.opcodes, itertools.product((*db.data["types"], *other), repeat=2)):
        if (one in other and two in other) or one in empty[opcode] or two in empty[opcode]:
            continue
        rounding = ".rn" if any("rn" in v.names for v in db.opcodes[opcode].variants) else ""
        scalar = [v for v in db.opcodes[opcode].variants if "xorsign" not in v.names and v.types[-1] != "f32x2"]
        count = max(v.operands for v in scalar)
        count = 2 if opcode in ("max", "min") else count
        operands = [places(one), *[places(two)] * (count - 1), places(one)]
        spelled = f"{opcode}{rounding}.{one}.{two}"
        some.append(f"{spelled} {', '.join(f'{r}{i}' for i, r in enumerate(operands))};")
    assert len(some) > 10_000
    assert disagreements(db, ptxas, some if whole else spread(some, 1_000), pair) == []


@each_size
def test_a_single_type_of_another_section_is_refused_where_ptxas_knows_no_such_instruction(
    db: Database, ptxas: Path, whole: bool
) -> None:
    """The instructions that it knows are not judged."""
    assembler = db.data["assembler"]
    for opcode in db.opcodes if whole else spread(list(db.opcodes), 5):
        other = [t for t in assembler["other_types"] if t not in assembler["empty_types"][opcode]]
        missing = [t for t in other if t not in assembler["other_forms"].get(opcode, ())]
        heads = ("", ".rn", ".lo", ".wide", ".approx", ".cc")
        some = [
            f"{opcode}{head}.{t} {', '.join(f'{places(t)}{i}' for i in range(n + 1))};"
            for t in missing
            for head in heads
            for n in (1, 2, 3)
        ]
        assert disagreements(db, ptxas, some, NEWEST) == []
        assert [f for t in set(other) - set(missing) for f in db.lint(f"{opcode}.rn.{t} a, b, c;")] == []


@each_size
def test_a_type_that_does_nothing_stands_beside_that_of_every_variant(db: Database, ptxas: Path, whole: bool) -> None:
    target, ptx = NEWEST
    some, variants = [], db.available(target, ptx)
    for v in variants if whole else spread(variants, 100):
        spelled, _, type_ = v.spelling.rpartition(".")
        registers = statement(v.spelling, v.operands, v.kind == "predicate").partition(" ")[2]
        some += [f"{spelled}.{t}.{type_} {registers}" for t in db.data["assembler"]["empty_types"][v.opcode]]
    assert len(some) > (1_000 if whole else 200)
    assert not any(judge(ptxas, some, target, ptx)) and not any(map(db.lint, some))


@each_size
def test_forms_with_two_types_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, whole: bool) -> None:
    mixed = db.data["assembler"]["mixed"]["spellings"]
    some, spoilt_ones = [], []
    for spelling, operands in mixed:
        registers = "%f0, %h1, %h2, %f3" if operands == 3 else "%f0, %h1, %f2"
        some.append(f"{spelling} {registers};")
    for opcode, types in sorted({(s.split(".")[0], tuple(s.split(".")[-2:])) for s, _ in mixed}):
        for head, count in itertools.product(HEADS, range(4)):
            for flags in itertools.combinations(FLAGS, count):
                spelling = ".".join((opcode, *([head] if head else []), *flags, *types))
                spoilt_ones += [f"{spelling} {r};" for r in ("%f0, %h1, %h2, %f3", "%f0, %h1, %f2", "%f0, %h1")]
    assert len(some) > 50 and len(spoilt_ones) > 5_000
    assert disagreements(db, ptxas, spoilt_ones if whole else spread(spoilt_ones, 1_000), NEWEST) == []
    for pair in random.Random(2).sample(pairs(db), 60 if whole else 12):
        assert disagreements(db, ptxas, some, pair) == []


def test_a_type_that_is_refused_is_pointed_at(db: Database) -> None:
    found = db.lint("add.f32.s32 %f0, %f1, %f2;\nadd.ftz.f32.f16 %f0, %h1, %f2;\nfma.rn.e5m2 %r0, %r1, %r2, %r3;")
    assert [(f.line, f.code, f.source[f.at : f.at + f.length]) for f in found] == [
        (1, "illegal-type", ".s32"),
        (2, "illegal-modifier", ".ftz"),
        (3, "illegal-type", ".e5m2"),
    ]
    assert [f.code for f in db.lint("fma.rn.f32.bf16 %f0, %h1, %h2, %f3;", target="sm_90")] == ["target-too-old"]
    assert db.lint("mul.lo.s32 %r0, %r1, %r2; add.f32.bf16 %f0, %h1, %f2;") == []
