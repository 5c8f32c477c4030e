"""What the commands answer about forms of mma."""

from __future__ import annotations

import json
from importlib import import_module

import ptxspec
import pytest
from ptxspec import roots
from ptxspec.cli.main import main
from ptxspec.evaluate import emulator

FP8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
MX = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0"
NV = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"


def answer(capsys: pytest.CaptureFixture[str], command: str, code: int = 0) -> str:
    assert main(command.split()) == code
    out, err = capsys.readouterr()
    return out + err


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (
            "m16n8k32.f32.e4m3 --target H100",
            0,
            [
                f"yes: {FP8} on sm_90",
                "PTX 8.4",
                "a 4 .b32",
                "machine 12 F2FP.F16, 2 HMMA.16816.F32, 4 FADD as ptxas 13.5",
            ],
        ),
        ("m16n8k32.f32.e4m3 --target sm_120f", 0, ["machine QMMA.16832.F32.E4M3.E4M3 as ptxas 13.5.37 writes it"]),
        (
            "m16n8k32.f16.e4m3 --target H100",
            0,
            ["recorded: equal to all results, 5,000 of H100, 5,000 of H200, sums of 32 products"],
        ),
        ("m16n8k16.f32.f16 --target sm_75", 1, ["requires sm_80 or newer; sm_75 is older"]),
        ("m16n8k16.f32.f16 --target sm_86", 0, ["8 products and what was summed before", "5,000 of A2"]),
        ("m16n8k32.s32.s8 --target sm_80", 0, ["all products and C are added exactly", "exact: the manual"]),
        (
            "m16n8k32.sp.s32.s8 --target A100",
            0,
            [
                "metadata 1 .b32",
                "of what is stored, 2 of each 4 elements",
                "of lanes with t // 2 == selector; rests on the machine code",
                "constants selector 0, 1",
                "exact: the manual",
            ],
        ),
        ("m16n8k64.sp.s32.s8", 0, ["row g + 8 * (t % 2), group i + 8 * (t // 2)", "of all lanes", "selector 0 "]),
        (
            "m16n8k8.sp.f32.tf32",
            0,
            ["1 of each 2 elements", "rests on a guess", "selector 0, 1, 2, 3", "no source says"],
        ),
        (
            f"{NV} --target sm_120a",
            0,
            [
                "scale_a 1 .b32, scale_b 1 .b32",
                "byte byte-id-a + i; of lanes with t // 2 == thread-id-a",
                "constants byte-id-a 0; thread-id-a 0, 1; byte-id-b 0; thread-id-b 0, 1, 2, 3",
            ],
        ),
        ("m8n8k4.f32.bf16 --target sm_80", 0, ["manual     does not list it", "computes   nothing", "machine nothing"]),
        ("m16n8k17.f32.f16", 1, ["these types are multiplied in the shapes m8n8k4, m16n8k8, m16n8k16"]),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", 1, ["this database does not describe it"]),
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16",
            1,
            ["there is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"],
        ),
        ("mma.sync", 1, ["no: 'mma.sync' is no form of mma; write its shape"]),
        ("m16n8k16.f32.f16 --operands 3", 2, ["--operands is about a variant"]),
    ],
)
def test_a_form_is_answered_for(capsys: pytest.CaptureFixture[str], command: str, code: int, says: list[str]) -> None:
    found = answer(capsys, f"query {command}", code)
    assert all(" ".join(text.split()) in " ".join(found.split()) for text in says), found


def test_without_a_target_all_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answer(capsys, "query m16n8k16.f32.f16 --format json"))
    claims = {t: s["claim"] for s in found["sums"] for t in s["targets"]}
    assert found["lanes"]["a"] == "row g + 8 * (r % 2), column t * 2 + j + 4 * 2 * (r // 2)"
    assert found["exists"] and found["registers"]["a"] == {"count": 4, "type": ".b32"}
    assert {claims[t] for t in ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100")} == {"recorded"}
    assert claims["sm_87"] == claims["sm_120"] == "reported" and claims["sm_110"] == claims["sm_107"] == "unspecified"
    (machine,) = found["machine"]
    assert machine["instructions"] == {"HMMA.16816.F32": 1} and machine["others"] == 0
    # This ptxas assembles for neither sm_82 nor sm_101.
    assert {*claims} - {*machine["targets"]} == {"sm_82", "sm_101"} and found["assembler"] == "ptxas 13.5.37"


def test_constants_are_told_to_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answer(capsys, f"query {MX} --format json"))
    assert found["constants"] == {
        "byte-id-a": [0, 1, 2, 3], "thread-id-a": [0, 1], "byte-id-b": [0, 1, 2, 3], "thread-id-b": [0, 1, 2, 3],
    }  # fmt: skip
    assert found["registers"]["scale_b"] == {"count": 1, "type": ".b32"} and "thread-id-b" in found["lanes"]["scale_b"]
    assert json.loads(answer(capsys, "query m16n8k32.f32.e4m3 --format json"))["constants"] == {}


def test_steps_say_what_was_cut(capsys: pytest.CaptureFixture[str]) -> None:
    operands = "1,2^-7,3 1,2^-7,0.3125 0.001"
    found = answer(capsys, f"eval m16n8k32.f32.e4m3 {operands} --target L40S --trace")
    assert (
        "step 1, truncated to multiples of 0.0001220703125" in found
        and "k = 1   0.00006103515625, truncated to 0.0" in found
    )
    assert found.endswith("d  1.9384766 0x1.f04p+0 0x3ff82000\n")
    halves = answer(capsys, f"eval m16n8k32.f32.e4m3 {operands} --target H100 --trace")
    assert "C, 0.0010000000474974513..., is added" in " ".join(halves.split())
    steps = json.loads(answer(capsys, f"eval m16n8k32.f32.e4m3 {operands} --target sm_120 --format json"))["steps"]
    assert [t["k"] for t in steps[0]["terms"]] == [None, 0, 1, 2]
    assert "k % 4" not in answer(capsys, "eval m16n8k16.f32.f16 inf 1 0 --target A100 --trace")


def test_terms_have_their_scales(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, f"eval {MX} 1,2 1,2 0.001 2^3 2^-9 --target sm_120a --trace")
    assert "scale_b  2^-9 0x1p-9 0x76\n" in found and "k = 1   0.0625\n" in found and "reported" in found
    row = ",".join(["1"] * 16 + ["6"])
    found = answer(capsys, f"eval {NV} {row} {row} 0.001 1,0.5,0,0 1,1.125,0,0 --target sm_120a --trace")
    assert "k = 0 to 15   16.0\n" in found and "k = 16 to 31  20.25\n" in found and "before        0.001" in found
    told = json.loads(answer(capsys, f"eval {NV} 1 1 0 1,1,1,0x7f 1,1,1,1 --target sm_120a --format json"))
    assert told["result"] == "0x7fffffff" and told["group"] == 16 and told["steps"][0]["terms"] == []


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (f"{MX} 1 1 0 --target sm_120a", "an element of C, the scales of the row and the scales of the column"),
        (f"{MX} 1 1 0 1,2 1 --target sm_120a", "must have the shape (1,) in one sum, not (2,)"),
        ("m16n8k64.sp.s32.s8 1 1 0 --target sm_80", "is sparse, and its steps are not available"),
        ("m16n8k16.f32.f16 1 1 0", "--target is required"),
        ("m16n8k16.f32.f16 1 1 --target A100", "takes a row of A, a column of B"),
        ("m16n8k16.f32.f16 1 1 0 --target sm_75", "requires sm_80"),
        ("m16n8k16.f32.f16 1,one 1 0 --target A100", "operand 'one' is not a number"),
        ("m16n8k8.f32.tf32 1,2,3,4,5,6,7,8,9 1 0 --target A100", "A must have 8 elements in a sum"),
        ("m8n8k4.f32.f16 1 1 0 --target A100", "no source says how sm_80 computes"),
        ("m16n8k16.f32.f16 1 1 0,1 --target A100", "expected one element of C"),
    ],
)
def test_what_cannot_be_computed_is_told(capsys: pytest.CaptureFixture[str], command: str, says: str) -> None:
    assert says in answer(capsys, f"eval {command}", 2)


def test_a_form_and_the_page_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "show mma").startswith("# Tensor cores\n")
    assert "8 products and what was summed before" in " ".join(answer(capsys, "show m16n8k16.f32.f16").split())
    assert "no form of mma" in answer(capsys, "show m16n8k17.f32.f16", 2)


def test_two_targets_are_compared_on_the_same_matrices(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "compare m16n8k16.f32.f16@A100 m16n8k16.f32.f16@H100", 1)
    assert "differ. Tried: 100" in found and "5,163 results differ: half of them by 1 ulp or less" in found
    # The command that it gives tells one of both results.
    command = found.partition("why\n  ptxspec ")[2]
    assert "-51.66289 -0x1.9d4d9ap+5 0xc24ea6cd on sm_80" in found
    assert answer(capsys, command).endswith("d  -51.66289 -0x1.9d4d9ap+5 0xc24ea6cd\n")
    assert "are equal" in answer(capsys, "compare m16n8k16.f32.f16@A100 m16n8k16.f32.f16@A2")
    told = json.loads(answer(capsys, "compare m16n8k32.f32.e4m3@L40S m16n8k32.f32.e4m3@H100 --format json", 1))
    assert not told["equal"] and told["tried"] == told["differ"] == 12_800 and told["median_ulp"] > 100


def test_scales_are_drawn_and_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "are equal" in answer(capsys, f"compare {NV}@sm_120a {NV}@sm_121a")
    # Of a target that cuts more both sides differ, and the command that is given tells the first one's result.
    sums = import_module(f"{emulator(roots.find(None)).__name__}.tensor")
    rows = tuple(r._replace(targets=("sm_121",), bits=12) for r in sums.ROWS if "mxf4nvf4" in r.kinds)
    monkeypatch.setattr(sums, "ROWS", (*rows, *sums.ROWS))
    found = answer(capsys, f"compare {NV}@sm_120a {NV}@sm_121a", 1)
    result, command = found.partition("for example\n  ")[2].partition(" on sm_120a")[0], found.partition("ptxspec ")[2]
    assert result and answer(capsys, command).endswith(f"d        {result}\n")
    told = json.loads(answer(capsys, f"compare {NV}@sm_120a {NV}@sm_121a --format json", 1))["example"]
    assert [len(told[x]) for x in ("a", "b", "scale_a", "scale_b")] == [64, 64, 4, 4] and told["results"][0] in result


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            f"{NV}@sm_120a {NV.replace('ue4m3', 'ue8m0')}@sm_120a",
            "only forms of the same shape, types and scales can be compared",
        ),
        ("m16n8k32.sp.s32.s8@A100 m16n8k32.sp.s32.s8@H100", "sparse forms are not supported here"),
        ("m16n8k16.f32.f16 m16n8k16.f32.f16@A2", "has no target; add one, as in m16n8k16.f32.f16@H100"),
        ("m16n8k16.f32.f16@sm_75 m16n8k16.f32.f16@A2", "is not available on sm_75"),
        ("m16n8k16.f32.f16@A100 add.f32", "'add.f32' is no form of mma"),
        ("m16n8k16.f32.f16@A100 m16n8k8.f32.f16@A100", "only forms of the same shape"),
    ],
)
def test_what_cannot_be_compared_is_told(capsys: pytest.CaptureFixture[str], command: str, says: str) -> None:
    assert says in answer(capsys, f"compare {command}", 2)


def test_python_is_answered_as_the_command_line_is(db: ptxspec.Database, capsys: pytest.CaptureFixture[str]) -> None:
    found = db.query("m16n8k16.f32.f16", target="A100")
    assert found.available and found.claim == "recorded"
    command = "query m16n8k16.f32.f16 --target A100"
    assert answer(capsys, command).rstrip("\n") == repr(found)
    assert json.loads(answer(capsys, f"{command} --format json")) == found.as_json()
    assert not db.query("m16n8k16.f32.f16", target="sm_75").available
    with pytest.raises(ptxspec.PtxspecError, match="operands= applies to variants only; this is a form"):
        db.query("m16n8k16.f32.f16", 2)
