"""Colours and width: those of the terminal, unless the environment says otherwise; none of them in a file or a pipe."""

from __future__ import annotations

import io
import os
import re
import sys

import pytest
from helpers import ROOT
from ptxspec import terminal
from ptxspec.__main__ import main
from ptxspec.cli.help import EXAMPLES, GROUPS
from ptxspec.cli.main import COMMANDS

CODE = re.compile(r"\033\[[\d;]*m")
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "on_a_terminal", "in_a_pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_who_gets_colours(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], on_a_terminal: bool, in_a_pipe: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal.has_colours(Terminal()) == on_a_terminal
    assert terminal.has_colours(io.StringIO()) == in_a_pipe
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with terminal.escaping():
        print(terminal.painted("no", "red", "bold"))
    assert sys.stdout.getvalue() == ("\033[31;1mno\033[0m\n" if in_a_pipe else "no\n")


def printed(capture: pytest.CaptureFixture[str], command: str) -> str:
    main([*command.split(), "--root", str(ROOT)])
    return capture.readouterr().out


@pytest.mark.parametrize(
    ("command", "start"),
    [
        ("query add.f32", "\033[32;1myes\033[0m: "),
        ("query max.NaN.f64", "\033[31;1mno\033[0m: "),
        ("query fma.rz.bf16 --target sm_90", "\033[33;1myes, but\033[0m: "),
        ("diff --ptx 8.5..8.6", "\033[32m+ "),
    ],
)
def test_a_verdict_is_seen_by_its_colour_and_reads_the_same_without(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, start: str
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    coloured = printed(capsys, command)
    assert coloured.startswith(start)
    monkeypatch.setenv("NO_COLOR", "1")
    assert printed(capsys, command) == CODE.sub("", coloured)


def test_an_error_is_marked_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["query", "add.f32", "--target", "sm_91", "--root", str(ROOT)]) == 2
    assert capsys.readouterr().err.startswith("\033[31;1mptxspec:\033[0m unknown target 'sm_91'")


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    "command",
    [
        "", "query cvt.rn.satfinite.e2m1x2.f32 --target sm_120", "query fma.rz.bf16 --target sm_90",
        "list --opcode cos", "targets H100 A100", "compare add.f32 numpy.add --samples 99", "diff --ptx 9.4..9.5",
    ],
)  # fmt: skip
@pytest.mark.sampled(8)
def test_lines_are_as_wide_as_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, columns: int
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    # A notation alone cannot be broken, nor what is to be pasted.
    lines = CODE.sub("", printed(capsys, command)).split("\n")
    told = [line for line in lines if " " in line.strip() and not line.endswith((";", '\\n"', "{"))]
    assert max(map(len, told)) <= columns


def test_a_line_is_a_line_in_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    needs = "  requires  sm_100a, sm_101a from PTX 8.6; sm_120a from PTX 8.7; sm_100f, sm_101f, sm_120f families from "
    assert needs in printed(capsys, "query cvt.rn.satfinite.e2m1x2.f32 --target sm_120")


@pytest.mark.parametrize(("columns", "used"), [("72", 72), ("3", 40), ("0", 80), ("wide", 80), ("99999", 1000)])
def test_columns_that_leave_no_room_or_mean_nothing(monkeypatch: pytest.MonkeyPatch, columns: str, used: int) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((80, 24)))
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal.width() == used


def test_ptxspec_alone_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, "")
    assert sorted(c for names in GROUPS.values() for c in names) == sorted(COMMANDS)
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\w", told, re.MULTILINE)
    first, second = EXAMPLES[""][:2]
    assert f"Examples\n  {first}\n  {second}\n" in told
    assert main([]) == 0 and capsys.readouterr().out == told
