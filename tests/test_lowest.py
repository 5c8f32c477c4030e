"""The lowest versions of the dependencies that pyproject.toml takes do the work, on the lowest Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.project import copied

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOWEST = [d.replace(">=", "==") for d in PROJECT["dependencies"]]
PYTHON = PROJECT["requires-python"].removeprefix(">=")

# A bar as a terminal would be sent it.
BAR = """\
import io, sys
class Terminal(io.StringIO):
    def isatty(self):
        return True
sys.stderr = Terminal()
from ptxspec.cli import progress_bar
with progress_bar("judging") as progress:
    for i in range(3):
        progress(i, 3)
assert "judging" in sys.stderr.getvalue() and "67%" in sys.stderr.getvalue()
"""


def test_every_dependency_has_a_lowest_version() -> None:
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", d) for d in LOWEST)


@pytest.mark.exhaustive
@pytest.mark.skipif(not sys.version.startswith(f"{PYTHON}."), reason=f"the lowest versions are those for {PYTHON}")
def test_the_lowest_versions_do_the_work(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *LOWEST]
    if subprocess.run(install, capture_output=True, check=False).returncode:
        pytest.skip("the lowest versions cannot be installed here")
    root = copied(tmp_path / "project", ("add", "max"))
    paths = [str(ROOT / "codegen"), str(ROOT / "generated/python")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def run(*arguments: str, asked: dict[str, str] | None = None) -> str:
        command = [str(python), *arguments]
        done = subprocess.run(
            command, env=environment | (asked or {}), cwd=root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout

    assert "no errors" in run("-m", "ptxspec", "validate")
    assert "added" in run("-m", "ptxspec", "generate")
    assert run("-m", "ptxspec", "query", "add.f32").startswith("yes")
    assert "0x40400000" in run("-m", "ptxspec", "eval", "add.f32", "1", "2", "--trace")
    run("-c", BAR)
    line = "ptxspec query add.b"
    out = tmp_path / "offered"
    asked = {
        "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line, "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(out), "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }  # fmt: skip
    run("-m", "ptxspec", asked=asked)
    assert out.read_text().split() == ["add.bf16", "add.bf16x2"]
    assert run("-m", "ptxspec", "completion", "fish")
