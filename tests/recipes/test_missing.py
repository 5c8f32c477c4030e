"""Tests of spellings that people write and PTX does not have: each exists nowhere, and its recipe computes what was
meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.recipes import bits, every_missing, itself, random_operands, special_operands
from helpers.sizes import each_size, spread
from oracles.mpfr import mpfr_apply
from ptxspec import Database
from ptxspec.cli.main import main
from ptxspec.model import NOTHING_DIFFERS, Spec
from ptxspec.proving.ptxas.asking import judge
from ptxspec.recipes.linking import declared
from ptxspec.recipes.proof import Prover
from ptxspec.semantics.compile import Compiler

pytestmark = pytest.mark.inputs("emulator", "specification", "codegen/ptxspec/recipes")

FIELDS = {"f16": (5, 10), "bf16": (8, 7)}
MODES = {"rn": "roundTiesToEven", "rz": "roundTowardZero", "rm": "roundTowardNegative", "rp": "roundTowardPositive"}
OPERATIONS = {
    "add": "addition", "sub": "subtraction", "mul": "multiplication", "fma": "fusedMultiplyAdd", "div": "division",
    "sqrt": "squareRoot",
}  # fmt: skip


def test_ptxas_takes_none_of_them(spec: Spec, ptxas: Path) -> None:
    target, ptx = list(spec.targets)[-1], spec.catalog.newest_version
    blocks = []
    for v, _ in every_missing(spec):
        registers = " ".join(f".reg .{declared(o)} %{p};" for o in (v.result, *v.sources) for p in o.places)
        blocks.append(f"{{ {registers} {itself(v)} }}")
    assert all(judge(ptxas, blocks, target, ptx)) and len(blocks) > 100


@each_size
def test_a_recipe_makes_what_was_meant(spec: Spec, whole: bool) -> None:
    prover = Prover(spec, Compiler(spec))
    every = every_missing(spec)
    for v, instead in every if whole else spread(every, 30):
        for columns in (special_operands(v, 4_000 if whole else 100), random_operands(v, 4_000 if whole else 50)):
            operands = [*zip(*(map(int, c) for c in columns), strict=True)]
            assert prover.difference(v, instead, operands) is None, str(v)


@each_size
def test_mpfr_rounds_as_the_recipes_do(spec: Spec, whole: bool) -> None:
    """Of one lane in half precision, on numbers: MPFR knows nothing of the specification."""
    judged = 0
    for v, instead in every_missing(spec):
        if v.opcode not in OPERATIONS or v.type_names[0] not in FIELDS or instead.differs != NOTHING_DIFFERS:
            continue
        exponent, fraction = FIELDS[v.type_names[0]]
        operands = random_operands(v, 200_000 if whole else 2_000)
        magnitude = np.uint16(0x7FFF)
        numbers = np.logical_and.reduce([o & magnitude < ((1 << exponent) - 1) << fraction for o in operands])
        operands = [o[numbers] for o in operands]
        made = bits(ptxemu.function(instead.ptx)(**dict(zip("abc", operands, strict=False))))
        mode = next((MODES[m] for m in v.modifiers if m in MODES), MODES["rn"])
        wanted = mpfr_apply(OPERATIONS[v.opcode], operands, (exponent, fraction), mode)
        is_nan = wanted & magnitude > ((1 << exponent) - 1) << fraction
        assert ((made == wanted) | is_nan).all(), str(v)
        judged += 1
    assert judged > 30


@pytest.mark.parametrize(
    ("spelling", "statements"),
    [
        ("max.NaN.f64", ["setp.nan.f64", "max.f64", "selp.f64"]),
        ("div.f16", ["cvt.f32.f16", "cvt.f32.f16", "div.rn.f32", "cvt.rn.f16.f32"]),
        ("add.bf16.rz", ["mov.b16", "mov.b32", "mov.b32", "add.rz.f32", "cvt.rz.bf16.f32"]),
        ("mad.f16", ["fma.rn.f16"]),
    ],
)
def test_a_query_says_no_and_what_to_write(
    db: Database, spelling: str, statements: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = db.query(spelling)
    assert not verdict.exists and main(["query", spelling]) == 1
    written = [line.split()[0] for r in verdict.as_json(db)["instead"] for line in r["ptx"].split("\n")]
    assert [s for s in written if s not in ("{", ".reg", "}")] == statements
    assert all(s in capsys.readouterr().out for s in statements[:1])


def test_lint_names_the_recipe(db: Database) -> None:
    text = ".version 8.0\n.target sm_80\n.entry k() { .reg .b16 a, b, d; div.f16 d, a, b; ret; }\n"
    (finding,) = db.lint(text)
    assert finding.code == "illegal-type" and "div.rn.f32" in finding.help
