"""Questions about PTX that the database does not describe, and about families."""

from __future__ import annotations

import json

import ptxemu
import pytest
from helpers.commands import Run
from ptxspec import Database

_CP = "cp.async.wait_all"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            (_CP,),
            "cp is a PTX instruction (section 9.7.10, Data movement and conversion) "
            "and requires sm_80 and PTX 7.0 or newer",
        ),
        ((_CP, "--target", "sm_75"), "it requires sm_80 or newer; sm_75 is older"),
        ((_CP, "--target", "sm_90"), "sm_90 supports it from PTX 7.8 on"),
        ((_CP, "--target", "sm_90", "--ptx", "6.5"), "it requires PTX 7.8 (CUDA 11.8) or newer; 6.5 is older"),
        ((_CP, "--ptx", "7.0"), "PTX 7.0 supports it"),
        (("wgmma.fence.sync.aligned", "--target", "sm_100a"), "sm_100a does not support it, which requires sm_90a"),
        (("shfl.idx.b32", "--target", "sm_75"), "sm_75 supports it from PTX 6.3 to 6.3"),
        (("vmad",), "vmad is a PTX instruction (section 9.7.20, Video) and requires sm_20 and PTX 2.0 or newer"),
    ],
)
def test_what_is_outside_is_known_to_be_ptx(run: Run, asked: tuple[str, ...], said: str) -> None:
    code, out, _ = run("query", *asked)
    assert code == 1 and said in " ".join(out.split())
    assert "did you mean" not in out and "spelled alike" not in out
    found = json.loads(run("query", *asked, "--format", "json")[1])
    assert [r["code"] for r in found["reasons"]] == ["not-in-database"] and found["requires"]["ptx"]
    assert not (found["exists"] or found["available"] or found["nearest"])


@pytest.mark.parametrize(
    ("asked", "whole"),
    [
        (("atom.add.f16", "--target", "sm_70"), "atom.global.add.noftz.f16"),
        (("atom.global.add.bf16x2", "--target", "sm_80"), "atom.global.add.noftz.bf16x2"),
        (("red.global.add.f16x2",), "red.global.add.noftz.f16x2"),
    ],
)
def test_what_lacks_a_modifier_requires_what_it_requires_with_it(run: Run, asked: tuple[str, ...], whole: str) -> None:
    code, out, _ = run("query", *asked)
    assert code == 1 and f"{asked[0]} lacks .noftz, with which it exists and requires " in " ".join(out.split())
    lacking, found = (
        json.loads(run("query", spelling, *asked[1:], "--format", "json")[1]) for spelling in (asked[0], whole)
    )
    assert lacking["requires"] == found["requires"] and lacking["requires"]["target"] != "sm_11"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("FFMA", "machine code (SASS), not PTX; ptxas writes FFMA alone for fma.rnd{.ftz}{.sat}.f32"),
        ("MUFU.EX2", "machine code (SASS), not PTX; ptxas writes MUFU alone for ex2.approx.ftz.f32"),
        ("MUFU.RSQ", "ptxas writes MUFU alone for rsqrt.approx.ftz.f32"),
        ("v_exp_f32", "v_exp_f32 is an instruction of AMD's GPUs, not PTX"),
        ("v_cvt_pkrtz_f16_f32", "is an instruction of AMD's GPUs, not PTX"),
    ],
)
def test_instructions_of_machines_are_told_from_misspelled_ones(run: Run, asked: str, said: str) -> None:
    code, out, _ = run("query", asked)
    assert code == 1 and said in " ".join(out.split())
    assert "did you mean" not in out and "spelled alike" not in out


@pytest.mark.parametrize(
    ("asked", "condition"),
    [
        ("tf32", "type=tf32"),
        ("e4m3", "type=e4m3x2"),
        (".ftz", "modifier=ftz"),
        ("nan", "modifier=NaN or modifier=nan"),
    ],
)
def test_of_a_type_or_a_modifier_alone_the_list_is_named(run: Run, asked: str, condition: str) -> None:
    code, out, _ = run("query", asked)
    assert code == 1 and f"`ptxspec list --where '{condition}'`" in " ".join(out.split())
    assert "did you mean" not in out and "spelled alike" not in out
    assert run("list", "--where", condition)[0] == 0


def test_an_opcode_that_is_a_modifier_too_is_an_opcode(run: Run) -> None:
    assert "abs lacks a type" in run("query", "abs")[1]


def test_what_is_spelled_in_full_lacks_nothing(run: Run) -> None:
    for spelling in ("atom.global.exch.b64", "atom.global.add.noftz.f16", "redux.sync.max.f32", "wgmma.mma_async"):
        assert "lacks" not in run("query", spelling)[1]


def test_show_says_so_as_well(run: Run) -> None:
    code, _, error = run("show", "cp")
    assert code == 2 and "cp is a PTX instruction (section 9.7.10, Data movement and conversion)" in error


@pytest.mark.parametrize("text", ["vote.sync.all.pred p, q, a;", "vadd.u32.u32.u32 d, a, b;", "bar.sync 0;"])
def test_the_emulator_knows_it_too(text: str) -> None:
    opcode = text.partition(" ")[0].partition(".")[0]
    with pytest.raises(ValueError, match=f"{opcode} is a PTX instruction; ptxemu does not emulate it"):
        ptxemu.function(text)
    with pytest.raises(LookupError, match=f"^{opcode}: {opcode} is a PTX instruction; ptxemu does not emulate it"):
        ptxemu.compile(opcode)


@pytest.mark.parametrize(
    ("spelling", "groups", "count"),
    [
        ("setp.cmp.f32", {"cmp": 14}, 14),
        ("fma.rnd.f32", {"rnd": 4}, 4),
        ("cvt.frnd.f16.f32", {"frnd": 4}, 4),
        ("set.cmp.bool.f32.f32", {"cmp": 14, "bool": 3}, 42),
    ],
)
def test_a_placeholder_is_a_question_about_the_family(
    run: Run, db: Database, spelling: str, groups: dict[str, int], count: int
) -> None:
    code, out, _ = run("query", spelling)
    assert code == 0 and out.startswith(f"yes: {spelling} stands for {count} variants\n")
    found = json.loads(run("query", spelling, "--format", "json")[1])
    assert found["exists"] and found["available"] and not found["reasons"]
    assert {name: len(members) for name, members in found["family"]["groups"].items()} == groups
    for v in found["family"]["variants"]:
        assert db.variant(v["variant"], v["operands"]).requires.as_json() == v["requires"]


def test_a_family_has_what_the_manual_lists(run: Run) -> None:
    """ptxas takes fma.rz.bf16 and makes something else of it: nobody means that."""
    assert run("query", "fma.rnd.bf16")[1].splitlines()[1].split() == ["rnd", "one", "of", ".rn"]


def test_a_family_that_a_target_lacks_is_not_there(run: Run) -> None:
    code, out, _ = run("query", "setp.cmp.bf16", "--target", "sm_80")
    assert code == 1 and out.startswith("no: setp.cmp.bf16 stands for 0 of 14 variants on sm_80\n")


def test_one_of_a_family_is_asked_for_where_one_is_needed(run: Run) -> None:
    code, _, error = run("eval", "fma.rnd.f32", "1", "2", "3")
    assert code == 2 and "fma.rnd.f32 stands for 4 variants; name one of them: fma.rn.f32, fma.rz.f32" in error


def test_a_family_is_shown_as_query_tells_it(run: Run) -> None:
    _, told, _ = run("query", "fma.rnd.f32")
    code, shown, _ = run("show", "fma.rnd.f32")
    assert code == 0 and told in shown


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--ptx", "12.4"), "12.4 is a CUDA release, not a PTX version; CUDA 12.4 supports PTX up to 8.4: --ptx 8.4"),
        (("--ptx", "12.6"), "supports PTX up to 8.5: --ptx 8.5"),
        (("--ptx", "13"), "13 is a CUDA release, not a PTX version; CUDA 13 supports PTX up to 9.0: --ptx 9.0"),
        (("--ptx", "10.2"), "--ptx 6.5"),
        (("--ptx", "77"), "unknown PTX version '77'; known: 1.0 to 9.5"),
        (("--target", "gfx90a"), "'gfx90a' is a GPU of AMD; only NVIDIA's GPUs run PTX"),
        (("--target", "mi300"), "'mi300' is a GPU of AMD"),
        (("--target", "Apple M2"), "'Apple M2' is a GPU of Apple"),
        (("--count",), "unknown option '--count'\n"),
        (("--opreands", "2"), "unknown option '--opreands'; did you mean '--operands'?"),
    ],
)
def test_a_near_miss_is_what_people_mean(run: Run, given: tuple[str, ...], said: str) -> None:
    code, _, error = run("query", "add.f32", *given)
    assert code == 2 and said in error
