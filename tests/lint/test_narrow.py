"""Conversions of narrow formats: registers of eight bits, vectors, scales and random bits, as ptxas takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.linting import disagreements, written
from helpers.sizes import each_size, spread
from ptxspec import Database, Variant
from ptxspec.proving.ptxas.asking import FOOTER, HEADER

pytestmark = pytest.mark.inputs(
    "requirements",
    "spec/assembler.yaml",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/lint",
    "codegen/ptxspec/ptx",
    "codegen/ptxspec/query",
    "codegen/ptxspec/proving/ptxas",
)

PAIR = ("sm_107a", "9.5")
NARROW = re.compile(r"(e4m3|e5m2|e2m3|e3m2|e2m1|ue8m0|ue5m3|s2f6)x[24]")
SPOILT = ("%y7", "%h7", "%r7", "%b7", "%f7", "%d7", "%p7", "1", "1.0", "0f3F800000", "judge", "undeclared", "_", "-%f7",
          "[%b1]", "{%f4, %f5}", "{%f4, %f5, %f6, %f7}", "{%f4, %r5, 1.0, 0f3F800000}", "{%f4, _, %f6, %f7}",
          "{%f4, %f5, %f6, judge}", "{%f4, %d5, %f6, %f7}", "{%h4, %h5, %h6, %h7}")  # fmt: skip


def ours(db: Database) -> list[Variant]:
    found = [v for v in db.opcodes["cvt"].variants if any(map(NARROW.fullmatch, v.types))]
    others = (v for v in db.opcodes["cvt"].variants if {"rs", "pzo"} & {*v.spelling.split(".")})
    return found + [v for v in others if v not in found]


@each_size
def test_what_is_right_is_taken_where_ptxas_takes_it(db: Database, ptxas: Path, whole: bool) -> None:
    every = [written(db, v.spelling, v.operands) for v in ours(db)]
    assert len(every) == 436
    pairs = [PAIR, ("sm_120", "9.5"), ("sm_89", "8.0"), ("sm_89", "8.1"), ("sm_103f", "9.1")]
    for pair in pairs if whole else pairs[:2]:
        assert disagreements(db, ptxas, every, pair) == []


def spoilt(db: Database, v: Variant) -> Iterator[str]:
    """A variant's statement with one operand replaced. Of a pair of bf16 beside a register of eight bits ptxas takes
    nearly anything, which lint does not follow; nor does it take a vector for a pair of s2f6 or for the scale of a pair
    of ue5m3, as ptxas does."""
    head, operands = written(db, v.spelling, v.operands).rstrip(";").split(" ", 1)
    parts = re.findall(r"\{[^}]*\}|[^,\s]+", operands)
    takes_anything = v.types[-1] == "bf16x2" and any(p.startswith("%y") for p in parts)
    for i in range(len(parts)):
        takes_vectors = (v.types[0], i) in (("s2f6x2", 0), ("ue5m3x2", 2))
        for other in SPOILT:
            if not (takes_anything and i == 1) and not (takes_vectors and other.startswith("{")):
                yield f"{head} {', '.join([*parts[:i], other, *parts[i + 1 :]])};"


@each_size
def test_spoilt_operands_are_judged_as_ptxas_judges_them(db: Database, ptxas: Path, whole: bool) -> None:
    """Of each pair of types, with a scale and without, one variant."""
    one = {(v.types, v.operands, "scaled" in v.spelling): v for v in ours(db)}
    every = [s for v in one.values() for s in spoilt(db, v)]
    assert len(every) > 3_000
    assert disagreements(db, ptxas, every if whole else spread(every, 150), PAIR, batch=150) == []


@pytest.mark.parametrize(
    ("statement", "code", "meant"),
    [
        ("cvt.rn.satfinite.e2m1x2.f32 %h0, %f1, %f2;", "illegal-register", "%h0"),
        ("cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %d2;", "illegal-register", "%d2"),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 %h0, %f1, %f2, %h3;", "illegal-register", "%h3"),
        ("cvt.rs.satfinite.e4m3x4.f32 %r0, {%f1, %f2, %f3, %f4}, 1;", "illegal-immediate", "1"),
        ("cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 %h0, %f1, %f2;", "operand-count",
         "cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_pointed_at(db: Database, statement: str, code: str, meant: str) -> None:
    (found,) = db.lint(HEADER.format(ptx="9.5", target="sm_107a") + statement + FOOTER)
    assert (found.code, found.source[found.at : found.at + found.length]) == (code, meant)
