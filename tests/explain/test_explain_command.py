"""`ptxspec explain` as a command: messages as arguments, what it prints, and its exit code."""

from __future__ import annotations

import io
import json

import pytest
from helpers import ROOT
from ptxspec.cli.main import main

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
def test_a_message_may_be_an_argument(arguments: list[str], first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--root", str(ROOT), *arguments]) == 0
    assert capsys.readouterr().out.startswith(first)


def test_other_ways_are_told_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    message = "Illegal modifier '.ftz' for instruction 'fma'"
    assert main(["explain", "--root", str(ROOT), message]) == 0
    short = capsys.readouterr().out
    assert main(["explain", "--root", str(ROOT), "--all", message]) == 0
    whole = capsys.readouterr().out
    assert "--all" in short and "is spelled" not in short
    assert "  or fma is spelled fma.rnd.ftz{.sat}.f32, " in whole and "--all" not in whole


def test_explanations_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    message = "ptxas a.ptx, line 9; error   : Instruction 'tanh' requires .target sm_75 or higher"
    assert main(["explain", "--root", str(ROOT), "--format", "json", message]) == 0
    assert json.loads(capsys.readouterr().out) == {
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
    assert main(["explain", "--root", str(ROOT), "--format", "json", ""]) == 0
    assert json.loads(capsys.readouterr().out) == {
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
def test_nothing_that_it_knows_is_misuse(
    arguments: list[str], log: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message about other things has no answer here; where one of several has, the others are said to have none."""
    assert main(["explain", "--root", str(ROOT), *arguments, *log.splitlines()]) == code
    assert "this message is not about an instruction in this database" in capsys.readouterr().out


def test_a_log_without_complaints_needs_no_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"all is well\n")))
    assert main(["explain", "--root", str(ROOT)]) == 0
    assert capsys.readouterr().out == "the input has no error message about PTX\n"
