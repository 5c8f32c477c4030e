"""Nothing of the folder where somebody stands, or of one above it, is run, included or believed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.hostile import CANARY
from helpers.project import Project, copied
from ptxspec.cli.main import main

# What asks for an emulator or a database, in a folder that has either.
ASKING = [
    ["eval", "add.f32", "1", "2"],
    ["compare", "add.f32", "add.rn.f32", "--samples", "9"],
    ["vectors", "add.f32", "--limit", "1"],
    ["generate"],
    ["validate"],
    ["verify"],
    ["machine-code"],
    ["sweep", "add.f32", "--against", "add.rn.f32"],
]
ANSWERING = [
    ["query", "add.f32"],
    ["list", "--opcode", "add"],
    ["lint", "a.ptx"],
    ["show", "add"],
    ["targets"],
    ["machine-code", "add.f32"],
]


@pytest.mark.parametrize("command", ASKING, ids=lambda c: c[0])
def test_a_strangers_clone_is_neither_run_nor_rewritten(
    command: list[str], around: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = _strangers_clone(around)
    monkeypatch.chdir(clone / "spec/instructions")
    assert main(command) == 2
    out, err = capsys.readouterr()
    there = os.path.join("..", "..")
    assert out == "" and err.startswith("ptxspec: the working folder is in the clone ")
    assert f"choose one of them with --root {there} or --root {ROOT}\n" in err
    monkeypatch.chdir(clone)
    assert main(command) == 2
    assert "choose one of them with --root . or" in capsys.readouterr().err


@pytest.mark.parametrize("command", ANSWERING, ids=lambda c: c[0])
def test_a_strangers_database_answers_nothing(
    command: list[str], around: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = around / "project"
    folder.mkdir()
    (folder / "a.ptx").write_text("add.f46 %f1, %f2, %f3;\n")
    monkeypatch.chdir(folder)
    code, expected = main(command), capsys.readouterr()
    _strangers_clone(around)
    assert (main(command), capsys.readouterr()) == (code, expected)


def test_a_clone_of_ones_own_needs_no_option(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxspec.roots.PACKAGE", project.root / "codegen" / "ptxspec")
    monkeypatch.chdir(project.root / "spec")
    assert main(["validate"]) == 0


def test_a_folder_spec_of_another_project_is_no_clone(
    around: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # As many projects in Ruby have them.
    for name in ("spec", "templates"):
        (around / "project" / name).mkdir(parents=True)
    monkeypatch.chdir(around / "project")
    assert main(["eval", "add.f32", "1", "2"]) == 0
    assert "  d  3.0 " in capsys.readouterr().out


@pytest.mark.sampled(1)
@pytest.mark.skipif(os.name == "nt", reason="a folder that is in use cannot be deleted there")
@pytest.mark.parametrize(
    ("command", "code"), [(["query", "add.f32"], 0), (["eval", "add.f32", "1", "2"], 0), (["lint", "."], 2)]
)
def test_a_working_folder_that_was_deleted(command: list[str], code: int, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); from ptxspec.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, *command],
        cwd=gone, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONSAFEPATH": "1"},
    )  # fmt: skip
    assert done.returncode == code and "Traceback" not in done.stderr
    if code:
        assert done.stderr.startswith("ptxspec: the working folder: ")


def _strangers_clone(around: Path) -> Path:
    """A clone whose emulator and templates would leave what shows that they ran, and whose database says otherwise."""
    clone = copied(around / "project", ("add",))
    (clone / "templates").unlink()
    shutil.copytree(ROOT / "generated/data", clone / "generated/data")
    for path in (clone / "generated/data").rglob("*.json"):
        path.write_text(path.read_text("utf-8").replace("sm_10", "sm_11"), "utf-8")
    for folder in ("generated/python/ptxemu", "templates/runtime"):
        (clone / folder).mkdir(parents=True)
        (clone / folder / "__init__.py").write_text(f"open({str(clone / CANARY)!r}, 'w')\n")
    return clone
