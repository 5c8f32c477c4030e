"""The entry points for other repositories: the hooks for pre-commit, and the workflow that judges PTX on GitHub."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import ROOT
from ptxspec import Database
from ptxspec.cli.main import COMMANDS, main
from ptxspec.lint.linter import LANGUAGES

TEXT = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in yaml.safe_load(TEXT)}
# The configuration that the comment above them shows.
EXAMPLE = yaml.safe_load("\n".join(line[3:] for line in re.findall(r"^#   .*$", TEXT, re.MULTILINE)))
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/lint.yml").read_text("utf-8"))
KERNEL = 'asm("max.NaN.f64 %0, %1, %2;" : "=d"(d) : "d"(a), "d"(b));\n'


def test_the_hook_is_given_the_files_that_lint_reads() -> None:
    files = re.compile(HOOKS["ptxspec-lint"]["files"])
    for ending in filter(None, LANGUAGES):
        assert files.search(f"src/kernel{ending}")
    for name in ("README.rst", "a.ptx.bak", "cu", "Makefile", "a.json"):
        assert not files.search(name)


@pytest.mark.parametrize("hook", HOOKS.values(), ids=list(HOOKS))
def test_a_hook_is_a_command_of_the_package(hook: dict[str, Any]) -> None:
    program, command, *_ = shlex.split(hook["entry"])
    assert program == "ptxspec" and command in COMMANDS and hook["language"] == "python"
    assert hook["entry"].startswith(hook["name"]) and hook["description"].endswith(".")


def test_the_example_judges_for_its_target(tmp_path: Path, capsys: pytest.CaptureFixture[str], db: Database) -> None:
    ((used,),) = [repo["hooks"] for repo in EXAMPLE["repos"]]
    assert used["args"][0] == "--target" and used["args"][1] in db.targets
    _, *command = shlex.split(HOOKS[used["id"]]["entry"])
    (tmp_path / "wrong.cu").write_text(KERNEL)
    (tmp_path / "right.cu").write_text(KERNEL.replace(".NaN", ""))
    for files, code in ((["right.cu"], 0), (["right.cu", "wrong.cu"], 1)):
        assert main([*command, *used["args"], *(str(tmp_path / f) for f in files), "--root", str(ROOT)]) == code
    assert "wrong.cu:1:9: error: " in capsys.readouterr().out


def test_a_hook_leaves_out_what_the_configuration_excludes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """pre-commit names the files that were changed one by one."""
    (tmp_path / "pyproject.toml").write_text('[tool.ptxspec.lint]\ntarget = "sm_80"\nexclude = ["theirs"]\n')
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/wrong.cu").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    _, *command = shlex.split(HOOKS["ptxspec-lint"]["entry"])
    assert main([*command, "theirs/wrong.cu", "--root", str(ROOT)]) == 0
    assert "error" not in capsys.readouterr().out


def test_the_example_is_of_the_version_that_there_is() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert [repo["rev"] for repo in EXAMPLE["repos"]] == [f"v{version}"]


@pytest.mark.exhaustive
def test_the_workflow_finds_nothing_here_and_uploads_what_is_right() -> None:
    (job,) = WORKFLOW["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "ptxspec lint" in step.get("run", "")]
    assert [re.search(r"--format (\w+)", c)[1] for c in commands] == ["github", "sarif"]  # type: ignore[index]
    (upload,) = (step for step in job["steps"] if "upload-sarif" in step.get("uses", ""))
    written = upload["with"]["sarif_file"]
    assert commands[1].endswith(f" > {written}")
    for command in commands[1:]:
        shown = command.removesuffix(f" > {written}").replace("ptxspec", f"{sys.executable} -m ptxspec", 1)
        done = subprocess.run(["bash", "-c", shown], capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == 0 and not done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["tool"]["driver"]["name"] == "ptxspec" and run["results"] == []
