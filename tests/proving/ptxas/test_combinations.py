"""The questions of `ptxspec verify` beside the variants: enough to find whatever ptxas takes and nobody stated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.repository import specification
from ptxspec.model import Spec, Variant
from ptxspec.proving.ptxas import verify
from ptxspec.proving.ptxas.combinations import Combinations

pytestmark = pytest.mark.inputs(
    "specification", "codegen/ptxspec/proving/ptxas", "codegen/ptxspec/catalog", "codegen/ptxspec/query"
)

NEWEST = ("sm_100a", "9.5")
SPEC = specification()


def only(*opcodes: str) -> Spec:
    return replace(SPEC, instructions={o: SPEC.instructions[o] for o in opcodes})


def asked(opcode: str, spec: Spec = SPEC) -> set[str]:
    """All that is asked of an opcode, as it is written."""
    combinations = Combinations(spec, opcode)
    return {s for block in combinations.asked() for s in combinations.statements(block)[0]}


def test_every_kind_of_combination_is_asked() -> None:
    """Of max not everything is: it has many modifiers."""
    found = asked("max")
    for kind, statement in (
        ("a variant", "max.ftz.NaN.f16 %h0, %h1, %h2;"),
        ("its own names", "max.ftz.abs.f64 %d0, %d1, %d2;"),
        ("a modifier more", "max.NaN.oob.f32 %f0, %f1, %f2;"),
        ("a modifier exchanged", "max.ftz.sat.f32 %f0, %f1, %f2;"),
        ("a type exchanged", "max.NaN.b32 %r0, %r1, %r2;"),
        ("a type too many", "max.f32.f64 %f0, %f1, %f2;"),
        ("an operand too few", "max.NaN.f32 %f0, %f1;"),
        ("an operand too many", "max.f64 %d0, %d1, %d2, %d3;"),
        ("a foreign modifier and an operand too few", "max.oob.f32 %f0, %f1;"),
    ):
        assert statement in found, kind
    comparisons = asked("setp")
    assert {"setp.lt.f64 %p0|%p1, %d2, %d3;", "setp.lt.and.f32 %p0, %f1, %f2, !%p3;"} <= comparisons
    assert comparisons & {f"setp.{two}.f32 %p0, %f1, %f2;" for two in ("lt.gt", "gt.lt")}


def test_of_few_combinations_every_one_is_asked() -> None:
    assembler = SPEC.assembler
    modifiers = [m for m in SPEC.modifiers if not any(m in names for names in (*assembler.ignored, assembler.crashing))]
    found = asked("copysign")
    assert {f"copysign.{m}.f64 %d0, %d1;" for m in modifiers} < found
    # Of two that it does not have one is a rounding direction, and .full is taken in front only.
    more = {m for m in modifiers if not SPEC.modifiers[m].mode} - {"full"}
    assert {f"copysign.rm.{m}.f32 %f0, %f1, %f2, %f3;" for m in more} < found
    assert "copysign.full.rm.f64 %d0, %d1;" in found


def test_a_variant_is_legal_in_its_own_shape_alone() -> None:
    for opcode in ("max", "setp", "selp"):
        combinations = Combinations(SPEC, opcode)
        found: dict[str, Variant] = {}
        for block in combinations.asked():
            statements, legal = combinations.statements(block)
            assert all(statements[i].startswith(f"{v.spelling} ") for i, v in legal.items())
            found |= {statements[i]: v for i, v in legal.items()}
        assert set(found.values()) == set(SPEC.instructions[opcode].variants)
        assert all(s.count("!") <= any(o.negatable for o in v.sources) for s, v in found.items())


@pytest.mark.exhaustive
def test_what_is_recorded_to_be_harmless_is_not_asked() -> None:
    assert not any(".approx.approx" in s or ".rank" in s for s in asked("sin"))
    for opcode, instruction in SPEC.instructions.items():
        forms = [form for t in instruction.tolerated for form in t.forms]
        shapes = {(types, operands) for _, types, operands in forms}
        combinations = Combinations(SPEC, opcode)
        found: dict[Any, set[frozenset[str]]] = defaultdict(set)
        for block in combinations.asked() if forms else ():
            if block.shape[:2] in shapes:
                spelled = (s.partition(" ")[0] for s in combinations.statements(block)[0])
                found[block.shape[:2]].update(frozenset(s.split(".")) for s in spelled)
        for names, types, operands in forms:
            assert frozenset((opcode, *names, *types)) not in found[types, operands]


def test_types_are_those_of_an_opcode_and_those_that_are_known_to_be_wrong() -> None:
    slct = Combinations(SPEC, "slct")
    assert ("f64", "s32") in slct.types and not set(slct.types) & set(slct.exchanged)
    assert ("f64", "f16") in slct.exchanged and ("s32", "s32") not in slct.exchanged
    assert ("f32",) in slct.too_many(("f32", "s32")) and ("f32", "s32", "f64") in slct.too_many(("f32", "s32"))
    unknown = replace(SPEC.instructions["slct"], elsewhere=None)
    slct = Combinations(replace(SPEC, instructions={"slct": unknown}), "slct")
    assert ("f64", "s32") in slct.types and not slct.exchanged and not slct.too_many(("f32", "s32"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("opcode", "lacks"),
    [
        ("max", lambda v: "NaN" in v.modifiers),
        ("div", lambda v: v.modifiers == ("rz", "ftz")),
        ("setp", lambda v: "ltu" in v.modifiers),
        ("setp", lambda v: not {"or", "xor"}.isdisjoint(v.modifiers)),
        ("setp", lambda v: v.type_names == ("bf16",)),
        ("slct", lambda v: v.type_names == ("f64", "s32")),
        ("max", lambda v: v.operands == 3),
        ("testp", lambda v: "subnormal" in v.modifiers and v.type_names == ("f64",)),
        pytest.param(
            "fma",
            lambda v: v.modifiers == ("rn", "oob", "relu") and v.type_names == ("bf16x2",),
            marks=pytest.mark.exhaustive,
        ),
        pytest.param("fma", lambda v: "oob" in v.modifiers, marks=pytest.mark.exhaustive),
        pytest.param("fma", lambda v: v.type_names == ("f64",), marks=pytest.mark.exhaustive),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_specification_lacks_is_found(opcode: str, lacks: Callable[[Variant], bool], ptxas: Path) -> None:
    instruction = SPEC.instructions[opcode]
    missing = [v for v in instruction.variants if lacks(v)]
    rest = replace(instruction, variants=tuple(v for v in instruction.variants if v not in missing))
    found, _ = verify.illegal(replace(SPEC, instructions={opcode: rest}), ptxas, [NEWEST])
    taken = {v.form for v in missing if SPEC.catalog.takes(v.requires, *NEWEST)}
    names = {(frozenset(d.spelling.split(".")[1:]), d.operands) for d in found if not d.refused}
    assert taken and {(modifiers.union(types), operands) for modifiers, types, operands in taken} <= names


@pytest.mark.exhaustive
def test_combinations_of_every_signature_are_judged(ptxas: Path) -> None:
    wrong, count = verify.illegal(only("selp", "slct"), ptxas, [NEWEST])
    assert wrong == [] and count > 10_000


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", SPEC.instructions)
def test_what_is_not_asked_is_refused(opcode: str, ptxas: Path) -> None:
    """Of what has several mistakes at once, a large sample."""
    combinations = Combinations(SPEC, opcode)
    # Where ptxas stops at what it cannot read, as at shf without a direction, 30,000 would take a quarter of an hour.
    wrong, count = verify.judged(SPEC, ptxas, verify.eras(SPEC), [(combinations, combinations.sample(5_000, seed=14))])
    assert not wrong, "\n".join(map(str, wrong[:40]))
    assert count > 5_000
