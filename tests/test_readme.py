"""Every command that the README shows prints what it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT
from ptxspec.__main__ import main

TEXT = (ROOT / "README.md").read_text("utf-8")
SHOWN = [
    (command, output.rstrip())
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    for command, output in re.findall(r"^\$ ([^\n]*)\n(.*?)(?=^\$ |\Z)", block, re.DOTALL | re.MULTILINE)
]


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[c for c, _ in SHOWN])
def test_a_command_prints_what_the_readme_shows(
    command: str, output: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(command)
    if program == "ptxspec" and "|" not in arguments:
        main(arguments)
        said = capsys.readouterr().out
    else:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path}
        said = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment, check=False).stdout
    assert said.rstrip() == output


def test_the_readme_starts_with_the_two_commands() -> None:
    commands = re.findall(r"^    (\S.*)$", TEXT, re.MULTILINE)
    assert commands[:2] == ["pip install -e . && ptxspec generate", "pip install -e '.[test]' && pytest"]
    assert ".[test]' && pytest" in (ROOT / ".ci/run").read_text("utf-8")
