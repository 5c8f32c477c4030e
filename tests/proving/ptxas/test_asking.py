"""One command asks for many pairs of a target and a PTX version; what it says otherwise than expected is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from ptxspec.model import Spec
from ptxspec.proving.ptxas.asking import Sheet, UnsupportedTarget, judge, unexpected
from ptxspec.proving.ptxas.statements import StatementWriter, signature

FMA, MAX, NOTHING = "fma.rn.f32 %f0, %f1, %f2, %f3;", "max.bf16 %h0, %h1, %h2;", "fma.rn.s64 %b0, %b1, %b2, %b3;"
# What cannot even be parsed ends the judging of a file.
BROKEN = "fma.rn.f32 %f0 %f1;"
OLD, NEW = ("sm_70", "8.0"), ("sm_80", "8.0")


def test_nothing_is_unexpected_where_all_is_known(ptxas: Path) -> None:
    sheet = Sheet([FMA, MAX, NOTHING])
    assert list(unexpected(ptxas, sheet, {OLD: {0}, NEW: {0, 1}, ("sm_121f", "9.5"): {0, 1}})) == []


def test_what_is_unexpected_is_said_of_its_pair(ptxas: Path) -> None:
    found = list(unexpected(ptxas, Sheet([FMA, MAX, NOTHING]), {OLD: {0, 1}, NEW: {0, 1}, ("sm_90", "8.0"): {1, 2}}))
    (refused,) = judge(ptxas, [MAX], *OLD)
    (wrong,) = judge(ptxas, [NOTHING], *NEW)
    assert "sm_80 or higher" in refused[0]
    assert found == [(OLD, 1, refused), (("sm_90", "8.0"), 0, []), (("sm_90", "8.0"), 2, wrong)]


def test_an_exchange_of_verdicts_is_found_where_their_numbers_are_right(ptxas: Path) -> None:
    found = list(unexpected(ptxas, Sheet([FMA, NOTHING]), {OLD: {1}, NEW: {0}}))
    assert [(pair, place, bool(said)) for pair, place, said in found] == [(OLD, 0, False), (OLD, 1, True)]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_stops_the_judging_hides_nothing(ptxas: Path, place: int) -> None:
    statements = [FMA, NOTHING]
    statements.insert(place, BROKEN)
    fine = {i for i, s in enumerate(statements) if s == FMA}
    assert list(unexpected(ptxas, Sheet(statements), {OLD: fine, NEW: fine})) == []
    found = list(unexpected(ptxas, Sheet(statements), {OLD: fine, NEW: {0, 1, 2}}))
    assert [(pair, i) for pair, i, _ in found] == [(NEW, i) for i in range(3) if i not in fine]


def test_a_target_that_is_not_known_is_no_verdict(ptxas: Path) -> None:
    for pair in (("sm_100", "8.0"), ("sm_1", "8.0"), ("sm_80", "1.1")):
        with pytest.raises(UnsupportedTarget):
            list(unexpected(ptxas, Sheet([FMA]), {NEW: {0}, pair: set()}))


@pytest.mark.parametrize(
    "wrong", ["fma.rn.f32 %f0, %f1, %f2, %f3", f"{FMA} {FMA}", "add.f32 %f0,\n%f1, %f2;", "}; {;", "{ %f0;"]
)
def test_a_sheet_has_one_statement_on_a_line(wrong: str) -> None:
    with pytest.raises(ValueError, match="not one instruction on one line"):
        Sheet([FMA, wrong, FMA])


def test_vectors_are_statements() -> None:
    assert Sheet(["cvt.rs %r0, {%f1, %f2}, %r3;", FMA]).count == 2


def test_a_crash_is_a_refusal_of_what_it_was_about(ptxas: Path, spec: Spec) -> None:
    """On a modifier that does not belong there ptxas says so, and breaks down."""
    assert spec.assembler.crashing
    for name in spec.assembler.crashing:
        crash = f"abs.{name}.f32 %f0, %f1;"
        first, refused, last, wrong = judge(ptxas, [FMA, crash, FMA, NOTHING], NEW[0], "9.5")
        assert first == last == [] and wrong and refused[0] == f"Illegal modifier '.{name}' for instruction 'abs'"
        assert refused[-1] == "ptxas itself crashed"
        assert list(unexpected(ptxas, Sheet([FMA, crash, FMA]), {(NEW[0], "9.5"): {0, 2}})) == []


@pytest.mark.exhaustive
def test_a_modifier_that_crashes_ptxas_is_refused_on_every_opcode_without_it(ptxas: Path, spec: Spec) -> None:
    """So that nothing is lost where `verify` does not ask for it."""
    for name in spec.assembler.crashing:
        for instruction in spec.instructions.values():
            v = next(v for v in instruction.variants if spec.catalog.takes(v.requires, "sm_107a", "9.5"))
            if not any(name in other.modifiers for other in instruction.variants):
                spelled = ".".join((v.opcode, *v.modifiers, name, *v.type_names))
                statement = StatementWriter(spec.assembler.registers).statement(spelled, signature(v))
                ((refused, *_),) = judge(ptxas, [statement], "sm_107a", "9.5")
                assert f"for instruction '{v.opcode}" in refused
