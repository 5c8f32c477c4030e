"""Statements are made from signatures, and `ptxspec verify` judges them whatever these are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.repository import specification
from ptxspec import PtxspecError
from ptxspec.model import Spec, Variant
from ptxspec.proving.ptxas import verify
from ptxspec.proving.ptxas.statements import StatementWriter, alike, signature

NEWEST = ("sm_100a", "9.5")


@pytest.fixture(scope="module")
def added() -> Spec:
    """The specification with add and the opcodes that compare and select alone."""
    return only(specification(), "add", "testp", "setp", "selp", "slct")


def only(spec: Spec, *opcodes: str) -> Spec:
    return replace(spec, instructions={o: spec.instructions[o] for o in opcodes})


def variant(spec: Spec, spelling: str) -> Variant:
    instruction = spec.instructions[spelling.partition(".")[0]]
    return next(v for v in instruction.variants if v.spelling == spelling)


@pytest.mark.parametrize(
    ("spelling", "written"),
    [
        ("add.f32", "add.f32 %f0, %f1, %f2;"),
        ("testp.finite.f64", "testp.finite.f64 %p0, %d1;"),
        ("add.bf16x2", "add.bf16x2 %r0, %r1, %r2;"),
        ("setp.lt.f64", "setp.lt.f64 %p0, %d1, %d2;"),
        ("setp.lt.f16x2", "setp.lt.f16x2 %p0, %r1, %r2;"),
        ("selp.f32", "selp.f32 %f0, %f1, %f2, %p3;"),
        ("slct.f64.s32", "slct.f64.s32 %d0, %d1, %d2, %r3;"),
    ],
)
def test_each_operand_is_in_a_register_of_its_type(added: Spec, spelling: str, written: str) -> None:
    s = signature(variant(added, spelling))
    assert StatementWriter(added.assembler.registers).statement(spelling, s) == written


def test_a_second_result_and_negated_predicates_are_written_where_they_are_wanted(added: Spec) -> None:
    for spelling, numbers in (("setp.lt.and.f32", "%f2, %f3"), ("setp.lt.and.f16x2", "%r2, %r3")):
        s = signature(variant(added, spelling))
        found = StatementWriter(added.assembler.registers).statement("setp", s, second=True, inverted=True)
        assert found == f"setp %p0|%p1, {numbers}, !%p4;"


def test_a_spelling_that_does_not_exist_has_the_operands_of_the_most_similar_one(added: Spec) -> None:
    def written(opcode: str, types: tuple[str, ...], operands: int) -> str:
        known = [signature(v) for v in added.instructions[opcode].variants]
        return StatementWriter(added.assembler.registers).statement(opcode, alike(known, types, operands))

    assert written("add", ("f64",), 3) == "add %d0, %d1, %d2, %d3;"
    assert written("add", ("f64",), 1) == "add %d0, %d1;"
    assert written("setp", ("s16",), 2) == "setp %p0, %h1, %h2;"
    assert written("slct", ("s32", "f64"), 3) == "slct %r0, %r1, %r2, %d3;"
    assert written("selp", ("f32",), 4) == "selp %f0, %f1, %f2, %p3, %p4;"


def test_a_type_without_registers_is_said(added: Spec) -> None:
    registers = {t: names for t, names in added.assembler.registers.items() if t != "s32"}
    with pytest.raises(PtxspecError, match=r"no registers of \.s32 are known"):
        StatementWriter(registers).statement("slct", signature(variant(added, "slct.f32.s32")))


def test_variants_of_every_signature_are_judged(added: Spec, ptxas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "pairs", lambda spec: [NEWEST, ("sm_53", "4.2"), ("sm_10", "1.3")])
    assert verify.variants(added, ptxas) == []


def changed(spec: Spec, spelling: str, **changes: object) -> Spec:
    v = variant(spec, spelling)
    instruction = spec.instructions[v.opcode]
    return replace(spec, instructions={v.opcode: replace(instruction, variants=(replace(v, **changes),))})


def test_a_wrong_signature_is_found(added: Spec, ptxas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "pairs", lambda spec: [NEWEST])
    v = variant(added, "setp.lt.and.f16")
    predicate, number = v.result, v.sources[0]
    for spelling, changes, said in (
        ("setp.lt.and.f16", {"second": replace(predicate, name="q")}, "with 3 operands and p|q on sm_100a, PTX 9.5"),
        ("selp.f32", {"sources": (number, number, v.sources[2])}, "with 3 operands on"),
        ("slct.f32.s32", {"result": predicate}, "ptxas refuses: Arguments mismatch"),
    ):
        found = verify.variants(changed(added, spelling, **changes), ptxas)
        assert found and said in str(found[0])


@pytest.mark.exhaustive
def test_what_a_signature_leaves_out_is_found(added: Spec, ptxas: Path) -> None:
    """p|q, and a `!` before a predicate, must be refused where no variant has them."""
    setp = added.instructions["setp"]
    alone = [v for v in setp.variants if v.modifiers in (("lt",), ("lt", "and")) and v.type_names == ("f32",)]
    first = replace(alone[0], second=None)
    for variants, said in (
        ((first, replace(alone[0], modifiers=("gt",))), "setp.lt.f32 with 2 operands and p|q on"),
        ((replace(alone[1], sources=(*alone[1].sources[:2], replace(alone[1].sources[2], negatable=False))),),
         "setp.lt.and.f32 with 3 operands and ! on"),
    ):  # fmt: skip
        one = replace(added, instructions={"setp": replace(setp, variants=variants)})
        found, _ = verify.illegal(one, ptxas, [NEWEST])
        assert said in "\n".join(map(str, found))
