"""The machine instructions that do the work, and the names of their registers."""

from __future__ import annotations

import pytest
from ptxspec.proving.machine.evidence import bare, common, matches
from ptxspec.proving.machine.flow import MachineWork, UnknownFlow, work
from ptxspec.proving.machine.kernels import Listed

BEGIN = ("LDC R1,c[0x0][0x28]", "LDC.64 R2,c[0x0][0x210]", "ULDC.64 UR4,c[0x0][0x208]")
LOADS = ("LDG.E.STRONG.SYS R0,desc[UR4][R2.64]", "LDG.E.STRONG.SYS R5,desc[UR4][R2.64+0x10]")
END = ("EXIT", "BRA {end}", "NOP", "NOP")


def listing(*lines: str) -> list[Listed]:
    """Instructions as nvdisasm lists them; `{end}` is the place of the instruction."""
    found: list[Listed] = []
    for n, line in enumerate(lines):
        words = line.format(end=hex(16 * n)).split(" ", 2 if line.startswith("@") else 1)
        guard = {"predicate": words.pop(0)} if line.startswith("@") else {}
        found.append({**guard, "opcode": words[0], **({"operands": words[1]} if words[1:] else {})})
    return found


def done(*lines: str, operands: str = "ab", results: str = "d") -> MachineWork:
    return work(listing(*BEGIN, *LOADS[: len(operands)], *lines, *END), operands, results)


def test_what_stands_between_loads_and_store_is_the_work() -> None:
    assert done("FADD R5,R0,-R5", "STG.E.STRONG.SYS desc[UR4][R2.64+0x20],R5") == MachineWork(1, 0, "FADD d, a, -b")


def test_names_follow_values_through_registers_that_are_used_again() -> None:
    lines = ("FADD R5,|R0|.reuse,R5.reuse", "FADD R0,R5,1.5", "FMUL R5,R0,R5", "STG.E [R2.64+0x20],R5")
    assert done(*lines).text == "FADD t1, |a|, b; FADD t2, t1, 1.5; FMUL d, t2, t1"


def test_a_pair_of_registers_is_one_value() -> None:
    loads = ("LDG.E.64 R4,[R2.64]", "LDG.E.64 R6,[R2.64+0x10]")

    def paired(*lines: str) -> str:
        return work(listing(*BEGIN, *loads, *lines, "STG.E.64 [R2.64+0x20],R4", *END), "ab", "d").text

    assert paired("DADD R4,R4,-R6") == "DADD d, a, -b"
    assert paired("FADD R4,R4,R6", "FADD R5,R5,R7") == "FADD d, a, b; FADD d+1, a+1, b+1"
    assert paired("MUFU.RCP64H R9,R5", "MOV R8,R6", "DFMA R4,R8,R4,R6") == (
        "MUFU.RCP64H t1, a+1; MOV t2, b; DFMA d, t2:t1, a, b"
    )


def test_predicates_come_from_shuffles_and_go_into_votes() -> None:
    lines = (
        "SHFL.UP P0,RZ,R5,R5,R5",
        "FSETP.NEU.AND P1,PT,R0,RZ,P0",
        "VOTE.ANY R4,PT,!P1",
        "STG.E [R2.64+0x20],R4",
    )
    assert done(*lines, results="p") == MachineWork(1, 0, "FSETP.NEU.AND !p, PT, a, RZ, b")


def test_a_predicate_may_stand_before_a_result() -> None:
    lines = ("LOP3.LUT P0,R0,R0,R5,RZ,0xc0,!PT", "STG.E [R2.64+0x20],R0", "VOTE.ANY R4,PT,P0", "STG.E [R2.64+0x30],R4")
    assert done(*lines, results="dq").text == "LOP3.LUT q, d, a, b, RZ, 0xc0, !PT"


def test_what_is_written_under_a_condition_keeps_its_name() -> None:
    lines = ("FSETP.GEU.AND P0,PT,|R0|,2,PT", "@!P0 FMUL R0,R0,4", "MUFU.SQRT R5,R0", "STG.E [R2.64+0x10],R5")
    assert done(*lines, operands="a") == MachineWork(
        3, 0, "FSETP.GEU.AND p1, PT, |a|, 2, PT; @!p1 FMUL a, a, 4; MUFU.SQRT d, a"
    )


def test_an_operand_that_is_the_result_takes_no_instruction() -> None:
    assert done("STG.E [R2.64+0x10],R0", operands="a") == MachineWork(0, 0, "")


def test_of_many_instructions_and_of_jumps_it_is_told_how_often_each_occurs() -> None:
    store = "STG.E [R2.64+0x20],R5"
    many = done(*["FADD.FTZ R5,R5,R0"] * 9, "MUFU.RCP R5,R5", *["FMUL R5,R5,R0"] * 4, store)
    assert many == MachineWork(14, 0, "9 FADD, MUFU.RCP, 4 FMUL")
    code = listing(
        *BEGIN, *LOADS, "MOV R4,0xa0", "CALL.REL.NOINC $slow", store, "EXIT", "FADD R5,R0,R5", "RET R4", *END[1:]
    )
    assert work(code, "ab", "d") == MachineWork(2, 2, "MOV, CALL")


def test_a_register_that_nothing_wrote_is_an_error() -> None:
    with pytest.raises(UnknownFlow, match="R7 is read"):
        done("FADD R5,R0,R7", "STG.E [R2.64+0x20],R5")


def test_what_a_target_does_once_for_a_kernel_is_no_work() -> None:
    code = listing(
        "@P0 BRA 0x20", "BMOV.32 B0,0xffffffff", *BEGIN, LOADS[0], "FADD R5,R0,1", "STG.E [R2.64+0x10],R5", *END
    )
    assert work(code, "a", "d").text == "FADD d, a, 1"


def test_an_instruction_that_nvdisasm_does_not_know_is_a_question_mark() -> None:
    code = listing(*BEGIN, *LOADS, "FADD R5,R0,R5", "STG.E [R2.64+0x20],R5", *END)
    code[5]["opcode"] = " "
    assert work(code, "ab", "d").text == "? d, a, b"


def test_texts_that_differ_in_modifiers_are_told_together() -> None:
    texts = ["FADD.FTZ.RM t1, a, b; MUFU.EX2 d, t1", "FADD t1, a, b; MUFU.EX2 d, t1"]
    told = common(texts)
    assert told == "FADD.* t1, a, b; MUFU.EX2 d, t1"
    assert all(matches(t, told) for t in texts) and bare(texts[0]) == bare(told)
    for other in ("FADD t1, a, b; MUFU.LG2 d, t1", "FADD t1, a, b", "FADD t1, b, a; MUFU.EX2 d, t1"):
        assert not matches(other, told)
    assert common(["@!p1 FMUL.FTZ a, a, 4", "@!p1 FMUL.FTZ a, a, 4"]) == "@!p1 FMUL.FTZ a, a, 4"
    assert not matches("FADD.FTZ d, a, b", "FADD d, a, b")
