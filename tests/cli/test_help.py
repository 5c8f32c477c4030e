"""--help: every command shows examples, and they can be given as they stand."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import OPCODES, bring, copied
from ptxspec.__main__ import main
from ptxspec.cli.help import EXAMPLES
from ptxspec.cli.main import COMMANDS, parser_of

SHOWN = [
    (command, example) for command, examples in EXAMPLES.items() for example in examples if "COMMAND" not in example
]
# What is exchanged in an example, so that it means something here.
HERE = {
    "/usr/local/cuda/bin/ptxas": "PTXAS",
    "nvcc -c kernel.cu": "cat build.log",
    # All pairs take a minute, and all operands by MPFR an hour.
    "add.f16 --against add.rn.f16": "cvt.rn.f16.s16 --against 'cvt.rn.f16.s16 %d, %a;'",
    "sqrt.rn.f32 --against mpfr": "cvt.rn.f16.s16 --against mpfr",
    "10.0.0.1:8786": "127.0.0.1:9",
}
# Those that write a specification, or ask ptxas or nvcc of all of one, are given a small one.
SMALL = ("generate", "validate", "verify", "machine-code --record", "calls")
# What these commands compare with the tools.
RECORDED = ("spec/tensor", *(f"spec/observed/{n}.yaml" for n in ("calls", "evidence", "machine_code", "matrix_code")))
# What ends otherwise than with 0: the answer is no, nothing is generated yet, or there is no GPU, recording or cluster.
CODES = {
    "--against tests/recordings/NAME": 2,
    "--scheduler": 2,
    "ptxspec generate --check": 1,
    "ptxspec query - --target A100": 1,
    "ptxspec query max.NaN.f64": 1,
    "ptxspec query add.bf16 --target A100": 1,
    "ptxspec query max.f32 --operands 3 --ptx 8.7": 1,
    "ptxspec compare ex2": 1,
    "ptxspec lint": 1,
    "ptxspec conformance": 2,
    # For fewer targets than are recorded.
    "ptxspec calls": 1,
    "ptxspec calls --record": 0,
}
KERNEL = """\
__device__ float f(float a) {
    asm("max.NaN.f64 %0, %0, %0;" : "+f"(a));
    return a;
}
"""


def marks(example: str) -> list[pytest.MarkDecorator]:
    """Return the mark of examples that take seconds: those that read or write a whole specification, or assemble."""
    slow = example.startswith(tuple(f"ptxspec {c}" for c in (*SMALL, "manual --serve", "conformance")))
    return [pytest.mark.exhaustive] if slow else []


def test_every_command_has_examples() -> None:
    assert list(EXAMPLES) == ["", *COMMANDS]
    for command, example in SHOWN:
        assert not command or f"ptxspec {command}" in example


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder in which examples are given: it has the files that they name; the test adds what else they read."""
    (tmp_path / "src").mkdir()
    for name in ("kernel.cu", "src/kernel.cu"):
        (tmp_path / name).write_text(KERNEL)
    (tmp_path / "kernel.ptx").write_text("max.NaN.f64 %d0, %d1, %d2;\n")
    said = "ptxas kernel.ptx, line 7; error   : Illegal modifier '.NaN' for instruction 'max'\n"
    (tmp_path / "build.log").write_text(said)
    (tmp_path / "operands.txt").write_text("1 2 3\n")
    (tmp_path / "lines.txt").write_text("add.f16 70000 1\nfma.rn.f32 1 2 3\n")
    return tmp_path


@pytest.mark.parametrize("example", [pytest.param(e, marks=marks(e)) for e in dict.fromkeys(e for _, e in SHOWN)])
@pytest.mark.sampled(2)
def test_an_example_does_what_it_says(folder: Path, request: pytest.FixtureRequest, example: str) -> None:
    if example.startswith(tuple(f"ptxspec {c}" for c in SMALL)):
        copied(folder, OPCODES)
        bring(folder, *RECORDED)
        if "calls" in example:
            few_calls(folder)
        assert "generate" in example or given(folder, "ptxspec generate").returncode == 0
    else:
        for name in ("spec", "templates", "generated"):
            (folder / name).symlink_to(ROOT / name)
    for there, here in HERE.items():
        example = example.replace(there, here)
    if "PTXAS" in example:
        example = example.replace("PTXAS", str(request.getfixturevalue("ptxas")))
    done = given(folder, example)
    assert "Traceback" not in done.stderr
    expected = CODES.get(example, next((code for start, code in CODES.items() if start in example), 0))
    assert done.returncode == expected, done.stdout + done.stderr
    # A server answers who asks, and here nobody does.
    assert done.stdout or any(part in example for part in (">", "eval ", "ptxspec server")) or expected == 2
    for name in re.findall(r"> (\S+)", example):
        assert (folder / name.removeprefix("~/")).stat().st_size


def few_calls(folder: Path) -> None:
    """Leave nvcc one target, and LLVM one kind of name: all take some minutes."""
    targets, names = folder / "spec/targets.yaml", ROOT / "spec/llvm.yaml"
    targets.write_text(re.sub(r"(?m)^nvcc: \[.*\]$", "nvcc: [sm_121]", targets.read_text("utf-8")), "utf-8")
    few = names.read_text("utf-8").partition("names:\n")[0] + "names: {T(T): [llvm.nvvm.sqrt.f]}\n"
    (folder / "spec/llvm.yaml").write_text(few, "utf-8")


def given(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line as somebody gives it in a clone. No GPU is seen, no browser opened; who serves the manual is ended."""
    program = folder / "bin/ptxspec"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ptxspec --root . "$@"\n')
    program.chmod(0o755)
    (folder / ".config/fish/completions").mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder),
        "CUDA_VISIBLE_DEVICES": "", "BROWSER": "true",
    }  # fmt: skip
    if "--serve" in line:
        # A busy machine takes seconds to start it.
        line = f"timeout --preserve-status -s INT 20 {line} --port 0".replace("--port 8080 ", "")
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_every_argument_is(capsys: pytest.CaptureFixture[str], command: str) -> None:
    told = []
    for way in ([command, "--help"], ["help", command]):
        with pytest.raises(SystemExit) as done:
            main(way)
        assert done.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] and all(f"\n  {example}\n" in told[0] for example in EXAMPLES[command])
    (commands,) = (a for a in parser_of([command])._actions if isinstance(a, argparse._SubParsersAction))
    assert all(a.help for a in commands.choices[command]._actions)


def test_the_root_may_stand_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for way in (["--root", str(ROOT), "query", "add.f32"], ["query", "add.f32", "--root", str(ROOT)]):
        assert main(way) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]
    for way in (["--root", "/nowhere", "query", "add.f32"], ["query", "add.f32", "--root", "/nowhere"]):
        assert main(way) == 2
        assert "/nowhere" in capsys.readouterr().err


def test_a_value_for_an_option_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["eval", "add.f32", "1", "2", "--trace=al"])
    assert (
        done.value.code == 2 and "unknown option '--trace=al'; did you mean '--trace=all'?" in capsys.readouterr().err
    )
