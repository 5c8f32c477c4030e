"""What `ptxspec verify` asks beside the variants: enough that whatever ptxas takes, and nobody stated, is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.repository import specification
from ptxspec.model import Spec, Variant
from ptxspec.ptxas import verify
from ptxspec.ptxas.combinations import Combinations

NEWEST = ("sm_100a", "9.5")
SPEC = specification()


def only(*opcodes: str) -> Spec:
    return replace(SPEC, instructions={o: SPEC.instructions[o] for o in opcodes})


def asked(opcode: str, spec: Spec = SPEC) -> set[str]:
    """All that is asked of an opcode, as it is written."""
    combinations = Combinations(spec, opcode)
    return {s for block in combinations.asked() for s in combinations.statements(block)[0]}


def test_every_kind_of_combination_is_asked() -> None:
    """Of fma not everything is: it has many modifiers."""
    found = asked("fma")
    for kind, statement in (
        ("a variant", "fma.rn.ftz.relu.f16 %h0, %h1, %h2, %h3;"),
        ("its own names", "fma.rz.ftz.sat.relu.oob.bf16x2 %r0, %r1, %r2, %r3;"),
        ("a foreign modifier", "fma.rn.ftz.NaN.f32 %f0, %f1, %f2, %f3;"),
        ("a second of a group", "fma.rz.rn.f32 %f0, %f1, %f2, %f3;"),
        ("a wrong type", "fma.rn.sat.u32 %r0, %r1, %r2, %r3;"),
        ("too many types", "fma.f32.f32 %f0, %f1, %f2, %f3;"),
        ("a missing operand", "fma.rn.f32 %f0, %f1, %f2;"),
        ("too many operands", "fma.rn.f64 %d0, %d1, %d2, %d3, %d4;"),
        ("a foreign modifier and a missing operand", "fma.NaN.f32 %f0, %f1, %f2;"),
    ):
        assert statement in found, kind


def test_of_few_combinations_every_one_is_asked() -> None:
    modifiers = [m for m in SPEC.modifiers if not any(m in names for names in SPEC.assembler.ignored)]
    found = asked("copysign")
    assert {f"copysign.{m}.f64 %d0, %d1;" for m in modifiers} < found
    # Of two that it does not have one is a rounding direction, and .full is taken in front only.
    more = {m for m in modifiers if not SPEC.modifiers[m].mode} - {"full"}
    assert {f"copysign.rm.{m}.f32 %f0, %f1, %f2, %f3;" for m in more} < found
    assert "copysign.full.rm.f64 %d0, %d1;" in found


def test_a_variant_is_legal_in_its_own_shape_alone() -> None:
    for opcode in ("fma", "setp", "selp"):
        combinations = Combinations(SPEC, opcode)
        found: dict[str, Variant] = {}
        for block in combinations.asked():
            statements, legal = combinations.statements(block)
            assert all(statements[i].startswith(f"{v.spelling} ") for i, v in legal.items())
            found |= {statements[i]: v for i, v in legal.items()}
        assert set(found.values()) == set(SPEC.instructions[opcode].variants)
        assert all(s.count("!") <= any(o.negatable for o in v.sources) for s, v in found.items())


def test_what_is_recorded_to_be_harmless_is_not_asked() -> None:
    assert not any(".approx.approx" in s or ".rank" in s for s in asked("sin"))
    for opcode, instruction in SPEC.instructions.items():
        for form in (form for t in instruction.tolerated for form in t.forms):
            names, types, operands = form
            for block in (b for b in Combinations(SPEC, opcode).asked() if b.shape[:2] == (types, operands)):
                statements, _ = Combinations(SPEC, opcode).statements(block)
                assert len(statements) == len(block.sets.names) - (names in block.sets.places)


def test_types_are_those_of_an_opcode_and_those_that_are_known_to_be_wrong() -> None:
    slct = Combinations(SPEC, "slct")
    assert ("f64", "s32") in slct.types and not set(slct.types) & set(slct.exchanged)
    assert ("f64", "f16") in slct.exchanged and ("s32", "s32") not in slct.exchanged
    assert ("f32",) in slct.too_many(("f32", "s32")) and ("f32", "s32", "f64") in slct.too_many(("f32", "s32"))
    unknown = replace(SPEC.instructions["slct"], elsewhere=None)
    slct = Combinations(replace(SPEC, instructions={"slct": unknown}), "slct")
    assert ("f64", "s32") in slct.types and not slct.exchanged and not slct.too_many(("f32", "s32"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("opcode", "lacks"),
    [
        ("fma", lambda v: v.modifiers == ("rn", "oob", "relu") and v.type_names == ("bf16x2",)),
        ("fma", lambda v: "oob" in v.modifiers),
        ("fma", lambda v: v.type_names == ("f64",)),
        ("setp", lambda v: "ltu" in v.modifiers),
        ("setp", lambda v: not {"or", "xor"}.isdisjoint(v.modifiers)),
        ("setp", lambda v: v.type_names == ("bf16",)),
        ("slct", lambda v: v.type_names == ("f64", "s32")),
        ("max", lambda v: v.operands == 3),
        ("testp", lambda v: "subnormal" in v.modifiers and v.type_names == ("f64",)),
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


def test_combinations_of_every_signature_are_judged(ptxas: Path) -> None:
    wrong, count = verify.illegal(only("selp", "slct"), ptxas, [NEWEST])
    assert wrong == [] and count > 10_000


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", SPEC.instructions)
def test_what_is_not_asked_is_refused(opcode: str, ptxas: Path) -> None:
    """Of what has several mistakes at once, a large sample."""
    combinations = Combinations(SPEC, opcode)
    wrong, count = verify.judged(
        SPEC, ptxas, verify.eras(SPEC), [(combinations, combinations.sample(100_000, seed=14))]
    )
    assert not wrong, "\n".join(map(str, wrong[:40]))
    assert count > 100_000
