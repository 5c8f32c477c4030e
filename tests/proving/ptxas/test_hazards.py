"""Hazards, shown again: what ptxas makes of a variant is something else than it says, and of nothing else is it so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.machine_code import Instruction, assembled, comparable, kernel, machine_code
from helpers.repository import checked, specification
from helpers.sizes import each_size
from numpy.typing import NDArray
from oracles.folding import folded
from ptxspec.catalog import Target
from ptxspec.model import BOOL, HazardRule, Spec, Variant
from ptxspec.proving.gpu import vectors
from ptxspec.proving.gpu.compare import Comparison, ComparisonCounts
from ptxspec.ptx.complaints import ERROR
from ptxspec.query.database import Database

pytestmark = pytest.mark.inputs(
    "specification", "codegen/ptxspec/proving/ptxas", "codegen/ptxspec/catalog", "codegen/ptxspec/query"
)

SPEC = specification()
NEWEST = SPEC.catalog.newest_version
RULES = [(i.opcode, n) for i in SPEC.instructions.values() for n in range(len(i.hazards))]
each_rule = pytest.mark.parametrize(("opcode", "place"), RULES)
# The first target of each kind of machine that ptxas still assembles for.
SCANNED = ("sm_75", "sm_80", "sm_90", "sm_100a", "sm_107a", "sm_120a")


def assembled_for(v: Variant) -> list[Target]:
    """The targets that nvcc compiles for and that take a variant."""
    return [t for t in SPEC.targets.values() if t.nvcc and SPEC.catalog.takes(v.requires, t.name, NEWEST)]


def other(rule: HazardRule, v: Variant) -> Variant:
    """The variant whose machine code one is said to have."""
    modifiers, types, operands = v.form
    form = (rule.proof.code_of(modifiers), types, operands)
    return next(w for w in SPEC.instructions[v.opcode].variants if w.form == form)


def kernels(rule: HazardRule, variants: list[Variant]) -> Iterator[str]:
    for n, v in enumerate(variants):
        yield kernel(f"k{n}", SPEC, v, rule.proof.folds[:-1])
        if rule.proof.drops or rule.proof.adds:
            yield kernel(f"other{n}", SPEC, other(rule, v))


def shows(rule: HazardRule, v: Variant, n: int, code: dict[str, list[Instruction]]) -> bool:
    """Return whether the machine code of the n-th variant is what the hazard says."""
    own, proof = code[f"k{n}"], rule.proof
    opcodes = [i["opcode"] for i in own]
    if proof.drops or proof.adds:
        return comparable(own, f"k{n}") == comparable(code[f"other{n}"], f"other{n}")
    if proof.holds or proof.lacks:
        holds = all(any(part in opcode for opcode in opcodes) for part in proof.holds)
        return holds and not any(part in opcode for opcode in opcodes for part in proof.lacks)
    if proof.folds:
        return folded(own, v.result.type.width // 8) == {0: proof.folds[-1]}
    return any(not opcode.strip() for opcode in opcodes)


@pytest.mark.sampled(1)
@each_size
@each_rule
def test_what_is_called_a_hazard_shows_in_the_machine_code_where_it_holds_and_nowhere_else(
    opcode: str, place: int, whole: bool, ptxas: Path, nvdisasm: Path, tmp_path: Path
) -> None:
    rule = SPEC.instructions[opcode].hazards[place]
    where: dict[str, list[Variant]] = defaultdict(list)
    for v in filter(rule.selector.matches, SPEC.instructions[opcode].variants):
        for t in assembled_for(v):
            where[t.name].append(v)
    holding = [t for t in where if SPEC.catalog.hazards(where[t][0], t)]
    assert holding, "no target is left that shows it"
    for target in where if whole else holding[:1]:
        variants = where[target] if whole else where[target][:1]
        code = machine_code(ptxas, nvdisasm, tmp_path, kernels(rule, variants), target, NEWEST)
        for n, v in enumerate(variants):
            assert shows(rule, v, n, code) == bool(SPEC.catalog.hazards(v, target)), (v, target)


@each_rule
def test_a_hazard_that_is_another_variant_computes_something_else(opcode: str, place: int) -> None:
    instruction = SPEC.instructions[opcode]
    rule = instruction.hazards[place]
    variants = [v for v in filter(rule.selector.matches, instruction.variants) if rule.proof.drops or rule.proof.adds]
    assert all(differ(v, other(rule, v)) for v in variants)


def differ(one: Variant, another: Variant) -> bool:
    """Return whether two variants with the same operands return other bits of special values or some random ones."""
    for part in vectors.parts(one, vectors.Sizes(random=4096)):
        registers = vectors.operands(one, part.stream, 0, min(part.count, 20_000))
        if any(not np.array_equal(x, y) for x, y in zip(*(results(v, registers) for v in (one, another)), strict=True)):
            return True
    return False


def results(v: Variant, registers: tuple[NDArray[Any], ...]) -> list[NDArray[Any]]:
    types = [s.type for s in v.sources for _ in s.places]
    arrays = [x.astype(bool) if t.kind == BOOL else x for x, t in zip(registers, types, strict=True)]
    found = ptxemu.compile(v.spelling, v.operands)(*arrays, results=len(v.results))
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", SCANNED)
def test_variants_with_one_machine_code_compute_the_same_unless_one_is_a_hazard(
    target: str, ptxas: Path, nvdisasm: Path, tmp_path: Path
) -> None:
    """No modifier that ptxas takes is without effect unless somebody noted it."""
    catalog = SPEC.catalog
    for instruction in SPEC.instructions.values():
        taken = [v for v in instruction.variants if not v.crash and catalog.takes(v.requires, target, NEWEST)]
        if not taken:
            continue
        texts = [kernel(f"k{n}", SPEC, v) for n, v in enumerate(taken)]
        code = machine_code(ptxas, nvdisasm, tmp_path, texts, target, NEWEST)
        alike: dict[Any, list[Variant]] = defaultdict(list)
        for n, v in enumerate(taken):
            operands = tuple((o.type.name, o.places) for o in (*v.results, *v.sources))
            alike[v.type_names, operands, comparable(code[f"k{n}"], f"k{n}")].append(v)
        programs = checked()[instruction.opcode].programs
        for variants in alike.values():
            # Where a bound is promised, or nothing, one result is as good as another.
            honest = [v for v in variants if catalog.is_safe(v, target) and v.claim in ("exact", "unjudged")]
            others = [v for v in honest[1:] if programs[v][None] is not programs[honest[0]][None]]
            wrong = [v for v in others if differ(honest[0], v)]
            assert not wrong, f"{honest[0]} has the machine code of {', '.join(map(str, wrong))} on {target}"


@each_size
def test_what_the_assembler_breaks_down_on_gives_no_machine_code(
    whole: bool, spec: Spec, db: Database, ptxas: Path, tmp_path: Path
) -> None:
    crashing = [v for i in spec.instructions.values() for v in i.variants if v.crash]
    assert len(crashing) == 12 + 4
    for v in crashing if whole else crashing[:1]:
        for target in assembled_for(v) if whole else assembled_for(v)[:1]:
            done = assembled(ptxas, tmp_path, [kernel("k", spec, v)], target.name, NEWEST)
            assert done.returncode and "Internal compiler error" in done.stderr, v
    for v in crashing:
        verdict = db.query(v.spelling, v.operands)
        assert verdict.exists and not verdict.available and verdict.reasons[0].code == "assembler-crash"


@pytest.mark.parametrize("opcode", ["add", "sub"])
def test_what_is_tolerated_and_then_breaks_down_is_an_error(
    opcode: str, spec: Spec, db: Database, ptxas: Path, tmp_path: Path
) -> None:
    crashing = [t for t in spec.instructions[opcode].tolerated if t.crash]
    assert crashing
    for t in crashing:
        spelling = t.text.split()[0]
        statement = f"{spelling} %r0, %b1, %b2;"
        text = f""".entry k(.param .u64 p) {{ .reg .b64 %b<3>; .reg .b32 %r0; ld.param.u64 %b0, [p];
            ld.global.b64 %b1, [%b0]; ld.global.b64 %b2, [%b0+16]; {statement} st.global.b32 [%b0], %r0; ret; }}"""
        done = assembled(ptxas, tmp_path, [text], "sm_107a", NEWEST)
        assert done.returncode and "Internal compiler error" in done.stderr
        (found,) = db.lint(statement, "sm_107a", NEWEST)
        assert (found.severity, found.code) == (ERROR, "assembler-crash")


@pytest.mark.parametrize(
    ("spelling", "target", "agrees"),
    [
        ("cvt.rm.ftz.f16.f32", "sm_90", None),
        ("cvt.rm.f16.f32", "sm_90", False),
        ("cvt.rn.satfinite.f16.f32", "sm_75", None),
        ("cvt.rn.satfinite.f16.f32", "sm_80", False),
    ],
)
def test_what_a_hazard_explains_is_no_disagreement_of_a_gpu(
    spec: Spec, spelling: str, target: str, agrees: bool | None
) -> None:
    (v,) = (v for v in spec.instructions["cvt"].variants if v.spelling == spelling)
    comparison = Comparison(spec, v, target)
    assert comparison.agrees(ComparisonCounts(count=2, unequal=1)) is agrees
    assert comparison.agrees(ComparisonCounts(count=2)) is True
