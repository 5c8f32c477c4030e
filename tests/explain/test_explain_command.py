"""`ptxspec explain` as a command: messages as arguments, what it prints, and its exit code."""

from __future__ import annotations

import io
import json

import pytest
from helpers.commands import Run

LOG = """\
pynvjitlink.api.NvJitLinkError: NVJITLINK_ERROR_PTX_COMPILE error when calling nvJitLinkAddData
ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'
ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (<cudapy-ptx>)
"""


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["Feature '.NaN' requires .target sm_80 or higher"], "compile for sm_80 or newer"),
        (["nvcc fatal   : Unsupported gpu architecture 'compute_120'"], "use nvcc of CUDA 12.8"),
        (["Unsupported .version 8.8; current version is '8.4'"], "install CUDA 12.9 or newer"),
        (["CUDA_ERROR_NO_BINARY_FOR_GPU"], "compile for this machine's GPU"),
        (["Constant overflow"], "the integer is too large for every type"),
        # A log as one argument
        ([LOG], "install nvJitLink of CUDA 12.8"),
        (
            [
                "Feature 'add.f32x2' requires .target sm_100 or higher",
                "Feature 'add.f32x2' requires PTX ISA .version 8.6 or later",
            ],
            "compile for sm_100 or newer (-arch=sm_100; .target sm_100 in PTX) with .version 8.6 (CUDA 12.8) or newer",
        ),
    ],
)
def test_a_message_may_be_an_argument(arguments: list[str], first: str, run: Run) -> None:
    code, out, _ = run("explain", *arguments)
    assert code == 0 and out.startswith(first)


def test_other_ways_are_told_on_request(run: Run) -> None:
    message = "Illegal modifier '.ftz' for instruction 'fma'"
    code, short, _ = run("explain", message)
    more, whole, _ = run("explain", "--all", message)
    assert code == more == 0 and "--all" in short and "is spelled" not in short
    assert "  or fma is spelled fma.rnd.ftz{.sat}.f32, " in whole and "--all" not in whole


def test_explanations_as_json(run: Run) -> None:
    message = "ptxas a.ptx, line 9; error   : Instruction 'tanh' requires .target sm_75 or higher"
    code, out, _ = run("explain", "--format", "json", message)
    assert code == 0 and json.loads(out) == {
        "schema": 1,
        "targets": {"gpus": [], "compiled": []},
        "explanations": [
            {
                "change": "compile for sm_75 or newer (-arch=sm_75; .target sm_75 in PTX) with .version 7.0 "
                "(CUDA 11.0) or newer",
                "why": ["'tanh' was introduced with sm_75"],
                "others": [],
                "messages": [
                    {
                        "tool": "ptxas",
                        "text": "Instruction 'tanh' requires .target sm_75 or higher",
                        "places": [{"file": "a.ptx", "line": 9}],
                    }
                ],
            }
        ],
    }
    code, out, _ = run("explain", "--format", "json", "")
    assert code == 0 and json.loads(out) == {
        "schema": 1,
        "targets": {"gpus": [], "compiled": []},
        "explanations": [],
    }


@pytest.mark.parametrize("arguments", [[], ["--format", "json"]], ids=["text", "json"])
@pytest.mark.parametrize(
    ("log", "code"),
    [
        ("Something else altogether\nAnd more\n", 2),
        ("Something else altogether\nFeature '.NaN' requires .target sm_80 or higher\n", 0),
    ],
)
def test_nothing_that_it_knows_is_misuse(arguments: list[str], log: str, code: int, run: Run) -> None:
    """A message about other things has no answer here; where one of several has, the others are said to have none."""
    found, out, _ = run("explain", *arguments, *log.splitlines())
    assert found == code and "this message is not about an instruction in this database" in out


def test_a_log_without_complaints_needs_no_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"all is well\n")))
    code, out, _ = run("explain")
    assert code == 0 and out == "the input has no error message about PTX\n"
