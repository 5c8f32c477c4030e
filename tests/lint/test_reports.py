"""The reports of `ptxspec lint` at the end and besides: the account of what was judged, statistics, colours, progress,
and what --quiet and --strict leave of these; on one core or all."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import re
import signal
import time
from pathlib import Path

import pytest
from helpers.repository_of_programs import NEW, ORDER, RIGHT, TWICE, WRONG, lint, write
from ptxspec.lint import many

MODULE = """.version 8.0
.target sm_80
add.f32 %f0, %f1, %f2;
cvt.rn.f16x2.ue8m0x2 %r0, %h1;
ld.f32 %f0, [a];
bar.sync 0;
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def last(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("columns", [50, 80])
def test_messages_fit_the_terminal(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Only the line that is judged, and what points into it, stay as wide as they are; colours take no columns."""
    write(repository, a_ptx=MODULE + "fma.f32 %f0, %f1, %f2;\nadd.bf16 %h0, %h1, %h2;\n")
    lint("--target", "sm_80")
    piped = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    lint("--target", "sm_80")
    shown = re.sub("\033\\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(len(line) for line in shown.splitlines()[:-1]) <= columns
    assert shown.split() == piped.split() and max(map(len, piped.splitlines())) > 80


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({"a_cu": RIGHT}, [], "1 instruction in 1 file, no target given: checked for PTX 9.5 and any target"),
        (
            {"a_cu": RIGHT * 2000, "b_py": "1\n"},
            [],
            "2,000 instructions in 1 file (1 more file has none), no target given",
        ),
        (
            {"a_cu": RIGHT, "b_h": "", "c_h": ""},
            ["--target", "H100"],
            "(2 more files have none), checked for sm_90 and PTX 9.5",
        ),
        ({"a_cu": RIGHT}, ["--ptx", "8.0"], "1 file, checked for any target and PTX 8.0"),
        ({"a_ptx": MODULE}, [], "1 instruction in 1 file, checked for its own .version and .target"),
        ({"a_ptx": MODULE, "b_ptx": MODULE}, ["--target", "sm_90"], "checked for their own .version and .target"),
        (
            {"a_ptx": MODULE, "b_ptx": MODULE},
            ["--target", "sm_90", "--force-target"],
            "checked for sm_90 and their own .version",
        ),
        (
            {"a_cu": RIGHT},
            ["--target", "sm_80,sm_90a"],
            "1 instruction in 1 file, checked for sm_80, sm_90a and PTX 9.5",
        ),
        (
            {"a_ptx": MODULE, "b_cu": RIGHT},
            [],
            "2 instructions in 2 files, no target given: checked for PTX 9.5 and any target, "
            "or for their own .version and .target",
        ),
        ({"a_py": "x = 1\n"}, [], "no instructions in 1 file"),
    ],
)
def test_it_says_what_it_judged(
    repository: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], arguments: list[str], said: str
) -> None:
    write(repository, **files)
    assert lint(*arguments) == 0
    assert said in last(capsys)


def test_it_counts_what_it_found_and_what_was_ignored(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ignored = f"{WRONG.strip()} // ptxspec: ignore[illegal-modifier]\n"
    write(repository, a_cu=WRONG * 2 + TWICE + ORDER * 3 + ignored)
    assert lint() == 1
    assert capsys.readouterr().out.splitlines()[-2] == "2 errors, 1 warning, 3 notes, 1 ignored"


def test_quiet_leaves_what_makes_the_exit_code_one(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository, a_cu=TWICE + ORDER)
    assert lint("-q") == 0
    assert capsys.readouterr().out == ""
    assert lint("--quiet", "--strict") == 1
    out = capsys.readouterr().out
    assert "[repeated-modifier]" in out and "[modifier-order]" not in out and "instruction" not in out


def test_statistics_count_by_opcode_what_is_judged_and_what_is_outside_of_the_database(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, a_ptx=MODULE, b_cu=f'{RIGHT}{WRONG}asm("ld.global.u32 %0, [%1];");\nasm("nop");\n')
    assert lint("--stats") == 1
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[:7] == [
        ["opcode", "checked", "outside", "the", "database"],
        ["add", "2", "0"],
        ["max", "1", "0"],
        ["ld", "0", "2"],
        ["bar", "0", "1"],
        ["cvt", "0", "1"],
        ["all", "3", "4"],
    ]
    assert ["illegal-modifier", "1"] in rows
    assert lint("--stats", "--format", "json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["files"], told["instructions"], told["outside"]) == (1, 2, 3, 4)
    assert told["opcodes"]["cvt"] == {"judged": 0, "outside": 1} and told["codes"] == {"illegal-modifier": 1}
    assert lint("--stats", "--format", "sarif") == 2


def test_statistics_show_what_is_filled_in_elsewhere(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository, a_cu='asm("add" SUFFIX ".f32 %0, %1, %2;");\n')
    assert lint("--stats") == 0
    out = capsys.readouterr().out
    assert ["add{}", "0", "1"] in [line.split() for line in out.splitlines()] and "\0" not in out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [[], ["--stats"], ["--format", "json"], ["-q"]], ids=str)
def test_all_cores_find_what_one_finds(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.setattr(many, "_ALONE", -1.0)
    for i in range(9):
        write(repository, **{f"f{i}_cu": [WRONG, NEW, TWICE, RIGHT, "x\n"][i % 5] * (i + 1), f"g{i}_ptx": MODULE})
    (repository / "f5.ptx").write_bytes(b"\0\1")
    told = []
    for jobs in ("1", "2"):
        assert lint("--jobs", jobs, "--target", "sm_80", *arguments) == 2
        told.append(capsys.readouterr())
    assert told[0] == told[1] and "f5.ptx is not a text file" in told[0].err


def test_standard_input_is_judged_beside_files_on_all_cores(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(many, "_ALONE", -1.0)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(MODULE.encode())))
    write(repository, a_cu=RIGHT, b_cu=RIGHT, c_cu=WRONG)
    assert lint("a.cu", "-", "b.cu", "c.cu") == 1
    assert "4 instructions in 4 files" in last(capsys)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_after_a_second_and_leaves_no_trace(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, a_cu=RIGHT, b_cu=WRONG, c_cu=RIGHT)
    clock = iter(range(100))
    monkeypatch.setattr("ptxspec.cli.lint._now", lambda: next(clock))
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    assert lint("--jobs", "1") == 1
    shown = terminal.getvalue()
    assert "\r\033[K2 of 3 files" in shown and shown.endswith("\r\033[K")
    assert "1 of 3" not in shown


@pytest.mark.parametrize(
    ("environment", "on_terminal", "coloured"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colours_are_for_terminals(
    repository: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], on_terminal: bool, coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    write(repository, a_cu=WRONG)
    texts = []
    for form in ("text", "json"):
        monkeypatch.setattr("sys.stdout", out := Terminal() if on_terminal else io.StringIO())
        assert lint("--format", form) == 1
        texts.append(out.getvalue())
    assert ("\033[31;1merror:\033[0m" in texts[0]) == coloured
    assert "\033" not in texts[1]


def test_github_gets_paths_from_the_top_of_the_repository(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, deep__a_cu=WRONG)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repository))
    for folder in (repository, repository / "deep"):
        monkeypatch.chdir(folder)
        assert lint("--format", "github") == 1
        assert capsys.readouterr().out.startswith(
            "::error file=deep/a.cu,line=1,col=9,endColumn=12,title=illegal-modifier::"
        )


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the other processes start anew")
def test_a_process_that_is_killed_is_told_in_a_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(many, "_ALONE", -1.0)
    monkeypatch.setattr(many, "_events", lambda *_: os._exit(9))
    write(repository, a_cu=RIGHT, b_cu=RIGHT)
    assert lint("--jobs", "2") == 2
    assert "a process that checked files was killed; try --jobs 1, which starts none" in capsys.readouterr().err


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the other processes start anew")
def test_an_interrupt_does_not_wait_for_the_files_at_hand(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def long(*_: object) -> list[many.Event]:
        for process in (os.getppid(), os.getpid()):
            os.kill(process, signal.SIGINT)
        time.sleep(5)
        (repository / "late").touch()
        return []

    monkeypatch.setattr(many, "_ALONE", -1.0)
    monkeypatch.setattr(many, "_events", long)
    write(repository, a_cu=RIGHT, b_cu=RIGHT)
    # A shell's jobs in the background begin with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        lint("--jobs", "2")
    assert not (repository / "late").exists()
